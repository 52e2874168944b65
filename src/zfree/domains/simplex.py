"""The solid simplex and the simplex of compositions: one barrier, seen from two sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from zfree.arrays import Array, Mask
from zfree.conversion import is_number, is_whole, real_array, refuse_masked, shown
from zfree.domains.arguments import check_dimension
from zfree.domains.base import BarrierHessian, Chart, Domain, Sections
from zfree.domains.parts import BoundaryParts
from zfree.domains.polyhedral import Polyhedral
from zfree.domains.units import Units
from zfree.errors import DataError, SpecificationError
from zfree.fields import DiagonalPlusRankOne
from zfree.potentials import SlackPotential

ROUNDING = 1e-3
"""Parts that miss one by less than this, all together, were rounded; by more, they are something else than parts."""
HUGE = 1e300
"""Amounts above this are divided by the largest of their row before they are added up."""


def _parts_barrier(potential: SlackPotential, parts: Array, units: Units | None) -> BarrierHessian:
    r"""Barrier of k parts that sum to one, as a matrix on all k of them.

    In the chart that drops any one part, :math:`H = \mathrm{diag}(\psi'') + \psi''_0 11^\top`. Mapped back to all parts its
    inverse is :math:`\mathrm{diag}(w) - w w^\top / W` with :math:`w = 1/\psi''`, :math:`W = \sum w`, whichever part was
    dropped; so are :math:`\log\det H = \sum\log\psi'' + \log W` and the gradient below, along the simplex.
    """
    w, log_curvature, ratio = potential.terms_in(parts, None if units is None else units.slacks)
    total = _sums(w)
    inverse = DiagonalPlusRankOne(w, -1.0 / total, w)
    gradient = w / total[:, None]
    np.subtract(1.0, gradient, out=gradient)
    gradient *= ratio
    return BarrierHessian(inverse, gradient, lambda: _sums(log_curvature()) + np.log(total))


def _sums(parts: Array) -> Array:
    """Σ_j x_ij. As a product with ones: numpy's own reduction over a short last axis is several times slower."""
    return parts @ np.ones(parts.shape[1])


@dataclass(frozen=True)
class SolidSimplex(Polyhedral):
    """Sᵈ = {x : x_j > 0, Σ x_j < 1}, d free coordinates. The inverse Hessian is diagonal plus rank one."""

    d: int

    def __post_init__(self) -> None:
        check_dimension(self.d)

    def __repr__(self) -> str:
        return f"SolidSimplex({self.d})"

    @cached_property
    def dimension(self) -> int:
        return self.d

    is_bounded = True

    has_boundary = True

    @cached_property
    def n_slacks(self) -> int:
        return self.d + 1

    @property
    def inequalities(self) -> tuple[Array, Array]:
        A, b = -np.eye(self.d + 1, self.d), np.zeros(self.d + 1)
        A[-1] = b[-1] = 1.0
        return A, b

    def slacks(self, X: Array) -> Array:
        parts = np.empty((len(X), self.d + 1))
        parts[:, :-1] = X
        np.subtract(1.0, _sums(X), out=parts[:, -1])
        return parts

    def holds_all(self, X: Array) -> bool:
        return bool(X.min(initial=np.inf) > 0 and _sums(X).max(initial=-np.inf) < 1.0)

    def interior_point(self) -> Array:
        return np.full(self.d, 1.0 / (self.d + 1))

    def barrier(self, potential: SlackPotential, X: Array, units: Units | None = None) -> BarrierHessian:
        parts = _parts_barrier(potential, self.slacks(X), units)
        inverse = parts.inverse
        assert isinstance(inverse, DiagonalPlusRankOne)
        d = self.d
        field = DiagonalPlusRankOne(inverse.delta[:, :d], inverse.sigma, inverse.u[:, :d])
        # The last part is 1 − Σ x: its derivative along x_j is −1.
        return BarrierHessian(field, parts.grad_logdet[:, :d] - parts.grad_logdet[:, d:], parts.logdet)


@dataclass(frozen=True)
class Simplex(Domain):
    """Δ^(d−1) = {x : x_j > 0, Σ x_j = 1}: compositions of d parts.

    Parameters
    ----------
    d : int
        Number of parts (columns), at least 2.
    drop : int
        The part left out by :attr:`chart`. It does not matter to a :class:`~zfree.Barrier`; it does to baselines such as
        the distance to the boundary, which are defined in the chart.
    tolerance : float
        How far a row may be from summing to one: 1e-3, which is what d ≤ 20 shares published with four decimals can be off
        by (d/2 units of the last decimal). Rows within it are divided by their sum, which then changes no part by more than its own
        rounding; rows outside it are refused.
    """

    d: int
    drop: int = -1
    tolerance: float = ROUNDING

    def __post_init__(self) -> None:
        check_dimension(self.d, smallest=2)
        if not is_whole(self.drop) or not -self.d <= self.drop < self.d:
            raise SpecificationError(f"drop must be the number of one of the {self.d} parts, got {shown(self.drop)}.")
        if not is_number(self.tolerance) or not self.tolerance >= 0:
            raise SpecificationError(f"tolerance must be a number ≥ 0, got {shown(self.tolerance)}.")

    def __repr__(self) -> str:
        drop = "" if self.drop % self.d == self.d - 1 else f", drop={self.drop}"
        tolerance = "" if self.tolerance == ROUNDING else f", tolerance={self.tolerance:g}"
        return f"Simplex({self.d}{drop}{tolerance})"

    @cached_property
    def dimension(self) -> int:
        return self.d

    is_bounded = True

    has_boundary = True

    @property
    def _kept(self) -> Mask:
        kept: Mask = np.arange(self.d) != self.drop % self.d
        return kept

    @cached_property
    def chart(self) -> Chart:
        """Coordinates on S^(d−1): all parts but the dropped one (paper, "Dirichlet Model")."""
        matrix = np.zeros((self.d, self.d - 1))
        matrix[self._kept] = np.eye(self.d - 1)
        matrix[self.drop] = -1.0
        return Chart(matrix, (~self._kept).astype(float), SolidSimplex(self.d - 1), np.flatnonzero(self._kept))

    @staticmethod
    def closure(X: Any) -> Any:
        """Divide each row of non-negative amounts or counts by its sum.

        A pandas or polars frame comes back as one, with its names, and so does a series of them; everything else as an array.
        """
        refuse_masked(X, "X", DataError)
        amounts = real_array(X, "amounts", DataError)
        if amounts.ndim not in (1, 2) or amounts.size == 0:
            raise DataError(f"amounts must be a table with rows and columns, got shape {amounts.shape}.")
        usable = (amounts >= 0) & (amounts < np.inf)
        if not usable.all():
            place = ", ".join(f"{k}" for k in np.argwhere(~usable)[0])
            raise DataError(
                f"amounts cannot be negative, missing or infinite, as the one at [{place}] is. Leave the row out."
            )
        largest = amounts.max(axis=-1, keepdims=True)
        amounts = np.where(largest > HUGE, amounts / np.maximum(largest, 1.0), amounts)  # their sum could overflow
        totals = amounts.sum(axis=-1, keepdims=True)
        if not np.all(totals > 0):
            row = int(np.flatnonzero(~(totals > 0))[0])
            raise DataError(f"row {row} has no positive total: it cannot be made a composition. Leave it out.")
        return _like(X, amounts / totals)

    def constraint_names(self, columns: Sequence[str] | None = None) -> list[str]:
        return [f"{label} > 0" for label in self._labels(columns)] + [f"parts sum to 1 within {self.tolerance:g}"]

    def margins(self, X: Array) -> Array:
        # A row that sums to one within the tolerance has room to spare, so only a gross miss shows.
        sums = _sums(X)[:, None]
        room = self.tolerance - np.abs(sums - 1.0)
        return np.concatenate([X, np.where((room >= 0) & (sums > 0), 1.0, np.minimum(room, -1e-9))], axis=1)

    def margin_scales(self, X: Array) -> Array:
        return np.ones(self.d + 1)

    def holds_all(self, X: Array) -> bool:
        if not X.min(initial=np.inf) > 0:
            return False
        sums, room = _sums(X), self.tolerance
        return bool(sums.max(initial=1.0) <= 1.0 + room and sums.min(initial=1.0) >= 1.0 - room)

    def normalise(self, X: Array) -> Array:
        return X / _sums(X)[:, None]

    def interior_point(self) -> Array:
        return np.full(self.d, 1.0 / self.d)

    def boundary_distance(self, X: Array, spread: Array | None = None) -> tuple[Array, Array]:
        """Euclidean distance in the chart S^(d−1), with the gradient in the chart's coordinates embedded back."""
        kept = None if spread is None else spread[self._kept]
        distance, gradient = SolidSimplex(self.d - 1).boundary_distance(X[:, self._kept], kept)
        full = np.zeros_like(X)
        full[:, self._kept] = gradient
        return distance, full

    def sections(self, X: Array) -> Sections:
        """Sections of the chart S^(d−1): a part grows at the expense of the dropped one, which has none (∞)."""
        below, above = np.full(X.shape, np.inf), np.full(X.shape, np.inf)
        inner = SolidSimplex(self.d - 1).sections(X[:, self._kept])
        below[:, self._kept], above[:, self._kept] = inner
        return Sections(below, above)

    @cached_property
    def n_slacks(self) -> int:
        return self.d

    def slacks(self, X: Array) -> Array:
        return X

    def slack_units(self, means: Array) -> Array:
        """Shares of a whole cannot be rescaled one by one: the whole, which is one, is the unit of them all."""
        return np.ones(self.d)

    def barrier(self, potential: SlackPotential, X: Array, units: Units | None = None) -> BarrierHessian:
        return _parts_barrier(potential, X, units)

    def boundary_parts(self) -> BoundaryParts:
        return BoundaryParts.of_facets(-np.eye(self.d), flat=np.ones((1, self.d)))

    def curvature_along(self, potential: SlackPotential, X: Array, V: Array) -> tuple[Array, Array]:
        """Along directions that keep the sum, the parts are their own slacks."""
        inverse, _, ratio = potential.terms(X)
        second = V**2 / inverse
        return second.sum(axis=1), (second * V * ratio).sum(axis=1)

    def clip(self, X: Array, epsilon: float) -> Array:
        """Raise parts below `epsilon` (at most 1/d) to it and close again (multiplicative replacement)."""
        low = X < epsilon
        lifted = np.where(low, epsilon, X)
        missing = 1.0 - lifted.sum(axis=1, keepdims=True)
        others = np.where(low, 0.0, X).sum(axis=1, keepdims=True)
        return np.where(low, epsilon, X * (1.0 + missing / np.where(others > 0, others, 1.0)))

    def affine_image(self, B: Array, c: Array) -> Domain:
        raise SpecificationError(
            "an affine image of the simplex is no simplex; map its chart instead: Simplex(d).chart.domain.affine_image(B, c)."
        )

    def coordinate_facets(self) -> dict[int, list[float]] | None:
        return None

    def recession(self) -> Array | None:
        return None


def _like(X: Any, values: Array) -> Any:
    """Values in the frame or the series that they came in, if it was one."""
    if not hasattr(X, "columns"):
        if hasattr(X, "index") and hasattr(X, "name"):  # a series of pandas; lists have an index too
            return type(X)(values, index=X.index, name=X.name)
        return type(X)(X.name, values) if hasattr(X, "alias") else values  # a series of polars
    if hasattr(X, "index"):  # pandas
        return type(X)(values, index=X.index, columns=X.columns)
    return type(X)(values, schema=list(X.columns))
