"""What the two truncated Gaussian comparisons share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from zfree.domains import Domain
from zfree.experiments.comparison import Comparison, same_order, within_factor
from zfree.experiments.report import Finding
from zfree.experiments.settings import GaussianSetting, as_mean, as_precision, gaussian_memory


@dataclass(frozen=True)
class GaussianComparison(Comparison):
    """K and μ of a Gaussian on a domain of `dimension` columns; one number for `precision` k means k I."""

    dimension: int = 10
    mean: float | tuple[float, ...] = 0.0
    precision: float | tuple[float, ...] = 100.0

    remarks = (
        "MLE is the Monte-Carlo likelihood with 20,000 draws at the truth: nobody can compute it from data alone, it is the "
        "yardstick.",
    )
    stated: ClassVar[tuple[str, ...]] = ("dimension",)
    apart: ClassVar[tuple[str, ...]] = ()
    """Rows whose error of K is not held against the paper's."""

    @abstractmethod
    def domain(self) -> Domain:
        """Where the Gaussian lives."""

    def memory(self) -> float:
        return gaussian_memory(self.dimension, max(self.sizes))

    def setting(self) -> GaussianSetting:
        return _setting(self)

    def findings(self, medians: dict[str, dict[str, float]]) -> list[Finding]:
        return [
            same_order(medians["K"], self.printed["K"], "median error of K"),
            same_order(medians["μ"], self.printed["μ"], "median error of μ"),
            within_factor(medians["K"], self.printed["K"], "the median error of K", self.apart),
            within_factor(medians["μ"], self.printed["μ"], "the median error of μ"),
        ]


@lru_cache(maxsize=1)
def _setting(experiment: GaussianComparison) -> GaussianSetting:
    # Kept between trials: the setting keeps the draws of its Monte-Carlo likelihood.
    d = experiment.dimension
    return GaussianSetting(experiment.domain(), as_mean(experiment.mean, d), as_precision(experiment.precision, d))
