r"""Pairwise interaction models: Gaussian, log-normal and the a–b power family of Yu, Drton and Shojaie (2019).

.. math:: \log p(x) = -\tfrac{1}{2a}\, (x^a)^\top K x^a + \tfrac1b\, \eta^\top x^b + \dots, \qquad x^0/0 := \log x .

The score is :math:`s_j = v_j [-K(u - c)]_j + \eta_j x_j^{b-1}` with :math:`u = x^a` (or log x) and :math:`v = x^{a-1}`. Everything
below is that formula: with :math:`D' = \mathrm{diag}(v) D\, \mathrm{diag}(v)` the family behaves like a Gaussian in u.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from zfree.arrays import Array, Index
from zfree.curvatures import Energy
from zfree.domains import Domain, Orthant
from zfree.fields import Field
from zfree.models.base import BoundaryOrder, Derived, LogBase, Model
from zfree.models.coordinates import Coordinates
from zfree.models.folding import fold_of
from zfree.models.linear_maps import Shear
from zfree.models.moment_parameters import (
    covariance_parameters,
    mean_parameters,
    moments_of_each,
    precision_parameters,
)
from zfree.models.normalisable import Normalisable, power_interaction, quadratic, without_units
from zfree.models.pair_entries import Pairs
from zfree.models.pair_rows import PairRows
from zfree.quadratic import Quadratic


class PairwiseModel(Model):
    """K over chosen pairs of columns, and optionally η.

    Parameters
    ----------
    columns : sequence of str
        Names of the d columns.
    a, b : float
        Exponents, 0 for logarithms. The Gaussian is a = b = 1, the log-normal a = b = 0.
    pairs : tuple of index arrays, optional
        The entries (j ≤ k) of K that are parameters; all by default. Entries left out are zero.
    linear : bool
        Whether η is a parameter; without it the model is centered at `center`.
    center : ndarray, optional
        c in K(u − c). It changes nothing but the meaning of η, from Kμ to K(μ − c), and conditions Γ far better.
        Only for a = b.
    """

    # Plain attributes, as they are read in many places: the contract's properties, and how many entries of K are free.
    dimension: int = 0
    n_parameters: int = 0
    doubles_per_row: int = 0
    is_separable: bool = False
    n_pairs: int

    rapidly_decreasing = True  # exponentials of powers, and of the square of log x for a = 0

    def __init__(
        self,
        columns: Sequence[str],
        a: float = 1.0,
        b: float = 1.0,
        pairs: tuple[Index, Index] | None = None,
        linear: bool = True,
        center: Array | None = None,
    ) -> None:
        d = len(columns)
        self.columns, self.dimension = tuple(columns), d
        self.a, self.b, self.linear = float(a), float(b), linear
        self.positive = not self.a == self.b == 1.0
        self._fold = fold_of(d, pairs, linear)
        self.rows, self.cols = self._fold.pairs.rows, self._fold.pairs.cols
        self.center = np.zeros(d) if center is None else center
        self.n_pairs, self.n_parameters = len(self.rows), self._fold.n_parameters
        self.is_separable = self._fold.pairs.on_diagonal
        self.doubles_per_row = max((d + 1) ** 2, self.n_pairs + d)
        self._seen = Coordinates(self.a, self.b, self.center)
        self._rows = PairRows(self._fold.pairs, self._seen, linear)

    @cached_property
    def names(self) -> tuple[str, ...]:
        c = self.columns
        entries = tuple(f"K[{c[j]},{c[k]}]" for j, k in zip(self.rows, self.cols, strict=True))
        return entries + (tuple(f"eta[{name}]" for name in c) if self.linear else ())

    @property
    def pairs(self) -> Pairs:
        """The entries of K that are parameters."""
        return self._fold.pairs

    @property
    def once(self) -> Array:
        """One half for a diagonal entry of K, one for the others, which stand for two."""
        return self._fold.pairs.once

    def matrix(self, theta: Array) -> Array:
        """K from θ."""
        K = np.zeros((self.dimension, self.dimension))
        K[self.rows, self.cols] = K[self.cols, self.rows] = theta[: self.n_pairs]
        return K

    def scaled_matrix(self, theta: Array) -> Array:
        """K with a diagonal of ±1 (or 0), which has the same inertia and no units."""
        return without_units(self.matrix(theta))[0]

    def diagonal(self, theta: Array) -> Array:
        """The diagonal of K from θ."""
        own, out = self._fold.pairs.diagonal, np.zeros(self.dimension)
        out[self.rows[own]] = theta[own]
        return out

    def vector(self, theta: Array) -> Array:
        """η from θ (relative to the center)."""
        return theta[self.n_pairs :] if self.linear else np.zeros(self.dimension)

    def energy(self, theta: Array | None, X: Array, weight: Array | None) -> Energy:
        scale = self._seen.scale
        hessian = None if theta is None else self.matrix(theta) / scale
        return Energy(hessian, self.is_separable, self.a, self._log_terms(theta))

    def _log_terms(self, theta: Array | None) -> Array | None:
        """What D needs beside K where η has a statistic with a pole in u (b < a): D must vanish faster than u there.

        With b = 0 the density at zero is u^(κ−1), κ = (η + 1)/a. The energy has κ − 1 log terms, but a fifth of κ does better (shares of
        the bound .94 to .98 for κ from .6 to 5, 2% to 20% above the best barrier), and one tenth for 0 < b < a.
        """
        if self.b >= self.a or not self.linear:
            return None
        if self.b != 0.0:
            return np.full(self.dimension, 0.1)
        eta = np.zeros(self.dimension) if theta is None else self.vector(theta)
        return 0.2 * np.maximum((eta + 1.0) / self.a, 0.25)

    def natural_map(self) -> Shear | None:
        """η = η_c + K c undoes the centring."""
        if not self.linear or not self.center.any():
            return None
        return self.shear(self.center)

    def shear(self, center: Array) -> Shear:
        """(K, η) → (K, η + K center)."""
        return Shear(self._fold.pairs.rows_of_K, self.n_pairs, center)

    def derived(self, theta: Array) -> dict[str, Callable[[], Derived]]:
        """Mean K⁻¹η, precision K and covariance K⁻¹ (of u, before truncation)."""
        out = {"precision": lambda: precision_parameters(self, theta)}
        if self.a == self.b:
            out["mean"] = lambda: mean_parameters(self, theta)
            out["covariance"] = lambda: covariance_parameters(self, theta)
        return out

    def sample_moments(self, which: str, theta: Array, changes: Array) -> Array | None:
        """When the mean comes out as that of the rows (η = 0 about it), the model is an ordinary Gaussian in u."""
        if which == "precision" or not self.linear:
            return None
        reach = np.abs(changes[:, self.n_pairs :]).max(axis=0)
        if np.any(np.abs(self.vector(theta)) > 1e-6 * reach):
            return None
        return moments_of_each(self, which, theta + changes)

    @property
    def heavy_tailed(self) -> bool:
        return self.a < 1.0

    def boundary_orders(self, theta: Array) -> tuple[BoundaryOrder, ...]:
        if self.a == 0.0:
            return ()  # the density vanishes faster than any power
        pole = max(0.0, 1.0 - self.a, 1.0 - self.b)
        if self.b == 0.0:
            return tuple(
                BoundaryOrder(f"{c} = 0", float(e), pole) for c, e in zip(self.columns, self.vector(theta), strict=True)
            )
        return (BoundaryOrder("the boundary", 0.0, pole),)

    def normalisable(self, theta: Array, domain: Domain, rows: Array | None = None) -> Normalisable:
        if self.a == self.b == 1.0:
            return quadratic(self.matrix(theta), domain.recession())
        if not isinstance(domain, Orthant):
            return super().normalisable(theta, domain, rows)
        return power_interaction(self.a, self.b, self.matrix(theta), self.vector(theta), self.columns)

    @property
    def title(self) -> str:
        return "Gaussian" if self.a == self.b == 1.0 else f"Power interaction (a = {self.a:g}, b = {self.b:g})"

    @property
    def reported(self) -> tuple[str, ...]:
        return ("mean", "precision") if self.a == self.b else ("natural",)

    def centered(self, X: Array) -> Array:
        """u − c: the data as K sees them."""
        return self._seen.centered(X)

    def statistics(self, X: Array) -> Array:
        u = self.centered(X).T
        quadratic = -(self.once / self._seen.scale)[:, None] * u[self.rows] * u[self.cols]
        if not self.linear:
            return quadratic.T
        power = np.log(X) if self.b == 0.0 else X**self.b / self.b
        return np.concatenate([quadratic, power.T]).T

    def log_density(self, X: Array, theta: Array) -> Array:
        u, scale = self.centered(X), self._seen.scale
        out = np.einsum("nj,nj->n", u @ self.matrix(theta), u) * (-0.5 / scale) + self.base(X)
        if self.linear:
            out += (np.log(X) if self.b == 0.0 else X**self.b / self.b) @ self.vector(theta)
        found: Array = out
        return found

    def statistic_gradient(self, X: Array, theta: Array) -> Array:
        u, v = self._seen.pair(X)
        slope = self._seen.slope(X, v)
        out = u * -self.diagonal(theta) if self.is_separable else u @ -self.matrix(theta)
        if v is not None:
            out *= v
        if self.linear:
            out += self.vector(theta) if slope is None else self.vector(theta) * slope
        return out

    def statistic_gradients(self, X: Array, thetas: Array) -> Array:
        x = np.ascontiguousarray(X.T)
        u, v = self._seen.pair(x, across=True)
        slope, out = self._seen.slope(x, v), self._fold.pairs.times(thetas, u)
        np.negative(out, out=out)
        if v is not None:
            out *= v
        if self.linear:
            out += thetas[self.n_pairs :] if slope is None else thetas[self.n_pairs :] * slope
        return out.T

    def apply_jacobian(self, X: Array, V: Array) -> Array:
        return self._rows.each(X, V, None)

    def stein(self, X: Array, V: Array, field: Field) -> Array:
        return self._rows.each(X, V, field.parts)

    def stein_total(self, X: Array, V: Array, field: Field, weight: Array) -> Array:
        return self._rows.total(X, V, field.parts, weight)

    def stein_gram(self, X: Array, V: Array, field: Field, weight: Array) -> Array:
        return self._rows.squares(X, V, field.parts, weight)

    def trace_hessian(self, X: Array, field: Field) -> Array:
        (u, v), a, b = self._seen.pair(X), self.a, self.b
        scaled = field if v is None else field.rescale(v)
        out = scaled.entries(self.rows, self.cols)
        out *= (-2.0 * self._seen.scale * self.once)[:, None]
        if v is not None:
            # v is not constant: its own derivative contributes v'_j / v_j² = (a − 1) x_j^(−a) on the diagonal of D'.
            bend, u = ((a - 1.0) * scaled.diagonal() * X ** (-a)).T, u.T
            out -= self.once[:, None] * (bend[self.rows] * u[self.cols] + bend[self.cols] * u[self.rows])
        if not self.linear:
            return out
        curve = np.zeros_like(X) if b == 1.0 else (b - 1.0) * X ** (b - 2.0)
        return np.concatenate([out, (field.diagonal() * curve).T])

    def gram_diagonal(self, X: Array, field: Field) -> Array:
        (u, v), ratio = self._seen.pair(X), self._seen.ratio(X)
        scaled = field if v is None else field.rescale(v)
        u, D, j, k = u.T, scaled.diagonal().T, self.rows, self.cols
        out = D[j] * u[k] ** 2 + D[k] * u[j] ** 2 + 2.0 * scaled.entries(j, k) * u[j] * u[k]
        out *= (self.once**2)[:, None]
        if not self.linear:
            return out
        return np.concatenate([out, D if ratio is None else D * ratio.T**2])

    def gram(self, X: Array, field: Field, weight: Array) -> Quadratic:
        return self._fold.gram(X, field.parts, weight, self._seen)


class LogNormalModel(LogBase, PairwiseModel):
    """Multivariate log-normal: a = b = 0 with b(x) = −Σ log x, so that K and η are those of log x."""

    def __init__(self, columns: Sequence[str], pairs: tuple[Index, Index] | None = None, center: Array | None = None):
        super().__init__(columns, a=0.0, b=0.0, pairs=pairs, center=center)

    @property
    def title(self) -> str:
        return "Log-normal"
