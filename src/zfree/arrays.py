"""Array types, row chunks and the two matrix products everything rests on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
Seed = int | np.random.Generator | None

CHUNK_DOUBLES = 2**20
"""Doubles that one temporary of a chunk may hold (8 MB): large enough for BLAS, small enough for cache."""


def chunk_rows(doubles_per_row: int) -> int:
    """How many rows a chunk holds so that no temporary exceeds :data:`CHUNK_DOUBLES`."""
    return max(64, CHUNK_DOUBLES // max(1, doubles_per_row))


BLOCK_DOUBLES = 2**16
"""Doubles of a temporary that is written and read again at once (512 KB): it stays in the cache of a core."""


def block_rows(doubles_per_row: int) -> int:
    """How many rows a block inside a chunk holds so that its temporary does not exceed :data:`BLOCK_DOUBLES`."""
    return max(64, BLOCK_DOUBLES // max(1, doubles_per_row))


def row_blocks(n_rows: int, doubles_per_row: int, least: int = 64) -> list[slice]:
    """Slices that cover ``range(n_rows)``, each a block, of `least` rows at least."""
    step = max(least, block_rows(doubles_per_row))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def row_chunks(n_rows: int, doubles_per_row: int) -> Iterator[slice]:
    """Slices that cover ``range(n_rows)``, each a chunk."""
    step = chunk_rows(doubles_per_row)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


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


def mirrored(upper: Array) -> Array:
    """Copy the upper triangle of a matrix whose lower one is zero to the lower one, in place."""
    step = 256  # square pieces that fit into the cache, as one of the two is read across its rows
    for start in range(0, len(upper), step):
        rows, rest = slice(start, start + step), slice(start + step, None)
        upper[rows, rows] += np.triu(upper[rows, rows], 1).T
        upper[rest, rows] = upper[rows, rest].T
    return upper


def symmetric_pairs(d: int) -> tuple[Index, Index]:
    """Row and column indices of the upper triangle of a d × d matrix, diagonal included, row by row."""
    rows, columns = np.triu_indices(d)
    return rows, columns
