"""Fields whose structure is that of a single row: scalar, diagonal, diagonal plus rank one, dense."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zfree.arrays import Array, Index
from zfree.fields.base import Field, Parts, RankOne


@dataclass(frozen=True, eq=False)
class Scalar(Field):
    """``c_i I`` with `value` (N,) and the dimension `d`."""

    value: Array
    d: int

    def apply(self, V: Array) -> Array:
        return self.value[:, None] * V

    def diagonal(self) -> Array:
        return np.repeat(self.value[:, None], self.d, axis=1)

    def entries(self, rows: Index, columns: Index) -> Array:
        picked: Array = (rows == columns)[:, None] * self.value[None, :]
        return picked

    def rescale(self, v: Array) -> Field:
        return Diagonal(self.value[:, None] * v**2)

    @cached_property
    def parts(self) -> Parts:
        return Parts(self.diagonal(), (), None)

    def dense(self) -> Array:
        return self.value[:, None, None] * np.eye(self.d)


@dataclass(frozen=True, eq=False)
class Diagonal(Field):
    """``diag(δ_i)`` with `delta` (N, d)."""

    delta: Array

    def apply(self, V: Array) -> Array:
        return self.delta * V

    def diagonal(self) -> Array:
        return self.delta

    def entries(self, rows: Index, columns: Index) -> Array:
        return np.where((rows == columns)[:, None], self.delta.T[rows], 0.0)

    def rescale(self, v: Array) -> Field:
        return Diagonal(self.delta * v**2)

    @cached_property
    def parts(self) -> Parts:
        return Parts(self.delta, (), None)

    def dense(self) -> Array:
        return self.delta[:, :, None] * np.eye(self.delta.shape[1])


@dataclass(frozen=True, eq=False)
class DiagonalPlusRankOne(Field):
    """``diag(δ_i) + σ_i u_i u_iᵀ`` with `delta` (N, d), `sigma` (N,), `u` (N, d)."""

    delta: Array
    sigma: Array
    u: Array

    def apply(self, V: Array) -> Array:
        along = self.sigma * np.einsum("nj,nj->n", self.u, V)
        out = self.delta * V
        out += along[:, None] * self.u
        return out

    def diagonal(self) -> Array:
        return self._diagonal

    @cached_property
    def _diagonal(self) -> Array:
        return self.delta + self.sigma[:, None] * self.u**2

    def entries(self, rows: Index, columns: Index) -> Array:
        u = np.ascontiguousarray(self.u.T)
        out = u[columns]
        out *= (self.sigma * u)[rows]
        on_diagonal = np.flatnonzero(rows == columns)
        out[on_diagonal] += self.delta.T[rows[on_diagonal]]
        return out

    def rescale(self, v: Array) -> Field:
        return DiagonalPlusRankOne(self.delta * v**2, self.sigma, self.u * v)

    @cached_property
    def parts(self) -> Parts:
        return Parts(self.delta, (RankOne(self.sigma, self.u),), None)

    def dense(self) -> Array:
        out = self.sigma[:, None, None] * self.u[:, :, None] * self.u[:, None, :]
        index = np.arange(self.delta.shape[1])
        out[:, index, index] += self.delta
        return out


@dataclass(frozen=True, eq=False)
class Dense(Field):
    """Any symmetric matrices, `matrices` (N, d, d)."""

    matrices: Array

    def apply(self, V: Array) -> Array:
        product: Array = np.einsum("njk,nk->nj", self.matrices, V)
        return product

    def diagonal(self) -> Array:
        entries: Array = np.einsum("njj->nj", self.matrices)
        return entries

    def entries(self, rows: Index, columns: Index) -> Array:
        return self.matrices[:, rows, columns].T

    def rescale(self, v: Array) -> Field:
        return Dense(v[:, :, None] * self.matrices * v[:, None, :])

    @cached_property
    def parts(self) -> Parts:
        return Parts(None, (), self.matrices)

    def dense(self) -> Array:
        return self.matrices
