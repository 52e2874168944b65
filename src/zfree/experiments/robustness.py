"""Win rates and average ranks over many truths (appendix, "Robustness Across Diverse Ground Truth Parameter Initializations")."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.stats import rankdata

from zfree.arrays import Array
from zfree.experiments.base import Experiment
from zfree.experiments.comparison import gather, same_order, within_factor
from zfree.experiments.paper import RobustnessTable
from zfree.experiments.records import Key, Pattern, Record, errors_of
from zfree.experiments.report import Finding, Number, Report, short
from zfree.experiments.settings import AUTO, COMBINED, Setting

COLUMNS = ("win rate", "average rank", "median error")


@dataclass(frozen=True)
class Robustness(Experiment):
    """Many truths, many trials of each; a truth is won by the smallest median squared error over its trials."""

    truths: int = 50
    trials: int = 50
    size: int = 800

    candidates: ClassVar[tuple[str, ...]]
    printed: ClassVar[RobustnessTable]
    champions: ClassVar[dict[str, tuple[str, float]]]
    """Block → the paper's winner, and the win rate to expect of it."""
    apart: ClassVar[tuple[str, ...]] = ()
    """Rows whose errors are not held against the paper's, because they are biases."""
    extra: ClassVar[tuple[str, ...]] = (AUTO, COMBINED)
    blocks: ClassVar[tuple[str, ...]] = ("μ", "K")
    small: ClassVar[dict[str, Any]] = {"truths": 6, "trials": 5}
    stated: ClassVar[tuple[str, ...]] = ("size", "dimension")

    @abstractmethod
    def truth_of(self, rng: np.random.Generator) -> Setting:
        """A random truth."""

    def check(self) -> None:
        self.truth_of(self.stream(0))

    def plan(self) -> list[Key]:
        return [(truth, trial) for truth in range(self.truths) for trial in range(self.trials)]

    def trial(self, key: Key, scratch: Path) -> Record:
        setting = _truth(self, key[0])
        X = setting.draw(self.size, self.stream(*key))
        return {"errors": setting.errors((*self.candidates, *self.extra), X)}

    def record(self) -> Pattern:
        return {"errors": errors_of((*self.candidates, *self.extra), self.blocks)}

    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        rows = (*self.candidates, *self.extra)
        medians = {
            block: np.array(
                [
                    [np.median(gather([r["errors"][c][block] for k, r in records if k[0] == t])) for c in rows]
                    for t in range(self.truths)
                ]
            )
            for block in self.blocks
        }
        numbers, findings = [], []
        for block, table in medians.items():
            papers = table[:, : len(self.candidates)]
            numbers += self._table(f"{block}: the paper's candidates among themselves", block, self.candidates, papers)
            field = table[:, : len(self.candidates) + 1]
            numbers += self._table(f"{block}: with auto in the field", block, (*self.candidates, AUTO), field, False)
            findings += self._findings(block, papers, table)
            for name in self.extra:
                if name != AUTO:
                    error = float(np.median(table[:, rows.index(name)]))
                    numbers.append(Number(f"{block}: for reference", name, "median error", error))
        return Report(numbers, findings, lambda: self._figure(medians, rows), self.remarks())

    def remarks(self) -> tuple[str, ...]:
        """Words that belong to the tables."""
        return (
            f"A truth is won by the estimator with the smallest median squared error over its {self.trials} trials at "
            f"N = {self.size}; {self.truths} truths.",
        )

    def _table(
        self, title: str, block: str, names: Sequence[str], medians: Array, compared: bool = True
    ) -> list[Number]:
        rank = rankdata(medians, axis=1)
        measured = np.stack([win_rates(medians), rank.mean(axis=0), np.median(medians, axis=0)], axis=1)
        return [
            Number(title, name, column, float(value), paper)
            for name, values in zip(names, measured, strict=True)
            for column, value, paper in zip(
                COLUMNS, values, self._printed(block, name) if compared else (None,) * 3, strict=True
            )
        ]

    def _printed(self, block: str, name: str) -> tuple[float | None, ...]:
        return self.printed[block].get(name, (None,) * 3) if self.like_the_paper else (None,) * 3

    def _findings(self, block: str, papers: Array, table: Array) -> list[Finding]:
        found = []
        if block in self.champions and self.like_the_paper:
            winner, bar = self.champions[block]
            rate = float(win_rates(papers)[self.candidates.index(winner)])
            found.append(
                Finding(
                    f"{winner} wins at least {bar:.0%} of the truths on {block} among the paper's candidates",
                    rate >= bar,
                    f"{rate:.2f}, the paper {self.printed[block][winner][0]:.2f}",
                )
            )
        if self.like_the_paper:
            medians = dict(zip(self.candidates, np.median(papers, axis=0), strict=True))
            printed = {name: (v[0], v[2], v[1]) for name, v in self.printed[block].items()}
            found.append(same_order(medians, printed, f"median error of {block}"))
            found.append(within_factor(medians, printed, f"the median error of {block}", self.apart))
        field = table[:, : len(self.candidates) + 1]
        rate = float(win_rates(field)[-1])
        with np.errstate(invalid="ignore"):
            ratio = float(np.median(field[:, -1] / papers.min(axis=1)))
        bar = 0.8 if block == "μ" else 0.95  # the mean of a Gaussian that is cut off is the harder of the two
        found.append(
            Finding(
                f"auto wins at least {bar:.0%} of the truths on {block} against all of them together",
                rate >= bar,
                f"{rate:.2f}; its error is {short(ratio)} times that of the best other, in the median",
            )
        )
        return found

    def _figure(self, medians: dict[str, Array], rows: Sequence[str]) -> Any:
        from zfree.plotting.trials import boxes

        return boxes(
            {b: {f"{self.truths} truths": {c: m[:, j] for j, c in enumerate(rows)}} for b, m in medians.items()},
            "median squared error of {}",
        )


def win_rates(medians: Array) -> Array:
    """Share of the truths (rows) on which each estimator (column) has the strictly smallest error."""
    order = np.sort(medians, axis=1)
    best = (medians == order[:, :1]) & (order[:, :1] < order[:, 1:2])
    return np.asarray(best.mean(axis=0), dtype=np.float64)


@lru_cache(maxsize=4)
def _truth(experiment: Robustness, number: int) -> Setting:
    return experiment.truth_of(experiment.stream(number))
