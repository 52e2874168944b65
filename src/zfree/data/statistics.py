"""What one pass over the rows tells about the columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from zfree.arrays import Array

if TYPE_CHECKING:
    from zfree.data.source import Block


ROWS = 4096
"""Rows at a time: a pass that keeps nothing per row stays in the cache."""
ABREAST = 16
"""Rows that are laid side by side for one product."""


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
    spread : ndarray of shape (d,)
        Standard deviation of each column; its size, or one, where it does not vary beyond rounding.
    """

    n_rows: int
    total: float
    mean: Array
    variance: Array
    lowest: Array
    highest: Array
    spread: Array = field(init=False)

    @classmethod
    def of(cls, blocks: Callable[[int], Iterator[Block]]) -> Statistics:
        """From the blocks of a source."""
        n, total, first, second = 0, 0.0, None, None
        shift = lowest = highest = spare = np.zeros(0)
        for block in blocks(ROWS):
            X = np.ascontiguousarray(block.X)  # sums of a strided array may round otherwise
            low, high = down_columns(np.minimum, X), down_columns(np.maximum, X)
            if first is None or second is None:
                spare, shift = np.empty_like(X), np.empty_like(X)  # what is written here is read at once
                shift[:] = X[0]  # any row keeps the digits of a column far from zero
                lowest, highest, first, second = low, high, np.zeros(X.shape[1]), np.zeros(X.shape[1])
            else:
                lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)
            moved = np.subtract(X, shift[: len(X)], out=spare[: len(X)])
            n, total = n + len(X), total + block.total
            first += column_sums(moved, block.weight)
            moved *= moved
            second += column_sums(moved, block.weight)
        if first is None or second is None:
            raise ValueError("a source without rows")  # refused before
        mean = first / total
        return cls(n, total, shift[0] + mean, np.maximum(second / total - mean * mean, 0.0), lowest, highest)

    def __post_init__(self) -> None:
        size, deviation = np.abs(self.mean), np.sqrt(self.variance)
        spread = np.where(deviation > 1e-12 * size, deviation, np.where(size > 0, size, 1.0))
        object.__setattr__(self, "spread", spread)


def column_sums(values: Array, weight: Array | None) -> Array:
    """Σ_i w_i v_ij, with the same bits whatever threads BLAS has."""
    return down_columns(np.add, values if weight is None else weight[:, None] * values)


def down_columns(operation: np.ufunc, values: Array) -> Array:
    """An operation over all rows of each column. Rows are laid side by side, as going down narrow columns is slow."""
    n, m = values.shape
    rest = n % ABREAST
    wide = values[: n - rest].reshape(n // ABREAST, ABREAST * m)
    if not len(wide):
        few: Array = operation.reduce(values, axis=0)
        return few
    total: Array = operation.reduce(operation.reduce(wide, axis=0).reshape(ABREAST, m), axis=0)
    return operation(total, operation.reduce(values[n - rest :], axis=0)) if rest else total
