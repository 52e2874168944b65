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

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array
from zfree.inference.fixed_point import changes_by_iteration
from zfree.inference.leaving_out import DeterminedAlone, Pieces, Shrunk, changes_without
from zfree.inference.parameters import FEWEST
from zfree.models.linear_maps import Jacobian
from zfree.moments import Rows
from zfree.solvers import Objective, Solution

GROUPS = 20
"""Groups of rows when there are many parameters."""
TOLERANCE = 1e-3
"""Error of the changes, relative to their size. One to three steps a fit; intervals then differ from exact ones by less than half a per cent
of a standard error."""


class Spread(NamedTuple):
    """What the jackknife says of some functions of θ."""

    bias: Array
    variances: Array
    degrees_of_freedom: Array
    covariance: Array | None = None
    """Where it was asked for."""


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

    def spread(self, jacobian: Jacobian | None, changes: Array | None = None, *, full: bool = True) -> Spread:
        """Bias, variances, degrees of freedom and, if `full`, covariance of functions with this Jacobian, shape (q, r); None for θ itself.

        Their changes are taken to be linear in those of θ, unless they are given.
        """
        if changes is None:
            changes = self.changes if jacobian is None else self.changes @ jacobian.T
        n = len(changes)
        bias = (1.0 - self.shares) @ changes
        freedom = self.degrees_of_freedom(jacobian)
        if self.groups:
            # Pieces of unequal size h = 1/share, see Busing, Meijer and van der Leeden (1999); equal ones give the usual formula.
            odds = 1.0 / self.shares - 1.0
            scaled = (bias - odds[:, None] * changes) * (1.0 / np.sqrt(n * odds))[:, None]
            covariance = scaled.T @ scaled if full else None
            variances = covariance.diagonal() if covariance is not None else np.einsum("nq,nq->q", scaled, scaled)
            return Spread(bias, variances, freedom, covariance)
        mean, share = bias / (n - 1), (n - 1) / n
        if full:
            covariance = share * (changes.T @ changes - n * np.multiply.outer(mean, mean))
            return Spread(bias, covariance.diagonal(), freedom, covariance)
        return Spread(bias, share * (np.einsum("nq,nq->q", changes, changes) - n * mean * mean), freedom)

    def degrees_of_freedom(self, jacobian: Jacobian | None) -> Array:
        """2 (Σ a²)² / var(Σ a²) from the influences a (Satterthwaite 1946), at most one less than the rows; one less than the groups, when
        there are some."""
        return self._own_freedom if jacobian is None else self._freedom(jacobian)

    @cached_property
    def _own_freedom(self) -> Array:
        return self._freedom(None)

    def _freedom(self, jacobian: Jacobian | None) -> Array:
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


def leave_rows_out(objective: Objective, solution: Solution, *, tolerance: float = TOLERANCE) -> Jackknife:
    """The estimate without each row, by its influence and the solution of one small system."""
    model, moments = objective.problem.model, objective.moments
    most = 2 * (model.dimension + (model.n_parameters if objective.penalty.share else 0)) + 20

    def left_out(rows: Rows) -> list[tuple[Array, Array]]:
        pieces = Pieces([rows], moments.log_scale, objective.penalty, each=True)
        try:
            change, linear = _changes(pieces, objective, solution, tolerance, most)
        except DeterminedAlone as error:
            raise error.at(rows.block.start, rows.block) from None
        return [(change.T, linear.T)]

    # Rows in chunks, smaller ones with a ridge, whose systems have r more unknowns.
    size = max(model.doubles_per_row, model.dimension + model.n_parameters) * (2 if objective.penalty.share else 1)
    found = objective.problem.reduce(left_out, size)
    changes, influences = (parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in zip(*found, strict=True))
    return Jackknife(changes, np.full(len(changes), 1.0 / len(changes)), influences)


def _changes(
    pieces: Pieces, objective: Objective, solution: Solution, tolerance: float, most: int
) -> tuple[Array, Array]:
    psi, A = pieces.influence(solution.theta), Shrunk(solution.whole_inverse, objective.moments.weight)
    if objective.moments.symmetric:
        return changes_without(pieces, A, psi, tolerance, most)
    return changes_by_iteration(pieces, A, psi, tolerance)


def leave_groups_out(objective: Objective, solution: Solution, *, tolerance: float = TOLERANCE) -> Jackknife:
    """The estimate without each of some groups of rows, dealt out by :func:`zfree.data.deal`."""
    source = objective.problem.source
    count = min(GROUPS, objective.moments.n)
    dealt = source.dealt(count)
    changes, sizes = [], []
    for k in range(count):
        part = objective.problem.on(dealt.group(k))
        rows = part.reduce(lambda rows: [rows])
        pieces = Pieces(rows, objective.moments.log_scale, objective.penalty, each=False)
        try:
            change, _ = _changes(pieces, objective, solution, tolerance, 1000)
        except DeterminedAlone as error:
            raise error.at(0, rows[0].block) from None
        changes.append(change[:, 0])
        sizes.append(sum(len(piece.X) for piece in rows))
    return Jackknife(np.array(changes), np.array(sizes) / sum(sizes), None)
