"""Fifty truncated Gaussians on the positive orthant R₊¹⁰."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from zfree.domains import Orthant
from zfree.experiments.paper import ROBUSTNESS_ORTHANT
from zfree.experiments.robustness_gaussian import GaussianRobustness
from zfree.experiments.truths import ROBUSTNESS_ORTHANT as TRUTHS


@dataclass(frozen=True)
class RobustnessGaussianOrthant(GaussianRobustness):
    """Random truths on the orthant."""

    name = "robustness-gaussian-orthant"
    title = "Robustness: truncated Gaussians on the positive orthant"
    place = "Appendix, robustness table of R₊¹⁰"
    candidates = ("φ₁", "φ₂", "φ₃", "h₁", "h₂")
    printed = ROBUSTNESS_ORTHANT
    recipes = TRUTHS
    champions: ClassVar[dict[str, tuple[str, float]]] = {"μ": ("h₁", 0.8), "K": ("h₁", 0.8)}

    def domain(self) -> Orthant:
        return Orthant(self.dimension)
