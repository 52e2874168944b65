"""Truncated Gaussian on the positive orthant R₊¹⁰."""

from __future__ import annotations

from dataclasses import dataclass

from zfree.domains import Orthant
from zfree.experiments.gaussian_comparison import GaussianComparison
from zfree.experiments.paper import ORTHANT
from zfree.experiments.truths import ORTHANT as TRUTHS


@dataclass(frozen=True)
class GaussianOrthant(GaussianComparison):
    """K and μ on the orthant (appendix, "Truncated Gaussian Model").

    The paper does not print its truth. With the adopted one every median is within a factor 2 of its table; with the plain one, K = 100 I
    and μ = 0.1, those of μ are half as large or less.
    """

    name = "gaussian-orthant"
    title = "Truncated Gaussian on the positive orthant"
    place = "Appendix, table and figure of R₊¹⁰"
    candidates = ("φ₁", "φ₂", "φ₃", "h₁", "h₂")
    printed = ORTHANT
    truths = TRUTHS

    def domain(self) -> Orthant:
        return Orthant(self.dimension)
