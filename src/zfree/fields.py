r"""Structured symmetric matrices, one per row of the data.

A generator :math:`D(x)` is evaluated at N points. Storing N dense d × d matrices and multiplying by them costs
:math:`O(N d^2)`; on every domain but a general polytope the matrix has structure that needs only :math:`O(N d)`:

==============================  =============================================================
class                           matrix at row i
==============================  =============================================================
:class:`Scalar`                 :math:`c_i I`
:class:`Diagonal`               :math:`\mathrm{diag}(\delta_i)`
:class:`DiagonalPlusRankOne`    :math:`\mathrm{diag}(\delta_i) + \sigma_i u_i u_i^\top`
:class:`Dense`                  anything
:class:`Block`                  block-diagonal in consecutive groups of coordinates
==============================  =============================================================

A consumer never asks which class it holds: :meth:`Field.parts` writes every field as a diagonal, plus rank-one
terms, or as one dense array.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array, Index, row_sums


class RankOne(NamedTuple):
    """The term :math:`\\sigma_i u_i u_i^\\top`."""

    sigma: Array
    u: Array


class Parts(NamedTuple):
    """A field as ``diagonal + Σ rank_ones`` or, when it has no such structure, as ``dense`` alone."""

    diagonal: Array | None
    rank_ones: tuple[RankOne, ...]
    dense: Array | None


class Field(ABC):
    """N symmetric d × d matrices."""

    @abstractmethod
    def apply(self, V: Array) -> Array:
        """Multiply row i of `V` (N, d) by matrix i."""

    @abstractmethod
    def diagonal(self) -> Array:
        """The diagonals (N, d)."""

    @abstractmethod
    def entries(self, rows: Index, columns: Index) -> Array:
        """Entries ``[rows[p], columns[p]]`` of every matrix, laid out (n_pairs, N)."""

    @abstractmethod
    def rescale(self, v: Array) -> Field:
        """The congruence ``diag(v) D diag(v)`` with `v` of shape (N, d)."""

    @abstractmethod
    def parts(self) -> Parts:
        """The field as a sum of simple terms."""

    @abstractmethod
    def dense(self) -> Array:
        """The matrices written out (N, d, d)."""


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
        along = self.sigma * row_sums(self.u * V)
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
        out = (self.sigma * u)[rows] * u[columns]
        on_diagonal = np.flatnonzero(rows == columns)
        out[on_diagonal] += self.delta.T[rows[on_diagonal]]
        return out

    def rescale(self, v: Array) -> Field:
        return DiagonalPlusRankOne(self.delta * v**2, self.sigma, self.u * v)

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

    def parts(self) -> Parts:
        return Parts(None, (), self.matrices)

    def dense(self) -> Array:
        return self.matrices


@dataclass(frozen=True, eq=False)
class Block(Field):
    """Block-diagonal: field k acts on its own `sizes[k]` consecutive coordinates."""

    fields: tuple[Field, ...]
    sizes: tuple[int, ...]

    def _slices(self) -> list[slice]:
        ends = np.cumsum(self.sizes)
        return [slice(int(end - size), int(end)) for end, size in zip(ends, self.sizes, strict=True)]

    def apply(self, V: Array) -> Array:
        pairs = zip(self.fields, self._slices(), strict=True)
        return np.concatenate([field.apply(V[:, part]) for field, part in pairs], axis=1)

    def diagonal(self) -> Array:
        return np.concatenate([field.diagonal() for field in self.fields], axis=1)

    def entries(self, rows: Index, columns: Index) -> Array:
        first = self.fields[0].diagonal()
        out = np.zeros((rows.size, first.shape[0]), dtype=first.dtype)
        for field, part in zip(self.fields, self._slices(), strict=True):
            inside = np.flatnonzero(
                (rows >= part.start) & (rows < part.stop) & (columns >= part.start) & (columns < part.stop)
            )
            out[inside] = field.entries(rows[inside] - part.start, columns[inside] - part.start)
        return out

    def rescale(self, v: Array) -> Field:
        pairs = zip(self.fields, self._slices(), strict=True)
        return Block(tuple(field.rescale(v[:, part]) for field, part in pairs), self.sizes)

    def parts(self) -> Parts:
        inner = [field.parts() for field in self.fields]
        if any(part.dense is not None for part in inner):
            return Parts(None, (), self.dense())
        diagonal = np.concatenate([part.diagonal for part in inner if part.diagonal is not None], axis=1)
        rank_ones = []
        for part, where in zip(inner, self._slices(), strict=True):
            for sigma, u in part.rank_ones:
                padded = np.zeros_like(diagonal)
                padded[:, where] = u
                rank_ones.append(RankOne(sigma, padded))
        return Parts(diagonal, tuple(rank_ones), None)

    def dense(self) -> Array:
        blocks = [field.dense() for field in self.fields]
        d = sum(self.sizes)
        out = np.zeros((blocks[0].shape[0], d, d), dtype=blocks[0].dtype)
        for block, part in zip(blocks, self._slices(), strict=True):
            out[:, part, part] = block
        return out
