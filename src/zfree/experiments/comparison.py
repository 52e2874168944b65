"""Squared errors of several estimators against the sample size: the paper's main tables and box plots."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from zfree.arrays import Array
from zfree.experiments.base import Experiment
from zfree.experiments.paper import BELOW_AT_EVERY_SIZE, IN_TEXT, MEDIANS_AT_EVERY_SIZE, ErrorTable
from zfree.experiments.records import Key, Pattern, Record, errors_of
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
    small: ClassVar[dict[str, Any]] = {"trials": 10}

    @abstractmethod
    def setting(self) -> Setting:
        """The truth."""

    @abstractmethod
    def findings(self, medians: dict[str, dict[str, float]]) -> list[Finding]:
        """What the paper says at its own sample size, held against block → contender → median."""

    def remarks(self) -> tuple[str, ...]:
        """Words that belong to the tables."""
        return ()

    @property
    def contenders(self) -> tuple[str, ...]:
        """All rows of the table."""
        return (*self.candidates, AUTO, COMBINED, MLE)

    def plan(self) -> list[Key]:
        return [(n, trial) for n in self.sizes for trial in range(self.trials)]

    def trial(self, key: Key, scratch: Path) -> Record:
        setting, rng = self.setting(), self.stream(*key)
        X = setting.draw(key[0], rng)
        return {"errors": setting.errors(self.contenders, X, rng)}

    def record(self) -> Pattern:
        return {"errors": errors_of(self.contenders, self.setting().blocks)}

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
        medians = {
            n: {b: {c: float(np.median(errors[b, n, c])) for c in self.contenders} for b in blocks} for n in self.sizes
        }
        against_paper = self.findings(medians[PRINTED_AT]) if self.like_the_paper and PRINTED_AT in self.sizes else []
        findings = [
            *against_paper,
            *self._ranges(medians),
            *self._orders(medians),
            *(self._gain(block, medians) for block in blocks),
        ]
        return Report(numbers, findings, lambda: self._figure(errors, blocks), self.remarks())

    def check(self) -> None:
        self.setting()

    def _numbers(self, block: str, n: int, name: str, values: Array) -> list[Number]:
        printed: dict[str, float] = {}
        if self.like_the_paper:
            if n == PRINTED_AT and name in self.printed[block]:
                printed = dict(zip(STATISTICS, self.printed[block][name], strict=True))
            printed |= IN_TEXT.get(self.name, {}).get((block, n, name), {})
        title = f"Squared error of {block}, N = {n}, {self.trials} trials"
        numbers = [
            Number(title, name, column, float(statistic(values)), printed.get(column))
            for column, statistic in STATISTICS.items()
        ]
        return numbers + failures(title, name, values)

    def _ranges(self, medians: dict[int, dict[str, dict[str, float]]]) -> list[Finding]:
        """Where the paper's text says that a median is at every sample size."""
        found = []
        for (block, name), ends in MEDIANS_AT_EVERY_SIZE.get(self.name, {}).items() if self.like_the_paper else ():
            values = [medians[n][block][name] for n in sorted(self.sizes)]
            found.append(
                Finding(
                    f"at every N the median error of {block} with {name} is {between(*ends)}, as in the paper",
                    all(ends[0] <= value <= ends[1] for value in values),
                    ", ".join(
                        f"{short(value)} at N = {n}" for n, value in zip(sorted(self.sizes), values, strict=True)
                    ),
                )
            )
        return found

    def _orders(self, medians: dict[int, dict[str, dict[str, float]]]) -> list[Finding]:
        """Where the paper's text says that some medians are below others at every sample size."""
        found = []
        for block, lower, higher in BELOW_AT_EVERY_SIZE.get(self.name, ()) if self.like_the_paper else ():
            told, holds = [], True
            for n in sorted(self.sizes):
                values = medians[n][block]
                last, first = max(lower, key=lambda name: values[name]), min(higher, key=lambda name: values[name])
                holds &= values[last] < values[first]
                told.append(f"N = {n}: {last} {short(values[last])}, {first} {short(values[first])}")
            words = f"at every N the median error of {block} with {_and(lower)} is below that with {_or(higher)}"
            found.append(Finding(f"{words}, as in the paper", holds, "; ".join(told)))
        return found

    def _gain(self, block: str, medians: dict[int, dict[str, dict[str, float]]]) -> Finding:
        """Whether auto is below all of the paper's candidates, at every sample size."""
        told, holds = [], True
        for n in sorted(self.sizes):
            values = medians[n][block]
            best = min(self.candidates, key=lambda name: values[name])
            holds &= values[AUTO] < values[best]
            told.append(f"N = {n}: auto {short(values[AUTO])}, {best} {short(values[best])}, MLE {short(values[MLE])}")
        return Finding(
            f"auto has a smaller median error of {block} than all of the paper's candidates at every N",
            holds,
            "; ".join(told),
        )

    def _figure(self, errors: dict[tuple[str, int, str], Array], blocks: Sequence[str]) -> Any:
        from zfree.plotting.trials import boxes

        return boxes(
            {b: {f"N = {n}": {c: errors[b, n, c] for c in self.contenders} for n in self.sizes} for b in blocks},
            "squared error of {}",
        )


def gather(values: Sequence[float | None]) -> Array:
    """Errors as an array; a fit that failed is infinitely wrong."""
    return np.array([np.inf if v is None else v for v in values])


def failures(title: str, row: str, values: Array) -> list[Number]:
    """How many fits failed, if any."""
    failed = int(np.sum(~np.isfinite(values)))
    return [Number(title, row, "failed", float(failed))] if failed else []


def same_order(medians: dict[str, float], printed: dict[str, tuple[float, float, float]], what: str) -> Finding:
    """Whether the paper's candidates have the paper's order, strictly."""
    papers = sorted(printed, key=lambda name: printed[name][1])
    values = [medians[name] for name in papers]
    holds = bool(np.all(np.isfinite(values)) and np.all(np.diff(values) > 0))
    ours = sorted(printed, key=lambda name: medians[name])
    detail = " < ".join(ours) + ("" if holds else f"; the paper {' < '.join(papers)}")
    return Finding(f"the order of the estimators by {what} is the paper's", holds, detail)


def within_factor(
    medians: dict[str, float], printed: dict[str, tuple[float, float, float]], what: str, without: tuple[str, ...] = ()
) -> Finding:
    """Whether every median is within a factor 2 of the paper's; all that are not are listed with their ratios."""
    ratios = {name: medians[name] / values[1] for name, values in printed.items()}
    held = {name: r for name, r in ratios.items() if name not in without}
    beyond = [name for name, r in held.items() if not 0.5 <= r <= 2.0]
    told = beyond or [max(held, key=lambda name: abs(np.log(held[name])))]
    return Finding(
        f"{what} is within a factor 2 of the paper's{f', {_and(without)} excepted' if without else ''}",
        not beyond,
        "; ".join(
            [
                f"{'not so' if beyond else 'furthest'}: {', '.join(f'{n} {short(ratios[n])} times' for n in told)}",
                *(f"{n} {short(ratios[n])} times" for n in without),
            ]
        ),
    )


def between(low: float, high: float) -> str:
    """A range in words."""
    return f"between {short(low)} and {short(high)}" if np.isfinite(high) else f"above {short(low)}"


def _and(names: Sequence[str], word: str = "and") -> str:
    return f" {word} ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _or(names: Sequence[str]) -> str:
    return _and(names, "or")
