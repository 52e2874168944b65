"""Γ of a model with a symmetric matrix K: products over rows of K, folded because K_jk and K_kj are one parameter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from operator import add

import numpy as np
from scipy.linalg.blas import dsyrk

from zfree.arrays import Array, Index, symmetric_pairs
from zfree.fields import Parts, RankOne
from zfree.models.cache_blocks import mirrored, row_blocks
from zfree.models.coordinates import Coordinates
from zfree.models.pair_entries import Pairs
from zfree.quadratic import ColumnBlocks, Dense, Groups, LowRank, Quadratic

KEPT = 32
"""Columns up to which indices are kept from one model to the next."""

FEW = 8
"""Parameters in a row of K up to which all rows are multiplied in one call, filled up with zeros."""


@dataclass(frozen=True, eq=False)
class PairFold:
    """The entries of K that are parameters, followed by η if `linear`; u are the data as K sees them, r the coefficient of η."""

    pairs: Pairs
    linear: bool

    @property
    def n_parameters(self) -> int:
        """Entries of K, and η."""
        return len(self.pairs) + (self.pairs.d if self.linear else 0)

    @cached_property
    def groups(self) -> Groups:
        """Parameters of each component of the score: a row of K, and η_j."""
        d, rows = self.pairs.d, self.pairs.rows_of_K
        most = max((len(entries) for entries, _ in rows), default=0)
        index = np.full((d, most + self.linear), self.n_parameters)
        for j, (entries, _) in enumerate(rows):
            index[j, : len(entries)] = entries
        if self.linear:
            index[:, most] = len(self.pairs) + np.arange(d)
        return Groups(index, self.n_parameters)

    def gram(self, X: Array, parts: Parts, weight: Array, seen: Coordinates) -> Quadratic:
        """Σ w J D Jᵀ."""
        if parts.dense is not None:
            return self.dense(X, parts.dense, weight, seen)
        terms: list[Quadratic] = [self.rank_one(X, term, weight, seen) for term in parts.rank_ones]
        if parts.diagonal is not None:
            terms.append(self.diagonal(X, parts.diagonal, weight, seen))
        return reduce(add, terms)

    def rank_one(self, X: Array, term: RankOne, weight: Array, seen: Coordinates) -> Quadratic:
        """D = σ w wᵀ: Σ σ q qᵀ with q the products of v w and u."""
        r, weight = self.n_parameters, weight * term.sigma
        if len(X) < r:  # fewer terms than parameters: they are kept
            return LowRank(self._directions(X, term.u, None, seen, np.empty((r, len(X)))), weight)
        total, spare = np.zeros((r, r), order="F"), np.empty(0)
        for sign, x, direction, root in _by_sign(X, term.u, weight):
            for own in row_blocks(len(x), r):
                n = own.stop - own.start
                spare = spare if spare.size >= r * n else np.empty(r * n)
                q = self._directions(x[own], direction[own], root[own], seen, spare[: r * n].reshape(r, n))
                total = dsyrk(sign, q.T, trans=1, beta=1.0, c=total, overwrite_c=1)
        return Dense(mirrored(total))

    def _directions(self, X: Array, direction: Array, factor: Array | None, seen: Coordinates, out: Array) -> Array:
        """q of every row, times a factor."""
        x, w, m = np.ascontiguousarray(X.T), np.ascontiguousarray(direction.T), len(self.pairs)
        (u, v), ratio = seen.pair(x, across=True), seen.ratio(x)
        if factor is not None:
            w = factor * w
        if v is not None:
            w = v * w
        self.pairs.gradients(u, w, out[:m])
        if self.linear:
            out[m:] = w if ratio is None else w * ratio
        return out

    def diagonal(self, X: Array, delta: Array, weight: Array, seen: Coordinates) -> ColumnBlocks:
        """D = diag(δ): each component j of the score adds Σ δ_j q qᵀ over its own parameters, q = −u at row j of K and r_j at η_j."""
        pairs, (d, m) = self.pairs, self.groups.index.shape
        k = m - self.linear
        blocks, cross, corner = np.zeros((d, m, m)), np.zeros((d, d + 1)), np.zeros(d)
        over_pairs = np.zeros((d, len(pairs)))
        for own in row_blocks(len(X), max(len(pairs), 4 * d, d * k if k <= FEW else 0)):
            x = np.ascontiguousarray(X[own].T)
            (u, v), ratio = seen.pair(x, across=True), seen.ratio(x)
            here = np.multiply(np.ascontiguousarray(delta[own].T), weight[own])
            if v is not None:
                here *= v**2
            if pairs.whole:  # the distinct products u_a u_b serve all components
                products = np.empty((len(pairs), u.shape[1]))
                pairs.products(u, u, products)
                over_pairs += here @ products.T
            elif k <= FEW:
                each = np.concatenate([u, np.zeros((1, u.shape[1]))])[self._columns]
                blocks[:, :k, :k] += (each * here[:, None]) @ each.swapaxes(1, 2)
            else:
                for j, (_, columns) in enumerate(pairs.rows_of_K):
                    row, n = u[columns], len(columns)
                    blocks[j, :n, :n] += (row * here[j]) @ row.T
            if self.linear:
                moved = here if ratio is None else here * ratio
                if pairs.on_diagonal:
                    cross.flat[:: d + 2] -= np.einsum("jn,jn->j", moved, u)
                else:
                    cross[:, :d] -= moved @ u.T  # [j, a] = −Σ δ_j r_j u_a
                corner += (moved if ratio is None else moved * ratio).sum(axis=1)
        if pairs.whole:
            blocks[:, pairs.rows, pairs.cols] = blocks[:, pairs.cols, pairs.rows] = over_pairs
        if self.linear:
            blocks[:, :k, -1] = blocks[:, -1, :k] = np.take_along_axis(cross, self._columns, axis=1)
            blocks[:, -1, -1] = corner
        return ColumnBlocks(self.groups, blocks)

    @cached_property
    def _columns(self) -> Index:
        """Columns of the parameters in each row of K, d where it has fewer than others."""
        d, rows = self.pairs.d, self.pairs.rows_of_K
        out = np.full((d, self.groups.index.shape[1] - self.linear), d)
        for j, (_, columns) in enumerate(rows):
            out[j, : len(columns)] = columns
        return out

    def dense(self, X: Array, D: Array, weight: Array, seen: Coordinates) -> Dense:
        """Γ[(j,a),(k,b)] = Σ D'_jk u_a u_b, from products over the distinct entries of D' and of u uᵀ only."""
        pairs, d = self._every, self.pairs.d
        (p, q), m = (pairs.rows, pairs.cols), len(pairs)
        product, cross, corner = np.zeros((m, m)), np.zeros((2, m, d)), np.zeros(m)
        for own in row_blocks(len(X), 2 * m):
            x = np.ascontiguousarray(X[own].T)
            (u, v), ratio, squares = seen.pair(x, across=True), seen.ratio(x), np.empty((m, x.shape[1]))
            entries = np.take(D[own].reshape(len(D[own]), -1), p * d + q, axis=1)
            entries *= weight[own, None]
            if v is not None:
                pairs.products(v, v, squares)
                entries *= squares.T
            pairs.products(u, u, squares)
            product += entries.T @ squares.T
            if not self.linear:
                continue
            if ratio is None:
                cross += entries.T @ u.T
                corner += entries.sum(axis=0)
            else:
                second = entries * ratio.T[:, q]
                cross += second.T @ u.T, (entries * ratio.T[:, p]).T @ u.T
                corner += (second * ratio.T[:, p]).sum(axis=0)
        place = np.empty((d, d), dtype=np.intp)
        place[p, q] = place[q, p] = np.arange(m)
        j, a, once = self.pairs.rows, self.pairs.cols, self.pairs.once
        K, A, L, B = j[:, None], a[:, None], j[None, :], a[None, :]
        folded = product[place[K, L], place[A, B]] + product[place[A, B], place[K, L]]
        folded += product[place[K, B], place[A, L]] + product[place[A, L], place[K, B]]
        folded *= np.multiply.outer(once, once)
        if not self.linear:
            return Dense(folded)
        C = np.empty((d, d, d))  # [j, k, a] = −Σ D'_jk r_k u_a
        C[p, q], C[q, p] = -cross
        by_K = (C[j, :, a] + C[a, :, j]) * once[:, None]
        return Dense(np.block([[folded, by_K], [by_K.T, corner[place]]]))

    @cached_property
    def _every(self) -> Pairs:
        """All entries of K, parameters or not."""
        return self.pairs if self.pairs.whole else Pairs(self.pairs.d, *symmetric_pairs(self.pairs.d))


def _by_sign(X: Array, direction: Array, weight: Array) -> list[tuple[float, Array, Array, Array]]:
    """Rows of positive and of negative weight: the sign, the rows, their directions and √|weight|."""
    if weight.min() >= 0.0:
        return [(1.0, X, direction, np.sqrt(weight))]
    if weight.max() <= 0.0:
        return [(-1.0, X, direction, np.sqrt(-weight))]
    signs = [(sign, np.flatnonzero(sign * weight > 0.0)) for sign in (1.0, -1.0)]
    return [(sign, X[rows], direction[rows], np.sqrt(np.abs(weight[rows]))) for sign, rows in signs]


def fold_of(d: int, pairs: tuple[Index, Index] | None, linear: bool) -> PairFold:
    """All of K, or these entries. What follows from d alone is kept for the next model, as long as it is small."""
    if d > KEPT:
        return PairFold(Pairs(d, *(symmetric_pairs(d) if pairs is None else pairs)), linear)
    every = _every(d, linear)
    if pairs is None or (np.array_equal(pairs[0], every.pairs.rows) and np.array_equal(pairs[1], every.pairs.cols)):
        return every
    return PairFold(Pairs(d, *pairs), linear)


@lru_cache(maxsize=16)
def _every(d: int, linear: bool) -> PairFold:
    rows, cols = symmetric_pairs(d)
    rows.flags.writeable = cols.flags.writeable = False  # they are shared
    return PairFold(Pairs(d, rows, cols), linear)
