"""How the mean and the covariance of a Gaussian move with K and η: Jacobians (d, r) and (d(d + 1)/2, r) that nobody forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array, Mask, symmetric_pairs
from zfree.data.chunks import row_chunks
from zfree.models.linear_maps import Jacobian, LinearMap, Shear, moved_by
from zfree.models.pair_entries import Pairs


@dataclass(frozen=True, eq=False)
class MeanMap(LinearMap):
    """dμ = S (dη − dK s) of μ = c + S η, s = S η.

    Attributes
    ----------
    inverse : ndarray of shape (d, d) or LinearMap
        S = K⁻¹.
    shift : Shear
        Of (K, η) by −s.
    """

    inverse: Jacobian
    shift: Shear

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.inverse), self.shift.shape[0]

    def __matmul__(self, V: Array) -> Array:
        return self.inverse @ (self.shift @ V)[self.shift.n_pairs :]

    def transposed_times(self, V: Array) -> Array:
        inner = np.zeros((self.shape[1], *V.shape[1:]))
        inner[self.shift.n_pairs :] = self.inverse.T @ V
        return self.shift.transposed_times(inner)

    def moved_by(self, free: Mask) -> Mask:
        return moved_by(self.inverse, self.shift.moved_by(free)[self.shift.n_pairs :])


@dataclass(frozen=True, eq=False)
class CovarianceMap(LinearMap):
    """dS = −S dK S at the entries of the upper triangle.

    Attributes
    ----------
    inverse : ndarray of shape (d, d)
        S = K⁻¹.
    pairs : Pairs
        The entries of K that are parameters; those of η come after them.
    size : int
        Number of parameters.
    """

    inverse: Array
    pairs: Pairs
    size: int

    @property
    def shape(self) -> tuple[int, int]:
        d = len(self.inverse)
        return d * (d + 1) // 2, self.size

    def _by_columns(self, V: Array, rows: int) -> tuple[Array, Array, Iterator[slice]]:
        """Columns of V as rows, room for what comes of them, and which are taken together."""
        columns = V.reshape(len(V), -1).T
        return columns, np.zeros((len(columns), rows)), row_chunks(len(columns), self.pairs.d**2)

    def __matmul__(self, V: Array) -> Array:
        S, (p, q), m = self.inverse, symmetric_pairs(self.pairs.d), len(self.pairs)
        columns, out, chunks = self._by_columns(V, len(p))
        for own in chunks:
            dK = np.zeros((len(columns[own]), *S.shape))
            dK[:, self.pairs.rows, self.pairs.cols] = dK[:, self.pairs.cols, self.pairs.rows] = columns[own, :m]
            out[own] = -(S @ dK @ S)[:, p, q]
        return out.T.reshape(len(p), *V.shape[1:])

    def transposed_times(self, V: Array) -> Array:
        S, (p, q), m = self.inverse, symmetric_pairs(self.pairs.d), len(self.pairs)
        columns, out, chunks = self._by_columns(V, self.size)
        for own in chunks:
            upper = np.zeros((len(columns[own]), *S.shape))
            upper[:, p, q] = columns[own]
            found = S @ upper @ S
            both = found[:, self.pairs.rows, self.pairs.cols] + found[:, self.pairs.cols, self.pairs.rows]
            out[own, :m] = -self.pairs.once * both
        return out.T.reshape(self.size, *V.shape[1:])

    def moved_by(self, free: Mask) -> Mask:
        moved, own = np.zeros(self.inverse.shape), free[: len(self.pairs)]
        moved[self.pairs.rows[own], self.pairs.cols[own]] = moved[self.pairs.cols[own], self.pairs.rows[own]] = 1.0
        linked = (self.inverse != 0).astype(np.float64)
        return np.asarray((linked @ moved @ linked > 0)[symmetric_pairs(self.pairs.d)])
