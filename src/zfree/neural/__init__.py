"""Energies and scores that are networks, and the losses that train them on a domain (needs torch: ``pip install zfree[neural]``)."""

from zfree.deprecation import Renamed, renamed_names
from zfree.errors import MissingDependencyError

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise MissingDependencyError("zfree.neural needs torch: run `pip install zfree[neural]`.") from error

from zfree.neural.contrasts import KL, LOGISTIC, MPF, Contrast, contrast_rule
from zfree.neural.convolutions import ConvolutionalPair, convolutional_decoder, convolutional_networks
from zfree.neural.discrepancy import contrastive_potential, energy_discrepancy
from zfree.neural.energy import EnergyModel
from zfree.neural.faces import load_faces
from zfree.neural.frechet import FeatureStatistics, frechet_distance, inception_features
from zfree.neural.losses import Exact, Flow, Hutchinson, Loss
from zfree.neural.matching import gsm_rule, hutchinson_rule, score_of
from zfree.neural.networks import Perceptron
from zfree.neural.pairs import Pair, PairNetwork
from zfree.neural.parametric import ParametricModel
from zfree.neural.pixels import BernoulliPixels, GaussianPixels, PixelModel
from zfree.neural.score_check import ScoreCheck
from zfree.neural.vae import ImplicitVAE
from zfree.neural.weight_tensors import WeightTensors

__all__ = [
    "KL",
    "LOGISTIC",
    "MPF",
    "BernoulliPixels",
    "Contrast",
    "ConvolutionalPair",
    "EnergyModel",
    "Exact",
    "FeatureStatistics",
    "Flow",
    "GaussianPixels",
    "Hutchinson",
    "ImplicitVAE",
    "Loss",
    "Pair",
    "PairNetwork",
    "ParametricModel",
    "Perceptron",
    "PixelModel",
    "ScoreCheck",
    "WeightTensors",
    "contrast_rule",
    "contrastive_potential",
    "convolutional_decoder",
    "convolutional_networks",
    "energy_discrepancy",
    "frechet_distance",
    "gsm_rule",
    "hutchinson_rule",
    "inception_features",
    "load_faces",
    "score_of",
]

__getattr__ = renamed_names("zfree.neural", {"Weight": Renamed("WeightTensors", gone_in="0.3")})
