"""Functions of every entry of some rows, each computed once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from zfree.arrays import Array


class ColumnFunctions:
    """log x_j and 1/x_j of the rows of X, laid out (d, N) in the memory order of the data."""

    def __init__(self, X: Array) -> None:
        self.X = X
        self._sums: tuple[Array, Array] | None = None

    def sums(self, weight: Array) -> Array:
        """Σ_i w_i x^k log^j x in the order 1, log x, x, x log x, x², x² log x; shape (6, d)."""
        if self._sums is None or self._sums[0] is not weight:
            x, log = self.X.T, self.log
            moved, square = x * log, x * x
            total = np.full(len(x), weight.sum())
            found = [total, *(terms @ weight for terms in (log, x, moved, square, x * moved))]
            self._sums = weight, np.array(found)
        return self._sums[1]

    @cached_property
    def log(self) -> Array:
        """log x_j."""
        return np.log(self.X.T)

    @cached_property
    def inverse(self) -> Array:
        """1/x_j."""
        return 1.0 / self.X.T
