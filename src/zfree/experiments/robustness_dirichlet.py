"""Fifty Dirichlet distributions on the simplex Δ⁹."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zfree.experiments.paper import ROBUSTNESS_DIRICHLET
from zfree.experiments.robustness import Robustness
from zfree.experiments.settings import AUTO, COMBINED, MLE, DirichletSetting, as_range, separable_memory


@dataclass(frozen=True)
class RobustnessDirichlet(Robustness):
    """Truths with α uniform in each part. The paper does not say how it drew its truths."""

    dimension: int = 10
    alphas: tuple[float, float] = (0.5, 5.0)

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

    def truth(self, rng: np.random.Generator) -> DirichletSetting:
        return DirichletSetting(rng.uniform(*as_range(self.alphas, "alphas", positive=True), self.dimension))
