"""Families with shape parameters: Dirichlet, gamma and generalized gamma."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain, Orthant, Simplex, Units
from zfree.fields import Field
from zfree.models.base import BoundaryOrder, Model, TextbookDraws
from zfree.models.separable import SeparableModel
from zfree.models.stein import SMALLEST, SteinFunctions, best_functions, first_functions


class ShapeModel(SeparableModel):
    """t contains log x_j and b = −Σ log x_j: the density is x_j^(θ_j − 1) at zero, the score has a pole there.

    The base makes shape parameters start at 0 rather than at −1.
    """

    positive = True
    rapidly_decreasing = True

    def base(self, X: Array) -> Array:
        values: Array = -self.functions(X).log.T.sum(axis=1)
        return values

    def base_gradient(self, X: Array) -> Array | None:
        return -self.functions(X).inverse.T

    def base_trace(self, X: Array, field: Field) -> Array | None:
        traces: Array = (field.diagonal() * self.functions(X).inverse.T ** 2).sum(axis=1)
        return traces

    def boundary_orders(self, theta: Array) -> tuple[BoundaryOrder, ...]:
        smallest = int(np.argmin(theta[: self.dimension]))  # all poles are alike, so this one decides
        return (BoundaryOrder(f"{self.columns[smallest]} = 0", float(theta[smallest]) - 1.0, 1.0),)


class DirichletModel(ShapeModel):
    """Dirichlet: t_j = log x_j, b = −Σ log x_j, θ = α. Written in all d parts of the simplex."""

    home = Simplex
    kinds = ("alpha",)

    def statistics(self, X: Array) -> Array:
        return self.functions(X).log.T

    def first(self, X: Array) -> Array:
        return self.functions(X).inverse[None]

    def second(self, X: Array) -> Array:
        return -(self.functions(X).inverse[None] ** 2)

    def test_functions(self, domain: Domain, units: Units, pilot: Array | None) -> Model | None:
        if not isinstance(domain, Simplex):
            return None
        if pilot is None:
            return SteinFunctions(self.columns, self.kinds, first_functions(np.ones(self.dimension))[None], True)
        alpha = np.maximum(pilot, SMALLEST)
        return SteinFunctions(self.columns, self.kinds, best_functions(alpha, float(alpha.sum()))[None], True)

    def textbook_draws(self, domain: Domain, theta: Array, n: int, rng: np.random.Generator) -> TextbookDraws | None:
        return TextbookDraws(rng.dirichlet(theta, n), "Dirichlet") if isinstance(domain, Simplex) else None

    def rough_parameters(self, X: Array, weight: Array | None) -> Array | None:
        return np.ones(self.n_parameters)


class GeneralizedGammaModel(ShapeModel):
    r"""Independent generalized gammas: t = (log x_j, −x_j^a), b = −Σ log x_j, θ = (shape, rate), the exponent a > 0 given.

    :math:`u = x^a` is a gamma of shape κ/a and the same rate λ. The operator :math:`A_\theta v = \nabla\cdot v + v\cdot s_\theta` does not depend on
    coordinates: the test functions of that gamma, :math:`h_u' = f(u)` with D = u, are :math:`h' = f(x^a)/a` with D = x.
    """

    home = Orthant
    kinds = ("shape", "rate")

    def __init__(self, columns: Sequence[str], exponent: float) -> None:
        super().__init__(columns)
        self.exponent = exponent

    @property
    def heavy_tailed(self) -> bool:
        return self.exponent <= 1.0

    def statistics(self, X: Array) -> Array:
        return np.concatenate([self.functions(X).log.T, -(X**self.exponent)], axis=1)

    def first(self, X: Array) -> Array:
        a = self.exponent
        return np.stack([self.functions(X).inverse, -a * X.T ** (a - 1.0)])

    def second(self, X: Array) -> Array:
        a = self.exponent
        return np.stack([-(self.functions(X).inverse ** 2), -a * (a - 1.0) * X.T ** (a - 2.0)])

    def test_functions(self, domain: Domain, units: Units, pilot: Array | None) -> Model | None:
        if not isinstance(domain, Orthant):
            return None
        a = self.exponent
        scale = units.slacks**a
        if pilot is None:
            shape = first_functions(scale)
        else:
            k, rate = pilot.reshape(2, -1)
            shape = best_functions(np.maximum(k / a, SMALLEST), None, 1.0 / np.maximum(rate, SMALLEST / scale))
        rate_weights = np.zeros_like(shape)
        rate_weights[0] = -1.0  # t itself, for which A t' = −(t − E t) exactly
        return SteinFunctions(self.columns, self.kinds, np.stack([shape, rate_weights]), False, a)

    def textbook_draws(self, domain: Domain, theta: Array, n: int, rng: np.random.Generator) -> TextbookDraws | None:
        if not isinstance(domain, Orthant):
            return None
        shape, rate = theta.reshape(2, -1)
        u = rng.gamma(shape / self.exponent, 1.0 / rate, (n, self.dimension))
        return TextbookDraws(u if self.exponent == 1.0 else u ** (1.0 / self.exponent), "gamma")

    def rough_parameters(self, X: Array, weight: Array | None) -> Array | None:
        return np.concatenate(
            [np.full(self.dimension, self.exponent), 1.0 / np.average(X**self.exponent, axis=0, weights=weight)]
        )


class GammaModel(GeneralizedGammaModel):
    """Independent gammas: t = (log x_j, −x_j), b = −Σ log x_j, θ = (shape, rate)."""

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__(columns, 1.0)

    def statistics(self, X: Array) -> Array:
        return np.concatenate([self.functions(X).log.T, -X], axis=1)

    def first(self, X: Array) -> Array:
        return np.stack([self.functions(X).inverse, np.full_like(X.T, -1.0)])

    def second(self, X: Array) -> Array:
        return np.stack([-(self.functions(X).inverse ** 2), np.zeros_like(X.T)])
