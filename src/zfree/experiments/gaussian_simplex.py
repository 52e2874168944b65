"""Truncated Gaussian on the solid simplex S¹⁰."""

from __future__ import annotations

from dataclasses import dataclass

from zfree.domains import SolidSimplex
from zfree.experiments.gaussian import GaussianComparison
from zfree.experiments.paper import SOLID_SIMPLEX
from zfree.experiments.truths import SOLID_SIMPLEX as TRUTHS


@dataclass(frozen=True)
class GaussianSimplex(GaussianComparison):
    """K and μ on S^d (main text, "Truncated Gaussian Model").

    The paper does not print its truth: K = 100 I and μ = 1/11 give errors of K close to its table. The weight h₁ does not
    vanish where Σx = 1, so its error is a bias that depends on the truth more than the others do.
    """

    name = "gaussian-simplex"
    title = "Truncated Gaussian on the solid simplex"
    place = "Section 5.1 and appendix, table and figure of S¹⁰"
    candidates = ("φ₁", "φ₂", "φ₃", "truncated SM", "h₁")
    printed = SOLID_SIMPLEX
    truths = TRUTHS
    apart = ("h₁",)

    def domain(self) -> SolidSimplex:
        return SolidSimplex(self.dimension)
