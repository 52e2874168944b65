"""Functions of every entry of some rows, each computed once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from zfree.arrays import Array


class ColumnFunctions:
    """log x_j and 1/x_j of the rows of X, laid out (d, N) in the memory order of the data."""

    def __init__(self, X: Array) -> None:
        self.X = X

    @cached_property
    def log(self) -> Array:
        """log x_j."""
        return np.log(self.X.T)

    @cached_property
    def inverse(self) -> Array:
        """1/x_j."""
        return 1.0 / self.X.T
