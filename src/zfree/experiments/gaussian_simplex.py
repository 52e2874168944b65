"""Truncated Gaussian on the solid simplex S¹⁰."""

from __future__ import annotations

from dataclasses import dataclass

from zfree.domains import SolidSimplex
from zfree.experiments.gaussian_comparison import GaussianComparison
from zfree.experiments.paper import SOLID_SIMPLEX
from zfree.experiments.truths import SOLID_SIMPLEX as TRUTHS


@dataclass(frozen=True)
class GaussianSimplex(GaussianComparison):
    """K and μ on S^d (main text, "Truncated Gaussian Model").

    The paper does not print its truth. With the plain one, K = 100 I and μ = 1/11, the errors of K are close to its table and those of μ five
    times too small: μ = K⁻¹η is dominated by trials in which K̂ is nearly singular, and there are more of these where some means are close to
    zero, as in the adopted one. The weight h₁ does not vanish where Σx = 1, so its error is a bias that depends on the truth more than the
    others do.
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
