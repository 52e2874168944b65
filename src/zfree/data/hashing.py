"""Rows known by their content: whatever is drawn at random from rows must not depend on their order, nor on the units of the columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zfree.arrays import Array

Hashes = NDArray[np.uint64]

GRID = 2.0**20
"""Standardised values are rounded to this fraction before they are hashed: what other units leave of a value is the same number."""


def content_hash(X: Array, weight: Array | None) -> int:
    """A number that depends on the values, not on the order of the rows or the units of the columns."""
    return int(row_hashes(X, weight).sum(dtype=np.uint64))


def row_hashes(X: Array, weight: Array | None) -> Hashes:
    """A number for each row, as good as random, in units of the largest value of each column."""
    columns = X if weight is None else np.column_stack([X, weight])
    largest = np.abs(columns).max(axis=0)
    bits = (columns / np.where(largest > 0, largest, 1.0)).astype(np.float32).view(np.uint32).astype(np.uint64)
    rows = np.zeros(len(bits), dtype=np.uint64)
    for column in bits.T:
        rows = _mixed(rows ^ column)
    return rows


def lottery(X: Array, mean: Array, spread: Array) -> Hashes:
    """A cheaper number for each row, from what distances from the mean add up to: neither rows nor columns have an order."""
    Z = (X - mean) / spread
    key = Z @ np.ones(Z.shape[1])
    Z *= Z
    key += (Z @ np.ones(Z.shape[1])) * np.sqrt(0.5)
    return _mixed(np.round(key * GRID).astype(np.int64).view(np.uint64))


def _mixed(x: Hashes) -> Hashes:
    """Spread every bit of x over all 64 (multiplication by an odd constant and shifts are invertible)."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xD6E8FEB86659FD93)
    x = (x ^ (x >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return x ^ (x >> np.uint64(29))
