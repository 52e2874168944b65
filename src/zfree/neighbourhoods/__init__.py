"""Random neighbours of data points: the small moves whose limit is score matching (paper, section 3)."""

from zfree.neighbourhoods.base import Neighbourhood, Neighbours, Origins
from zfree.neighbourhoods.bregman import BregmanBall
from zfree.neighbourhoods.cube import Cube
from zfree.neighbourhoods.radial import mixing_constant, radial_moment
from zfree.neighbourhoods.soft import SoftNeighbourhood

__all__ = [
    "BregmanBall",
    "Cube",
    "Neighbourhood",
    "Neighbours",
    "Origins",
    "SoftNeighbourhood",
    "mixing_constant",
    "radial_moment",
]
