"""D(x) and ∇·D(x): the weight that makes score matching valid on a domain."""

from zfree.generators.barrier import Barrier
from zfree.generators.base import Decay, Generator, GeneratorValue, Pilot, Vanishing
from zfree.generators.combined import Combined
from zfree.generators.custom import Custom
from zfree.generators.defaults import default_generator
from zfree.generators.diagonal import CoordinateWeight, Identity, SectionDistance
from zfree.generators.distances import BoundaryDistance
from zfree.generators.named import NAMED, named
from zfree.generators.powers import as_powers
from zfree.generators.scale import Scale
from zfree.generators.stein_barrier import SteinBarrier
from zfree.generators.stein_moments import SteinMoments

__all__ = [
    "NAMED",
    "Barrier",
    "BoundaryDistance",
    "Combined",
    "CoordinateWeight",
    "Custom",
    "Decay",
    "Generator",
    "GeneratorValue",
    "Identity",
    "Pilot",
    "Scale",
    "SectionDistance",
    "SteinBarrier",
    "SteinMoments",
    "Vanishing",
    "as_powers",
    "default_generator",
    "named",
]
