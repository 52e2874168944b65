"""Families whose statistics each depend on one coordinate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from functools import cached_property, reduce
from operator import add
from typing import ClassVar, Self

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain, Orthant
from zfree.fields import Directions, Field
from zfree.models.base import Model, TextbookDraws
from zfree.models.cache_blocks import row_blocks
from zfree.models.columns import ColumnFunctions
from zfree.models.normalisable import Normalisable, all_above
from zfree.quadratic import ColumnBlocks, Dense, Groups, LowRank, Quadratic


class SeparableModel(Model):
    """log p = Σ_k Σ_j θ_kj t_k(x_j) + b(x): the same few functions of every coordinate.

    Arrays over parameters are kept as (kinds, d, N), in the memory order of the data: no row is ever gathered.
    """

    is_separable = True

    home: ClassVar[type[Domain] | None] = None
    """Where the family is a textbook one, a distribution if and only if all its parameters are positive."""
    kinds: ClassVar[tuple[str, ...]]
    """Names of the functions t_k; parameters are ordered by kind, then by column."""

    # Plain attributes, as they are read in many places, for the contract's properties.
    dimension: int = 0
    n_parameters: int = 0
    doubles_per_row: int = 0

    _prepared: ColumnFunctions | None = None

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns, self.dimension = tuple(columns), len(columns)
        self.n_parameters = self.doubles_per_row = len(self.kinds) * len(columns)

    def at(self, X: Array) -> Self:
        if self._prepared is not None and self._prepared.X is X:
            return self
        prepared = copy(self)
        prepared._prepared = ColumnFunctions(X)
        return prepared

    def functions(self, X: Array) -> ColumnFunctions:
        """Logarithms and reciprocals: those of the rows that the model was prepared for, or new ones."""
        known = self._prepared
        return known if known is not None and known.X is X else ColumnFunctions(X)

    @abstractmethod
    def first(self, X: Array) -> Array:
        """t_k'(x_j), shape (kinds, d, N)."""

    @abstractmethod
    def second(self, X: Array) -> Array:
        """t_k''(x_j), shape (kinds, d, N)."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{kind}[{c}]" for kind in self.kinds for c in self.columns)

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

    def stein(self, X: Array, V: Array, field: Field) -> Array:
        out = self.first(X) * V.T
        out += self.second(X) * field.diagonal().T
        return out.reshape(self.n_parameters, -1)

    def stein_total(self, X: Array, V: Array, field: Field, weight: Array) -> Array:
        w = weight[:, None]
        total = np.einsum("kjn,nj->kj", self.first(X), w * V)
        total += np.einsum("kjn,nj->kj", self.second(X), w * field.diagonal())
        return total.ravel()

    def stein_gram(self, X: Array, V: Array, field: Field, weight: Array) -> Array:
        k, d = len(self.kinds), self.dimension
        first, second, diagonal = self.first(X), self.second(X), field.diagonal()
        total = np.zeros((k * d, k * d))
        for own in row_blocks(len(X), k * d):
            w = weight[own]
            psi = first[:, :, own] * np.multiply(V[own].T, w)
            psi += second[:, :, own] * np.multiply(diagonal[own].T, w)
            rows = psi.reshape(k * d, -1)
            total += rows @ rows.T
        return total

    def gram_diagonal(self, X: Array, field: Field) -> Array:
        return (self.first(X) ** 2 * field.diagonal().T).reshape(self.n_parameters, -1)

    def gram(self, X: Array, field: Field, weight: Array) -> Quadratic:
        first = self.first(X)
        directions, delta, rank_ones, dense = field.along()
        if dense is not None:
            return Dense(_product(first, first, field, weight))
        terms: list[Quadratic] = [
            LowRank.of((first * u.T).reshape(self.n_parameters, -1), weight * sigma) for sigma, u in rank_ones
        ]
        if delta is not None:
            groups, slopes = self._columns(first, directions)
            terms.append(ColumnBlocks(groups, _own(slopes, slopes, delta, weight)))
        return reduce(add, terms)

    def _columns(self, first: Array, directions: Directions | None) -> tuple[Groups, Array]:
        """The parameters that each direction c_m moves, and their derivatives along it, laid out (parameters, M, N)."""
        parameters = np.arange(self.n_parameters).reshape(len(self.kinds), -1)
        if directions is None:
            return Groups(parameters.T, self.n_parameters), first
        columns, coefficients = directions
        index = parameters[:, columns.T].reshape(-1, len(columns))
        slopes = first[:, columns.T] * coefficients.T[:, :, None]
        return Groups(index.T, self.n_parameters), slopes.reshape(*index.shape, -1)

    def cross_gram(self, X: Array, field: Field, weight: Array, model: Model) -> Quadratic:
        if not isinstance(model, SeparableModel):
            return super().cross_gram(X, field, weight, model)
        return Dense(_product(self.first(X), model.first(X), field, weight), symmetric=False)


def _own(left: Array, right: Array, diagonal: Array, weight: Array) -> Array:
    """Σ w δ_j L_aj R_bj of every direction j, shape (M, k, k), of derivatives laid out (k, M, N)."""
    k, m, _ = left.shape
    blocks = np.empty((m, k, k))
    for a in range(k):
        scaled = left[a] * diagonal.T
        for b in range(a if left is right else 0, k):
            blocks[:, a, b] = (scaled * right[b]) @ weight
            if left is right:
                blocks[:, b, a] = blocks[:, a, b]
    return blocks


def _product(left: Array, right: Array, field: Field, weight: Array) -> Array:
    """Σ w L D Rᵀ of derivatives laid out (kinds, d, N), shape (r, r)."""
    k, d, _ = left.shape
    diagonal, rank_ones, dense = field.parts
    if dense is not None:
        return np.einsum("n,ain,nij,bjn->aibj", weight, left, dense, right, optimize=True).reshape(k * d, k * d)
    blocks = np.zeros((k, d, k, d))
    if diagonal is not None:
        own = np.arange(d)
        blocks[:, own, :, own] = _own(left, right, diagonal, weight)
    gram = blocks.reshape(k * d, k * d)
    for sigma, u in rank_ones:
        scaled = (left * u.T).reshape(k * d, -1)
        gram += (scaled * (weight * sigma)) @ (right * u.T).reshape(k * d, -1).T
    return gram


class ExponentialModel(SeparableModel):
    """Independent exponentials: t_j = −x_j, θ_j the rate."""

    home = Orthant
    kinds = ("rate",)
    heavy_tailed = True
    rapidly_decreasing = True

    def statistics(self, X: Array) -> Array:
        return -X

    def first(self, X: Array) -> Array:
        return np.full_like(X.T, -1.0)[None]

    def second(self, X: Array) -> Array:
        return np.zeros_like(X.T)[None]

    def textbook_draws(self, domain: Domain, theta: Array, n: int, rng: np.random.Generator) -> TextbookDraws | None:
        if not isinstance(domain, Orthant):
            return None
        return TextbookDraws(rng.exponential(1.0 / theta, (n, self.dimension)), "exponential")
