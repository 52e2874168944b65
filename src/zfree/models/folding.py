"""Γ of a model with a symmetric matrix K: products over rows of K, folded because K_jk and K_kj are one parameter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zfree.arrays import Array, Index, block_rows, symmetric_pairs
from zfree.quadratic import ColumnBlocks, Dense, Groups, LowRank, Quadratic


@dataclass(frozen=True, eq=False)
class PairFold:
    """The entries (j ≤ k) of K that are parameters, followed by η if `linear`; u are the data as K sees them, r the coefficient of η."""

    d: int
    rows: Index
    cols: Index
    linear: bool

    @property
    def n_pairs(self) -> int:
        """Number of free entries of K."""
        return len(self.rows)

    @property
    def n_parameters(self) -> int:
        """Entries of K, and η."""
        return self.n_pairs + (self.d if self.linear else 0)

    @cached_property
    def once(self) -> Array:
        """A pair (j, k) with j ≠ k stands for both K_jk and K_kj; a diagonal one would be counted twice below."""
        return np.where(self.rows == self.cols, 0.5, 1.0)

    @cached_property
    def rows_of_K(self) -> tuple[tuple[Index, Index], ...]:
        """For each row of K the parameters in it, and their columns."""
        entry = np.full((self.d, self.d), -1)
        entry[self.rows, self.cols] = entry[self.cols, self.rows] = np.arange(self.n_pairs)
        found = (np.flatnonzero(row >= 0) for row in entry)
        return tuple((row[columns], columns) for row, columns in zip(entry, found, strict=True))

    @cached_property
    def groups(self) -> Groups:
        """Parameters of each component of the score: a row of K, and η_j."""
        most = max((len(entries) for entries, _ in self.rows_of_K), default=0)
        index = np.full((self.d, most + self.linear), self.n_parameters)
        for j, (entries, _) in enumerate(self.rows_of_K):
            index[j, : len(entries)] = entries
        if self.linear:
            index[:, most] = self.n_pairs + np.arange(self.d)
        return Groups(index, self.n_parameters)

    def rank_one(self, u: Array, ratio: Array | None, direction: Array, weight: Array) -> Quadratic:
        """D' = w w ᵀ σ: Σ σ q qᵀ with q the products of w and u."""
        u_, w = np.ascontiguousarray(u.T), np.ascontiguousarray(direction.T)
        q = w[self.rows] * u_[self.cols]
        q += w[self.cols] * u_[self.rows]
        q *= -self.once[:, None]
        if self.linear:
            q = np.concatenate([q, w if ratio is None else w * ratio.T])
        return LowRank.of(q, weight)

    def diagonal(self, u: Array, ratio: Array | None, delta: Array) -> ColumnBlocks:
        """D' = diag(δ): each component j of the score adds Σ δ_j q qᵀ over its own parameters, q = −u at row j of K and r_j at η_j."""
        d, m = self.groups.index.shape
        blocks = np.zeros((d, m, m))
        if self.linear:
            cross = -((delta if ratio is None else delta * ratio).T @ u)  # [j, a] = −Σ δ_j r_j u_a
            blocks[:, -1, -1] = np.ones(len(u)) @ (delta if ratio is None else delta * ratio**2)
        if self.n_pairs == d * (d + 1) // 2:
            blocks[:, :d, :d] = self._whole(u, delta)
            if self.linear:
                blocks[:, :d, -1] = blocks[:, -1, :d] = cross
            return ColumnBlocks(self.groups, blocks)
        for j, (entries, columns) in enumerate(self.rows_of_K):
            own, k = u[:, columns], len(entries)
            blocks[j, :k, :k] = (own * delta[:, j, None]).T @ own
            if self.linear:
                blocks[j, :k, -1] = blocks[j, -1, :k] = cross[j, columns]
        return ColumnBlocks(self.groups, blocks)

    def _whole(self, u: Array, delta: Array) -> Array:
        """Σ δ_j u_a u_b (d, d, d), from the distinct products u_a u_b of so many rows at a time as the cache holds."""
        d = self.d
        starts = np.concatenate([[0], np.cumsum(np.arange(d, 0, -1))])
        total = np.zeros((d, self.n_pairs))
        step = block_rows(self.n_pairs)
        products = np.empty((self.n_pairs, min(step, len(u))))
        for first in range(0, len(u), step):
            v = np.ascontiguousarray(u[first : first + step].T)
            here = products[:, : v.shape[1]]
            for a in range(d):
                np.multiply(v[a], v[a:], out=here[starts[a] : starts[a + 1]])
            total += delta[first : first + step].T @ here.T
        blocks = np.empty((d, d, d))
        p, q = symmetric_pairs(d)
        blocks[:, p, q] = blocks[:, q, p] = total
        return blocks

    def dense(self, u: Array, ratio: Array | None, D: Array, weight: Array) -> Dense:
        """Γ[(j,a),(k,b)] = Σ D'_jk u_a u_b, from products over the distinct entries of D' and of u uᵀ only."""
        d, j, a = self.d, self.rows, self.cols
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
        folded *= np.multiply.outer(self.once, self.once)
        if not self.linear:
            return Dense(folded)
        Dw = D * weight[:, None, None]
        right_side = Dw if ratio is None else Dw * ratio[:, None, :]
        C = -np.tensordot(right_side, u, axes=(0, 0))  # [j, k, a] = −Σ D'_jk r_k u_a
        cross = C[j, :, a] + C[a, :, j]
        corner = right_side.sum(axis=0) if ratio is None else (right_side * ratio[:, :, None]).sum(axis=0)
        cross = cross * self.once[:, None]
        return Dense(np.block([[folded, cross], [cross.T, corner]]))
