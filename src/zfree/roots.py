r"""Square roots of structured matrices: what drawing from N(m, D) and evaluating its density take.

For :math:`D = \mathrm{diag}(\delta) + \sum_k \sigma_k u_k u_k^\top` with the :math:`u_k` on coordinates of their own, put
:math:`w_k = \delta^{-1/2} u_k`. Then :math:`D = L L^\top` with :math:`L = \mathrm{diag}(\delta^{1/2})(I + \sum_k c_k w_k w_k^\top)` and
:math:`c_k = (\sqrt{1 + \sigma_k\|w_k\|^2} - 1)/\|w_k\|^2`: O(d) per row. Dense matrices take a Cholesky factor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from zfree.arrays import Array, row_sums
from zfree.fields import Parts

EPSILON = float(np.finfo(float).eps)
"""Next to a facet D shrinks across it, down to where rounding leaves no digit of that: the share that counts as zero."""


class Root(ABC):
    """L with L Lᵀ = D, one per row."""

    @abstractmethod
    def apply(self, V: Array) -> Array:
        """L v for each row v of `V` (N, d)."""

    @abstractmethod
    def solve(self, V: Array) -> Array:
        """L⁻¹ v for each row."""

    @abstractmethod
    def logdet(self) -> Array:
        """log det D (N,)."""

    def log_density(self, V: Array, log_variance: Array) -> Array:
        """The log-density (N,) of N(0, e^`log_variance` D) at each row of `V`, without its ½d log 2π."""
        scaled = self.solve(V)
        square = row_sums(scaled * scaled) * np.exp(-log_variance)
        return np.asarray(-0.5 * (square + self.logdet() + V.shape[1] * log_variance), dtype=np.float64)


def root(parts: Parts, floor: float = 0.0) -> Root:
    """The square root of a field in its own structure, given by :meth:`Field.parts <zfree.fields.Field.parts>`.

    With `floor` above 0 (:data:`EPSILON`) it can be inverted wherever the field is positive definite but for rounding.
    """
    if parts.dense is None and not _overlap(parts):
        return _StructuredRoot(parts, floor)
    return _DenseRoot(_written_out(parts) if parts.dense is None else parts.dense)


def _overlap(parts: Parts) -> bool:
    """Whether terms of rank one share a coordinate, as those of a field carried over from a chart do: then there is no root in their structure."""
    terms = len(parts.rank_ones)
    return terms > 1 and bool((np.sum([u.any(axis=0) for _, u in parts.rank_ones], axis=0) > 1).any())


def _written_out(parts: Parts) -> Array:
    """The matrices (N, d, d)."""
    assert parts.diagonal is not None
    out = parts.diagonal[:, :, None] * np.eye(parts.diagonal.shape[1])
    for sigma, u in parts.rank_ones:
        out += (sigma[:, None] * u)[:, :, None] * u[:, None, :]
    return out


def apply_parts(parts: Parts, V: Array) -> Array:
    """D v for each row of `V`, with D given by its parts."""
    if parts.dense is not None:
        product: Array = np.einsum("njk,nk->nj", parts.dense, V)
        return product
    assert parts.diagonal is not None
    out = parts.diagonal * V
    for sigma, u in parts.rank_ones:
        out += (sigma * row_sums(u * V))[:, None] * u
    return out


class _StructuredRoot(Root):
    def __init__(self, parts: Parts, floor: float) -> None:
        assert parts.diagonal is not None
        self._scale = np.sqrt(parts.diagonal)
        self._terms = []
        for sigma, u in parts.rank_ones:
            w = u / self._scale
            square = row_sums(w * w)
            grown = np.sqrt(np.maximum(1.0 + sigma * square, floor))
            self._terms.append((w, np.where(square > 0, square, 1.0), grown))

    def apply(self, V: Array) -> Array:
        out = V.copy()
        for w, square, grown in self._terms:
            out += ((grown - 1.0) / square * row_sums(w * V))[:, None] * w
        return self._scale * out

    def solve(self, V: Array) -> Array:
        V = V / self._scale
        out = V.copy()
        for w, square, grown in self._terms:
            out += ((1.0 / grown - 1.0) / square * row_sums(w * V))[:, None] * w
        return out

    def logdet(self) -> Array:
        total = 2.0 * np.log(self._scale).sum(axis=1)
        for _, _, grown in self._terms:
            total = total + 2.0 * np.log(grown)
        return np.asarray(total, dtype=np.float64)


class _DenseRoot(Root):
    def __init__(self, matrices: Array) -> None:
        d = matrices.shape[-1]
        self._factor = np.linalg.cholesky(matrices * (1.0 + 4 * d * EPSILON * np.eye(d)))

    def apply(self, V: Array) -> Array:
        product: Array = np.einsum("njk,nk->nj", self._factor, V)
        return product

    def solve(self, V: Array) -> Array:
        return np.asarray(np.linalg.solve(self._factor, V[:, :, None])[:, :, 0], dtype=np.float64)

    def logdet(self) -> Array:
        return np.asarray(2.0 * np.log(np.einsum("njj->nj", self._factor)).sum(axis=1), dtype=np.float64)
