"""Fifty Dirichlet distributions on the simplex Δ⁹."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zfree.experiments.paper import ROBUSTNESS_DIRICHLET
from zfree.experiments.robustness import Robustness
from zfree.experiments.settings import AUTO, COMBINED, MLE, DirichletSetting, as_range, separable_memory
from zfree.experiments.truths import ROBUSTNESS_DIRICHLET as TRUTHS
from zfree.experiments.truths import DirichletRecipe, chosen


@dataclass(frozen=True)
class RobustnessDirichlet(Robustness):
    """Random concentrations, by a recipe that goes by a name; `alphas`, if given, are the ends of a uniform distribution instead."""

    dimension: int = 10
    truth: str = "adopted"
    alphas: tuple[float, float] | None = None

    name = "robustness-dirichlet"
    title = "Robustness: Dirichlet distributions on the simplex"
    place = "Appendix, robustness table of Δ⁹"
    candidates = ("φ₁", "φ₂", "φ₃", "truncated SM", "GSM CD", "h₁")
    extra = (AUTO, COMBINED, MLE)
    printed = ROBUSTNESS_DIRICHLET
    champions: ClassVar[dict[str, tuple[str, float]]] = {"α": ("φ₂", 0.9)}
    blocks = ("α",)

    def memory(self) -> float:
        return separable_memory(self.dimension, self.size)

    def recipe(self) -> DirichletRecipe:
        """How a truth is drawn."""
        if self.alphas is not None:
            return DirichletRecipe("uniform", *as_range(self.alphas, "alphas", positive=True))
        return chosen(TRUTHS, self.truth)

    def remarks(self) -> tuple[str, ...]:
        return (f"The truths: {self.recipe()}.", *super().remarks())

    def truth_of(self, rng: np.random.Generator) -> DirichletSetting:
        return DirichletSetting(self.recipe().draw(self.dimension, rng))
