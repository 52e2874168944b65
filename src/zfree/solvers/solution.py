"""The minimum, and what inference may ask of Γ⁻¹ there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from zfree.arrays import Array, Index
from zfree.solvers.restriction import Restriction

EXPLICIT = 1000
"""Parameters up to which Γ⁻¹ is formed when it is asked for products; beyond, it is left as a factor, which halves the work."""
MANY_ROWS = 2000
"""Columns of a product with Γ⁻¹ from which on reading it is not what costs."""


class Inverse(ABC):
    """Γ⁻¹ (of the penalised Γ) over the free parameters."""

    @property
    @abstractmethod
    def worth_at_once(self) -> int:
        """Columns that are worth multiplying at once, as it is read for every product."""

    @abstractmethod
    def times(self, V: Array) -> Array:
        """Γ⁻¹ V, of (r,) or of several columns (r, m)."""

    @abstractmethod
    def dense(self) -> Array:
        """All its entries."""

    def diagonal(self) -> Array:
        """Its diagonal."""
        return self.dense().diagonal()


@dataclass(frozen=True, eq=False)
class Factored(Inverse):
    """By the Cholesky factor of Γ scaled to a diagonal of one."""

    factor: Array
    scale: Array

    @property
    def worth_at_once(self) -> int:
        return min(len(self.scale), MANY_ROWS)

    @cached_property
    def _matrix(self) -> Array:
        inverse = lapack.dpotri(self.factor, lower=0)[0]  # the upper triangle; the lower one is zero
        inverse += np.triu(inverse, 1).T
        inverse *= self.scale[:, None]
        inverse *= self.scale
        return np.asarray(inverse, dtype=np.float64)

    def dense(self) -> Array:
        return self._matrix

    def times(self, V: Array) -> Array:
        if len(self.scale) <= EXPLICIT or "_matrix" in self.__dict__:
            return np.asarray(self._matrix @ V, dtype=np.float64)
        scale = self.scale if V.ndim == 1 else self.scale[:, None]
        found: Array = scale * lapack.dpotrs(self.factor, scale * V, lower=0)[0]
        return found


@dataclass(frozen=True, eq=False)
class Explicit(Inverse):
    """All entries, where there is no symmetry to keep."""

    matrix: Array

    @property
    def worth_at_once(self) -> int:
        return min(len(self.matrix), MANY_ROWS)

    def dense(self) -> Array:
        return self.matrix

    def times(self, V: Array) -> Array:
        return self.matrix @ V


@dataclass(frozen=True, eq=False)
class Apart(Inverse):
    """Groups of parameters that do not see each other.

    Attributes
    ----------
    index : ndarray of shape (groups, m)
        Parameters of each group; those from `size` on do not exist.
    blocks : ndarray of shape (groups, m, m)
    size : int
    """

    index: Index
    blocks: Array
    size: int

    @property
    def worth_at_once(self) -> int:
        return 1

    def times(self, V: Array) -> Array:
        columns = V.reshape(len(V), -1)
        known = np.concatenate([columns, np.zeros((1, columns.shape[1]))])[self.index]
        out = np.zeros((self.size + 1, columns.shape[1]))
        out[self.index] = self.blocks @ known
        return out[: self.size].reshape(V.shape)

    def diagonal(self) -> Array:
        out = np.zeros(self.size + 1)
        out[self.index] = np.diagonal(self.blocks, axis1=1, axis2=2)
        return out[: self.size]

    def dense(self) -> Array:
        out = np.zeros((self.size + 1, self.size + 1))
        out[self.index[:, :, None], self.index[:, None, :]] = self.blocks
        return out[: self.size, : self.size]


@dataclass(frozen=True, eq=False)
class Embedded(Inverse):
    """Γ⁻¹ of the free parameters among all."""

    free: Inverse
    restriction: Restriction

    @property
    def worth_at_once(self) -> int:
        return self.free.worth_at_once

    def times(self, V: Array) -> Array:
        out = np.zeros_like(V)
        out[self.restriction.free] = self.free.times(V[self.restriction.free])
        return out

    def diagonal(self) -> Array:
        out = np.zeros(self.restriction.free.size)
        out[self.restriction.free] = self.free.diagonal()
        return out

    @cached_property
    def _matrix(self) -> Array:
        return self.restriction.embed(self.free.dense())

    def dense(self) -> Array:
        return self._matrix


@dataclass(frozen=True, eq=False)
class Solution:
    """The minimiser, and what inference needs of Γ.

    Attributes
    ----------
    theta : ndarray
        All parameters, known ones included.
    restriction : Restriction
    reciprocal_condition : float
        Estimate of 1/κ of Γ after scaling to unit diagonal.
    free_inverse : Inverse or None
        None where a constraint binds: there is no linear relation between equations and estimate then.
    """

    theta: Array
    restriction: Restriction
    reciprocal_condition: float
    free_inverse: Inverse | None
    whole_inverse: Inverse = field(init=False)
    """Γ⁻¹ over all parameters, zero where one is known."""

    def __post_init__(self) -> None:
        known = self.free_inverse
        if known is not None:
            whole = known if self.restriction.free.all() else Embedded(known, self.restriction)
            object.__setattr__(self, "whole_inverse", whole)

    @property
    def inverse(self) -> Array:
        """Γ⁻¹ over the free parameters, all entries."""
        assert self.free_inverse is not None, "a constraint binds: there is no Γ⁻¹"
        return self.free_inverse.dense()
