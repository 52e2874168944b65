"""The truths of the experiments, by name. The paper prints none of its own.

A recipe is a line or two of NumPy, such as an experimenter writes. ``"adopted"`` is the one whose errors are nearest to the paper's tables
among those that ``make search-truths`` (:mod:`benchmarks.truths`) tries; ``"plain"`` is the simplest, K = 100 I with one mean for all
columns, or what the first version of these experiments drew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from zfree.arrays import Array
from zfree.errors import SpecificationError

Recipe = TypeVar("Recipe")


@dataclass(frozen=True)
class DiagonalPrecision:
    """K = diag(k), k uniform in [low, high]; low = high is a multiple of the identity."""

    low: float
    high: float

    def draw(self, d: int, rng: np.random.Generator) -> Array:
        return np.diag(rng.uniform(self.low, self.high, d))

    def __str__(self) -> str:
        return f"{self.low:g} I" if self.low == self.high else f"diag(U({self.low:g}, {self.high:g}))"


@dataclass(frozen=True)
class GramPrecision:
    """K = scale (A Aᵀ + ridge I), A a d × d matrix of standard normals."""

    scale: float
    ridge: float

    def draw(self, d: int, rng: np.random.Generator) -> Array:
        A = rng.standard_normal((d, d))
        K = self.scale * (A @ A.T + self.ridge * np.eye(d))
        return 0.5 * (K + K.T)

    def __str__(self) -> str:
        return f"{self.scale:g} (A Aᵀ + {self.ridge:g} I)"


@dataclass(frozen=True)
class CoupledPrecision:
    """K = s (I + coupling A), s uniform in [low, high] and A a random symmetric matrix of norm one."""

    low: float
    high: float
    coupling: float

    def draw(self, d: int, rng: np.random.Generator) -> Array:
        if not abs(self.coupling) < 1:
            raise SpecificationError(
                f"coupling must be between -1 and 1, got {self.coupling!r}: K would be indefinite."
            )
        A = rng.standard_normal((d, d))
        A = A + A.T
        K = rng.uniform(self.low, self.high) * (np.eye(d) + self.coupling * A / np.linalg.norm(A, 2))
        return np.asarray(0.5 * (K + K.T), dtype=np.float64)

    def __str__(self) -> str:
        return f"U({self.low:g}, {self.high:g}) (I + {self.coupling:g} A/‖A‖)"


@dataclass(frozen=True)
class GaussianRecipe:
    """K by its own recipe, then a mean that is uniform in [low, high] in each column (low = high: the same everywhere)."""

    precision: DiagonalPrecision | GramPrecision | CoupledPrecision
    low: float
    high: float

    def draw(self, d: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """A mean and a precision; K is drawn first."""
        K = self.precision.draw(d, rng)
        return rng.uniform(self.low, self.high, d), K

    def __str__(self) -> str:
        mean = f"{self.low:.3g}" if self.low == self.high else f"U({self.low:g}, {self.high:g})"
        return f"K = {self.precision}, μ = {mean}"


@dataclass(frozen=True)
class DirichletRecipe:
    """α of `kind` ``"uniform"`` in [low, high], ``"integers"`` from low to high, or a ``"permutation"`` of low, …, low + d − 1."""

    kind: str
    low: float
    high: float

    def draw(self, d: int, rng: np.random.Generator) -> Array:
        if self.kind == "uniform":
            return rng.uniform(self.low, self.high, d)
        if self.kind == "integers":
            return rng.integers(int(self.low), int(self.high), d, endpoint=True).astype(float)
        return rng.permutation(self.low + np.arange(d))

    def __str__(self) -> str:
        if self.kind == "permutation":
            return f"α = a permutation of {self.low:g}, {self.low + 1:g}, …"
        return f"α = {'U' if self.kind == 'uniform' else 'integers'}({self.low:g}, {self.high:g})"


@dataclass(frozen=True)
class Seeded:
    """One truth: a recipe and the seed of ``numpy.random.default_rng`` with which it is followed."""

    recipe: GaussianRecipe
    seed: int

    def draw(self, d: int) -> tuple[Array, Array]:
        return self.recipe.draw(d, np.random.default_rng(self.seed))

    def __str__(self) -> str:
        return f"{self.recipe}, seed {self.seed}"


SOLID_SIMPLEX: Mapping[str, Seeded] = {
    "adopted": Seeded(GaussianRecipe(DiagonalPrecision(100.0, 100.0), 0.0, 0.1), 7),
    "plain": Seeded(GaussianRecipe(DiagonalPrecision(100.0, 100.0), 1 / 11, 1 / 11), 0),
}
ORTHANT: Mapping[str, Seeded] = {
    "adopted": Seeded(GaussianRecipe(GramPrecision(5.0, 10.0), 0.1, 0.1), 2),
    "plain": Seeded(GaussianRecipe(DiagonalPrecision(100.0, 100.0), 0.1, 0.1), 0),
}
DIRICHLET: Mapping[str, tuple[float, ...]] = dict.fromkeys(
    ("adopted", "plain"), (1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 3.0)
)
"""A permutation of 1, …, 10, which no other recipe beat. The last part is the one that the chart of the baselines drops; the order of the
others matters to no estimator."""
ROBUSTNESS_SOLID_SIMPLEX: Mapping[str, GaussianRecipe] = dict.fromkeys(
    ("adopted", "plain"), GaussianRecipe(CoupledPrecision(100.0, 200.0, 0.5), 0.05, 0.2)
)
"""K = 10 (A Aᵀ + 5 I) with means from 0 to 0.2 has medians as near to the paper's, but there h₁ wins every truth on μ; here φ₁ wins half."""
ROBUSTNESS_ORTHANT: Mapping[str, GaussianRecipe] = {
    "adopted": GaussianRecipe(GramPrecision(5.0, 2.0), 0.0, 0.15),
    "plain": GaussianRecipe(CoupledPrecision(30.0, 110.0, 0.5), 0.0, 0.2),
}
ROBUSTNESS_DIRICHLET: Mapping[str, DirichletRecipe] = {
    "adopted": DirichletRecipe("uniform", 0.3, 5.0),
    "plain": DirichletRecipe("uniform", 0.5, 5.0),
}


def chosen(truths: Mapping[str, Recipe], name: str) -> Recipe:
    """The truth of that name."""
    if name not in truths:
        raise SpecificationError(f"truth must be one of {', '.join(truths)}; got {name[:50]!r}.")
    return truths[name]
