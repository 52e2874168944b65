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
from itertools import pairwise

import numpy as np

from zfree.arrays import Array
from zfree.moments import Problem, Rows

ALONE = 1e-8
"""What must be left of the information on a direction without a row, else the row determines it alone."""


class DeterminedAlone(ArithmeticError):  # noqa: N818 - a signal inside the package, never shown
    """Without piece `piece` the rest does not determine the parameters, least of all number `parameter`."""

    def __init__(self, piece: int, parameter: int) -> None:
        super().__init__(f"piece {piece} alone determines parameter {parameter}")
        self.piece, self.parameter = piece, parameter


def check_no_row_alone(problem: Problem, log_scale: float) -> None:
    """A statistic whose gradient is zero at all rows but one is fitted to that row exactly, and its influences do not show it."""
    if not problem.model.may_vanish:
        return
    r, start = problem.model.n_parameters, 0
    total, largest, place = np.zeros(r), np.zeros(r), np.zeros(r, dtype=np.intp)
    for rows in problem.rows():
        diagonal = rows.model.gram_diagonal(rows.X, rows.value.field) * rows.row_weight
        diagonal *= np.exp(rows.log_scale - log_scale)
        here = diagonal.argmax(axis=1)
        value = diagonal[np.arange(r), here]
        total += diagonal.sum(axis=1)
        place = np.where(value > largest, start + here, place)
        largest, start = np.maximum(largest, value), start + len(rows.X)
    alone = np.flatnonzero((largest > 0) & (total - largest <= ALONE * total))
    if alone.size:
        raise DeterminedAlone(int(place[alone[0]]), int(alone[0]))


class Pieces:
    """The products with J and D of rows that leave one by one (`each`) or together.

    Arrays over parameters are (r, pieces). A vector of the systems is (N, d), with a ridge (N, d + r), when each row leaves by itself, and flat
    when they leave together.
    """

    def __init__(self, rows: Sequence[Rows], log_scale: float, ridge: float, *, each: bool) -> None:
        self.rows, self.each, self.log_scale, self.ridge = rows, each, log_scale, ridge
        self.weights = [
            p.row_weight if p.log_scale == log_scale else p.row_weight * np.exp(p.log_scale - log_scale) for p in rows
        ]
        self.penalty: Array | None = None
        if ridge:
            pairs = zip(rows, self.weights, strict=True)
            self.penalty = ridge * self._total([p.model.gram_diagonal(p.X, p.value.field) * w for p, w in pairs])

    def _total(self, values: list[Array]) -> Array:
        """From arrays over rows to one over pieces."""
        return values[0] if self.each else np.sum([v.sum(axis=1) for v in values], axis=0)[:, None]

    def influence(self, theta: Array) -> Array:
        """ψ of each piece."""
        return self._total([p.influence(theta, self.log_scale, self.ridge) for p in self.rows])

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
        return Pieces([rows.only(piece)], self.log_scale, self.ridge, each=True)

    def matrix(self) -> Array:
        """G of a single piece, shape (r, r), column by column."""
        r = self.rows[0].model.n_parameters
        return np.concatenate([self.image(unit[:, None]) for unit in np.eye(r)], axis=1)

    def dot(self, y: Array, z: Array) -> Array:
        """yᵀz of each piece."""
        return np.einsum("nj,nj->n", y, z) if self.each else np.array([y @ z])


def changes_without(pieces: Pieces, A: Array, psi: Array, tolerance: float, most: int) -> tuple[Array, Array]:
    """θ without each piece minus θ, and its linear part A ψ, both (r, pieces).

    Parameters
    ----------
    pieces : Pieces
    A : ndarray of shape (r, r)
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


def _leading(direction: Array, A: Array) -> int:
    """The parameter that a direction moves most, in its own unit."""
    return int(np.argmax(np.abs(direction) / np.sqrt(np.maximum(np.diagonal(A), 1e-300))))


def _along(values: Array, vectors: Array) -> Array:
    """One factor per piece, to multiply its system by."""
    return values[:, None] if vectors.ndim == 2 else values
