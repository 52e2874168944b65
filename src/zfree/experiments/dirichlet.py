"""Dirichlet distribution on the simplex Δ⁹."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.errors import SpecificationError
from zfree.experiments.comparison import Comparison, same_order, within_factor
from zfree.experiments.paper import DIRICHLET
from zfree.experiments.report import Finding, short
from zfree.experiments.settings import DirichletSetting, separable_memory
from zfree.experiments.truths import DIRICHLET as DIRICHLET_TRUTHS
from zfree.experiments.truths import chosen


@dataclass(frozen=True)
class DirichletSimplex(Comparison):
    """α of a Dirichlet distribution (appendix, "Dirichlet Model").

    The paper does not print its truth: a permutation of 1, …, 10 gives errors close to its table, and its ranking of the candidates. Which part
    comes last matters for the baselines only, because their weights do not treat the part that the chart drops like the others; with a
    last part of concentration 3 the error of h₁ is nearest to the paper's. `alpha`, if given, replaces the truth that goes by a name.
    """

    truth: str = "adopted"
    alpha: tuple[float, ...] | None = None

    name = "dirichlet"
    title = "Dirichlet distribution on the simplex"
    place = "Appendix, table and figure of Δ⁹"
    candidates = ("φ₁", "φ₂", "φ₃", "truncated SM", "GSM CD", "h₁")
    printed = DIRICHLET

    def memory(self) -> float:
        return separable_memory(len(self.concentrations), max(self.sizes))

    def setting(self) -> DirichletSetting:
        return DirichletSetting(np.array(self.concentrations, dtype=float))

    @property
    def concentrations(self) -> tuple[float, ...]:
        """α."""
        alpha = chosen(DIRICHLET_TRUTHS, self.truth) if self.alpha is None else self.alpha
        if len(alpha) < 2 or not all(a > 0 for a in alpha):
            raise SpecificationError(f"alpha must be at least two positive numbers, got {list(alpha)}.")
        return alpha

    @property
    def like_the_paper(self) -> bool:
        return len(self.concentrations) == 10

    def findings(self, medians: dict[str, dict[str, float]]) -> list[Finding]:
        errors = medians["α"]
        best = min(self.candidates, key=lambda name: errors[name])
        barriers = max(errors[name] for name in ("φ₁", "φ₂", "φ₃"))
        baselines = {name: errors[name] for name in ("truncated SM", "GSM CD", "h₁")}
        told = ", ".join(f"{name} {short(value)}" for name, value in baselines.items())
        return [
            Finding("φ₂ is the best of the paper's candidates", best == "φ₂", f"{best} {short(errors[best])}"),
            Finding(
                "all three φ are below truncated SM",
                barriers < errors["truncated SM"],
                f"largest of φ₁, φ₂, φ₃ {short(barriers)}, truncated SM {short(errors['truncated SM'])}",
            ),
            Finding(
                "all three φ are below all baselines",
                barriers < min(baselines.values()),
                f"largest of φ₁, φ₂, φ₃ {short(barriers)}; {told}",
            ),
            same_order(errors, self.printed["α"], "median error"),
            within_factor(errors, self.printed["α"], "the median error"),
        ]

    def check(self) -> None:
        self.setting()
