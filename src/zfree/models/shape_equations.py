r"""The equations of shape families with test functions, column by column.

With D = diag(x) − xxᵀ (parts of a whole, ε = 1) or diag(x) (ε = 0) and :math:`\partial_j h = f(x_j)` the equation of a column is

.. math:: \sum_i w_i\,[\,(x - \epsilon x^2) f'(x) + (a - s x) f(x)\,] = 0, \qquad f = p_0 + p_1\log x + p_2 x + p_3 x\log x,

where a and s are linear in θ: α_l and α₀, or k and λ. Powers of generalized gammas, x = z^e, are gammas with k = κ/e. Its sums follow from six sums of a column, whatever p; they are formed once, for the pilot and for
what is built from it. Arrays are laid out (d, N) by columns, in which a factor per column costs no more than a number.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from zfree.arrays import Array
from zfree.models.base import Equations
from zfree.quadratic import DenseQuadratic, Quadratic

ROUNDED = 1e-14
"""Sums of functions that cancel to less than this share of their terms are zero."""


class Columns:
    """x, log x and x log x of some rows, or of powers of them, and their sums."""

    def __init__(self, X: Array, exponent: float = 1.0) -> None:
        self.X, self.exponent = X, exponent
        self.x = np.ascontiguousarray(X.T if exponent == 1.0 else X.T**exponent)
        self.log = np.log(self.x) if exponent == 1.0 else exponent * np.log(X.T)
        self.moved = self.x * self.log
        self._sums: tuple[Array, Array] | None = None

    def sums(self, weight: Array) -> Array:
        """Σ_i w_i of 1, log x, x, x log x, x², x² log x; shape (6, d)."""
        if self._sums is None or self._sums[0] is not weight:
            out = np.empty((6, len(self.x)))
            out[0] = weight.sum()
            for k, terms in enumerate((self.log, self.x, self.moved, self.x * self.x, self.x * self.moved), 1):
                np.matmul(terms, weight, out=out[k])
            self._sums = weight, out
        return self._sums[1]


class ShapeEquations(Equations):
    """See the module.

    Parameters
    ----------
    weights : ndarray of shape (kinds, 4, columns)
        The p of every function: of one kind for a Dirichlet, of two, shape and rate, for gammas.
    whole : bool
        Whether columns are parts of a whole.
    columns : Columns
    """

    def __init__(self, weights: Array, whole: bool, columns: Columns) -> None:
        self.weights, self.whole, self.columns = weights, whole, columns

    def moments(self, weight: Array) -> tuple[Quadratic, Array]:
        sums = self.columns.sums(weight)
        bent = sums[:4] - sums[2:] if self.whole else sums[:4]  # Σ (x − εx²) times 1/x, log x/x, 1 and log x
        terms = np.zeros((3, *bent.shape))
        terms[0], terms[1] = sums[:4], sums[2:]
        terms[2, 1], terms[2, 2], terms[2, 3] = bent[0], bent[2], bent[2] + bent[3]
        f, fx, g = (self.weights[:, None] * terms).sum(axis=2).swapaxes(0, 1)
        d = sums.shape[1]
        if self.whole:
            gamma = np.repeat(-fx[0], d).reshape(d, d)
            gamma.flat[:: d + 1] += f[0]
            return DenseQuadratic(gamma, symmetric=False), g[0]
        # Where x does not vary, log(x/mean) is rounding: of the mean itself, and of logarithms that cancel.
        exact = np.abs(f) > ROUNDED * (
            np.abs(self.weights[:, :2] * sums[:2]).sum(axis=1) + np.abs(self.weights[:, 1]) * sums[0]
        )
        f, fx = f * exact, fx * exact
        blocks, own = np.zeros((2, d, 2, d)), np.arange(d)
        blocks[:, own, 0, own], blocks[:, own, 1, own] = f / self.columns.exponent, -fx
        return DenseQuadratic(blocks.reshape(2 * d, 2 * d), symmetric=False), g.ravel()

    def products(self, thetas: Array) -> Array:
        x = self.columns.x
        if self.whole:
            product: Array = self._functions[0][0] * (thetas - x * thetas.sum(axis=0))
            return product
        shape, rate = thetas.reshape(2, len(x), -1)
        drift = shape / self.columns.exponent - x * rate
        return np.concatenate([f * drift for f, _ in self._functions])

    def constants(self) -> Array:
        if self.whole:
            return self._functions[0][1]
        return np.concatenate([np.broadcast_to(bent, self.columns.x.shape) for _, bent in self._functions])

    @cached_property
    def _functions(self) -> list[tuple[Array, Array]]:
        """f and (x − εx²) f' of every kind, shape (d, N), or (d, 1) where they do not change."""
        return [self._of(p[:, :, None]) for p in self.weights]

    def _of(self, p: Array) -> tuple[Array, Array]:
        if not self.whole and not p[1:].any():
            return p[0], np.zeros_like(p[0])
        x, log, moved = self.columns.x, self.columns.log, self.columns.moved
        moving = p[3] * moved
        moving += p[2] * x
        f = p[1] * log
        f += p[0]
        f += moving
        moving += p[3] * x
        moving += p[1]
        if self.whole:
            moving *= 1.0 - x
        return f, moving
