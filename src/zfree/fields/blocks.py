"""Groups of coordinates that do not see each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zfree.arrays import Array, Index
from zfree.fields.base import Field, Parts, RankOne


@dataclass(frozen=True, eq=False)
class BlockDiagonal(Field):
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
        return BlockDiagonal(tuple(field.rescale(v[:, part]) for field, part in pairs), self.sizes)

    @cached_property
    def parts(self) -> Parts:
        inner = [field.parts for field in self.fields]
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
