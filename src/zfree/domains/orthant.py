"""The positive orthant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zfree.arrays import Array
from zfree.domains.arguments import check_dimension
from zfree.domains.base import BarrierHessian
from zfree.domains.polyhedral import Polyhedral
from zfree.domains.units import Units
from zfree.fields import Diagonal
from zfree.potentials import SlackPotential


@dataclass(frozen=True)
class Orthant(Polyhedral):
    """ℝ₊ᵈ = {x : x_j > 0}: positive data. The barrier's Hessian is diagonal."""

    d: int

    def __post_init__(self) -> None:
        check_dimension(self.d)

    def __repr__(self) -> str:
        return f"Orthant({self.d})"

    @cached_property
    def dimension(self) -> int:
        return self.d

    is_bounded = False

    has_boundary = True

    @cached_property
    def n_slacks(self) -> int:
        return self.d

    @property
    def inequalities(self) -> tuple[Array, Array]:
        return -np.eye(self.d), np.zeros(self.d)

    def slacks(self, X: Array) -> Array:
        return X

    def holds_all(self, X: Array) -> bool:
        return bool(X.min(initial=np.inf) > 0)

    def interior_point(self) -> Array:
        return np.ones(self.d)

    def barrier(self, potential: SlackPotential, X: Array, units: Units | None = None) -> BarrierHessian:
        inverse, log_curvature, ratio = potential.terms_in(X, None if units is None else units.slacks)
        return BarrierHessian(Diagonal(inverse), ratio, lambda: log_curvature() @ np.ones(self.d))

    def clip(self, X: Array, epsilon: float) -> Array:
        return np.maximum(X, epsilon)
