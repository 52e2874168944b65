"""A source of rows: read in blocks, and summed over by one verb, :meth:`Source.reduce`.

Everything that is computed from data is a sum over rows of something, a *kernel* of a block: moments, influences, averages, or lists of what is
kept of each row. What a kernel returns must be fit for ``+``. Blocks come in the order of the rows, and their sums are added in that order, so that
an answer depends on the rows and on the size of a block only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from zfree.arrays import Array, Index
from zfree.data.chunks import chunk_rows
from zfree.data.statistics import Statistics
from zfree.errors import AtRowError


class Addable(Protocol):
    """What kernels return."""

    def __add__(self, other: Any) -> Any: ...


Summand = TypeVar("Summand", bound=Addable)


class Together(tuple[Any, ...]):
    """Several sums of one pass: added entry by entry."""

    def __add__(self, other: Any) -> Together:
        return Together(mine + theirs for mine, theirs in zip(self, other, strict=True))


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive rows of a source.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    weight : ndarray of shape (n,), optional
    start : int
        Position of the first row among those of the source.
    numbers : ndarray of shape (n,), optional
        Where these rows stand in the user's table, if some of its rows were left out.
    groups : ndarray of shape (n,), optional
        The group of each row, if they were dealt out.
    """

    X: Array
    weight: Array | None = None
    start: int = 0
    numbers: Index | None = None
    groups: Index | None = None
    weights: Array = field(init=False)
    """The weights; ones, where there are none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", np.ones(len(self.X)) if self.weight is None else self.weight)

    def __len__(self) -> int:
        return len(self.X)

    @property
    def total(self) -> float:
        """Σ w_i."""
        return float(len(self.X)) if self.weight is None else float(self.weight.sum())

    def number(self, row: int) -> int:
        """Where row number `row` of this block stands in the user's table."""
        return self.start + row if self.numbers is None else int(self.numbers[row])

    @contextmanager
    def naming_rows(self) -> Iterator[None]:
        """Errors inside name rows as the user's table numbers them."""
        try:
            yield
        except AtRowError as error:
            raise error.renumbered(self.number) from error.__cause__

    def only(self, row: int) -> Block:
        """One of the rows."""
        return self.part(slice(row, row + 1))

    def part(self, own: slice) -> Block:
        """Some consecutive ones."""
        weight = None if self.weight is None else self.weight[own]
        numbers = None if self.numbers is None else self.numbers[own]
        groups = None if self.groups is None else self.groups[own]
        return Block(self.X[own], weight, self.start + own.start, numbers, groups)


class Source(ABC):
    """Rows of numbers, all strictly inside a domain, each with a weight if there are any.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns.
    n_rows : int or None
        How many rows there are; None where that is known only at the end.
    """

    columns: tuple[str, ...]
    n_rows: int | None

    @abstractmethod
    def blocks(self, rows: int) -> Iterator[Block]:
        """All rows in order, at most so many at a time."""

    @abstractmethod
    def sample(self, count: int) -> Source:
        """About `count` rows that are as good as drawn at random, and the same ones in whatever order the rows come; itself, if it has no more."""

    @abstractmethod
    def first(self) -> Block:
        """The first row."""

    @abstractmethod
    def every(self, step: int) -> Source:
        """The first row, and every so many after it."""

    @abstractmethod
    def dealt(self, groups: int) -> Self:
        """The rows dealt out to groups, see :func:`zfree.data.deal`: their blocks say which."""

    @abstractmethod
    def group(self, k: int) -> Source:
        """One of the groups that rows were dealt out to."""

    @cached_property
    def statistics(self) -> Statistics:
        """Means, spreads and extremes of the columns, in one pass."""
        return Statistics.of(self.blocks)

    def reduce(self, kernel: Callable[[Block], Summand], doubles_per_row: int, least_rows: int = 1) -> Summand:
        """The sum of a kernel over all blocks.

        Parameters
        ----------
        kernel : callable
            A block to something that can be added up.
        doubles_per_row : int
            Size of the largest temporary per row, so that a block stays small.
        least_rows : int
            Rows that a block has at least, where its sum is so large that adding it up is what costs.
        """

        def of_one(block: Block) -> Summand:
            with block.naming_rows():
                return kernel(block)

        parts = iter(self.blocks(max(chunk_rows(doubles_per_row), least_rows)))
        total = of_one(next(parts))
        for block in parts:
            total = total + of_one(block)
        return total
