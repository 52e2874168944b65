"""Γ of a model with a symmetric matrix K: products over rows of K, folded because K_jk and K_kj are one parameter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zfree.arrays import Array, Index, symmetric_pairs, weighted_gram


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

    def rank_one(self, u: Array, ratio: Array | None, direction: Array, weight: Array) -> Array:
        u_, w = np.ascontiguousarray(u.T), np.ascontiguousarray(direction.T)
        q = w[self.rows] * u_[self.cols]
        q += w[self.cols] * u_[self.rows]
        q *= -self.once[:, None]
        if self.linear:
            q = np.concatenate([q, w if ratio is None else w * ratio.T])
        return weighted_gram(q, weight)

    def diagonal(self, u: Array, ratio: Array | None, delta: Array) -> Array:
        """D' = diag(δ): each component j of the score adds Σ δ_j q qᵀ over its own parameters, q = −u at row j of K and r_j at η_j."""
        d, out = self.d, np.zeros((self.n_parameters, self.n_parameters))
        if whole := self.n_pairs == d * (d + 1) // 2:
            outer = (u[:, :, None] * u[:, None, :]).reshape(len(u), d * d)
            blocks = (delta.T @ outer).reshape(d, d, d)
        if self.linear:
            cross = -((delta if ratio is None else delta * ratio).T @ u)  # [j, a] = −Σ δ_j r_j u_a
        for j, (entries, columns) in enumerate(self.rows_of_K):
            block = blocks[j] if whole else (u[:, columns] * delta[:, j, None]).T @ u[:, columns]
            out[entries[:, None], entries] += block
            if self.linear:
                out[entries, self.n_pairs + j] = out[self.n_pairs + j, entries] = cross[j, columns]
        if self.linear:
            k = np.arange(self.n_pairs, self.n_parameters)
            out[k, k] = (delta if ratio is None else delta * ratio**2).sum(axis=0)
        return out

    def dense(self, u: Array, ratio: Array | None, D: Array, weight: Array) -> Array:
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
            return folded
        Dw = D * weight[:, None, None]
        right_side = Dw if ratio is None else Dw * ratio[:, None, :]
        C = -np.tensordot(right_side, u, axes=(0, 0))  # [j, k, a] = −Σ D'_jk r_k u_a
        cross = C[j, :, a] + C[a, :, j]
        corner = right_side.sum(axis=0) if ratio is None else (right_side * ratio[:, :, None]).sum(axis=0)
        return _assemble(folded, cross * self.once[:, None], corner)


def _assemble(block: Array, cross: Array, corner: Array) -> Array:
    return np.block([[block, cross], [cross.T, corner]])
