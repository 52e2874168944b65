"""What every field can do, and how consumers see it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import NamedTuple

from zfree.arrays import Array, Index


class RankOne(NamedTuple):
    """The term :math:`\\sigma_i u_i u_i^\\top`."""

    sigma: Array
    u: Array


class Parts(NamedTuple):
    """A field as ``diagonal + Σ rank_ones`` or, when it has no such structure, as ``dense`` alone."""

    diagonal: Array | None
    rank_ones: tuple[RankOne, ...]
    dense: Array | None


class Directions(NamedTuple):
    """Vectors c_m with few entries, the same at all rows of the data: `coefficients` at `columns`, both (M, entries)."""

    columns: Index
    coefficients: Array


class Along(NamedTuple):
    r"""A field as :math:`\sum_m \delta_m c_m c_m^\top` plus rank-one terms or, without such structure, as `dense` alone."""

    directions: Directions | None
    """The c_m; None for the coordinates themselves."""
    delta: Array | None
    """(N, M)"""
    rank_ones: tuple[RankOne, ...]
    dense: Array | None


class Field(ABC):
    """N symmetric d × d matrices."""

    @abstractmethod
    def apply(self, V: Array) -> Array:
        """Multiply row i of `V` (N, d) by matrix i."""

    @abstractmethod
    def diagonal(self) -> Array:
        """The diagonals (N, d)."""

    @abstractmethod
    def entries(self, rows: Index, columns: Index) -> Array:
        """Entries ``[rows[p], columns[p]]`` of every matrix, laid out (n_pairs, N)."""

    @abstractmethod
    def rescale(self, v: Array) -> Field:
        """The congruence ``diag(v) D diag(v)`` with `v` of shape (N, d), or (1, d) for all rows."""

    @cached_property
    @abstractmethod
    def parts(self) -> Parts:
        """The field as a sum of simple terms."""

    def along(self) -> Along:
        """The same with the diagonal along constant directions, of which a field may have better ones than the coordinates."""
        diagonal, rank_ones, dense = self.parts
        return Along(None, diagonal, rank_ones, dense)

    @abstractmethod
    def dense(self) -> Array:
        """The matrices written out (N, d, d)."""
