"""Coordinates of a flat domain."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from zfree.arrays import Array, Index

if TYPE_CHECKING:
    from zfree.domains.base import Domain


class Chart(NamedTuple):
    """Affine coordinates x = C y + c of a domain that is flat inside a larger space; y are some of the columns of x."""

    matrix: Array
    offset: Array
    domain: Domain
    kept: Index

    def pull(self, X: Array) -> Array:
        """Coordinates y of points x: a plain selection, so that small parts keep all their digits."""
        return X[:, self.kept]

    def push(self, Y: Array) -> Array:
        """Points x of coordinates y."""
        return Y @ self.matrix.T + self.offset
