"""Blocks of rows inside a chunk, for products whose factors are written and read again at once."""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array

BLOCK_DOUBLES = 2**17
"""Doubles of a temporary that is written and read again at once (1 MB): it stays in the cache of a core."""
BLOCK_ROWS = 256
"""Rows that a block has at least: with fewer the calls, and matrices that sums are added to, cost more than the rows."""


def block_rows(doubles_per_row: int) -> int:
    """How many rows a block inside a chunk holds so that its temporary does not exceed :data:`BLOCK_DOUBLES`."""
    return max(BLOCK_ROWS, BLOCK_DOUBLES // max(1, doubles_per_row))


def row_blocks(n_rows: int, doubles_per_row: int) -> list[slice]:
    """Slices that cover ``range(n_rows)``, each a block."""
    step = block_rows(doubles_per_row)
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def mirrored(upper: Array) -> Array:
    """Copy the upper triangle of a matrix whose lower one is zero to the lower one, in place."""
    step = 256  # square pieces that fit into the cache, as one of the two is read across its rows
    for start in range(0, len(upper), step):
        rows, rest = slice(start, start + step), slice(start + step, None)
        upper[rows, rows] += np.triu(upper[rows, rows], 1).T
        upper[rest, rows] = upper[rows, rest].T
    return upper
