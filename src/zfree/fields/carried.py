r"""Fields of a chart, carried over to all columns.

On a flat domain :math:`x = C y + c` the coordinates y are some of the columns of x, so C is the identity at the columns it keeps; B are its
other rows. Then D' is a block of :math:`D = C D' C^\top`, bordered by a row and a column for each column that is dropped:

.. math:: D = \begin{pmatrix} D' & D'B^\top \\ B D' & B D' B^\top \end{pmatrix} .

For a diagonal :math:`D' = \mathrm{diag}(\delta)` it is :math:`\sum_m \delta_m c_m c_m^\top` with the columns of C, which have few entries; and where
no two rows of B share a column, with :math:`s_r = \sum_m B_{rm}^2\delta_m` and :math:`v_r = B_r\delta/s_r`, also

.. math:: D = \mathrm{diag}(\delta, 0) + \sum_r s_r \bigl[(e_r + v_r)(e_r + v_r)^\top - v_r v_r^\top\bigr] .
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from zfree.arrays import Array, Index
from zfree.fields.base import Along, Directions, Field, Parts, RankOne


@dataclass(frozen=True, eq=False)
class Carried(Field):
    """``C D' Cᵀ``, and ``diag(v) C D' Cᵀ diag(v)`` once it was rescaled.

    Attributes
    ----------
    inner : Field
        D' in the M coordinates of the chart.
    matrix : ndarray of shape (d, M)
        C.
    kept : ndarray of int of shape (M,)
        Rows of C that are the identity.
    scale : ndarray of shape (N, d), optional
        v; None for ones.
    """

    inner: Field
    matrix: Array
    kept: Index
    scale: Array | None = None

    @cached_property
    def _dropped(self) -> Index:
        return np.delete(np.arange(len(self.matrix)), self.kept)

    @cached_property
    def _rest(self) -> Array:
        """B, shape (q, M), for q columns that are dropped."""
        return self.matrix[self._dropped]

    @cached_property
    def _border(self) -> tuple[Array, Array]:
        """D'Bᵀ, shape (q, N, M), and B D' Bᵀ, shape (q, q, N)."""
        shape = self.inner.diagonal().shape
        border = np.array([self.inner.apply(np.broadcast_to(row, shape)) for row in self._rest])
        return border, np.einsum("rnm,sm->rsn", border, self._rest)

    def _pushed(self, Y: Array) -> Array:
        """diag(v) C y of every row."""
        return self._scaled(Y @ self.matrix.T)

    def _scaled(self, values: Array) -> Array:
        return values if self.scale is None else self.scale * values

    def apply(self, V: Array) -> Array:
        return self._pushed(self.inner.apply(self._scaled(V) @ self.matrix))

    def diagonal(self) -> Array:
        return self._diagonal

    @cached_property
    def _diagonal(self) -> Array:
        delta, rank_ones, dense = self.inner.parts
        out = np.zeros((1, len(self.matrix)))
        if dense is not None:
            out = out + np.einsum("njm,jm->nj", np.matmul(self.matrix, dense), self.matrix)
        if delta is not None:
            out = out + delta @ (self.matrix * self.matrix).T
        for sigma, u in rank_ones:
            out = out + sigma[:, None] * (u @ self.matrix.T) ** 2
        return self._scaled(self._scaled(out))

    def entries(self, rows: Index, columns: Index) -> Array:
        place = np.empty(
            len(self.matrix), dtype=np.intp
        )  # among the columns that are kept, or among those that are dropped
        place[self.kept], place[self._dropped] = np.arange(self.kept.size), np.arange(len(self._dropped))
        inside = np.isin(np.arange(len(self.matrix)), self.kept)
        (border, corner), r, c = self._border, inside[rows], inside[columns]
        out = np.empty((rows.size, corner.shape[2]))
        both, left, right, none = (np.flatnonzero(hit) for hit in (r & c, r & ~c, c & ~r, ~r & ~c))
        out[both] = self.inner.entries(place[rows[both]], place[columns[both]])
        out[left] = border[place[columns[left]], :, place[rows[left]]]
        out[right] = border[place[rows[right]], :, place[columns[right]]]
        out[none] = corner[place[rows[none]], place[columns[none]]]
        if self.scale is not None:
            out *= self.scale.T[rows] * self.scale.T[columns]
        return out

    def rescale(self, v: Array) -> Carried:
        return replace(self, scale=self._scaled(v))

    @cached_property
    def parts(self) -> Parts:
        delta, rank_ones, dense = self.inner.parts
        if dense is not None or delta is None or (np.count_nonzero(self._rest, axis=0) > 1).any():
            return Parts(None, (), self.dense())
        diagonal = np.zeros((len(delta), len(self.matrix)))
        diagonal[:, self.kept] = delta
        terms = []
        for r in np.flatnonzero(self._rest.any(axis=1)):
            share = self._rest[r] * delta
            total = share @ self._rest[r]
            v = np.zeros_like(diagonal)
            v[:, self.kept] = share / total[:, None]
            e = v.copy()
            e[:, self._dropped[r]] = 1.0
            terms += [RankOne(total, self._scaled(e)), RankOne(-total, self._scaled(v))]
        return Parts(self._scaled(self._scaled(diagonal)), (*terms, *self._carried(rank_ones)), None)

    def _carried(self, rank_ones: tuple[RankOne, ...]) -> tuple[RankOne, ...]:
        return tuple(RankOne(sigma, self._pushed(u)) for sigma, u in rank_ones)

    def along(self) -> Along:
        delta, rank_ones, dense = self.inner.parts
        if dense is not None or self.scale is not None:
            return super().along()
        m, j = np.nonzero(self.matrix.T)
        counts = np.bincount(m, minlength=self.matrix.shape[1])
        place = np.arange(m.size) - np.repeat(np.cumsum(counts) - counts, counts)
        shape = counts.size, int(counts.max())
        columns, coefficients = np.zeros(shape, dtype=np.intp), np.zeros(shape)
        columns[m, place], coefficients[m, place] = j, self.matrix[j, m]
        return Along(Directions(columns, coefficients), delta, self._carried(rank_ones), None)

    def dense(self) -> Array:
        return self._dense

    @cached_property
    def _dense(self) -> Array:
        out: Array = np.matmul(np.matmul(self.matrix, self.inner.dense()), self.matrix.T)
        if self.scale is not None:
            out *= self.scale[:, :, None] * self.scale[:, None, :]
        return out
