"""The whole space."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zfree.arrays import Array
from zfree.domains.arguments import check_affine, check_dimension
from zfree.domains.base import BarrierHessian
from zfree.domains.polyhedral import Polyhedral
from zfree.domains.units import Units
from zfree.fields import Diagonal, Scalar
from zfree.potentials import SlackPotential


@dataclass(frozen=True)
class RealSpace(Polyhedral):
    """ℝᵈ, no constraint at all.

    It has no facet for a barrier to act on; as in every direction that no facet limits, the potential there is ½ Σ (x_j/τ_j)² with
    τ_j the spread of the columns, so that D is diagonal and constant. In raw units it is ½‖x‖², whose generator is the identity:
    Hyvärinen's original score matching (the paper's first corollary).
    """

    d: int

    def __post_init__(self) -> None:
        check_dimension(self.d)

    def __repr__(self) -> str:
        return f"RealSpace({self.d})"

    @cached_property
    def dimension(self) -> int:
        return self.d

    is_bounded = False

    has_boundary = False
    n_slacks = 0

    @property
    def inequalities(self) -> tuple[Array, Array]:
        return np.zeros((0, self.d)), np.zeros(0)

    def interior_point(self) -> Array:
        return np.zeros(self.d)

    def barrier(self, potential: SlackPotential, X: Array, units: Units | None = None) -> BarrierHessian:
        n = X.shape[0]
        if units is None:
            return BarrierHessian(Scalar(np.ones(n), self.d), np.zeros_like(X), lambda: np.zeros(n))
        variances = np.broadcast_to(units.spread**2, X.shape)
        return BarrierHessian(Diagonal(variances), np.zeros_like(X), lambda: np.full(n, -np.log(variances[0]).sum()))

    def affine_image(self, B: Array, c: Array) -> RealSpace:
        check_affine(B, c, self.d)
        return self
