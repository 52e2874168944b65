"""scikit-learn estimators: the only place that imports scikit-learn and validates what a user passes."""

from zfree.estimators.family import ExponentialFamily
from zfree.estimators.gaussians import Gaussian, TruncatedGaussian
from zfree.estimators.given import ModelEstimator, fit
from zfree.estimators.interaction import LogNormal, PowerInteraction
from zfree.estimators.rank import rank
from zfree.estimators.textbook import Dirichlet, Exponential, Gamma, GeneralizedGamma

__all__ = [
    "Dirichlet",
    "Exponential",
    "ExponentialFamily",
    "Gamma",
    "Gaussian",
    "GeneralizedGamma",
    "LogNormal",
    "ModelEstimator",
    "PowerInteraction",
    "TruncatedGaussian",
    "fit",
    "rank",
]
