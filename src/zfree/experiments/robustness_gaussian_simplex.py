"""Fifty truncated Gaussians on the solid simplex S¹⁰."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from zfree.domains import SolidSimplex
from zfree.experiments.paper import ROBUSTNESS_SOLID_SIMPLEX
from zfree.experiments.robustness_gaussian import GaussianRobustness
from zfree.experiments.truths import ROBUSTNESS_SOLID_SIMPLEX as TRUTHS


@dataclass(frozen=True)
class RobustnessGaussianSimplex(GaussianRobustness):
    """Random truths on S^d. The weight h₁ does not vanish where Σx = 1: its errors are biases."""

    name = "robustness-gaussian-simplex"
    title = "Robustness: truncated Gaussians on the solid simplex"
    place = "Appendix, robustness table of S¹⁰"
    candidates = ("φ₁", "φ₂", "φ₃", "truncated SM", "h₁")
    printed = ROBUSTNESS_SOLID_SIMPLEX
    recipes = TRUTHS
    apart = ("h₁",)
    champions: ClassVar[dict[str, tuple[str, float]]] = {"μ": ("φ₁", 0.9), "K": ("φ₁", 0.9)}

    def domain(self) -> SolidSimplex:
        return SolidSimplex(self.dimension)
