"""Families whose statistics each depend on one coordinate: Dirichlet, exponential, gamma."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from zfree.arrays import Array, weighted_gram
from zfree.domains import Domain, Orthant, Simplex
from zfree.fields import Field
from zfree.models.base import BoundaryOrder, LogBase, Model
from zfree.models.normalisable import Normalisable, all_above


class SeparableModel(Model):
    """log p = Σ_k Σ_j θ_kj t_k(x_j) + b(x): the same few functions of every coordinate.

    Arrays over parameters are kept as (kinds, d, N), in the memory order of the data: no row is ever gathered.
    """

    is_separable = True

    home: ClassVar[type[Domain] | None] = None
    """Where the family is a textbook one, a distribution if and only if all its parameters are positive."""
    kinds: ClassVar[tuple[str, ...]]
    """Names of the functions t_k; parameters are ordered by kind, then by column."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)

    @abstractmethod
    def first(self, X: Array) -> Array:
        """t_k'(x_j), shape (kinds, d, N)."""

    @abstractmethod
    def second(self, X: Array) -> Array:
        """t_k''(x_j), shape (kinds, d, N)."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{kind}[{c}]" for kind in self.kinds for c in self.columns)

    @property
    def n_parameters(self) -> int:
        return len(self.kinds) * len(self.columns)

    @property
    def dimension(self) -> int:
        return len(self.columns)

    @property
    def doubles_per_row(self) -> int:
        return self.n_parameters

    def normalisable(self, theta: Array, domain: Domain, rows: Array | None = None) -> Normalisable:
        if self.home is not None and isinstance(domain, self.home):
            return all_above(theta, 0.0, self.names)
        return super().normalisable(theta, domain, rows)

    def statistic_gradient(self, X: Array, theta: Array) -> Array:
        terms = theta.reshape(len(self.kinds), -1, 1) * self.first(X)
        return (terms[0] if len(terms) == 1 else terms.sum(axis=0)).T

    def statistic_gradients(self, X: Array, thetas: Array) -> Array:
        terms = thetas.reshape(len(self.kinds), self.dimension, -1) * self.first(X)
        return (terms[0] if len(terms) == 1 else terms.sum(axis=0)).T

    def apply_jacobian(self, X: Array, V: Array) -> Array:
        return (self.first(X) * V.T).reshape(self.n_parameters, -1)

    def trace_hessian(self, X: Array, field: Field) -> Array:
        return (self.second(X) * field.diagonal().T).reshape(self.n_parameters, -1)

    def gram_diagonal(self, X: Array, field: Field) -> Array:
        return (self.first(X) ** 2 * field.diagonal().T).reshape(self.n_parameters, -1)

    def gram(self, X: Array, field: Field, weight: Array) -> Array:
        first, k, d = self.first(X), len(self.kinds), self.dimension
        diagonal, rank_ones, dense = field.parts()
        if dense is not None:
            return np.einsum("n,ain,nij,bjn->aibj", weight, first, dense, first, optimize=True).reshape(k * d, k * d)
        blocks = np.zeros((k, d, k, d))
        if diagonal is not None:
            own = np.arange(d)
            for a, b in np.ndindex(k, k):
                blocks[a, own, b, own] = (first[a] * first[b] * diagonal.T) @ weight
        gram = blocks.reshape(k * d, k * d)
        for sigma, u in rank_ones:
            gram += weighted_gram((first * u.T).reshape(k * d, -1), weight * sigma)
        return gram


class ExponentialModel(SeparableModel):
    """Independent exponentials: t_j = −x_j, θ_j the rate."""

    home = Orthant
    kinds = ("rate",)
    heavy_tailed = True

    def statistics(self, X: Array) -> Array:
        return -X

    def first(self, X: Array) -> Array:
        return np.full_like(X.T, -1.0)[None]

    def second(self, X: Array) -> Array:
        return np.zeros_like(X.T)[None]


class ShapeModel(LogBase, SeparableModel):
    """t contains log x_j and b = −Σ log x_j: the density is x_j^(θ_j − 1) at zero, the score has a pole there."""

    def boundary_orders(self, theta: Array) -> tuple[BoundaryOrder, ...]:
        smallest = int(np.argmin(theta[: self.dimension]))  # all poles are alike, so this one decides
        return (BoundaryOrder(f"{self.columns[smallest]} = 0", float(theta[smallest]) - 1.0, 1.0),)


class DirichletModel(ShapeModel):
    """Dirichlet: t_j = log x_j, b = −Σ log x_j, θ = α. Written in all d parts of the simplex."""

    home = Simplex
    kinds = ("alpha",)

    def statistics(self, X: Array) -> Array:
        return np.log(X)

    def first(self, X: Array) -> Array:
        return 1.0 / X.T[None]

    def second(self, X: Array) -> Array:
        return -1.0 / X.T[None] ** 2


class GammaModel(ShapeModel):
    """Independent gammas: t = (log x_j, −x_j), b = −Σ log x_j, θ = (shape, rate)."""

    home = Orthant
    kinds = ("shape", "rate")
    heavy_tailed = True

    def statistics(self, X: Array) -> Array:
        return np.concatenate([np.log(X), -X], axis=1)

    def first(self, X: Array) -> Array:
        return np.stack([1.0 / X.T, np.full_like(X.T, -1.0)])

    def second(self, X: Array) -> Array:
        return np.stack([-1.0 / X.T**2, np.zeros_like(X.T)])
