"""Boxes, with finite, half-infinite and infinite sides."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array, row_sums
from zfree.domains.base import BarrierHessian
from zfree.domains.polyhedral import Polyhedral
from zfree.domains.units import Units
from zfree.domains.validation import as_vector
from zfree.errors import InvalidDomainError
from zfree.fields import Diagonal
from zfree.potentials import SlackPotential


class Box(Polyhedral):
    """{x : lower_j < x_j < upper_j}, where a bound may be infinite. The barrier's Hessian is diagonal.

    A coordinate without any finite bound gets a quadratic potential, as on :class:`RealSpace`.
    """

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        lower_, upper_ = as_vector(lower, "lower", finite=False), as_vector(upper, "upper", finite=False)
        if lower_.shape != upper_.shape:
            raise InvalidDomainError(
                f"lower and upper must have one entry per column: {lower_.size} and {upper_.size} given."
            )
        bad = np.flatnonzero(~(lower_ < upper_) | (lower_ == np.inf) | (upper_ == -np.inf))
        if bad.size:
            j = int(bad[0])
            raise InvalidDomainError(
                f"side {j} of the box is empty: lower[{j}] = {lower_[j]:.6g} must be below upper[{j}] = {upper_[j]:.6g}."
            )
        self.lower, self.upper = lower_, upper_
        self._has_lower, self._has_upper = np.isfinite(lower_), np.isfinite(upper_)

    def __repr__(self) -> str:
        return f"Box(lower={self.lower.tolist()}, upper={self.upper.tolist()})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Box)
            and np.array_equal(self.lower, other.lower)
            and np.array_equal(self.upper, other.upper)
        )

    def __hash__(self) -> int:
        return hash((self.lower.tobytes(), self.upper.tobytes()))

    @property
    def dimension(self) -> int:
        return int(self.lower.size)

    @property
    def is_bounded(self) -> bool:
        return bool(self._has_lower.all() and self._has_upper.all())

    @property
    def inequalities(self) -> tuple[Array, Array]:
        eye = np.eye(self.dimension)
        A = np.concatenate([-eye[self._has_lower], eye[self._has_upper]])
        return A, np.concatenate([-self.lower[self._has_lower], self.upper[self._has_upper]])

    def slacks(self, X: Array) -> Array:
        below = X[:, self._has_lower] - self.lower[self._has_lower]
        return np.concatenate([below, self.upper[self._has_upper] - X[:, self._has_upper]], axis=1)

    def interior_point(self) -> Array:
        both = self._has_lower & self._has_upper
        one_sided = np.where(self._has_lower, self.lower + 1.0, np.where(self._has_upper, self.upper - 1.0, 0.0))
        with np.errstate(invalid="ignore"):
            return np.where(both, 0.5 * self.lower + 0.5 * self.upper, one_sided)

    def barrier(self, potential: SlackPotential, X: Array, units: Units | None = None) -> BarrierHessian:
        curvature = np.zeros_like(X)
        change = np.zeros_like(X)
        lower, upper = self._has_lower, self._has_upper
        sigma = None if units is None else units.slacks
        n_lower = int(lower.sum())
        for has, slack, sign, own in (
            (lower, X - np.where(lower, self.lower, 0.0), 1.0, slice(n_lower)),
            (upper, np.where(upper, self.upper, 0.0) - X, -1.0, slice(n_lower, None)),
        ):
            if has.any():
                inverse, _, ratio = potential.terms_in(slack[:, has], None if sigma is None else sigma[own])
                curvature[:, has] += 1.0 / inverse
                change[:, has] += sign * ratio / inverse
        free = ~(lower | upper)
        curvature[:, free] = 1.0 if units is None else units.spread[free] ** -2.0
        return BarrierHessian(Diagonal(1.0 / curvature), change / curvature, lambda: row_sums(np.log(curvature)))

    def clip(self, X: Array, epsilon: float) -> Array:
        room = np.minimum(epsilon, 0.5 * (self.upper - self.lower))
        return np.clip(X, self.lower + room, self.upper - room)
