"""D(x) and ∇·D(x): the weight that makes score matching valid on a domain."""

from zfree.generators.barrier import Barrier
from zfree.generators.base import Generator, GeneratorValue, Vanishing
from zfree.generators.boundary import BoundaryDistance
from zfree.generators.custom import Custom
from zfree.generators.diagonal import CoordinateWeight, Identity, SectionDistance

__all__ = [
    "Barrier",
    "BoundaryDistance",
    "CoordinateWeight",
    "Custom",
    "Generator",
    "GeneratorValue",
    "Identity",
    "SectionDistance",
    "Vanishing",
]
