"""Rows dealt out to groups, so that neither their order nor the units of the columns matter."""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array, Index
from zfree.data.hashing import Hashes


def deal(X: Array, weight: Array | None, groups: int) -> Index:
    """The group of each row: as good as random, of equal sizes, and a function of the set of rows alone.

    A row is known by the ranks of its entries within their columns, which no change of units moves. They are mixed by a hash,
    the rows are sorted by it, and dealt out in turn. Rows with equal ranks are told apart by their weights; if these agree too, the rows
    are the same, and which of them goes where cannot matter.
    """
    n, d = X.shape
    ranks = np.empty((d, n), dtype=np.uint64)
    for j in range(d):
        ranks[j] = np.unique(X[:, j], return_inverse=True)[1]
    # Sums over columns, so that their order does not matter either.
    key = _mixed(_mixed(ranks + np.uint64(1)).sum(axis=0, dtype=np.uint64))
    ties = () if weight is None else (weight,)
    order = np.lexsort((*ranks, *ties, key))
    out = np.empty(n, dtype=np.intp)
    out[order] = np.arange(n) % groups
    return out


def _mixed(values: Hashes) -> Hashes:
    """A bijection of the 64-bit integers without visible pattern (multiply and shift, as in SplitMix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    mixed: Hashes = values ^ (values >> np.uint64(31))
    return mixed
