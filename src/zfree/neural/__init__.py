"""Energies and scores that are networks, and the losses that train them on a domain (needs torch: ``pip install zfree[neural]``)."""

from zfree.errors import MissingDependencyError

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise MissingDependencyError("zfree.neural needs torch: run `pip install zfree[neural]`.") from error

from zfree.neural.contrasts import KL, LOGISTIC, MPF, Contrast, contrast_rule, energy_discrepancy
from zfree.neural.energy import EnergyModel
from zfree.neural.losses import Exact, Flow, Hutchinson, Loss
from zfree.neural.matching import gsm_rule, hutchinson_rule, score_of
from zfree.neural.networks import Perceptron
from zfree.neural.pairs import PairNetwork
from zfree.neural.parametric import ParametricModel
from zfree.neural.vae import ImplicitVAE
from zfree.neural.weights import Weight

__all__ = [
    "KL",
    "LOGISTIC",
    "MPF",
    "Contrast",
    "EnergyModel",
    "Exact",
    "Flow",
    "Hutchinson",
    "ImplicitVAE",
    "Loss",
    "PairNetwork",
    "ParametricModel",
    "Perceptron",
    "Weight",
    "contrast_rule",
    "energy_discrepancy",
    "gsm_rule",
    "hutchinson_rule",
    "score_of",
]
