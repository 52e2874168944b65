"""Truncated score matching: the distance to the boundary as the weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.fields import Scalar
from zfree.generators.base import Decay, Generator, GeneratorValue, Vanishing
from zfree.generators.weights import check_cap


@dataclass(frozen=True)
class BoundaryDistance(Generator):
    """D = dist(x, ∂Ω) · I: Liu, Kanamori and Williams (2022).

    Parameters
    ----------
    cap : float, optional
        Use min(distance, cap), which keeps the weight bounded on an unbounded domain.
    """

    cap: float | None = None

    def __post_init__(self) -> None:
        if self.cap is not None:
            check_cap(self.cap)

    def on_domain(self, domain: Domain, X: Array) -> GeneratorValue:
        if not domain.has_boundary:
            raise SpecificationError(f"{domain!r} has no boundary to measure a distance to; use Identity().")
        distance, gradient = domain.boundary_distance(X)
        if self.cap is not None:
            gradient = np.where((distance < self.cap)[:, None], gradient, 0.0)
            distance = np.minimum(distance, self.cap)
        return GeneratorValue(np.zeros(len(X)), Scalar(distance, X.shape[1]), gradient)

    def __repr__(self) -> str:
        return "BoundaryDistance()" if self.cap is None else f"BoundaryDistance(cap={self.cap:g})"

    def decay(self, domain: Domain) -> Decay | None:
        return Decay(1.0, 1.0)

    def vanishing(self, domain: Domain) -> Vanishing:
        return Vanishing(True)
