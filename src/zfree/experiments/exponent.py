"""The exponent of the power barrier on the positive orthant (appendix, "Effect of Power Barrier Exponent")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from zfree.arrays import Array
from zfree.errors import SpecificationError
from zfree.experiments.base import Experiment
from zfree.experiments.comparison import between, gather, within_factor
from zfree.experiments.gaussian_orthant import GaussianOrthant
from zfree.experiments.paper import EXPONENT, EXPONENT_ABOVE
from zfree.experiments.records import Key, Pattern, Record, errors_of, number_or_none
from zfree.experiments.report import Finding, Number, Report, short
from zfree.experiments.settings import AUTO, GaussianSetting, gaussian_memory
from zfree.generators import Barrier

BASELINE = "h₁"
GAMMAS = {0.5: "γ = ½ (the paper)", 0.0: "γ = 0"}


@dataclass(frozen=True)
class Exponent(Experiment):
    """Median and inter-quartile range of the squared errors against p, for det(H)^(−γ) with γ = ½ and without it."""

    exponents: tuple[float, ...] = (0.2, 0.5, 0.8, 1.2, 4 / 3, 1.6, 1.8)
    trials: int = 50
    size: int = 800
    dimension: int = 10
    truth: str = "adopted"
    mean: float | tuple[float, ...] | None = None
    precision: float | tuple[float, ...] | None = None

    name = "exponent"
    title = "The exponent of the power barrier"
    place = "Appendix, figure of the exponent ablation"
    small: ClassVar[dict[str, Any]] = {"trials": 10}
    stated: ClassVar[tuple[str, ...]] = ("size", "dimension")

    def setting(self) -> GaussianSetting:
        return GaussianOrthant(
            dimension=self.dimension, truth=self.truth, mean=self.mean, precision=self.precision
        ).setting()

    def check(self) -> None:
        self.setting()
        if list(self.exponents) != sorted(set(self.exponents)) or not self.exponents[-1] < 2:
            raise SpecificationError(f"exponents must increase and stay below 2, got {list(self.exponents)}.")

    def plan(self) -> list[Key]:
        return [(self.size, trial) for trial in range(self.trials)]

    def trial(self, key: Key, scratch: Path) -> Record:
        setting = self.setting()
        X = setting.draw(self.size, self.stream(*key))
        sweep = {
            label: [setting.errors_with(Barrier(p, gamma, scale="raw"), X) for p in self.exponents]
            for gamma, label in GAMMAS.items()
        }
        return {"sweep": sweep, "errors": setting.errors((BASELINE, AUTO), X)}

    def record(self) -> Pattern:
        blocks = self.setting().blocks
        sweep = [dict.fromkeys(blocks, number_or_none) for _ in self.exponents]
        return {"sweep": dict.fromkeys(GAMMAS.values(), sweep), "errors": errors_of((BASELINE, AUTO), blocks)}

    def memory(self) -> float:
        return gaussian_memory(self.dimension, self.size)

    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        blocks = self.setting().blocks
        sweep = {
            (block, label): np.stack([gather([e[block] for e in r["sweep"][label]]) for _, r in records])
            for block in blocks
            for label in GAMMAS.values()
        }
        flat = {(b, c): gather([r["errors"][c][b] for _, r in records]) for b in blocks for c in (BASELINE, AUTO)}
        numbers: list[Number] = []
        findings: list[Finding] = []
        for block in blocks:
            title = f"Squared error of {block}, N = {self.size}, {self.trials} trials"
            for gamma, label in GAMMAS.items():
                for p, errors in zip(self.exponents, sweep[block, label].T, strict=True):
                    paper = EXPONENT[block].get(p) if gamma == 0.5 and self.like_the_paper else None
                    numbers += _quartiles(title, f"p = {short(p)}, {label}", errors, paper)
            for name in (BASELINE, AUTO):
                numbers += _quartiles(title, name, flat[block, name])
            medians = np.median(sweep[block, GAMMAS[0.5]], axis=0)
            findings.append(self._valley(block, medians))
            findings += self._near(block, medians)
        return Report(numbers, findings, lambda: self._figure(sweep, flat, blocks))

    def _near(self, block: str, medians: Array) -> list[Finding]:
        """The medians that the paper's text names."""
        if not self.like_the_paper:
            return []
        ours = {f"p = {short(p)}": float(m) for p, m in zip(self.exponents, medians, strict=True)}
        printed = {f"p = {short(p)}": (0.0, m, 0.0) for p, m in EXPONENT[block].items() if p in self.exponents}
        found = [within_factor(ours, printed, f"the median error of {block}")] if printed else []
        for p, low in EXPONENT_ABOVE.get(block, {}).items():
            at = f"p = {short(p)}"
            if at in ours:
                statement = f"the median error of {block} at {at} is {between(low, np.inf)}, as in the paper"
                found.append(Finding(statement, ours[at] > low, short(ours[at])))
        return found

    def _valley(self, block: str, medians: Array) -> Finding:
        p = np.array(self.exponents)
        best = int(np.argmin(medians))
        holds = 4 / 3 - 1e-9 <= p[best] <= 1.7 and 0 < best < len(p) - 1
        detail = ", ".join(f"{short(e)} at p = {short(q)}" for q, e in zip(p, medians, strict=True))
        return Finding(
            f"the median error of {block} is smallest between p = 4/3 and 1.7, larger on both sides",
            bool(holds),
            detail,
        )

    def _figure(self, sweep: dict[Any, Array], flat: dict[Any, Array], blocks: Sequence[str]) -> Any:
        from zfree.plotting.trials import band, colors, panels

        figure, axes = panels(len(blocks))
        ends = [min(self.exponents), max(self.exponents)]
        for ax, block in zip(axes, blocks, strict=True):
            color = colors([*GAMMAS.values(), BASELINE, AUTO])
            for label in GAMMAS.values():
                band(ax, self.exponents, list(sweep[block, label].T), label, color[label])
            for name in (BASELINE, AUTO):
                band(ax, ends, [flat[block, name]] * 2, name, color[name], "--")
            ax.set(xlabel="exponent p", ylabel=f"squared error of {block}", yscale="log")
        axes[0].legend(frameon=False, fontsize="small")
        return figure


def _quartiles(title: str, row: str, errors: Array, paper: float | None = None) -> list[Number]:
    low, middle, high = np.quantile(errors, [0.25, 0.5, 0.75])
    return [
        Number(title, row, "median", float(middle), paper),
        Number(title, row, "lower quartile", float(low)),
        Number(title, row, "upper quartile", float(high)),
    ]
