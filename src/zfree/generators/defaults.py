"""The generator for a purpose, where nothing is known but the domain."""

from __future__ import annotations

from typing import Literal

from zfree.domains import Domain
from zfree.generators.barrier import Barrier
from zfree.generators.base import Generator
from zfree.generators.distances import BoundaryDistance

Purpose = Literal["look", "score", "train"]
"""A first look at the rows, valid whatever the data; scores that are compared between fits; a network's weight."""


def default_generator(domain: Domain, purpose: Purpose) -> Generator:
    """One that vanishes on the whole boundary, and fast where that can be had: barriers need a convex domain."""
    if not domain.is_convex:
        return BoundaryDistance(scale="raw" if purpose == "train" else "natural")
    return Barrier(1.2, 0.0) if purpose == "train" else Barrier.log(det_power=0.0)
