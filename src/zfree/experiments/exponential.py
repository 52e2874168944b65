"""Six estimators of the rate of an exponential distribution (appendix, "1D data - Exponential Distribution")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.special import gamma

from zfree.arrays import Array
from zfree.errors import SpecificationError
from zfree.estimators import Exponential
from zfree.experiments.base import Experiment
from zfree.experiments.records import Key, Pattern, Record, number
from zfree.experiments.report import Finding, Number, Report, short
from zfree.experiments.settings import AUTO, MLE, separable_memory
from zfree.generators import Generator, named
from zfree.likelihood import exponential_mle

ORDERS = {"φ₁": 1.0, "φ₂": 1.5, "φ₃": 3.0, "h₁": 1.0, "h₂ (NSM)": 2.0}
"""Each D is x^k: φ = (9/4) x^(4/3), x log x and −log x give k = 1, 3/2 and 3; h₁ = x and h₂ = x² of Yu et al. and Hyvärinen."""
GENERATORS = {"φ₁": "phi1", "φ₂": "phi2", "φ₃": "phi3", "h₁": "h1", "h₂ (NSM)": "hyvarinen-2007"}


@dataclass(frozen=True)
class ExponentialRate(Experiment):
    """Mean and standard deviation of the estimates against N. Original score matching is left out: it always says 0."""

    rate: float = 2.0
    sizes: tuple[int, ...] = (50, 100, 200, 500, 1000, 2000, 5000)
    trials: int = 50

    name = "exponential"
    title = "The rate of an exponential distribution"
    place = "Appendix, figure of the exponential distribution"
    small: ClassVar[dict[str, Any]] = {"sizes": (50, 200, 1000)}

    def check(self) -> None:
        if not self.rate > 0:
            raise SpecificationError(f"rate must be positive, got {self.rate!r}.")

    def plan(self) -> list[Key]:
        return [(n, trial) for n in self.sizes for trial in range(self.trials)]

    def trial(self, key: Key, scratch: Path) -> Record:
        x = self.stream(*key).exponential(1.0 / self.rate, key[0])
        contenders: dict[str, Generator | str] = {name: named(g) for name, g in GENERATORS.items()}
        rates = {
            name: float(Exponential(g, check=False).fit(x).rate_[0]) for name, g in {**contenders, AUTO: "auto"}.items()
        }
        return {"rates": {MLE: float(exponential_mle(x)[0]), **rates}}

    def record(self) -> Pattern:
        return {"rates": dict.fromkeys((MLE, *GENERATORS, AUTO), number)}

    def memory(self) -> float:
        return separable_memory(1, max(self.sizes))

    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        names = (MLE, *GENERATORS, AUTO)
        rates = {
            (name, n): np.array([r["rates"][name] for key, r in records if key[0] == n])
            for name in names
            for n in self.sizes
        }
        numbers = []
        for n in self.sizes:
            for name in names:
                title = f"N = {n}, {self.trials} runs, true rate {short(self.rate)}"
                numbers += [
                    Number(title, name, "mean", float(rates[name, n].mean())),
                    Number(title, name, "std", float(rates[name, n].std())),
                    Number(title, name, "std in theory", self.rate * _spread(ORDERS.get(name, 1.0)) / np.sqrt(n)),
                ]
        return Report(numbers, self._findings(rates), lambda: self._figure(rates, names), (THEORY,))

    def _findings(self, rates: dict[tuple[str, int], Array]) -> list[Finding]:
        gap = max(
            float(np.abs(rates[name, n] / rates[MLE, n] - 1.0).max()) for name in ("φ₁", "h₁", AUTO) for n in self.sizes
        )
        # One figure per estimator from all sizes, in the units of the Cramér–Rao bound: 50 runs alone are too noisy to order.
        spread = {
            name: float(np.sqrt(np.mean([n * rates[name, n].var() for n in self.sizes]))) / self.rate
            for name in GENERATORS
        }
        order = sorted(("φ₁", "φ₂", "h₂ (NSM)", "φ₃"), key=lambda name: spread[name])
        return [
            Finding("φ₁, h₁ and auto are maximum likelihood exactly", gap < 1e-12, f"largest relative gap {gap:.1e}"),
            Finding(
                "the faster D decays, the larger the spread: φ₁ < φ₂ < h₂ < φ₃",
                order == ["φ₁", "φ₂", "h₂ (NSM)", "φ₃"],
                ", ".join(f"{name} {short(spread[name])}" for name in order) + ", √N std / θ over all N",
            ),
        ]

    def _figure(self, rates: dict[tuple[str, int], Array], names: Sequence[str]) -> Any:
        from zfree.plotting.trials import colors, panels

        figure, (left, right) = panels(2)
        styles = {"φ₁": "--", "h₁": ":", AUTO: "-."}  # these three lie on top of maximum likelihood
        for name, color in colors(names).items():
            mean, std = np.array([(rates[name, n].mean(), rates[name, n].std()) for n in self.sizes]).T
            for ax, values in ((left, mean), (right, std)):
                ax.plot(self.sizes, values, styles.get(name, "-"), color=color, marker="o", markersize=3, label=name)
        left.axhline(self.rate, color="0.7", linewidth=1, zorder=0)
        left.set(xlabel="N", ylabel="mean of the estimates", xscale="log")
        right.set(xlabel="N", ylabel="standard deviation of the estimates", xscale="log", yscale="log")
        right.legend(frameon=False, fontsize="small")
        return figure


THEORY = (
    "With D = x^k the estimate is k Σx^(k−1) / Σx^k; by the delta method its standard deviation is "
    "θ √(v_k / N) with v_k = Γ(2k+1)/Γ(k+1)² − 2 Γ(2k)/(Γ(k)Γ(k+1)) + Γ(2k−1)/Γ(k)², which is 1 for k = 1, the Cramér–Rao bound."
)


def _spread(k: float) -> float:
    """√v_k."""
    v = (
        gamma(2 * k + 1) / gamma(k + 1) ** 2
        - 2 * gamma(2 * k) / (gamma(k) * gamma(k + 1))
        + gamma(2 * k - 1) / gamma(k) ** 2
    )
    return float(np.sqrt(v))
