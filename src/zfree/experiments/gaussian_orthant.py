"""Truncated Gaussian on the positive orthant R₊¹⁰."""

from __future__ import annotations

from dataclasses import dataclass

from zfree.domains import Orthant
from zfree.experiments.gaussian import GaussianComparison
from zfree.experiments.paper import ORTHANT
from zfree.experiments.truths import ORTHANT as TRUTHS


@dataclass(frozen=True)
class GaussianOrthant(GaussianComparison):
    """K and μ on the orthant (appendix, "Truncated Gaussian Model").

    The paper does not print its truth: K = 100 I and μ = 0.1 give errors of K close to its table.
    """

    name = "gaussian-orthant"
    title = "Truncated Gaussian on the positive orthant"
    place = "Appendix, table and figure of R₊¹⁰"
    candidates = ("φ₁", "φ₂", "φ₃", "h₁", "h₂")
    printed = ORTHANT
    truths = TRUTHS

    def domain(self) -> Orthant:
        return Orthant(self.dimension)
