"""Squared errors of several estimators against the sample size: the paper's main tables and box plots."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zfree.arrays import Array
from zfree.experiments.base import Experiment, Key, Record
from zfree.experiments.paper import ErrorTable
from zfree.experiments.report import Finding, Number, Report, short
from zfree.experiments.settings import AUTO, COMBINED, MLE, Setting


def _std(errors: Array) -> float:
    return float(np.std(errors)) if np.isfinite(errors).all() else float("inf")


STATISTICS: dict[str, Callable[[Array], Any]] = {"mean": np.mean, "median": np.median, "std": _std}
PRINTED_AT = 800
"""The sample size of the paper's tables."""


@dataclass(frozen=True)
class Comparison(Experiment):
    """Trials over sample sizes, every contender on the same rows."""

    sizes: tuple[int, ...] = (200, 500, 800)
    trials: int = 50

    candidates: ClassVar[tuple[str, ...]]
    """The paper's rows."""
    printed: ClassVar[ErrorTable]
    remarks: ClassVar[tuple[str, ...]] = ()
    """Words that belong to the tables."""
    small: ClassVar[dict[str, Any]] = {"trials": 10}

    @abstractmethod
    def setting(self) -> Setting:
        """The truth."""

    @abstractmethod
    def findings(self, medians: dict[str, dict[str, float]]) -> list[Finding]:
        """What the paper says, held against block → contender → median at the paper's sample size."""

    @property
    def contenders(self) -> tuple[str, ...]:
        """All rows of the table."""
        return (*self.candidates, AUTO, COMBINED, MLE)

    def plan(self) -> list[Key]:
        return [(n, trial) for n in self.sizes for trial in range(self.trials)]

    def trial(self, key: Key) -> Record:
        setting = self.setting()
        X = setting.draw(key[0], self.stream(*key))
        return {"errors": setting.errors(self.contenders, X)}

    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        blocks = self.setting().blocks
        errors = {
            (block, n, name): gather([r["errors"][name][block] for key, r in records if key[0] == n])
            for block in blocks
            for n in self.sizes
            for name in self.contenders
        }
        numbers = [
            number
            for n in sorted(self.sizes, reverse=True)
            for block in blocks
            for name in self.contenders
            for number in self._numbers(block, n, name, errors[block, n, name])
        ]
        held = PRINTED_AT if PRINTED_AT in self.sizes else max(self.sizes)
        medians = {b: {c: float(np.median(errors[b, held, c])) for c in self.contenders} for b in blocks}
        against_paper = self.findings(medians) if held == PRINTED_AT else []
        findings = [*against_paper, *_gain(medians, self.candidates)]
        return Report(numbers, findings, lambda: self._figure(errors, blocks), self.remarks)

    def _numbers(self, block: str, n: int, name: str, values: Array) -> list[Number]:
        printed = self.printed[block].get(name, (None,) * 3) if n == PRINTED_AT else (None,) * 3
        title = f"Squared error of {block}, N = {n}, {self.trials} trials"
        return [
            Number(title, name, column, float(statistic(values)), paper)
            for (column, statistic), paper in zip(STATISTICS.items(), printed, strict=True)
        ]

    def _figure(self, errors: dict[tuple[str, int, str], Array], blocks: Sequence[str]) -> Any:
        from zfree.plotting.trials import boxes

        return boxes(
            {b: {f"N = {n}": {c: errors[b, n, c] for c in self.contenders} for n in self.sizes} for b in blocks},
            "squared error of {}",
        )


def gather(values: Sequence[float | None]) -> Array:
    """Errors as an array; a fit that failed is infinitely wrong."""
    return np.array([np.inf if v is None else v for v in values])


def same_order(medians: dict[str, float], printed: dict[str, tuple[float, float, float]], what: str) -> Finding:
    """Whether the paper's candidates have the paper's order."""
    ours = sorted(printed, key=lambda name: medians[name])
    papers = sorted(printed, key=lambda name: printed[name][1])
    return Finding(f"the order of the estimators by {what} is the paper's", ours == papers, " < ".join(ours))


def within_factor(
    medians: dict[str, float], printed: dict[str, tuple[float, float, float]], what: str, without: tuple[str, ...] = ()
) -> Finding:
    """Whether every median is within a factor 2 of the paper's."""
    ratios = {name: medians[name] / values[1] for name, values in printed.items() if name not in without}
    worst = max(ratios, key=lambda name: abs(np.log(ratios[name])))
    exception = f", {' and '.join(without)} excepted" if without else ""
    return Finding(
        f"{what} is within a factor 2 of the paper's{exception}",
        all(0.5 <= r <= 2.0 for r in ratios.values()),
        f"furthest: {worst}, {short(ratios[worst])} times the paper's",
    )


def _gain(medians: dict[str, dict[str, float]], candidates: Sequence[str]) -> list[Finding]:
    found = []
    for block, values in medians.items():
        best = min(candidates, key=lambda name: values[name])
        detail = f"auto {short(values[AUTO])}, {best} {short(values[best])}, MLE {short(values[MLE])}"
        found.append(
            Finding(
                f"auto has a smaller median error of {block} than all of the paper's candidates",
                values[AUTO] < values[best],
                detail,
            )
        )
    return found
