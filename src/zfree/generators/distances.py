"""Truncated score matching: the distance to the boundary as the weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain, Units
from zfree.errors import SpecificationError
from zfree.fields import Diagonal, Scalar
from zfree.generators.base import Decay, GeneratorValue, Vanishing
from zfree.generators.coordinate_functions import check_cap
from zfree.generators.scale import Scale, ScaledGenerator, ratio_of_sizes


@dataclass(frozen=True)
class BoundaryDistance(ScaledGenerator):
    """D = dist(x, ∂Ω) · I: Liu, Kanamori and Williams (2022).

    Parameters
    ----------
    cap : float, optional
        Use min(distance, cap), which keeps the weight bounded on an unbounded domain.
    scale : {"raw", "natural"} or Units
        ``"raw"`` is the method as published, whose estimate depends on the units of the columns. ``"natural"`` applies it to columns
        divided by their standard deviations τ, where D = dist · diag(τ²).
    """

    cap: float | None = None
    scale: Scale = "raw"

    tempered = True

    def __post_init__(self) -> None:
        self._check_scale()
        if self.cap is not None:
            check_cap(self.cap)

    def on_domain(self, domain: Domain, X: Array) -> GeneratorValue:
        if not domain.has_boundary:
            raise SpecificationError(f"{domain!r} has no boundary to measure a distance to; use Identity().")
        spread = self._spread(X.shape[1])
        distance, gradient = domain.boundary_distance(X, spread)
        if self.cap is not None:
            gradient = np.where((distance < self.cap)[:, None], gradient, 0.0)
            distance = np.minimum(distance, self.cap)
        if spread is None:
            return GeneratorValue(np.zeros(len(X)), Scalar(distance, X.shape[1]), gradient)
        return GeneratorValue(np.zeros(len(X)), Diagonal(distance[:, None] * spread**2), gradient * spread**2)

    def __repr__(self) -> str:
        cap = "" if self.cap is None else f"cap={self.cap:g}"
        return f"BoundaryDistance({(cap + self._scale_text('raw')).removeprefix(', ')})"

    def imbalance(self, domain: Domain, units: Units, separable: bool) -> float:
        return ratio_of_sizes(2.0 * np.log(units.spread)) if self.is_raw else 1.0

    def decay(self, domain: Domain) -> Decay | None:
        return Decay(1.0, 1.0)

    def vanishing(self, domain: Domain) -> Vanishing:
        return Vanishing(True)
