"""Linear maps of parameters that are nearly the identity, applied as the sparse things they are.

They stand where a Jacobian (q, r) stands, and know ``@`` from both sides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array, Index, Mask


class LinearMap(ABC):
    """A matrix (q, r) that nobody forms."""

    __array_ufunc__ = None  # so that array @ map asks the map

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(q, r)."""

    @abstractmethod
    def __matmul__(self, V: Array) -> Array:
        """Times (r,) or (r, m)."""

    @abstractmethod
    def transposed_times(self, V: Array) -> Array:
        """The transpose times (q,) or (q, m)."""

    @property
    def T(self) -> LinearMap:
        """The transpose."""
        return Transposed(self)

    def __rmatmul__(self, V: Array) -> Array:
        return self.transposed_times(V.T).T

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: int | slice) -> Array:
        """Some of its rows, written out."""
        unit: Array = np.eye(self.shape[0])[rows]
        return unit @ self

    def moved_by(self, free: Mask) -> Mask:
        """Which of the q change with the marked parameters."""
        return np.asarray(self.dense()[:, free].any(axis=1))

    def dense(self) -> Array:
        """All entries."""
        return self @ np.eye(self.shape[1])


@dataclass(frozen=True, eq=False)
class Transposed(LinearMap):
    """The transpose of a map."""

    of: LinearMap

    @property
    def shape(self) -> tuple[int, int]:
        return self.of.shape[::-1]

    def __matmul__(self, V: Array) -> Array:
        return self.of.transposed_times(V)

    def transposed_times(self, V: Array) -> Array:
        return self.of @ V

    @property
    def T(self) -> LinearMap:
        return self.of


@dataclass(frozen=True, eq=False)
class Sized(LinearMap):
    """From r parameters to q functions."""

    q: int
    r: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.q, self.r


class Nothing(Sized):
    """q functions that no parameter moves."""

    def __matmul__(self, V: Array) -> Array:
        return np.zeros((self.q, *V.shape[1:]))

    def transposed_times(self, V: Array) -> Array:
        return np.zeros((self.r, *V.shape[1:]))

    def moved_by(self, free: Mask) -> Mask:
        return np.zeros(self.q, dtype=bool)


class Leading(Sized):
    """The first q of r parameters."""

    def __matmul__(self, V: Array) -> Array:
        return V[: self.q]

    def transposed_times(self, V: Array) -> Array:
        out = np.zeros((self.r, *V.shape[1:]))
        out[: self.q] = V
        return out

    def moved_by(self, free: Mask) -> Mask:
        return free[: self.q]


@dataclass(frozen=True, eq=False)
class Scaling(LinearMap):
    """Each of r parameters times a factor."""

    factors: Array

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.factors), len(self.factors)

    def __matmul__(self, V: Array) -> Array:
        return (self.factors * V.T).T

    def transposed_times(self, V: Array) -> Array:
        return self @ V

    def moved_by(self, free: Mask) -> Mask:
        return np.asarray(free & (self.factors != 0))


@dataclass(frozen=True, eq=False)
class Shear(LinearMap):
    """(K, η) → (K, η + K c): what centring the columns did is undone.

    Attributes
    ----------
    matrix_rows : sequence of (index, index)
        For each row of K the parameters in it, and their columns.
    n_pairs : int
        Parameters of K; η follows.
    center : ndarray of shape (d,)
    """

    matrix_rows: tuple[tuple[Index, Index], ...]
    n_pairs: int
    center: Array

    @property
    def shape(self) -> tuple[int, int]:
        r = self.n_pairs + len(self.center)
        return r, r

    def __matmul__(self, V: Array) -> Array:
        out = np.array(V, dtype=np.float64)
        for j, (entries, columns) in enumerate(self.matrix_rows):
            out[self.n_pairs + j] += self.center[columns] @ V[entries]
        return out

    def transposed_times(self, V: Array) -> Array:
        out = np.array(V, dtype=np.float64)
        for j, (entries, columns) in enumerate(self.matrix_rows):
            out[entries] += np.multiply.outer(self.center[columns], V[self.n_pairs + j])
        return out

    def inverse(self) -> Shear:
        """(K, η) → (K, η − K c)."""
        return Shear(self.matrix_rows, self.n_pairs, -self.center)

    def moved_by(self, free: Mask) -> Mask:
        out = free.copy()
        for j, (entries, _) in enumerate(self.matrix_rows):
            out[self.n_pairs + j] |= free[entries].any()
        return out


Jacobian = Array | LinearMap
"""Derivatives (q, r)."""


def moved_by(jacobian: Jacobian, free: Mask) -> Mask:
    """Which of the q functions change with the marked parameters."""
    if isinstance(jacobian, LinearMap):
        return jacobian.moved_by(free)
    return np.asarray(jacobian[:, free].any(axis=1))
