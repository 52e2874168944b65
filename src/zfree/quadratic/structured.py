"""The structures that Γ has: blocks of a diagonal D, few terms of rank one, and products over rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zfree.arrays import Array, Index, weighted_gram
from zfree.quadratic.base import DenseQuadratic, Quadratic


@dataclass(frozen=True, eq=False)
class Groups:
    """Which parameters belong to which component of the score.

    Attributes
    ----------
    index : ndarray of shape (d, m)
        Parameters of each component, `size` where it has fewer than m.
    size : int
        Number of parameters.
    """

    index: Index
    size: int

    @cached_property
    def entries(self) -> Index:
        """Places (d·m·m,) in a flat matrix of size + 1 rows and columns, the last ones for what does not exist."""
        n = self.size + 1
        return (self.index[:, :, None] * n + self.index[:, None, :]).ravel()

    def same_as(self, other: Groups) -> bool:
        """Whether the parameters belong to the same components."""
        return self is other or (self.size == other.size and np.array_equal(self.index, other.index))

    def gather(self, theta: Array) -> Array:
        """θ (r, …) of every component, (d, m, …), and zeros where it has none."""
        return np.concatenate([theta, np.zeros((1, *theta.shape[1:]))])[self.index]

    def scatter(self, values: Array) -> Array:
        """Sum (d, m) into (r,): the transpose of :meth:`gather`."""
        total = np.bincount(self.index.ravel(), values.ravel(), self.size + 1)
        return np.asarray(total[: self.size], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ColumnBlocks(Quadratic):
    r"""A diagonal D: component j of the score adds :math:`P_j^\top B_j P_j`, where P_j picks its own parameters.

    For a matrix K these are row j of it and η_j, so that d blocks of d + 1 stand for (d(d + 3)/2)² entries; for a family of functions of single columns, the few
    parameters of column j.

    Attributes
    ----------
    groups : Groups
    blocks : ndarray of shape (d, m, m)
    """

    groups: Groups
    blocks: Array

    @property
    def size(self) -> int:
        return self.groups.size

    def scaled(self, factor: float) -> ColumnBlocks:
        return ColumnBlocks(self.groups, self.blocks * factor)

    def matvec(self, theta: Array) -> Array:
        if theta.ndim == 1:
            return self.groups.scatter(np.einsum("jab,jb->ja", self.blocks, self.groups.gather(theta)))
        out = np.zeros((self.size + 1, theta.shape[1]))
        np.add.at(out, self.groups.index, self.blocks @ self.groups.gather(theta))
        return out[:-1]

    def diagonal(self) -> Array:
        return self.groups.scatter(np.diagonal(self.blocks, axis1=1, axis2=2))

    def add_to(self, out: Array) -> None:
        n = self.size + 1
        whole = np.bincount(self.groups.entries, self.blocks.ravel(), n * n).reshape(n, n)
        out += whole[:-1, :-1]

    def merged(self, other: Quadratic) -> ColumnBlocks | None:
        if not isinstance(other, ColumnBlocks) or not self.groups.same_as(other.groups):
            return None
        return ColumnBlocks(self.groups, self.blocks + other.blocks)


@dataclass(frozen=True, eq=False)
class LowRank(Quadratic):
    """Σ_k s_k u_k u_kᵀ with fewer terms than parameters (one a row, from the rank-one part of a field).

    Attributes
    ----------
    columns : ndarray of shape (r, m)
    weight : ndarray of shape (m,)
    """

    columns: Array
    weight: Array

    @classmethod
    def of(cls, columns: Array, weight: Array) -> LowRank | DenseQuadratic:
        """The sum as it is smaller: a term a row, or all entries."""
        return (
            cls(columns, weight) if columns.shape[1] < len(columns) else DenseQuadratic(weighted_gram(columns, weight))
        )

    @property
    def size(self) -> int:
        return len(self.columns)

    def scaled(self, factor: float) -> LowRank:
        return LowRank(self.columns, self.weight * factor)

    def matvec(self, theta: Array) -> Array:
        inner = self.columns.T @ theta
        return self.columns @ (self.weight * inner.T).T

    def diagonal(self) -> Array:
        return (self.columns * self.columns) @ self.weight

    def add_to(self, out: Array) -> None:
        out += weighted_gram(self.columns, self.weight)

    def merged(self, other: Quadratic) -> Quadratic | None:
        if not isinstance(other, LowRank):
            return None
        weight = np.concatenate([self.weight, other.weight])
        return LowRank.of(np.concatenate([self.columns, other.columns], axis=1), weight)


@dataclass(frozen=True, eq=False)
class Products(Quadratic):
    """An operator on rows: nothing is kept but how to multiply.

    Attributes
    ----------
    product : callable
        θ (r,) → Γ θ.
    own_diagonal : ndarray
    symmetric : bool
    """

    product: Callable[[Array], Array]
    own_diagonal: Array
    symmetric: bool = True

    @property
    def size(self) -> int:
        return len(self.own_diagonal)

    def scaled(self, factor: float) -> Products:
        return Products(lambda theta: factor * self.product(theta), factor * self.own_diagonal, self.symmetric)

    def matvec(self, theta: Array) -> Array:
        return self.product(theta) if theta.ndim == 1 else np.stack([self.product(t) for t in theta.T], axis=1)

    def diagonal(self) -> Array:
        return self.own_diagonal

    def add_to(self, out: Array) -> None:
        out += self.matvec(np.eye(self.size))
