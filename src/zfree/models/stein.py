r"""Test functions of Stein's method of moments for shape families, whose estimating equations are nearly the likelihood's.

For every smooth field v that vanishes on the boundary :math:`E\,A_\theta v = 0` with :math:`A_\theta v = \nabla\cdot v + v\cdot s_\theta`.
Score matching takes :math:`v_l = D\nabla t_l`; any other :math:`v_l = D\nabla h_l` gives equations that are linear in θ as well. With
:math:`D = \mathrm{diag}(x) - xx^\top` on the simplex, :math:`D = \mathrm{diag}(x)` on the orthant and :math:`h_l' = f(x_l)`, they involve one column
each,

.. math:: A f = \tau f' + (a - s x) f, \qquad \tau = x - \epsilon x^2 ,

with ε = 1, s = α₀ for a part of a Dirichlet (whose marginal is Beta(a, α₀ − a)) and ε = 0, s = λ for a gamma (a = k). The equation is the
likelihood's where :math:`A f = -(\log x - E\log x)`: then f τ is the velocity with which draws move when a grows, the field of implicit
reparametrisation, and has one sign.

- :func:`first_functions`: f = log x. Closed forms that need no parameters: Ye and Chen (2017) for the gamma.
- :func:`best_functions`: the f in the span of 1, log x, x and x log x for which A f is closest to that in mean square, at parameters that are
  near the true ones. By Stein's identity the normal equations need moments :math:`E\,x^k \log^j x` alone, which are rising factorials, digamma and
  trigamma. Sample means in their place would cost several per cent of efficiency at some hundred rows.

The expectation of the equations is zero for every f, so to first order the error of the pilot does not touch the estimate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import digamma, zeta

from zfree.arrays import Array
from zfree.fields import Diagonal, DiagonalPlusRankOne, Field
from zfree.models.base import Equations
from zfree.models.separable import SeparableModel
from zfree.models.shape_equations import Columns, ShapeEquations

SMALLEST = 1e-6
"""Where a pilot is not positive: any f is valid, and this one is near those of small parameters."""
RIDGE, ROUNDING = 1e-8, 1e-12
"""Added to the normal equations, relative to their diagonal; the second times the parameter, as their rounding grows with it."""
LARGE = 1e4
"""Parameters from which the limit of the best f is taken, a f = 1 − ½ log y: x hardly varies, the four functions are nearly one, and rounding would
decide about the slope, which is all that the equations of a Dirichlet know α₀ from."""


class SteinFunctions(SeparableModel):
    r"""h with :math:`a\,\partial_j h_{kj} = p_{k0} + p_{k1}\log u_j + p_{k2} u_j + p_{k3} u_j\log u_j`, :math:`u = x^a`, one h per kind and column.

    Parameters
    ----------
    columns, kinds : sequence of str
        As those of the model whose parameters are estimated.
    weights : ndarray of shape (kinds, 4, columns)
        The p.
    whole : bool
        Whether the columns are parts of a whole, of a Dirichlet, or independent, of gammas.
    exponent : float
        a; one but for generalized gammas.

    Notes
    -----
    The short way (:meth:`equations`) is that of models with the base b = −Σ log x, for which ∇·D + D∇b = 0.
    """

    def __init__(
        self, columns: Sequence[str], kinds: tuple[str, ...], weights: Array, whole: bool, exponent: float = 1.0
    ) -> None:
        self.kinds = kinds  # type: ignore[misc]
        super().__init__(columns)
        self.weights, self.whole, self.exponent = weights, whole, exponent

    def equations(self, X: Array, field: Field, known: Equations | None) -> Equations | None:
        if not _is_own(field, X, self.whole):
            return None
        same = isinstance(known, ShapeEquations) and known.columns.X is X and known.columns.exponent == self.exponent
        columns = known.columns if same else Columns(X, self.exponent)  # type: ignore[union-attr]
        return ShapeEquations(self.weights, self.whole, columns)

    def statistics(self, X: Array) -> Array:
        a, log = self.exponent, self.functions(X).log.T
        upper = X * self._power(X.T).T / (a + 1.0)  # integrals of 1, log u, u and u log u, over a
        terms = (X / a, X * log - X, upper / a, upper * log - upper / (a + 1.0))
        return np.concatenate([sum(p * term for p, term in zip(w, terms, strict=True)) for w in self.weights], axis=1)

    def _power(self, x: Array) -> Array:
        return x if self.exponent == 1.0 else x**self.exponent

    def first(self, X: Array) -> Array:
        a, functions = self.exponent, self.functions(X)
        u = self._power(X.T)
        slopes = [
            p[0] + p[1] * (a * functions.log) + u * (p[2] + p[3] * (a * functions.log)) for p in self._by_columns()
        ]
        return np.stack(slopes) / a

    def second(self, X: Array) -> Array:
        a, functions = self.exponent, self.functions(X)
        rise = 1.0 if a == 1.0 else X.T ** (a - 1.0)
        return np.stack(
            [p[1] * functions.inverse + (p[2] + p[3] + p[3] * (a * functions.log)) * rise for p in self._by_columns()]
        )

    def _by_columns(self) -> list[Array]:
        """The p of every kind, (4, d, 1)."""
        return [p[:, :, None] for p in self.weights]


def _is_own(field: Field, X: Array, whole: bool) -> bool:
    """Whether D is diag(x) − xxᵀ, or diag(x)."""
    if whole:  # σ is −1/Σx, one to rounding
        return isinstance(field, DiagonalPlusRankOne) and field.delta is X and field.u is X
    return isinstance(field, Diagonal) and field.delta is X


def first_functions(scale: Array) -> Array:
    """Weights of h' = log(x/scale), shape (4, columns)."""
    out = np.zeros((4, scale.size))
    out[0], out[1] = -np.log(scale), 1.0
    return out


def best_functions(a: Array, total: float | None, scale: Array | None = None) -> Array:
    r"""Weights of the h' in the span for which A h' is closest to −(log x − E log x), shape (4, columns).

    Parameters
    ----------
    a : ndarray
        A parameter of each column: those of a Dirichlet, or shapes of gammas.
    total : float or None
        α₀ of the Dirichlet; None for gammas.
    scale : ndarray, optional
        1/λ of the gammas.

    Notes
    -----
    In units of the mean, y = x/μ, the operator is :math:`A f = (y - e y^2) f' + a(1 - y) f` with e = εμ, and every A f is a combination of
    :math:`y^k\log^j y` with k ≤ 2, j ≤ 1. Then :math:`S_{mn} = E[A f_m\,A f_n]` needs moments with k ≤ 4, j ≤ 2, and
    :math:`-E[(A f_m)\log y] = E[(1 - e y) f_m]`.
    """
    mean = a / total if total is not None else a * (1.0 if scale is None else scale)
    e = np.zeros_like(a) if total is None else mean
    M, operator = _moments(a, total), _operator(a, e)
    S = operator @ M[:, _POWERS, _LOGS] @ operator.transpose(0, 2, 1)
    right = (M[:, :2, :2] - e[:, None, None] * M[:, 1:3, :2]).reshape(-1, 4)
    diagonal = S.reshape(-1, 16)[:, ::5]
    diagonal *= (1.0 + RIDGE + ROUNDING * a)[:, None]
    unit = 1.0 / np.sqrt(diagonal)
    S *= unit[:, :, None] * unit[:, None, :]
    c = (np.linalg.solve(S, (right * unit)[:, :, None])[:, :, 0] * unit).T
    large = a > LARGE
    c[:, large] = np.array([[1.0], [-0.5], [0.0], [0.0]]) / a[large]
    c[2:] /= mean
    c[::2] -= c[1::2] * np.log(mean)
    return c


_POWERS = np.add.outer(np.repeat(np.arange(3), 2), np.repeat(np.arange(3), 2))
_LOGS = np.add.outer(np.tile(np.arange(2), 3), np.tile(np.arange(2), 3))
_CONSTANT = np.array([[0.0] * 6, [1.0, 0, 0, 0, 0, 0], [0, 0, 1.0, 0, 0, 0], [0, 0, 1.0, 1.0, 0, 0]])
_TIMES_A = np.array([[1.0, 0, -1, 0, 0, 0], [0, 1, 0, -1, 0, 0], [0, 0, 1, 0, -1, 0], [0, 0, 0, 1, 0, -1]])
_TIMES_E = np.array([[0.0] * 6, [0, 0, -1.0, 0, 0, 0], [0, 0, 0, 0, -1.0, 0], [0, 0, 0, 0, -1.0, -1.0]])
_UPWARDS = np.arange(5.0)


def _operator(a: Array, e: Array) -> Array:
    """A of 1, log y, y and y log y in the basis 1, log y, y, y log y, y², y² log y; shape (columns, 4, 6)."""
    matrices: Array = _CONSTANT + a[:, None, None] * _TIMES_A + e[:, None, None] * _TIMES_E
    return matrices


def _moments(a: Array, total: float | None) -> Array:
    """E y^k log^j y of y = x/E x for k ≤ 4, j ≤ 2, shape (columns, 5, 3): Beta(a, total − a), or gamma without a total."""
    n = a.size
    up = (a if total is None else np.append(a, total))[:, None] + _UPWARDS
    first, second, rise = digamma(up), zeta(2.0, up), up / up[:, :1]
    first -= np.log(up[:, :1])
    if total is not None:
        first, second, rise = first[:n] - first[n], second[:n] - second[n], rise[:n] / rise[n]
    second += first * first
    out = np.empty((n, 5, 3))
    out[:, 0, 0] = 1.0
    np.multiply.accumulate(rise[:, :4], axis=1, out=out[:, 1:, 0])
    out[:, :, 1:] = out[:, :, :1]
    out[:, :, 1] *= first
    out[:, :, 2] *= second
    return out
