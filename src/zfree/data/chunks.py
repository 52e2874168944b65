"""How many rows are worked on at a time, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator

CHUNK_DOUBLES = 2**20
"""Doubles that one temporary of a chunk may hold (8 MB): large enough for BLAS, small enough for cache."""


def chunk_rows(doubles_per_row: int) -> int:
    """How many rows a chunk holds so that no temporary exceeds :data:`CHUNK_DOUBLES`."""
    return max(64, CHUNK_DOUBLES // max(1, doubles_per_row))


def row_chunks(n_rows: int, doubles_per_row: int) -> Iterator[slice]:
    """Slices that cover ``range(n_rows)``, each a chunk."""
    step = chunk_rows(doubles_per_row)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
