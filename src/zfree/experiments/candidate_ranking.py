"""Can the data tell which φ is best? (appendix, "Data Driven Ranking of Candidate Choices of φ")"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.stats import kendalltau, spearmanr

from zfree.arrays import Array
from zfree.estimators import rank
from zfree.experiments.base import Experiment
from zfree.experiments.comparison import gather
from zfree.experiments.dirichlet import DirichletSimplex
from zfree.experiments.gaussian_orthant import GaussianOrthant
from zfree.experiments.gaussian_simplex import GaussianSimplex
from zfree.experiments.paper import RANKING
from zfree.experiments.records import Key, OneOf, Pattern, Record, errors_of, number_or_none
from zfree.experiments.report import Finding, Number, Report
from zfree.experiments.settings import GENERATORS, Errors, Setting, finite, gaussian_memory
from zfree.generators import named

CANDIDATES = ("φ₁", "φ₂", "φ₃")
SETTINGS: dict[str, Any] = {"S¹⁰": GaussianSimplex, "R₊¹⁰": GaussianOrthant, "Δ⁹": DirichletSimplex}
SCORES = ("Tr(Σ̂)", "κ(Γ_N)", "Tr(F̂Σ̂)")
"""The paper's two scores, and the one that auto uses, which does not depend on units."""
IN_MATH = {
    "Tr(Σ̂)": r"$\mathrm{Tr}(\hat{\Sigma})$",
    "κ(Γ_N)": r"$\kappa(\Gamma_N)$",
    "Tr(F̂Σ̂)": r"$\mathrm{Tr}(\hat{F}\hat{\Sigma})$",
}
COLUMNS = ("Top-1", "worst regret", "mean regret", "Spearman ρ", "Kendall τ")


@dataclass(frozen=True)
class RankingOfCandidates(Experiment):
    """The order of φ₁, φ₂, φ₃ by a score of the data, against their order by the true squared error.

    Regret is the error of the chosen candidate over that of the best one, minus one. The paper has 50 trials, which leave
    up to seven per cent of uncertainty on an accuracy.
    """

    trials: int = 200
    size: int = 800

    name = "ranking"
    title = "Ranking candidates from the data"
    place = "Appendix, table of the ranking diagnostics"
    small: ClassVar[dict[str, Any]] = {"trials": 20}
    stated: ClassVar[tuple[str, ...]] = ("size",)

    def check(self) -> None:
        for experiment in SETTINGS.values():
            experiment().check()

    def plan(self) -> list[Key]:
        return [(k, trial) for k in range(len(SETTINGS)) for trial in range(self.trials)]

    def trial(self, key: Key, scratch: Path) -> Record:
        setting: Setting = list(SETTINGS.values())[key[0]]().setting()
        X = setting.draw(self.size, self.stream(*key))
        generators = {named(GENERATORS[name]): name for name in CANDIDATES}
        ranking = rank(setting.estimator("auto"), X, list(generators), target="information")
        scores: dict[str, Errors] = {score: {} for score in SCORES}
        for c in ranking:
            values = (c.total_variance, c.condition_number, c.criterion)
            for score, value in zip(SCORES, values, strict=True):
                scores[score][generators[c.generator]] = finite(value)
        return {"scores": scores, "errors": setting.errors(CANDIDATES, X)}

    def record(self) -> Pattern:
        setting = list(SETTINGS.values())
        errors = [errors_of(CANDIDATES, kind().setting().blocks) for kind in setting]
        scores = {score: dict.fromkeys(CANDIDATES, number_or_none) for score in SCORES}
        return OneOf(tuple({"scores": scores, "errors": each} for each in errors))

    def count(self) -> int:
        return len(SETTINGS) * super().count()

    def memory(self) -> float:
        most: float = max(kind().memory() for kind in SETTINGS.values()) + gaussian_memory(10, self.size)
        return most

    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        numbers, findings = [], []
        quality: dict[tuple[str, str, str], Array] = {}
        for k, (domain, experiment) in enumerate(SETTINGS.items()):
            rows = [r for key, r in records if key[0] == k]
            for block in experiment().setting().blocks:
                errors = np.stack([gather([r["errors"][c][block] for r in rows]) for c in CANDIDATES], axis=1)
                for score in SCORES:
                    scores = np.stack([gather([r["scores"][score][c] for r in rows]) for c in CANDIDATES], axis=1)
                    values = quality[domain, block, score] = agreement(scores, errors)
                    printed = RANKING.get((domain, block, score), (None,) * 5) if self.like_the_paper else (None,) * 5
                    numbers += [
                        Number(
                            f"{self.trials} trials at N = {self.size}", f"{domain}, {block}, {score}", c, float(v), p
                        )
                        for c, v, p in zip(COLUMNS, values, printed, strict=True)
                    ]
        for domain in ("S¹⁰", "R₊¹⁰"):
            accuracy = {score: quality[domain, "K", score][0] for score in SCORES}
            findings.append(
                Finding(
                    f"Tr(Σ̂) and κ(Γ_N) find the best φ for K on {domain} in at least 95% of the trials",
                    accuracy["Tr(Σ̂)"] >= 0.95 and accuracy["κ(Γ_N)"] >= 0.95,
                    ", ".join(f"{score} {value:.2f}" for score, value in accuracy.items()),
                )
            )
        kappa, trace = quality["Δ⁹", "α", "κ(Γ_N)"], quality["Δ⁹", "α", "Tr(Σ̂)"]
        findings.append(
            Finding(
                "on the Dirichlet κ(Γ_N) misleads and Tr(Σ̂) does not",
                bool(kappa[0] < 0.5 < trace[0]),
                f"Top-1 {kappa[0]:.2f} against {trace[0]:.2f}, mean regret {kappa[2]:.2f} against {trace[2]:.2f}",
            )
        )
        return Report(numbers, findings, lambda: self._figure(quality))

    def _figure(self, quality: dict[tuple[str, str, str], Array]) -> Any:
        from zfree.plotting.trials import PALETTE, panels

        figure, (left, right) = panels(2)
        cases = list(dict.fromkeys((domain, block) for domain, block, _ in quality))
        for ax, column in ((left, 0), (right, 3)):
            for j, score in enumerate(SCORES):
                values = [quality[domain, block, score][column] for domain, block in cases]
                ax.bar(np.arange(len(cases)) + 0.27 * (j - 1), values, 0.25, color=PALETTE[j], label=IN_MATH[score])
            ax.set_xticks(np.arange(len(cases)), [f"{block} on {domain}" for domain, block in cases])
            ax.axhline(0, color="black", linewidth=0.8)
        left.set(ylabel="Top-1 accuracy", ylim=(0, 1.02))
        right.set(ylabel="Spearman's ρ with the true order")
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
        return figure


def agreement(scores: Array, errors: Array) -> Array:
    """Top-1 accuracy, worst and mean regret, and mean rank correlations of scores (trials × candidates) with errors."""
    whole = np.isfinite(scores).all(axis=1) & np.isfinite(errors).all(axis=1)
    if not whole.any():
        return np.full(5, np.nan)
    scores, errors = scores[whole], errors[whole]  # a trial in which a candidate failed has no ranking
    chosen = np.take_along_axis(errors, scores.argmin(axis=1)[:, None], axis=1)[:, 0]
    regret = chosen / errors.min(axis=1) - 1.0
    rho = [spearmanr(s, e).statistic for s, e in zip(scores, errors, strict=True)]
    tau = [kendalltau(s, e).statistic for s, e in zip(scores, errors, strict=True)]
    return np.array([np.mean(regret == 0.0), regret.max(), regret.mean(), np.mean(rho), np.mean(tau)])
