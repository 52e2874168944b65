"""The arithmetic of fits and nothing else: what a Gaussian on the orthant with D = diag(c x) costs at least.

No input is checked, nothing is named or explained, and rows are taken in blocks that stay in the cache. K is kept as its upper triangle, row by
row, followed by η, in columns shifted by their means, as the library has it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

BLOCK = 1024
"""Rows at a time."""


class Estimate(NamedTuple):
    """θ and its sandwich covariance, in shifted columns."""

    theta: np.ndarray
    covariance: np.ndarray


class Pairs:
    """The upper triangle of a symmetric d × d matrix, row by row."""

    def __init__(self, d: int) -> None:
        self.d, self.size = d, d * (d + 1) // 2
        self.rows, self.columns = np.triu_indices(d)
        self.starts = np.r_[0, np.cumsum(np.arange(d, 0, -1))]
        self.place = np.empty((d, d), dtype=int)
        self.place[self.rows, self.columns] = self.place[self.columns, self.rows] = np.arange(self.size)

    def products(self, U: np.ndarray, out: np.ndarray) -> np.ndarray:
        """u_j u_k of each row; U is (d, n), out (pairs, n)."""
        for j in range(self.d):
            np.multiply(U[j], U[j:], out=out[self.starts[j] : self.starts[j + 1]])
        return out

    def pushed(self, U: np.ndarray, V: np.ndarray, out: np.ndarray, spare: np.ndarray) -> np.ndarray:
        """J v of each row: −(u_j v_k + u_k v_j), once on the diagonal, and v itself for η."""
        negative = -U
        for j in range(self.d):
            own = out[self.starts[j] : self.starts[j + 1]]
            np.multiply(negative[j], V[j:], out=own)
            own += np.multiply(V[j], negative[j:], out=spare[: self.d - j])
            own[0] *= 0.5
        out[self.size :] = V
        return out

    def pulled(self, U: np.ndarray, T: np.ndarray) -> np.ndarray:
        """Jᵀt of each row, (d, n), with a t of its own for each, (r, n)."""
        return T[self.size :] - np.stack([np.einsum("kn,kn->n", T[self.place[j]], U) for j in range(self.d)])

    def gram(self, blocks: np.ndarray, cross: np.ndarray, corner: np.ndarray) -> np.ndarray:
        """Γ of a diagonal D from Σ δ_j u_a u_b (d, pairs), Σ δ_j u_a (d, d) and Σ δ_j (d,)."""
        d, m = self.d, self.size
        gamma = np.zeros((m + d, m + d))
        for j in range(d):
            own = self.place[j]
            gamma[own[:, None], own] += blocks[j][self.place]
            gamma[own, m + j] = gamma[m + j, own] = -cross[j]
        gamma[np.arange(m, m + d), np.arange(m, m + d)] = corner
        return gamma

    def constants(self, trace: np.ndarray, push: np.ndarray, total: np.ndarray) -> np.ndarray:
        """g from Σ D_jk (d, d), Σ u_j (∇·D)_k (d, d) and Σ ∇·D (d,)."""
        once = np.where(self.rows == self.columns, 0.5, 1.0)
        own = (2.0 * trace + push + push.T)[self.rows, self.columns]
        return np.r_[-once * own, total]

    def matrix(self, theta: np.ndarray) -> np.ndarray:
        """K."""
        return theta[: self.size][self.place]

    def natural_map(self, centre: np.ndarray) -> np.ndarray:
        """T with T θ = (K, η + K c)."""
        T = np.eye(self.size + self.d)
        for j in range(self.d):
            T[self.size + j, self.place[j]] = centre
        return T


def solved(gamma: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """−Γ⁻¹g, and Γ⁻¹, by Cholesky with a diagonal of one."""
    scale = 1.0 / np.sqrt(gamma.diagonal())
    factor, _ = lapack.dpotrf(gamma * scale[:, None] * scale)
    inverse = lapack.dpotri(factor)[0]
    inverse += np.triu(inverse, 1).T
    return -scale * lapack.dpotrs(factor, scale * g)[0], inverse * scale[:, None] * scale


def orthant(X: np.ndarray, scale: np.ndarray | float = 1.0) -> Estimate:
    """D = diag(c x) in two passes over blocks of rows; the first needs no g of a row, as its sum is one of products."""
    n, d = X.shape
    pairs, centre = Pairs(d), X.mean(axis=0)
    c = np.broadcast_to(np.asarray(scale, dtype=float), (d,))
    products, psi, spare = np.empty((pairs.size, BLOCK)), np.empty((pairs.size + d, BLOCK)), np.empty((d, BLOCK))
    blocks, cross, weights, first = np.zeros((d, pairs.size)), np.zeros((d, d)), np.zeros(d), np.zeros(d)
    for start in range(0, n, BLOCK):
        H = np.ascontiguousarray(X[start : start + BLOCK].T)
        U, m = H - centre[:, None], H.shape[1]
        blocks += H @ pairs.products(U, products[:, :m]).T
        cross += H @ U.T
        weights += H.sum(axis=1)
        first += U.sum(axis=1)
    gamma = pairs.gram(blocks * c[:, None], cross * c[:, None], weights * c)
    g = pairs.constants(np.diag(weights * c), np.multiply.outer(first, c), n * c)
    theta, inverse = solved(gamma, g)
    K, eta, meat = pairs.matrix(theta), theta[pairs.size :], np.zeros_like(gamma)
    on_diagonal = pairs.starts[:-1]
    for start in range(0, n, BLOCK):
        H = np.ascontiguousarray(X[start : start + BLOCK].T)
        U, m = H - centre[:, None], H.shape[1]
        V = eta[:, None] - K @ U
        V *= H
        V += 1.0
        V *= c[:, None]
        own = pairs.pushed(U, V, psi[:, :m], spare[:, :m])
        own[on_diagonal] -= H * c[:, None]
        meat += own @ own.T
    return Estimate(theta, inverse @ meat @ inverse)


def weighted_products(X: np.ndarray) -> np.ndarray:
    """Σ x_j u uᵀ for every column j: (d, d, d)."""
    U = X - X.mean(axis=0)
    return np.stack([U.T @ (U * X[:, j, None]) for j in range(X.shape[1])])


def products_and_cholesky(X: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """The d products, and one factorisation of Γ: the estimate of K on the orthant without a word on its errors."""
    weighted_products(X)
    return lapack.dpotrf(gamma)[0]


def dense_covariance(X: np.ndarray, gamma: np.ndarray, psi: np.ndarray, T: np.ndarray) -> np.ndarray:
    """The same, then Γ⁻¹, ΨΨᵀ, Γ⁻¹ΣΓ⁻¹ and the map to natural parameters, all dense."""
    factor = products_and_cholesky(X, gamma)
    inverse = lapack.dpotri(factor)[0]
    inverse += np.triu(inverse, 1).T
    covariance = inverse @ (psi @ psi.T) @ inverse
    return T @ covariance @ T.T
