r"""J v + tr(D ∇²t) of the rows of a model with a matrix K: each, their sum, or the sum of their squares.

With :math:`u, v` of :class:`~zfree.models.coordinates.Coordinates`, :math:`D' = \mathrm{diag}(v) D\,\mathrm{diag}(v)` and a vector V a row has

.. math::
   -\mathrm{once}_{jk}\,\bigl(M_j u_k + u_j M_k + 2 a D'_{jk}\bigr) \text{ at } K_{jk}, \quad M = v\,\bigl(V + (a - 1)\,\mathrm{diag}(D)/x\bigr),
   \qquad x^{b-1}\,\bigl(V + (b - 1)\,\mathrm{diag}(D)/x\bigr) \text{ at } \eta

(a = 1 in front of D' for logarithms): the curvature of u and of :math:`x^b` acts like a push along its column, and for a Gaussian only D itself is left. Rows are taken in blocks that stay in the
cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk

from zfree.arrays import Array, mirrored, row_blocks
from zfree.fields import Parts
from zfree.models.coordinates import Coordinates
from zfree.models.pairs import Pairs

SQUARES = 256
"""Rows at least of which squares are added to a matrix at a time: fewer would read and write it too often."""


class Factors(NamedTuple):
    """What the rows of a block are products of, with their weights multiplied in; (n, d) or (d, n)."""

    u: Array
    moved: Array
    eta: Array
    diagonal: Array | None
    rank_ones: list[tuple[Array, Array]]
    dense: Array | None


@dataclass(frozen=True, eq=False)
class PairRows:
    """See the module. `parts` are those of D; None for J v alone."""

    pairs: Pairs
    seen: Coordinates
    linear: bool

    @property
    def size(self) -> int:
        """Entries of K, and η."""
        return len(self.pairs) + (self.pairs.d if self.linear else 0)

    def each(self, X: Array, V: Array, parts: Parts | None) -> Array:
        """The rows, laid out (r, N)."""
        out = np.empty((self.size, len(X)))
        for own in row_blocks(len(X), self.size):
            self._fill(X[own], V[own], _of_block(parts, own), None, out[:, own])
        return out

    def squares(self, X: Array, V: Array, parts: Parts, weight: Array) -> Array:
        """Σ w² ψ ψᵀ over the rows ψ, shape (r, r)."""
        r = self.size
        total, spare = np.zeros((r, r), order="F"), np.empty(0)
        for own in row_blocks(len(X), r, SQUARES):
            n = min(own.stop, len(X)) - own.start
            spare = spare if spare.size >= r * n else np.empty(r * n)
            psi = spare[: r * n].reshape(r, n)
            self._fill(X[own], V[own], _of_block(parts, own), weight[own], psi)
            total = dsyrk(1.0, psi.T, trans=1, beta=1.0, c=total, overwrite_c=1)
        return mirrored(total)

    def total(self, X: Array, V: Array, parts: Parts, weight: Array) -> Array:
        """Σ w ψ over the rows ψ, shape (r,)."""
        if self.pairs.on_diagonal:
            return self._total_by_rows(X, V, parts, weight)
        pairs, d, m = self.pairs, self.pairs.d, len(self.pairs)
        both, entries, eta = np.zeros((d, d)), np.zeros(m), np.zeros(d)
        for own in row_blocks(len(X), 4 * d):
            f = self._factors(X[own], V[own], _of_block(parts, own), weight[own], across=False)
            both += f.moved.T @ f.u
            ones = np.ones(len(f.u))
            if f.diagonal is not None:
                both.flat[:: d + 1] += self.seen.scale * (ones @ f.diagonal)
            for scaled, direction in f.rank_ones:
                both += self.seen.scale * (scaled.T @ direction)
            if f.dense is not None:
                entries += 2.0 * self.seen.scale * (ones @ f.dense)
            if self.linear:
                eta += ones @ f.eta
        both += both.T
        entries += both[pairs.rows, pairs.cols]
        entries *= -pairs.once
        return np.concatenate([entries, eta]) if self.linear else entries

    def _total_by_rows(self, X: Array, V: Array, parts: Parts, weight: Array) -> Array:
        """The same from the rows themselves, where they are short."""
        total = np.zeros(self.size)
        for own in row_blocks(len(X), self.size):
            psi = np.empty((self.size, len(X[own])))
            self._fill(X[own], V[own], _of_block(parts, own), weight[own], psi)
            total += psi @ np.ones(psi.shape[1])
        return total

    def _fill(self, X: Array, V: Array, parts: Parts | None, weight: Array | None, out: Array) -> None:
        """The rows of a block, times their weights."""
        f, pairs, m = self._factors(X, V, parts, weight, across=True), self.pairs, len(self.pairs)
        on_K, twice = out[:m], -2.0 * self.seen.scale
        negative = np.negative(f.u)
        products = [(negative, f.moved), (f.moved, negative)]
        products += [(twice * scaled, direction) for scaled, direction in f.rank_ones]
        pairs.products(products, on_K)
        if f.diagonal is not None:
            on_K[pairs.diagonal] -= self.seen.scale * f.diagonal[pairs.rows[pairs.diagonal]]
        if f.dense is not None:
            on_K += (twice * pairs.once)[:, None] * f.dense.T
        if self.linear:
            out[m:] = f.eta

    def _factors(self, X: Array, V: Array, parts: Parts | None, weight: Array | None, across: bool) -> Factors:
        """Columns of a block are contiguous if `across`, as products over pairs of them are fastest."""

        def laid(values: Array) -> Array:
            return np.ascontiguousarray(values.T) if across else values

        def per_row(values: Array) -> Array:
            return values if across else values[:, None]

        seen, x, moved = self.seen, laid(X), laid(V)
        u, v, slope = seen.centred(x, across), seen.v(x), seen.slope(x)
        diagonal, rank_ones, dense = (None, (), None) if parts is None else parts
        delta = None if diagonal is None else laid(diagonal)
        ones = [(sigma, laid(direction)) for sigma, direction in rank_ones]
        eta = moved
        if parts is not None and not seen.a == seen.b == 1.0:
            bend = laid(np.einsum("njj->nj", dense)) if dense is not None else delta
            for sigma, direction in ones:
                term = per_row(sigma) * direction**2
                bend = term if bend is None else bend + term
            bend = bend / x  # type: ignore[operator]
            moved, eta = moved + (seen.a - 1.0) * bend, moved + (seen.b - 1.0) * bend
        if v is not None:
            moved = v * moved
            delta = None if delta is None else v**2 * delta
            ones = [(sigma, v * direction) for sigma, direction in ones]
        if slope is not None:
            eta = slope * eta
        entries = None
        if dense is not None:
            j, k = self.pairs.rows, self.pairs.cols
            entries = np.take(dense.reshape(len(X), -1), j * self.pairs.d + k, axis=1)
            if v is not None:
                rows_v = v.T if across else v
                entries *= rows_v[:, j] * rows_v[:, k]
        if weight is None:
            return Factors(u, moved, eta, delta, [(per_row(s) * w, w) for s, w in ones], entries)
        w = per_row(weight)
        if entries is not None:
            entries *= weight[:, None]
        weighted = w * moved
        return Factors(
            u,
            weighted,
            weighted if eta is moved else w * eta,
            None if delta is None else w * delta,
            [(per_row(weight * s) * direction, direction) for s, direction in ones],
            entries,
        )


def _of_block(parts: Parts | None, own: slice) -> Parts | None:
    """Those of some rows."""
    if parts is None:
        return None
    diagonal, rank_ones, dense = parts
    return Parts(
        None if diagonal is None else diagonal[own],
        tuple(term._replace(sigma=term.sigma[own], u=term.u[own]) for term in rank_ones),
        None if dense is None else dense[own],
    )
