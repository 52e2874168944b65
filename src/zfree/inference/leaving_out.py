r"""The estimate without a row, or without a group of rows, in closed form.

The estimate solves :math:`G\theta + g = 0` with :math:`G = \sum_i G_i`, :math:`G_i = w_i J D J^\top` (J of shape r × d). With
:math:`A = G^{-1}` and :math:`\psi_i = G_i\theta + g_i`, leaving row i out changes it by

.. math::
   \theta_{(i)} - \theta = (G - G_i)^{-1}\psi_i = A\,(\psi_i + J y_i), \qquad
   \bigl((wD)^{-1} - J^\top A J\bigr)\, y_i = J^\top A\psi_i

by Woodbury's identity: a d × d system a row. It is solved for all rows at once by conjugate gradients preconditioned with wD, which are exact
after d steps and, since the leverages (eigenvalues of :math:`w D J^\top A J`, with sum r over all rows) are mostly small, close after one or
two. No square root or inverse of D and no Γ_i is formed. A ridge ρ adds :math:`\rho\,\mathrm{diag}(\Gamma_i)` to G_i: r more entries of y, with
the identity for J. For a group of rows J stacks those of its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from zfree.arrays import Array, Index
from zfree.data import Block
from zfree.moments import Rows
from zfree.penalties import NO_PENALTY, Penalty
from zfree.solvers import Inverse, Objective

ALONE = 1e-8
"""What must be left of the information on a direction without a row, else the row determines it alone."""


class DeterminedAlone(ArithmeticError):  # noqa: N818 - a signal inside the package, never shown
    """Without piece `piece` the rest does not determine the parameters, least of all number `parameter`.

    Once it is known where the piece stands, `number` and `x` are those of its (first) row.
    """

    def __init__(self, piece: int, parameter: int, number: int = 0, x: Array | None = None) -> None:
        super().__init__(f"piece {piece} alone determines parameter {parameter}")
        self.piece, self.parameter, self.number, self.x = piece, parameter, number, x

    def at(self, start: int, block: Block) -> DeterminedAlone:
        """The same, of a piece of this block."""
        row = min(self.piece, len(block) - 1)
        return DeterminedAlone(start + self.piece, self.parameter, block.number(row), block.X[row])


@dataclass(frozen=True, eq=False)
class Shrunk:
    """A = (total · Γ_N)⁻¹, where Γ_N⁻¹ is given: products only."""

    inverse: Inverse
    total: float

    def __matmul__(self, V: Array) -> Array:
        out = self.inverse.times(V)
        out /= self.total
        return out

    def from_the_right(self, V: Array) -> Array:
        """V Aᵀ, of rows (m, r)."""
        out: Array = V @ self.inverse.dense().T
        out /= self.total
        return out

    def diagonal(self) -> Array:
        """Its diagonal."""
        return self.inverse.diagonal() / self.total


@dataclass(frozen=True, eq=False)
class _Largest:
    """For each parameter its share of Γ's diagonal, in all and at the row where it is largest."""

    total: Array
    largest: Array
    numbers: Index
    points: Array

    def __add__(self, other: _Largest) -> _Largest:
        theirs = other.largest > self.largest
        return _Largest(
            self.total + other.total,
            np.where(theirs, other.largest, self.largest),
            np.where(theirs, other.numbers, self.numbers),
            np.where(theirs[:, None], other.points, self.points),
        )


def check_no_row_alone(objective: Objective) -> None:
    """A statistic whose gradient is zero at all rows but one is fitted to that row exactly, and its influences do not show it."""
    if not objective.problem.model.may_vanish:
        return
    log_scale = objective.moments.log_scale

    def largest(rows: Rows) -> _Largest:
        diagonal = rows.model.gram_diagonal(rows.X, rows.value.field) * rows.weights_in(log_scale)
        here = diagonal.argmax(axis=1)
        numbers = np.array([rows.block.number(int(k)) for k in here], dtype=np.intp)
        return _Largest(diagonal.sum(axis=1), diagonal[np.arange(len(here)), here], numbers, rows.X[here])

    found = objective.problem.reduce(largest)
    alone = np.flatnonzero((found.largest > 0) & (found.total - found.largest <= ALONE * found.total))
    if alone.size:
        k = int(alone[0])
        raise DeterminedAlone(0, k, int(found.numbers[k]), found.points[k])


class Pieces:
    """The products with J and D of rows that leave one by one (`each`) or together.

    Arrays over parameters are (r, pieces). A vector of the systems is (N, d), with a ridge (N, d + r), when each row leaves by itself, and flat
    when they leave together.
    """

    def __init__(self, rows: Sequence[Rows], log_scale: float, penalty: Penalty = NO_PENALTY, *, each: bool) -> None:
        self.rows, self.each, self.log_scale, self._penalty = rows, each, log_scale, penalty
        self.weights = [p.weights_in(log_scale) for p in rows]
        self.penalty: Array | None = None
        if penalty.share:
            pairs = zip(rows, self.weights, strict=True)
            diagonals = [p.model.gram_diagonal(p.X, p.value.field) * w for p, w in pairs]
            self.penalty = penalty.share * self._total(diagonals)

    def _total(self, values: list[Array]) -> Array:
        """From arrays over rows to one over pieces."""
        return values[0] if self.each else np.sum([v.sum(axis=1) for v in values], axis=0)[:, None]

    def influence(self, theta: Array) -> Array:
        """ψ of each piece."""
        return self._total([p.influence(theta, self.log_scale, self._penalty) for p in self.rows])

    def pull(self, x: Array) -> Array:
        """Jᵀx."""
        if self.each:
            out = self.rows[0].model.statistic_gradients(self.rows[0].X, x)
            return out if self.penalty is None else np.concatenate([out, x.T], axis=1)
        slopes = [p.model.statistic_gradient(p.X, x[:, 0]).ravel() for p in self.rows]
        return np.concatenate(slopes if self.penalty is None else [*slopes, x[:, 0]])

    def _split(self, y: Array) -> tuple[list[Array], Array]:
        """The part of each chunk, and what belongs to the ridge, laid out as its penalty."""
        d = self.rows[0].X.shape[1]
        if self.each:
            return [y[:, :d]], y[:, d:].T
        ends = np.cumsum([0, *(p.X.size for p in self.rows)])
        return [y[a:b].reshape(-1, d) for a, b in pairwise(ends)], y[ends[-1] :, None]

    def weigh(self, y: Array) -> Array:
        """w D y, and the ridge's part times its penalty."""
        chunks, rest = self._split(y)
        out = [p.value.field.apply(c) * w[:, None] for p, c, w in zip(self.rows, chunks, self.weights, strict=True)]
        if self.each:
            return out[0] if self.penalty is None else np.concatenate([out[0], (self.penalty * rest).T], axis=1)
        tail = [] if self.penalty is None else [(self.penalty * rest).ravel()]
        return np.concatenate([*(o.ravel() for o in out), *tail])

    def push(self, y: Array) -> Array:
        """J y."""
        chunks, rest = self._split(y)
        out = self._total([p.tests.apply_jacobian(p.X, c) for p, c in zip(self.rows, chunks, strict=True)])
        return out if self.penalty is None else out + rest

    def image(self, x: Array) -> Array:
        """G x of each piece, without a ridge."""
        pairs = zip(self.rows, self.weights, strict=True)
        return self._total([p.products(x) * w for p, w in pairs])

    def only(self, piece: int) -> Pieces:
        """One of them."""
        if not self.each:
            return self
        (rows,) = self.rows
        return Pieces([rows.only(piece)], self.log_scale, self._penalty, each=True)

    def matrix(self) -> Array:
        """G of a single piece, shape (r, r), column by column."""
        r = self.rows[0].model.n_parameters
        return np.concatenate([self.image(unit[:, None]) for unit in np.eye(r)], axis=1)

    def dot(self, y: Array, z: Array) -> Array:
        """yᵀz of each piece."""
        return np.einsum("nj,nj->n", y, z) if self.each else np.array([y @ z])


def changes_without(pieces: Pieces, A: Shrunk, psi: Array, tolerance: float, most: int) -> tuple[Array, Array]:
    """θ without each piece minus θ, and its linear part A ψ, both (r, pieces).

    Parameters
    ----------
    pieces : Pieces
    A : Shrunk
        Inverse of G over the free parameters, zero elsewhere.
    psi : ndarray of shape (r, pieces)
    tolerance : float
        Error allowed, relative to the size of the changes; both in the metric of G, over all pieces together.
    most : int
        Steps after which the systems are given up.
    """
    linear = A @ psi
    change = linear.copy()
    sizes = np.einsum("rn,rn->n", psi, linear)
    size = float(sizes.sum())
    residual = pieces.pull(linear)
    p, unweighted = pieces.weigh(residual), residual  # a direction, and (wD)⁻¹p, for which D is never inverted
    energy = pieces.dot(residual, p)
    for first in (True, *(most - 1) * (False,)):
        pushed = pieces.push(p)
        image = A @ pushed
        whole, taken = pieces.dot(unweighted, p), np.einsum("rn,rn->n", pushed, image)
        unsolved = energy > 0.25 * tolerance**2 * sizes  # the others rest: rounding would lead them astray
        lost = unsolved & (whole - taken <= ALONE * whole)
        if lost.any():
            piece = int(np.argmax(np.where(lost, energy, -1.0)))
            raise DeterminedAlone(piece, _leading(image[:, piece], A))
        step = np.divide(energy, whole - taken, out=np.zeros_like(energy), where=unsolved)
        image *= step
        change += image
        if first:
            # The first step leaves less energy than the leverage along p squared, times the energy before (the root of it was 0.07 to
            # 0.18 of that in six problems). To trust it saves the residual, a fifth of the whole cost.
            leverage = np.divide(taken, whole, out=np.zeros_like(energy), where=unsolved)
            if energy @ leverage**2 <= (15.0 * tolerance) ** 2 * size:
                return change, linear
        residual = residual - (_along(step, unweighted) * unweighted - pieces.pull(image))
        z = pieces.weigh(residual)
        before, energy = energy, pieces.dot(residual, z)
        if energy.sum() <= tolerance**2 * size:
            return change, linear
        ratio = _along(np.divide(energy, before, out=np.zeros_like(energy), where=unsolved), z)
        p, unweighted = z + ratio * p, residual + ratio * unweighted
    piece = int(np.argmax(energy))  # the system that is least solved
    raise DeterminedAlone(piece, _leading(A @ pieces.push(p)[:, piece], A))


def _leading(direction: Array, A: Shrunk) -> int:
    """The parameter that a direction moves most, in its own unit."""
    return int(np.argmax(np.abs(direction) / np.sqrt(np.maximum(A.diagonal(), 1e-300))))


def _along(values: Array, vectors: Array) -> Array:
    """One factor per piece, to multiply its system by."""
    return values[:, None] if vectors.ndim == 2 else values
