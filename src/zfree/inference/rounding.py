"""Columns that were rounded: the grid they lie on, so that draws can be rounded alike before the two are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array

MOST_DIVISOR = 12
"""The grid is sought among the smallest gap between two values and its whole fractions down to this one."""
TOLERANCE = 1e-5
"""Distance from the grid, in steps, that is arithmetic and not data."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Offset and step of each column; a step of zero where the column is not rounded."""

    offset: Array
    step: Array

    @property
    def any(self) -> bool:
        """Whether some column is rounded."""
        return bool((self.step > 0).any())

    def round(self, X: Array) -> Array:
        """Each value moved to the nearest point of its column's grid."""
        if not self.any:
            return X
        step = np.where(self.step > 0, self.step, 1.0)
        return np.where(self.step > 0, self.offset + step * np.round((X - self.offset) / step), X)


def find_grid(X: Array) -> Grid:
    """The grid of every column that has ties and lies on one.

    A continuous variable has no ties. One that was rounded to steps of h has them as soon as about 1/h rows are close
    together; its distribution function then jumps, and differs from a smooth one by up to h/2 times the density.
    """
    steps = np.array([_step(np.unique(column), len(column)) for column in X.T])
    return Grid(X.min(axis=0), steps)


def _step(values: Array, n: int) -> float:
    """The step of a grid through all of `values` (sorted, distinct), 0 if there are no ties or there is no such grid."""
    if len(values) >= n or len(values) < 3:
        return 0.0
    gaps = np.diff(values)
    smallest = float(gaps.min())
    for divisor in range(1, MOST_DIVISOR + 1):
        steps = (values - values[0]) * (divisor / smallest)
        if float(np.abs(steps - np.round(steps)).max()) < TOLERANCE * divisor:
            return smallest / divisor
    return 0.0
