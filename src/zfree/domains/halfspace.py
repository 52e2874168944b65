"""A single inequality."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array
from zfree.conversion import real_number
from zfree.domains.arguments import as_vector, check_affine, check_squares
from zfree.domains.base import BarrierHessian, Domain
from zfree.domains.polyhedral import Polyhedral
from zfree.domains.units import Units
from zfree.errors import InvalidDomainError
from zfree.fields import Diagonal, DiagonalPlusRankOne, Field
from zfree.potentials import SlackPotential


class HalfSpace(Polyhedral):
    """{x : a·x < b}. The potential is ψ(b − a·x) across the facet and quadratic along it: diagonal plus rank one.

    With V the diagonal matrix of the columns' variances (the identity in raw units), H = ψ'' a aᵀ + V⁻¹ − a aᵀ/(aᵀVa), the part of the
    metric V⁻¹ that the facet does not see added to the barrier, so H⁻¹ = V + (1/ψ'' − aᵀVa) Va(Va)ᵀ/(aᵀVa)².
    """

    def __init__(self, a: ArrayLike, b: float) -> None:
        self.a = as_vector(a, "a")
        self.b = real_number(b, "b", InvalidDomainError)
        if not np.isfinite(self.b):
            raise InvalidDomainError(f"b of a half-space must be finite, got {self.b}; RealSpace has no bound.")
        if not np.any(self.a):
            raise InvalidDomainError("the normal a of a half-space must not be zero.")
        check_squares(
            np.abs(self.a).max(keepdims=True), "a", "Divide a and b by a common factor: the half-space stays the same."
        )

    def __repr__(self) -> str:
        return f"HalfSpace(a={self.a.tolist()}, b={self.b!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HalfSpace) and np.array_equal(self.a, other.a) and self.b == other.b

    def __hash__(self) -> int:
        return hash((self.a.tobytes(), self.b))

    @cached_property
    def dimension(self) -> int:
        return int(self.a.size)

    is_bounded = False
    has_boundary = True
    n_slacks = 1

    @property
    def inequalities(self) -> tuple[Array, Array]:
        return self.a[None, :], np.array([self.b])

    def interior_point(self) -> Array:
        return self.a * (self.b / (self.a @ self.a)) - self.a / np.linalg.norm(self.a)

    def barrier(self, potential: SlackPotential, X: Array, units: Units | None = None) -> BarrierHessian:
        spread = np.ones(self.dimension) if units is None else units.spread
        scaled = spread * self.a  # the normal in columns divided by their spread
        length = float(np.linalg.norm(scaled))
        inverse, log_curvature, ratio = potential.terms_in(self.b - X @ self.a, None if units is None else units.slacks)
        if self.dimension == 1:  # no direction along the facet, and no digits lost to one
            field: Field = Diagonal((inverse / self.a[0] ** 2)[:, None])
            logs = 2.0 * np.log(abs(self.a[0]))
            return BarrierHessian(field, -ratio[:, None] * self.a, lambda: log_curvature() + logs)
        normal = np.broadcast_to(spread * (scaled / length), X.shape)
        delta = np.broadcast_to(spread**2, X.shape)
        field = DiagonalPlusRankOne(delta, inverse / length**2 - 1.0, normal)
        constant = 2.0 * (np.log(length) - np.log(spread).sum())
        return BarrierHessian(field, -ratio[:, None] * self.a, lambda: log_curvature() + constant)

    def affine_image(self, B: Array, c: Array) -> Domain:
        B, c = check_affine(B, c, self.dimension)
        image = np.linalg.solve(B.T, self.a)
        return HalfSpace(image, self.b + float(image @ c))
