"""Families whose statistics each depend on one coordinate: Dirichlet, exponential, gamma."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from zfree.arrays import Array, Index, weighted_gram
from zfree.fields import Field
from zfree.models.base import LogBase, Model


class SeparableModel(Model):
    """log p = Σ_l θ_l t_l(x_{j(l)}) + b(x)."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)

    @property
    @abstractmethod
    def coordinate(self) -> Index:
        """j(l), the coordinate of each statistic."""

    @abstractmethod
    def first(self, X: Array) -> Array:
        """t_l'(x_{j(l)}), laid out (r, N)."""

    @abstractmethod
    def second(self, X: Array) -> Array:
        """t_l''(x_{j(l)}), laid out (r, N)."""

    @property
    def dimension(self) -> int:
        return len(self.columns)

    @property
    def doubles_per_row(self) -> int:
        return max(self.n_parameters, self.dimension)

    def score(self, X: Array, theta: Array) -> Array:
        to_coordinate = (np.arange(self.dimension)[:, None] == self.coordinate) * theta
        out = to_coordinate @ self.first(X)
        gradient = self.base_gradient(X)
        return out.T if gradient is None else out.T + gradient

    def apply_jacobian(self, X: Array, V: Array) -> Array:
        return self.first(X) * V.T[self.coordinate]

    def trace_hessian(self, X: Array, field: Field) -> Array:
        return self.second(X) * field.diagonal().T[self.coordinate]

    def gram(self, X: Array, field: Field, weight: Array) -> Array:
        first, j = self.first(X), self.coordinate
        diagonal, rank_ones, dense = field.parts()
        if dense is not None:
            D = dense[:, j[:, None], j[None, :]]
            return np.einsum("n,an,nab,bn->ab", weight, first, D, first, optimize=True)
        gram = np.zeros((len(j), len(j)))
        if diagonal is not None:
            p, q = np.nonzero(j[:, None] == j)  # statistics of one coordinate
            gram[p, q] = (first[p] * first[q] * diagonal.T[j[p]]) @ weight
        for sigma, u in rank_ones:
            gram += weighted_gram(first * u.T[j], weight * sigma)
        return gram


class ExponentialModel(SeparableModel):
    """Independent exponentials: t_j = −x_j, θ_j the rate."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"rate[{c}]" for c in self.columns)

    @property
    def coordinate(self) -> Index:
        return np.arange(self.dimension)

    def statistics(self, X: Array) -> Array:
        return -X

    def first(self, X: Array) -> Array:
        return np.full_like(X.T, -1.0)

    def second(self, X: Array) -> Array:
        return np.zeros_like(X.T)


class DirichletModel(LogBase, SeparableModel):
    """Dirichlet: t_j = log x_j, b = −Σ log x_j, θ = α. Written in all d parts of the simplex."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"alpha[{c}]" for c in self.columns)

    @property
    def coordinate(self) -> Index:
        return np.arange(self.dimension)

    def statistics(self, X: Array) -> Array:
        return np.log(X)

    def first(self, X: Array) -> Array:
        return 1.0 / X.T

    def second(self, X: Array) -> Array:
        return -1.0 / X.T**2


class GammaModel(LogBase, SeparableModel):
    """Independent gammas: t = (log x_j, −x_j), b = −Σ log x_j, θ = (shape, rate)."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{kind}[{c}]" for kind in ("shape", "rate") for c in self.columns)

    @property
    def coordinate(self) -> Index:
        return np.tile(np.arange(self.dimension), 2)

    def statistics(self, X: Array) -> Array:
        return np.concatenate([np.log(X), -X], axis=1)

    def first(self, X: Array) -> Array:
        return np.concatenate([1.0 / X.T, np.full_like(X.T, -1.0)])

    def second(self, X: Array) -> Array:
        return np.concatenate([-1.0 / X.T**2, np.zeros_like(X.T)])
