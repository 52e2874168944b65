"""Log-densities without Z."""

from zfree.models.base import BoundaryOrder, Model
from zfree.models.normalisable import Normalisable, is_normalisable
from zfree.models.own_statistics import CustomModel
from zfree.models.pairwise import LogNormalModel, PairwiseModel
from zfree.models.separable import ExponentialModel, SeparableModel
from zfree.models.shapes import DirichletModel, GammaModel, GeneralizedGammaModel

__all__ = [
    "BoundaryOrder",
    "CustomModel",
    "DirichletModel",
    "ExponentialModel",
    "GammaModel",
    "GeneralizedGammaModel",
    "LogNormalModel",
    "Model",
    "Normalisable",
    "PairwiseModel",
    "SeparableModel",
    "is_normalisable",
]
