"""Families with shape parameters: Dirichlet and gamma."""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain, Orthant, Simplex, Units
from zfree.fields import Field
from zfree.models.base import BoundaryOrder, Model
from zfree.models.separable import SeparableModel
from zfree.models.stein import SMALLEST, SteinFunctions, best_functions, first_functions


class ShapeModel(SeparableModel):
    """t contains log x_j and b = −Σ log x_j: the density is x_j^(θ_j − 1) at zero, the score has a pole there.

    The base makes shape parameters start at 0 rather than at −1.
    """

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


class GammaModel(ShapeModel):
    """Independent gammas: t = (log x_j, −x_j), b = −Σ log x_j, θ = (shape, rate)."""

    home = Orthant
    kinds = ("shape", "rate")
    heavy_tailed = True

    def statistics(self, X: Array) -> Array:
        return np.concatenate([self.functions(X).log.T, -X], axis=1)

    def first(self, X: Array) -> Array:
        return np.stack([self.functions(X).inverse, np.full_like(X.T, -1.0)])

    def second(self, X: Array) -> Array:
        return np.stack([-(self.functions(X).inverse ** 2), np.zeros_like(X.T)])

    def test_functions(self, domain: Domain, units: Units, pilot: Array | None) -> Model | None:
        if not isinstance(domain, Orthant):
            return None
        if pilot is None:
            shape = first_functions(units.slacks)
        else:
            k, rate = pilot.reshape(2, -1)
            least = SMALLEST / units.slacks
            shape = best_functions(np.maximum(k, SMALLEST), None, 1.0 / np.maximum(rate, least))
        rate_weights = np.zeros_like(shape)
        rate_weights[0] = -1.0  # t itself, for which A t' = −(t − E t) exactly
        return SteinFunctions(self.columns, self.kinds, np.stack([shape, rate_weights]), False)
