"""The entries of a symmetric matrix that are parameters, and products over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array, Index, symmetric_pairs

LONG_STRETCH = 2
"""Entries that stretches must have on average, so that a loop over them costs less than copies of their factors."""


class Stretch(NamedTuple):
    """Entries that follow each other in one row of the matrix: their place among the parameters, and their columns."""

    row: int
    entries: slice
    columns: slice


@dataclass(frozen=True, eq=False)
class Pairs:
    """The entries (j ≤ k) of a symmetric d × d matrix that are parameters. Arrays over columns are (d, n), over entries (n_pairs, n)."""

    d: int
    rows: Index
    cols: Index

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def diagonal(self) -> Index:
        """Which entries are on the diagonal."""
        return np.flatnonzero(self.rows == self.cols)

    @cached_property
    def of_diagonal(self) -> Index | slice:
        """Their columns."""
        columns = self.rows[self.diagonal]
        return slice(None) if np.array_equal(columns, np.arange(self.d)) else columns

    @cached_property
    def on_diagonal(self) -> bool:
        """Whether there are no others."""
        return len(self.diagonal) == len(self)

    @cached_property
    def whole(self) -> bool:
        """Whether all entries are there, row by row."""
        p, q = symmetric_pairs(self.d)
        return np.array_equal(self.rows, p) and np.array_equal(self.cols, q)

    @cached_property
    def once(self) -> Array:
        """A pair (j, k) with j ≠ k stands for both K_jk and K_kj; a diagonal one would be counted twice."""
        return np.where(self.rows == self.cols, 0.5, 1.0)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...] | None:
        """The entries as slices: one for each row, if all are there; None where they are scattered."""
        if len(self) == 0:
            return None
        ends = np.flatnonzero((np.diff(self.rows) != 0) | (np.diff(self.cols) != 1)) + 1
        if LONG_STRETCH * (len(ends) + 1) > len(self):
            return None
        starts = [0, *ends.tolist()]
        return tuple(
            Stretch(int(self.rows[a]), slice(a, b), slice(int(self.cols[a]), int(self.cols[a]) + b - a))
            for a, b in zip(starts, [*starts[1:], len(self)], strict=True)
        )

    def products(self, left: Array, right: Array, out: Array) -> None:
        """l_j r_k, or sums of some, Σ l_aj r_ak, with factors laid out (a, d, n)."""
        if left.ndim == 3:
            if self.stretches is None:
                np.einsum("apn,apn->pn", left[:, self.rows], right[:, self.cols], out=out)
                return
            for j, entries, columns in self.stretches:
                np.einsum("an,akn->kn", left[:, j], right[:, columns], out=out[entries])
        elif self.stretches is None:
            np.multiply(left[self.rows], right[self.cols], out=out)
        else:
            for j, entries, columns in self.stretches:
                np.multiply(left[j], right[columns], out=out[entries])

    def gradients(
        self, u: Array, w: Array, out: Array, more: Sequence[tuple[Array, Array]] = (), own: Array | None = None
    ) -> None:
        """−once_jk (u_j w_k + u_k w_j), with products l_j r_k added before they are halved on the diagonal, and `own` (d, n) on it."""
        left = np.empty((2 + len(more), *u.shape))
        np.negative(u, out=left[0])
        left[1] = w
        for place, (factor, _) in enumerate(more, 2):
            left[place] = factor
        right = np.stack([left[1], left[0], *(other for _, other in more)]) if more else left[::-1]
        self.products(left, right, out)
        diagonal = out[self.diagonal]
        diagonal *= 0.5
        if own is not None:
            diagonal += own[self.of_diagonal]
        out[self.diagonal] = diagonal

    @cached_property
    def rows_of_K(self) -> tuple[tuple[Index, Index], ...]:
        """For each row of the whole matrix the parameters in it, and their columns."""
        entry = np.full((self.d, self.d), -1)
        entry[self.rows, self.cols] = entry[self.cols, self.rows] = np.arange(len(self))
        found = (np.flatnonzero(row >= 0) for row in entry)
        return tuple((row[columns], columns) for row, columns in zip(entry, found, strict=True))

    def times(self, entries: Array, u: Array) -> Array:
        """K u with a K of its own for each column of u, its entries (n_pairs, n)."""
        out, own = np.empty_like(u), np.empty_like(u)
        for j, (parameters, columns) in enumerate(self.rows_of_K):
            k = len(columns)
            row = np.take(entries, parameters, axis=0, out=own[:k], mode="clip")  # other modes buffer their output
            np.einsum("kn,kn->n", row, u if k == self.d else u[columns], out=out[j])
        return out
