"""Array types, and the matrix products everything rests on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
Seed = int | np.random.Generator | None


def row_sums(X: Array) -> Array:
    """Σ_j x_ij. As a product with ones: numpy's own reduction over a short last axis is several times slower."""
    return X @ np.ones(X.shape[1])


def weighted_gram(columns: Array, weight: Array) -> Array:
    r"""Return :math:`\sum_i w_i q_i q_i^\top` for rows ``q_i = columns[:, i]``.

    `columns` is stored with one *row per parameter* (r, N): gathers of parameters are then contiguous copies,
    and ``Q @ Q.T`` is dispatched to the symmetric BLAS routine.
    """
    if weight.min() >= 0 or weight.max() <= 0:
        scaled = columns * np.sqrt(np.abs(weight))
        gram = scaled @ scaled.T
        return gram if weight[0] >= 0 and weight.min() >= 0 else -gram
    return (columns * weight) @ columns.T


def is_diagonal(matrix: Array) -> bool:
    """Whether a square matrix has zeros beside its diagonal."""
    return bool(np.count_nonzero(matrix) == np.count_nonzero(matrix.diagonal()))


def symmetric_pairs(d: int) -> tuple[Index, Index]:
    """Row and column indices of the upper triangle of a d × d matrix, diagonal included, row by row."""
    rows, columns = np.triu_indices(d)
    return rows, columns
