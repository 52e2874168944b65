"""Γ of a model with a symmetric matrix K: products over rows of K, folded because K_jk and K_kj are one parameter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from operator import add

import numpy as np
from scipy.linalg.blas import dsyrk

from zfree.arrays import Array, mirrored, row_blocks, symmetric_pairs
from zfree.fields import Parts, RankOne
from zfree.models.coordinates import Coordinates
from zfree.models.pair_rows import SQUARES
from zfree.models.pairs import Pairs
from zfree.quadratic import ColumnBlocks, Dense, Groups, LowRank, Quadratic


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
            v = seen.v(X)
            D = parts.dense if v is None else v[:, :, None] * parts.dense * v[:, None, :]
            return self.dense(seen.centred(X), seen.ratio(X), D, weight)
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
        for sign in (1.0, -1.0):
            rows = np.flatnonzero(sign * weight > 0.0)
            if rows.size == 0:
                continue
            some = rows.size < len(X)
            x, u, root = (X[rows], term.u[rows], weight[rows]) if some else (X, term.u, weight)
            root = np.sqrt(np.abs(root))
            for own in row_blocks(len(x), r, SQUARES):
                n = min(own.stop, len(x)) - own.start
                spare = spare if spare.size >= r * n else np.empty(r * n)
                q = self._directions(x[own], u[own], root[own], seen, spare[: r * n].reshape(r, n))
                total = dsyrk(sign, q.T, trans=1, beta=1.0, c=total, overwrite_c=1)
        return Dense(mirrored(total))

    def _directions(self, X: Array, direction: Array, factor: Array | None, seen: Coordinates, out: Array) -> Array:
        """q of every row, times a factor."""
        x, w, m = np.ascontiguousarray(X.T), np.ascontiguousarray(direction.T), len(self.pairs)
        v, ratio = seen.v(x), seen.ratio(x)
        if factor is not None:
            w = factor * w
        if v is not None:
            w = v * w
        negative = np.negative(seen.centred(x, across=True))
        self.pairs.products([(negative, w), (w, negative)], out[:m])
        if self.linear:
            out[m:] = w if ratio is None else w * ratio
        return out

    def diagonal(self, X: Array, delta: Array, weight: Array, seen: Coordinates) -> ColumnBlocks:
        """D = diag(δ): each component j of the score adds Σ δ_j q qᵀ over its own parameters, q = −u at row j of K and r_j at η_j."""
        pairs, (d, m) = self.pairs, self.groups.index.shape
        blocks, corner = np.zeros((d, m, m)), np.zeros(d)
        cross = np.zeros((d, 1 if pairs.on_diagonal else d))
        over_pairs = np.zeros((d, len(pairs) if pairs.whole else 0))
        for own in row_blocks(len(X), max(len(pairs), 4 * d)):
            x = np.ascontiguousarray(X[own].T)
            u, v, ratio = seen.centred(x, across=True), seen.v(x), seen.ratio(x)
            here = np.multiply(np.ascontiguousarray(delta[own].T), weight[own])
            if v is not None:
                here *= v**2
            if pairs.whole:  # the distinct products u_a u_b serve all components
                products = np.empty((len(pairs), u.shape[1]))
                pairs.products([(u, u)], products)
                over_pairs += here @ products.T
            else:
                for j, (_, columns) in enumerate(pairs.rows_of_K):
                    row, k = u[columns], len(columns)
                    blocks[j, :k, :k] += (row * here[j]) @ row.T
            if self.linear:
                moved = here if ratio is None else here * ratio
                if pairs.on_diagonal:
                    cross[:, 0] -= np.einsum("jn,jn->j", moved, u)
                else:
                    cross -= moved @ u.T  # [j, a] = −Σ δ_j r_j u_a
                corner += (moved if ratio is None else moved * ratio).sum(axis=1)
        if pairs.whole:
            over_pairs[:, pairs.diagonal] *= 2.0
            blocks[:, pairs.rows, pairs.cols] = blocks[:, pairs.cols, pairs.rows] = over_pairs
        if self.linear:
            blocks[:, -1, -1] = corner
            for j, (_, columns) in enumerate(pairs.rows_of_K):
                k = len(columns)
                blocks[j, :k, -1] = blocks[j, -1, :k] = cross[j, :k] if pairs.on_diagonal else cross[j, columns]
        return ColumnBlocks(self.groups, blocks)

    def dense(self, u: Array, ratio: Array | None, D: Array, weight: Array) -> Dense:
        """Γ[(j,a),(k,b)] = Σ D'_jk u_a u_b, from products over the distinct entries of D' and of u uᵀ only."""
        d, j, a = self.pairs.d, self.pairs.rows, self.pairs.cols
        p, q = symmetric_pairs(d)
        D_ = D[:, p, q] * weight[:, None]
        M = np.zeros((d, d, d, d))
        product = D_.T @ (u[:, p] * u[:, q])
        for left in ((p, q), (q, p)):
            for right in ((p, q), (q, p)):
                M[left[0][:, None], left[1][:, None], right[0][None, :], right[1][None, :]] = product
        K, A = (x[:, None] for x in (j, a))
        L, B = (x[None, :] for x in (j, a))
        folded = M[K, L, A, B] + M[K, B, A, L] + M[A, L, K, B] + M[A, B, K, L]
        folded *= np.multiply.outer(self.pairs.once, self.pairs.once)
        if not self.linear:
            return Dense(folded)
        Dw = D * weight[:, None, None]
        right_side = Dw if ratio is None else Dw * ratio[:, None, :]
        C = -np.tensordot(right_side, u, axes=(0, 0))  # [j, k, a] = −Σ D'_jk r_k u_a
        cross = C[j, :, a] + C[a, :, j]
        corner = right_side.sum(axis=0) if ratio is None else (right_side * ratio[:, :, None]).sum(axis=0)
        cross = cross * self.pairs.once[:, None]
        return Dense(np.block([[folded, cross], [cross.T, corner]]))


@lru_cache(maxsize=16)
def _kept(d: int, linear: bool) -> PairFold:
    return PairFold(Pairs(d, *symmetric_pairs(d)), linear)


def all_pairs(d: int, linear: bool) -> PairFold:
    """All of K. What follows from d alone is kept, as long as it is small."""
    return _kept(d, linear) if d <= 32 else _kept.__wrapped__(d, linear)
