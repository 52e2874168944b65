"""What the two truncated Gaussian comparisons share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from zfree.domains import Domain
from zfree.experiments.comparison import Comparison, same_order, within_factor
from zfree.experiments.report import Finding
from zfree.experiments.settings import (
    MOMENTS,
    POOL,
    GaussianSetting,
    as_mean,
    as_precision,
    gaussian_memory,
    likelihood_memory,
)
from zfree.experiments.truths import Seeded, chosen


@dataclass(frozen=True)
class GaussianComparison(Comparison):
    """K and μ of a Gaussian on a domain of `dimension` columns.

    The truth goes by a name (:mod:`zfree.experiments.truths`). `mean` and `precision` replace its parts, if they are given; one
    number for `precision` k means k I.
    """

    dimension: int = 10
    truth: str = "adopted"
    mean: float | tuple[float, ...] | None = None
    precision: float | tuple[float, ...] | None = None

    truths: ClassVar[Mapping[str, Seeded]]
    stated: ClassVar[tuple[str, ...]] = ("dimension",)
    apart: ClassVar[tuple[str, ...]] = ()
    """Rows whose errors are not held against the paper's, because they are biases."""

    def remarks(self) -> tuple[str, ...]:
        named = chosen(self.truths, self.truth)
        changed = " and ".join(part for part in ("mean", "precision") if getattr(self, part) is not None)
        largest = max(self.sizes)
        return (
            f"The truth: {named}{f', with another {changed}' if changed else ''}.",
            "MLE is the Monte-Carlo likelihood around the truth: nobody can compute it from data alone, it is the yardstick. Mean and "
            f"covariance of its statistics at the truth are those of {MOMENTS:,} draws, the same for all trials, which add N/{MOMENTS:,} to its squared "
            f"errors, {100 * largest / MOMENTS:.2g}% at N = {largest}. The rest of its weights are those of {POOL:,} draws, others for each trial: what these add "
            "is more at small N, and part of the spread over the trials.",
        )

    @abstractmethod
    def domain(self) -> Domain:
        """Where the Gaussian lives."""

    def memory(self) -> float:
        return gaussian_memory(self.dimension, max(self.sizes)) + likelihood_memory(self.dimension)

    def setting(self) -> GaussianSetting:
        return _setting(self)

    def findings(self, medians: dict[str, dict[str, float]]) -> list[Finding]:
        return [
            same_order(medians["K"], self.printed["K"], "median error of K"),
            same_order(medians["μ"], self.printed["μ"], "median error of μ"),
            within_factor(medians["K"], self.printed["K"], "the median error of K", self.apart),
            within_factor(medians["μ"], self.printed["μ"], "the median error of μ", self.apart),
        ]


@lru_cache(maxsize=1)
def _setting(experiment: GaussianComparison) -> GaussianSetting:
    # Kept between trials: the setting keeps the draws of its Monte-Carlo likelihood.
    d = experiment.dimension
    mean, precision = chosen(experiment.truths, experiment.truth).draw(d)
    if experiment.mean is not None:
        mean = as_mean(experiment.mean, d)
    if experiment.precision is not None:
        precision = as_precision(experiment.precision, d)
    return GaussianSetting(experiment.domain(), mean, precision)
