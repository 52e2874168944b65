"""Random truncated Gaussians."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from zfree.domains import Domain
from zfree.experiments.robustness import Robustness
from zfree.experiments.settings import GaussianSetting, as_precision, as_range, gaussian_memory
from zfree.experiments.truths import CoupledPrecision, GaussianRecipe, chosen


@dataclass(frozen=True)
class GaussianRobustness(Robustness):
    """Random K and μ, by a recipe that goes by a name (:mod:`zfree.experiments.truths`).

    `scales` or `coupling`, if given, make K = s (I + coupling A) with s uniform in `scales` and A a random symmetric matrix of norm one,
    what is not given being as in the plain recipe; `means` are the ends of a uniform distribution of the means.
    """

    dimension: int = 10
    truth: str = "adopted"
    scales: tuple[float, float] | None = None
    coupling: float | None = None
    means: tuple[float, float] | None = None

    recipes: ClassVar[Mapping[str, GaussianRecipe]]

    def memory(self) -> float:
        return gaussian_memory(self.dimension, self.size)

    @abstractmethod
    def domain(self) -> Domain:
        """Where the Gaussians live."""

    def recipe(self) -> GaussianRecipe:
        """How a truth is drawn."""
        recipe, plain = chosen(self.recipes, self.truth), self.recipes["plain"].precision
        assert isinstance(plain, CoupledPrecision)
        if self.scales is not None or self.coupling is not None:
            ends = (plain.low, plain.high) if self.scales is None else as_range(self.scales, "scales", positive=True)
            coupling = plain.coupling if self.coupling is None else self.coupling
            recipe = replace(recipe, precision=CoupledPrecision(*ends, coupling))
        if self.means is not None:
            low, high = as_range(self.means, "means")
            recipe = replace(recipe, low=low, high=high)
        return recipe

    def truth_of(self, rng: np.random.Generator) -> GaussianSetting:
        mean, K = self.recipe().draw(self.dimension, rng)
        return GaussianSetting(self.domain(), mean, as_precision(K, self.dimension))

    def remarks(self) -> tuple[str, ...]:
        return (f"The truths: {self.recipe()}.", *super().remarks())
