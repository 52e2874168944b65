r"""Standard errors, bias and degrees of freedom from the estimates without each row: for the rows one has.

With :math:`\delta_i = \theta_{(i)} - \theta` (:mod:`zfree.inference.leaving_out`) the jackknife (Quenouille 1956, Tukey 1958) says

.. math::
   \text{bias} = (n - 1)\,\bar\delta, \qquad \text{variance} = \frac{n - 1}{n}\sum_i (\delta_i - \bar\delta)^2, \qquad
   \nu = \frac{2\,(\sum_i a_i^2)^2}{\frac{n}{n - 1}\sum_i (a_i^2 - \overline{a^2})^2},

where :math:`a_i` are the influences behind the sandwich and ν Satterthwaite's degrees of freedom of a variance that is a sum of their squares: few,
when it rests on few rows. Intervals are :math:`\theta - \text{bias} \mp t_\nu\,\text{se}`.

With many parameters :data:`GROUPS` groups of rows are left out instead, and ν = :data:`GROUPS` − 1. Sample weights are importance weights: a row
leaves with its weight, and rows are counted, not weights; constant weights change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array, chunk_rows, row_chunks
from zfree.inference.dealing import deal
from zfree.inference.fixed_point import changes_by_iteration
from zfree.inference.leaving_out import DeterminedAlone, Pieces, changes_without
from zfree.inference.parameters import FEWEST
from zfree.moments import Moments, Problem, Rows
from zfree.solvers import Solution

GROUPS = 20
"""Groups of rows when there are many parameters."""
TOLERANCE = 1e-3
"""Error of the changes, relative to their size. One to three steps a fit; intervals then differ from exact ones by less than half a per cent
of a standard error."""


class Spread(NamedTuple):
    """What the jackknife says of some functions of θ."""

    bias: Array
    covariance: Array
    degrees_of_freedom: Array


@dataclass(frozen=True, eq=False)
class Jackknife:
    """How the estimate changes when rows, or groups of them, are left out.

    Attributes
    ----------
    changes : ndarray of shape (pieces, r)
        The estimate without a piece, minus the estimate, in working parameters.
    shares : ndarray of shape (pieces,)
        The share of the rows that each piece holds.
    influences : ndarray of shape (pieces, r) or None
        Linear parts A ψ_i of the changes, when pieces are rows.
    """

    changes: Array
    shares: Array
    influences: Array | None

    def __post_init__(self) -> None:
        for array in (self.changes, self.shares, self.influences):
            if array is not None:
                array.flags.writeable = False

    @property
    def groups(self) -> bool:
        """Whether the pieces are groups of rows."""
        return self.influences is None

    @property
    def kind(self) -> str:
        """``"jackknife"`` or ``"grouped jackknife"``."""
        return "grouped jackknife" if self.groups else "jackknife"

    def spread(self, jacobian: Array | None, changes: Array | None = None) -> Spread:
        """Bias, covariance and degrees of freedom of functions with this Jacobian, shape (q, r); None for θ itself.

        Their changes are taken to be linear in those of θ, unless they are given.
        """
        if changes is None:
            changes = self.changes if jacobian is None else self.changes @ jacobian.T
        n = len(changes)
        bias = (1.0 - self.shares) @ changes
        if not self.groups:
            mean = bias / (n - 1)
            covariance = (n - 1) / n * (changes.T @ changes - n * np.multiply.outer(mean, mean))
            return Spread(bias, covariance, self.degrees_of_freedom(jacobian))
        # Pieces of unequal size h = 1/share, see Busing, Meijer and van der Leeden (1999); equal ones give the usual formula.
        odds = 1.0 / self.shares - 1.0
        scaled = (bias - odds[:, None] * changes) * (1.0 / np.sqrt(n * odds))[:, None]
        return Spread(bias, scaled.T @ scaled, self.degrees_of_freedom(jacobian))

    def degrees_of_freedom(self, jacobian: Array | None) -> Array:
        """2 (Σ a²)² / var(Σ a²) from the influences a (Satterthwaite 1946), at most one less than the rows; one less than the groups, when
        there are some."""
        return self._own_freedom if jacobian is None else self._freedom(jacobian)

    @cached_property
    def _own_freedom(self) -> Array:
        return self._freedom(None)

    def _freedom(self, jacobian: Array | None) -> Array:
        if self.influences is None:
            q = self.changes.shape[1] if jacobian is None else len(jacobian)
            return np.full(q, len(self.changes) - 1.0)
        a = self.influences if jacobian is None else self.influences @ jacobian.T
        n, square = len(a), a * a
        ones = np.ones(n)  # products with ones add up columns several times faster than sums over the first axis
        total = ones @ square
        variation = n / (n - 1) * (ones @ (square * square) - total**2 / n)
        found = np.divide(2.0 * total**2, variation, out=np.full_like(total, np.inf), where=variation > 0)
        return np.minimum(found, n - 1.0)

    def hotelling(self, R: Array) -> tuple[float, float]:
        """How to refer the statistic of q contrasts R θ to F: a factor, and the degrees of freedom of the denominator.

        Satterthwaite's ν for the sum of squares of the whitened influences is that of a single contrast when q = 1 and does not change with
        the basis of the contrasts. The factor is Hotelling's (ν − q + 1)/ν. The covariance of groups takes its correlations from all
        rows, so only its scale is uncertain, and the factor is one.
        """
        if self.influences is None:
            return 1.0, len(self.changes) - 1.0
        a = self.influences @ R.T
        n, q = a.shape
        values, vectors = np.linalg.eigh(a.T @ a)
        whitened = a @ (vectors / np.sqrt(np.maximum(values, values[-1] * 1e-14)))
        square = np.einsum("nq,nq->n", whitened, whitened)
        nu = max(2.0 * q / float(n * np.var(square, ddof=1)), FEWEST)
        denominator = max(nu - q + 1.0, 1.0)
        return denominator / nu, denominator


def leave_rows_out(
    problem: Problem, moments: Moments, solution: Solution, ridge: float = 0.0, *, tolerance: float = TOLERANCE
) -> Jackknife:
    """The estimate without each row, by its influence and the solution of one small system."""
    A = solution.restriction.embed(solution.inverse) / moments.weight
    most = 2 * (problem.model.dimension + (problem.model.n_parameters if ridge else 0)) + 20
    changes, influences, start = [], [], 0
    for rows in _chunks(problem, ridge):
        pieces = Pieces([rows], moments.log_scale, ridge, each=True)
        try:
            change, linear = _changes(pieces, moments, A, solution.theta, tolerance, most)
        except DeterminedAlone as error:
            raise DeterminedAlone(start + error.piece, error.parameter) from None
        changes.append(change.T)
        influences.append(linear.T)
        start += len(rows.X)
    shares = np.full(start, 1.0 / start)
    if len(changes) == 1:
        return Jackknife(changes[0], shares, influences[0])
    return Jackknife(np.concatenate(changes), shares, np.concatenate(influences))


def _changes(
    pieces: Pieces, moments: Moments, A: Array, theta: Array, tolerance: float, most: int
) -> tuple[Array, Array]:
    psi = pieces.influence(theta)
    if moments.symmetric:
        return changes_without(pieces, A, psi, tolerance, most)
    return changes_by_iteration(pieces, A, psi, tolerance)


def _chunks(problem: Problem, ridge: float) -> Iterator[Rows]:
    """Rows in chunks, smaller ones with a ridge, whose systems have r more unknowns."""
    model = problem.model
    size = max(model.doubles_per_row, model.dimension + model.n_parameters) * (2 if ridge else 1)
    if len(problem.X) <= chunk_rows(size):
        yield from problem.rows()
        return
    for part in row_chunks(len(problem.X), size):
        weight = None if problem.weight is None else problem.weight[part]
        yield from replace(problem, X=problem.X[part], weight=weight).rows()


def leave_groups_out(
    problem: Problem, moments: Moments, solution: Solution, ridge: float = 0.0, *, tolerance: float = TOLERANCE
) -> Jackknife:
    """The estimate without each of some groups of rows, dealt out by :func:`zfree.inference.dealing.deal`."""
    A = solution.restriction.embed(solution.inverse) / moments.weight
    count = min(GROUPS, len(problem.X))
    group = deal(problem.X, problem.weight, count)
    changes = []
    for k in range(count):
        inside = group == k
        weight = None if problem.weight is None else problem.weight[inside]
        rows = list(replace(problem, X=problem.X[inside], weight=weight).rows())
        pieces = Pieces(rows, moments.log_scale, ridge, each=False)
        try:
            change, _ = _changes(pieces, moments, A, solution.theta, tolerance, 1000)
        except DeterminedAlone as error:
            raise DeterminedAlone(int(np.flatnonzero(inside)[0]), error.parameter) from None
        changes.append(change[:, 0])
    return Jackknife(np.array(changes), np.bincount(group) / len(group), None)
