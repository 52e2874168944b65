"""General polyhedra {x : A x < b}."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array, Index
from zfree.conversion import real_array
from zfree.domains.arguments import LARGEST, check_squares
from zfree.domains.base import BarrierHessian
from zfree.domains.inequalities import check_columns, parse_inequalities
from zfree.domains.linear_programs import (
    contradictory_rows,
    has_bounded_solutions,
    interior_point,
    redundant_rows,
)
from zfree.domains.parts import BoundaryParts
from zfree.domains.polyhedral import Polyhedral, describe_inequality
from zfree.domains.units import Units
from zfree.errors import InvalidDomainError, SpecificationError
from zfree.fields import Dense
from zfree.potentials import SlackPotential

GRADING = 1e8
"""Ratio of largest to smallest curvature at a point beyond which H is factorised by QR, not Cholesky."""


class Polytope(Polyhedral):
    """{x : A x < b}, bounded or not.

    Parameters
    ----------
    A : array_like of shape (m, d)
        One inequality per row.
    b : array_like of shape (m,)
        Right-hand sides.
    columns : sequence of str, optional
        Names of the d columns; checked against the data when those carry names.

    Notes
    -----
    The barrier is :math:`\\phi(x) = \\sum_k \\psi(b_k - a_k \\cdot x)`, so
    :math:`H = \\sum_k \\psi''(s_k) a_k a_k^\\top` and :math:`\\nabla\\log\\det H = -\\sum_k \\psi'''(s_k)\\,\\ell_k a_k` with the
    leverages :math:`\\ell_k = a_k^\\top H^{-1} a_k`. Directions that no facet limits get a quadratic potential.
    """

    def __init__(self, A: ArrayLike, b: ArrayLike, columns: Sequence[str] | None = None) -> None:
        self.A, self.b = _check_system(A, b)
        self._columns = None if columns is None else check_columns(columns)
        if self._columns is not None and len(self._columns) != self.A.shape[1]:
            raise InvalidDomainError(f"{len(self._columns)} column names given for {self.A.shape[1]} columns of A.")
        center = interior_point(self.A, self.b)
        if center is None:
            raise InvalidDomainError(self._why_empty())
        self._center = center

    @classmethod
    def from_inequalities(cls, text: str | Sequence[str], columns: Sequence[str] | None = None) -> Polytope:
        """Build from readable inequalities such as ``"x1 + 2*x2 < 1"`` or ``"0 < dose < 2*weight"``.

        Parameters
        ----------
        text : str or sequence of str
            Linear inequalities; one string may hold several, separated by commas, semicolons or newlines. ``<=`` means
            the same as ``<``: the domain is open. Names that are not identifiers go between backquotes.
        columns : sequence of str, optional
            Order of the columns of the data. Without it the names must be x1, x2, …

        Examples
        --------
        >>> import zfree as zf
        >>> zf.Polytope.from_inequalities("x1 > 0, x2 > 0, x1 + 2*x2 < 1")
        Polytope("x1 > 0, x2 > 0, x1 + 2*x2 < 1")
        """
        A, b, names = parse_inequalities(text, columns)
        return cls(A, b, names)

    def __repr__(self) -> str:
        names = self.constraint_names()
        shown = names if len(names) <= 6 else [*names[:4], f"… {len(names) - 4} more"]
        return f'Polytope("{", ".join(shown)}")'

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polytope) and np.array_equal(self.A, other.A) and np.array_equal(self.b, other.b)

    def __hash__(self) -> int:
        return hash((self.A.tobytes(), self.b.tobytes()))

    @cached_property
    def dimension(self) -> int:
        return int(self.A.shape[1])

    @cached_property
    def columns(self) -> tuple[str, ...] | None:
        return self._columns

    @property
    def inequalities(self) -> tuple[Array, Array]:
        return self.A, self.b

    @cached_property
    def is_bounded(self) -> bool:
        return has_bounded_solutions(self.A)

    @cached_property
    def redundant(self) -> tuple[int, ...]:
        """Rows that cut nothing off. They belong to the text, not to the set: a barrier in natural units leaves them out."""
        return redundant_rows(self.A, self.b, self._center)

    @cached_property
    def _needed(self) -> Index:
        """Rows that are facets."""
        return np.setdiff1d(np.arange(len(self.b)), self.redundant)

    @cached_property
    def _facets(self) -> Polytope:
        """The same set without the rows that cut nothing off."""
        return Polytope(self.A[self._needed], self.b[self._needed])

    def interior_point(self) -> Array:
        return self._center.copy()

    def barrier(self, potential: SlackPotential, X: Array, units: Units | None = None) -> BarrierHessian:
        if units is not None and self.redundant:
            return self._facets.barrier(potential, X, Units(units.slacks[self._needed], units.spread))
        inverse, _, ratio = potential.terms_in(self.slacks(X), None if units is None else units.slacks)
        # H is formed for rows of unit length in columns divided by their spread: no unit can make it ill-conditioned.
        spread = np.ones(self.dimension) if units is None else units.spread
        m, free = len(self.b), self.free_directions(spread)
        scaled = np.concatenate([self.A * spread, free])
        norms = np.linalg.norm(scaled, axis=1)
        scaled = scaled / norms[:, None]
        curvature = np.concatenate([norms[:m] ** 2 / inverse, np.ones((len(X), len(free)))], axis=1)
        inverse_hessian, logdet = _invert(curvature, scaled)
        outer = (scaled[:m, :, None] * scaled[:m, None, :]).reshape(m, -1)
        leverages = inverse_hessian.reshape(len(X), -1) @ outer.T
        inverse_hessian *= np.multiply.outer(spread, spread)
        constant = -2.0 * np.log(spread).sum()
        return BarrierHessian(
            Dense(inverse_hessian), -(curvature[:, :m] * ratio * leverages) @ self.A, lambda: logdet + constant
        )

    def boundary_parts(self) -> BoundaryParts:
        return BoundaryParts.of_facets(self.A[self._needed], self._needed)

    def _why_empty(self) -> str:
        labels = self._labels(None)
        rows = contradictory_rows(self.A, self.b) or tuple(range(min(len(self.b), 6)))
        quoted = "; ".join(f"row {k}: {describe_inequality(self.A[k], float(self.b[k]), labels)}" for k in rows)
        return f"the polytope is empty (no interior): these inequalities contradict each other: {quoted}. Relax one."


def _invert(curvature: Array, A: Array) -> tuple[Array, Array]:
    """Inverse and log-determinant of Σ_k c_k a_k a_kᵀ at N points, the rows a_k of unit length."""
    n, d = curvature.shape[0], A.shape[1]
    inverse, logdet = np.empty((n, d, d)), np.empty(n)
    graded = curvature.max(axis=1) > GRADING * curvature.min(axis=1)
    plain = np.flatnonzero(~graded)
    if plain.size:
        outer = (A[:, :, None] * A[:, None, :]).reshape(len(A), -1)
        H = (curvature[plain] @ outer).reshape(plain.size, d, d)
        try:
            factor = np.linalg.inv(np.linalg.cholesky(H))
            inverse[plain] = np.swapaxes(factor, 1, 2) @ factor
            logdet[plain] = -2.0 * np.log(np.einsum("njj->nj", factor)).sum(axis=1)
        except np.linalg.LinAlgError:  # facets that are nearly parallel
            graded[:] = True
    if graded.any():
        # Close to a facet H = RᵀR is graded; QR of the rows √c a_k, largest first, keeps the small directions.
        order = np.argsort(-curvature[graded], axis=1)
        root = np.sqrt(np.take_along_axis(curvature[graded], order, axis=1))
        R = np.linalg.qr(root[:, :, None] * A[order], mode="r")
        diagonal = np.abs(np.einsum("njj->nj", R))
        if not diagonal.min() > 0:
            raise SpecificationError(
                "the barrier's Hessian is singular: some facets are parallel to rounding. Leave redundant inequalities out, and "
                'measure in units of the data (scale="natural").'
            )
        factor = np.linalg.inv(R)
        inverse[graded] = factor @ np.swapaxes(factor, 1, 2)
        logdet[graded] = 2.0 * np.log(diagonal).sum(axis=1)
    return inverse, logdet


def _check_system(A: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    A_ = real_array(A, "A of a polytope", InvalidDomainError).copy()
    b_ = np.atleast_1d(real_array(b, "b of a polytope", InvalidDomainError)).copy()
    if A_.ndim != 2 or b_.shape != (A_.shape[0],) or A_.size == 0:
        raise InvalidDomainError(
            f"a polytope needs A of shape (m, d) and b of shape (m,), got {A_.shape} and {b_.shape}."
        )
    if not (np.isfinite(A_).all() and np.isfinite(b_).all()):
        raise InvalidDomainError("A and b of a polytope must be finite; leave out a row that constrains nothing.")
    for k in np.flatnonzero(~A_.any(axis=1)):
        raise InvalidDomainError(f"row {k} of A is zero: it constrains no coordinate. Leave it out.")
    remedy = "Divide that row of A and its entry of b by a common factor, which leaves the polytope as it is, or use other units."
    check_squares(np.abs(A_).max(axis=1), "A of a polytope", remedy)
    if np.abs(b_).max() > LARGEST:
        raise InvalidDomainError(f"b of a polytope holds {np.abs(b_).max():.3g}, which has no square. {remedy}")
    A_.flags.writeable = b_.flags.writeable = False
    return A_, b_
