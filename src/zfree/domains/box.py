"""Boxes, with finite, half-infinite and infinite sides."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array
from zfree.domains.arguments import as_side, check_dimension
from zfree.domains.base import BarrierHessian
from zfree.domains.polyhedral import Polyhedral
from zfree.domains.units import Units
from zfree.errors import InvalidDomainError, SpecificationError
from zfree.fields import Diagonal
from zfree.potentials import SlackPotential


class Box(Polyhedral):
    """{x : lower_j < x_j < upper_j}, where a bound may be infinite. The barrier's Hessian is diagonal.

    A coordinate without any finite bound gets a quadratic potential, as on :class:`RealSpace`.

    Parameters
    ----------
    lower, upper : float or array_like
        One bound per column; a number stands for all columns. If both are numbers, the box has as many columns as the data,
        or as `d` says.
    d : int, optional
        Number of columns, when both bounds are numbers and the box is used by itself.

    Examples
    --------
    >>> import zfree as zf
    >>> zf.Box(0, [1, 2])
    Box(lower=[0.0, 0.0], upper=[1.0, 2.0])
    >>> zf.Box(0, 100)
    Box(0.0, 100.0)
    >>> zf.Box(0, 100).for_columns(2).dimension
    2
    """

    def __init__(self, lower: ArrayLike, upper: ArrayLike, d: int | None = None) -> None:
        lower_, upper_ = as_side(lower, "lower"), as_side(upper, "upper")
        size = max(lower_.size, upper_.size)
        if any(side.ndim and side.size != size for side in (lower_, upper_)):
            raise InvalidDomainError(
                f"lower and upper must have one entry per column: {lower_.size} and {upper_.size} given."
            )
        if d is not None:
            check_dimension(d)
            if (lower_.ndim or upper_.ndim) and d != size:
                raise InvalidDomainError(f"d = {d} contradicts bounds for {size} columns.")
            size = d
        self._open = not lower_.ndim and not upper_.ndim and d is None
        self._lower, self._upper = np.broadcast_to(lower_, size), np.broadcast_to(upper_, size)
        bad = np.flatnonzero(~(self._lower < self._upper) | (self._lower == np.inf) | (self._upper == -np.inf))
        if bad.size:
            j = int(bad[0])
            raise InvalidDomainError(
                f"side {j} of the box is empty: lower[{j}] = {self._lower[j]:.6g} must be below upper[{j}] = "
                f"{self._upper[j]:.6g}."
            )
        self._has_lower, self._has_upper = np.isfinite(self._lower), np.isfinite(self._upper)

    @property
    def lower(self) -> Array:
        """Lower bounds (d,)."""
        self._check_dimension_known()
        return self._lower

    @property
    def upper(self) -> Array:
        """Upper bounds (d,)."""
        self._check_dimension_known()
        return self._upper

    def _check_dimension_known(self) -> None:
        if self._open:
            raise SpecificationError(
                f"the dimension of {self!r} is open: give it d= or one bound per column, or fit an estimator on it."
            )

    def for_columns(self, n_columns: int) -> Box:
        return Box(self._lower[0], self._upper[0], d=n_columns) if self._open else self

    def __repr__(self) -> str:
        if self._open:
            return f"Box({float(self._lower[0])}, {float(self._upper[0])})"
        return f"Box(lower={self.lower.tolist()}, upper={self.upper.tolist()})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Box)
            and self._open == other._open
            and np.array_equal(self._lower, other._lower)
            and np.array_equal(self._upper, other._upper)
        )

    def __hash__(self) -> int:
        return hash((self._open, self._lower.tobytes(), self._upper.tobytes()))

    @cached_property
    def dimension(self) -> int:
        return int(self.lower.size)

    @cached_property
    def is_bounded(self) -> bool:
        return bool(self._has_lower.all() and self._has_upper.all())

    @cached_property
    def has_boundary(self) -> bool:
        return bool(self._has_lower.any() or self._has_upper.any())

    @property
    def inequalities(self) -> tuple[Array, Array]:
        eye = np.eye(self.dimension)
        A = np.concatenate([-eye[self._has_lower], eye[self._has_upper]])
        return A, np.concatenate([-self.lower[self._has_lower], self.upper[self._has_upper]])

    def slacks(self, X: Array) -> Array:
        below = X[:, self._has_lower] - self.lower[self._has_lower]
        return np.concatenate([below, self.upper[self._has_upper] - X[:, self._has_upper]], axis=1)

    def holds_all(self, X: Array) -> bool:
        return bool(np.all(self.lower < X) and np.all(X < self.upper))

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
        return BarrierHessian(Diagonal(1.0 / curvature), change / curvature, lambda: np.log(curvature).sum(axis=1))

    def clip(self, X: Array, epsilon: float) -> Array:
        room = np.minimum(epsilon, 0.5 * (self.upper - self.lower))
        return np.clip(X, self.lower + room, self.upper - room)
