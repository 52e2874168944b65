"""The whole space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array
from zfree.domains.base import BarrierHessian, check_affine
from zfree.domains.polyhedral import Polyhedral
from zfree.domains.validation import check_dimension
from zfree.fields import Scalar
from zfree.potentials import SlackPotential


@dataclass(frozen=True)
class RealSpace(Polyhedral):
    """ℝᵈ, no constraint at all.

    It has no facet for a barrier to act on; as on every direction that no facet limits, the potential there is
    ½‖x‖², whose generator is the identity: Hyvärinen's original score matching (the paper's first corollary).
    """

    d: int

    def __post_init__(self) -> None:
        check_dimension(self.d)

    def __repr__(self) -> str:
        return f"RealSpace({self.d})"

    @property
    def dimension(self) -> int:
        return self.d

    @property
    def is_bounded(self) -> bool:
        return False

    @property
    def inequalities(self) -> tuple[Array, Array]:
        return np.zeros((0, self.d)), np.zeros(0)

    def interior_point(self) -> Array:
        return np.zeros(self.d)

    def barrier(self, potential: SlackPotential, X: Array) -> BarrierHessian:
        n = X.shape[0]
        return BarrierHessian(Scalar(np.ones(n), self.d), np.zeros_like(X), lambda: np.zeros(n))

    def affine_image(self, B: Array, c: Array) -> RealSpace:
        check_affine(B, c, self.d)
        return self
