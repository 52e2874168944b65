"""What one pass over the rows tells about the columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zfree.arrays import Array, block_rows

if TYPE_CHECKING:
    from zfree.data.source import Block


@dataclass(frozen=True, eq=False)
class Statistics:
    """Sums over the rows, each with its weight.

    Attributes
    ----------
    n_rows : int
    total : float
        Σ w_i.
    mean, variance : ndarray of shape (d,)
    lowest, highest : ndarray of shape (d,)
        Extremes of each column.
    """

    n_rows: int
    total: float
    mean: Array
    variance: Array
    lowest: Array
    highest: Array

    @classmethod
    def of(cls, blocks: Callable[[int], Iterator[Block]]) -> Statistics:
        """From the blocks of a source."""
        n, total, first, second = 0, 0.0, None, None
        shift = lowest = highest = np.zeros(0)
        for block in blocks(4096):
            X = np.ascontiguousarray(block.X)  # sums of a strided array may round otherwise
            low, high = X.min(axis=0), X.max(axis=0)
            if first is None or second is None:
                shift = X[0]  # any row keeps the digits of a column far from zero
                lowest, highest, first, second = low, high, np.zeros(len(shift)), np.zeros(len(shift))
            else:
                lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)
            moved, w = X - shift, block.weights
            n, total = n + len(X), total + block.total
            first += w @ moved
            moved *= moved
            second += w @ moved
        if first is None or second is None:
            raise ValueError("a source without rows")  # refused before
        mean = first / total
        return cls(n, total, shift + mean, np.maximum(second / total - mean * mean, 0.0), lowest, highest)

    @cached_property
    def spread(self) -> Array:
        """Standard deviation of each column; its size, or one, where it does not vary beyond rounding."""
        size, deviation = np.abs(self.mean), np.sqrt(self.variance)
        return np.where(deviation > 1e-12 * size, deviation, np.where(size > 0, size, 1.0))


def rows_of_a_pass(n_columns: int) -> int:
    """Rows at a time, of a pass that keeps nothing per row: what the cache of a core holds."""
    return block_rows(n_columns)
