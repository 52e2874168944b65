"""Rows in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from zfree.arrays import Array, Index
from zfree.data.dealing import deal
from zfree.data.hashing import lottery, places, row_hashes
from zfree.data.source import Block, Source


@dataclass(frozen=True, eq=False)
class Table(Source):
    """An array of rows.

    Attributes
    ----------
    X : ndarray of shape (N, d)
    weight : ndarray of shape (N,), optional
    columns : tuple of str
    numbers : ndarray of shape (N,), optional
        Where the rows stand in the user's table, if some of its rows were left out.
    groups : ndarray of shape (N,), optional
        The group of each row, once they were dealt out.
    """

    X: Array
    weight: Array | None = None
    columns: tuple[str, ...] = ()
    numbers: Index | None = None
    groups: Index | None = None
    n_rows: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_rows", len(self.X))

    def blocks(self, rows: int) -> Iterator[Block]:
        n = len(self.X)
        if n <= rows:
            yield self.whole
            return
        for start in range(0, n, rows):
            yield self.whole.part(slice(start, min(start + rows, n)))

    @cached_property
    def whole(self) -> Block:
        """All rows as one block, always the same one."""
        return Block(self.X, self.weight, 0, self.numbers, self.groups)

    def first(self) -> Block:
        return self.whole.only(0)

    def rows(self, chosen: Index | slice | Array) -> Table:
        """Some of the rows."""
        numbers = np.arange(len(self.X)) if self.numbers is None else self.numbers
        weight = None if self.weight is None else self.weight[chosen]
        return Table(self.X[chosen], weight, self.columns, numbers[chosen])

    def sample(self, count: int) -> Table:
        if len(self.X) <= count:
            return self
        known: dict[int, Table] = self.__dict__.setdefault("_samples", {})
        if count not in known:
            known[count] = self._drawn(count)
        return known[count]

    def _drawn(self, count: int) -> Table:
        found = self.statistics
        keys = lottery(np.concatenate([places(b.X, found.mean, found.spread) for b in self.blocks(4096)]), self.weight)
        last = np.partition(keys, count)[count]
        return self.rows(np.flatnonzero(keys < last))

    def some(self, count: int) -> Table:
        """At most so many rows, chosen as at random by what they hold, in an order of their own."""
        return self.rows(np.argsort(row_hashes(self.X, self.weight), kind="stable")[:count])

    def every(self, step: int) -> Table:
        return self.rows(slice(None, None, step))

    def dealt(self, groups: int) -> Table:
        return replace(self, groups=deal(self.X, self.weight, groups))

    def group(self, k: int) -> Table:
        assert self.groups is not None, "rows are dealt out first"
        return self.rows(np.flatnonzero(self.groups == k))
