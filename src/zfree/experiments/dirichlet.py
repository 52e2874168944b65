"""Dirichlet distribution on the simplex Δ⁹."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.errors import SpecificationError
from zfree.experiments.comparison import Comparison, within_factor
from zfree.experiments.paper import DIRICHLET
from zfree.experiments.report import Finding, short
from zfree.experiments.settings import DirichletSetting


@dataclass(frozen=True)
class DirichletSimplex(Comparison):
    """α of a Dirichlet distribution (appendix, "Dirichlet Model").

    The paper does not print its truth: a permutation of 1, …, 10 gives errors close to its table. Which part comes last
    matters for the baselines only, because their weights do not treat the part that the chart drops like the others; with
    a last part of concentration 3 the error of h₁ is nearest to the paper's.
    """

    alpha: tuple[float, ...] = (1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 3.0)

    name = "dirichlet"
    title = "Dirichlet distribution on the simplex"
    place = "Appendix, table and figure of Δ⁹"
    candidates = ("φ₁", "φ₂", "φ₃", "truncated SM", "GSM CD", "h₁")
    printed = DIRICHLET

    def setting(self) -> DirichletSetting:
        alpha = np.array(self.alpha, dtype=float)
        if alpha.ndim != 1 or len(alpha) < 2 or not np.all(alpha > 0):
            raise SpecificationError(f"alpha must be at least two positive numbers, got {self.alpha!r}.")
        return DirichletSetting(alpha)

    def findings(self, medians: dict[str, dict[str, float]]) -> list[Finding]:
        errors = medians["α"]
        best = min(self.candidates, key=lambda name: errors[name])
        barriers = max(errors[name] for name in ("φ₁", "φ₂", "φ₃"))
        return [
            Finding("φ₂ is the best of the paper's candidates", best == "φ₂", f"{best} {short(errors[best])}"),
            Finding(
                "all three φ are below truncated SM",
                barriers < errors["truncated SM"],
                f"largest of φ₁, φ₂, φ₃ {short(barriers)}, truncated SM {short(errors['truncated SM'])}",
            ),
            within_factor(errors, self.printed["α"], "the median error"),
        ]
