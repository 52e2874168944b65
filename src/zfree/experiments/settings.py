"""Models with a known truth: draws from them, and the errors of every contender on one data set."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import SpecificationError, ZfreeError
from zfree.estimators import Dirichlet, TruncatedGaussian
from zfree.generators import Combined, Generator, named
from zfree.likelihood import dirichlet_mle, monte_carlo_mle
from zfree.models import PairwiseModel
from zfree.samplers import sample_gaussian

GENERATORS: dict[str, str] = {
    "φ₁": "phi1",
    "φ₂": "phi2",
    "φ₃": "phi3",
    "truncated SM": "truncated-sm",
    "GSM CD": "gsm-cd",
    "h₁": "h1",
    "h₂": "h2",
}
"""The paper's candidates by the names its tables use."""
AUTO, COMBINED, MLE = "auto", "combined", "MLE"
POOL = 100_000
"""Draws at the truth whose weights carry the Monte-Carlo likelihood of a truncated Gaussian away from it: others for each data set, so that
what they add to an error is part of its spread."""
MOMENTS = 2_000_000
"""Draws at the truth for the mean and the covariance of t(x) there, the same for all data sets."""
BATCH = 50_000
"""Of these at a time."""


def gaussian_memory(dimension: int, rows: int) -> float:
    """Bytes for a Gaussian with a full K: rows and their copies, Γ and its factors."""
    return 32.0 * rows * dimension + 16.0 * (dimension * (dimension + 3)) ** 2


def likelihood_memory(dimension: int) -> float:
    """Bytes for its Monte-Carlo likelihood: the statistics of the draws and their copies."""
    return 16.0 * POOL * dimension * (dimension + 3)


def separable_memory(parameters: int, rows: int) -> float:
    """Bytes for a model with as many columns as parameters."""
    return 64.0 * rows * parameters + 64.0 * float(parameters) ** 2


Errors = dict[str, float | None]
"""Squared error of each block of parameters; None where there is no estimate."""


def generator_of(contender: str) -> Generator | Combined | str:
    """What to pass to an estimator for a row of a table."""
    if contender == AUTO:
        return "auto"
    return Combined() if contender == COMBINED else named(GENERATORS[contender])


class Setting(ABC):
    """A truth, and how to measure distance from it."""

    blocks: tuple[str, ...]
    """The blocks of parameters whose squared errors are reported."""

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """`n` rows from the truth."""

    @abstractmethod
    def estimator(self, generator: Generator | Combined | str) -> Any:
        """The estimator of this model with a generator."""

    @abstractmethod
    def errors_of(self, fitted: Any) -> Errors:
        """Squared errors of a fitted estimator, summed over the entries of each block as in the paper."""

    @abstractmethod
    def likelihood_errors(self, X: Array, rng: np.random.Generator) -> Errors:
        """Squared errors of maximum likelihood, with draws from `rng` if it takes any."""

    def errors(self, contenders: Sequence[str], X: Array, rng: np.random.Generator | None = None) -> dict[str, Errors]:
        """Squared errors of several contenders on the same rows."""
        rng = np.random.default_rng(0) if rng is None else rng
        return {name: self._errors(name, X, rng) for name in contenders}

    def _errors(self, contender: str, X: Array, rng: np.random.Generator) -> Errors:
        if contender != MLE:
            return self.errors_with(generator_of(contender), X)
        return self._tried(lambda: self.likelihood_errors(X, rng))

    def errors_with(self, generator: Generator | Combined | str, X: Array) -> Errors:
        """Squared errors with a generator."""
        return self._tried(lambda: self.errors_of(self.estimator(generator).fit(X)))

    def _tried(self, compute: Callable[[], Errors]) -> Errors:
        try:
            found = compute()
        except (ZfreeError, np.linalg.LinAlgError):
            found = {}
        return {block: finite(found.get(block)) for block in self.blocks}


@dataclass(frozen=True, eq=False)
class GaussianSetting(Setting):
    """A Gaussian restricted to a domain: errors ‖μ̂ − μ‖² and ‖K̂ − K‖²_F."""

    domain: Domain
    mean: Array
    precision: Array

    blocks = ("μ", "K")

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        return sample_gaussian(self.domain, self.mean, self.precision, n, rng)

    def estimator(self, generator: Generator | Combined | str) -> TruncatedGaussian:
        return TruncatedGaussian(domain=self.domain, generator=generator, check=False)

    def errors_of(self, fitted: Any) -> Errors:
        return self._distance(fitted.mean_, fitted.precision_)

    def likelihood_errors(self, X: Array, rng: np.random.Generator) -> Errors:
        d = len(self.mean)
        model = PairwiseModel([f"x{j + 1}" for j in range(d)])
        truth = np.concatenate([self.precision[model.rows, model.cols], self.precision @ self.mean])
        theta = monte_carlo_mle(model, X, self.draw(POOL, rng), truth, _moments(self))
        K = model.matrix(theta)
        mean = np.asarray(np.linalg.solve(K, theta[len(model.rows) :]), dtype=np.float64)
        return self._distance(mean, K)

    def _distance(self, mean: Array, precision: Array) -> Errors:
        return {
            "μ": float(np.sum((mean - self.mean) ** 2)),
            "K": float(np.sum((precision - self.precision) ** 2)),
        }


@lru_cache(maxsize=2)
def _moments(setting: GaussianSetting) -> tuple[Array, Array]:
    """Mean and covariance of t(x) at the truth."""
    rng, d = np.random.default_rng(0), len(setting.mean)
    model = PairwiseModel([f"x{j + 1}" for j in range(d)])
    center = model.statistics(setting.draw(BATCH, rng)).mean(axis=0)  # squares of what is left lose no digits
    first, second, parts = np.zeros(len(center)), np.zeros((len(center), len(center))), MOMENTS // BATCH
    for _ in range(parts):
        t = model.statistics(setting.draw(BATCH, rng)) - center
        first += t.mean(axis=0) / parts
        second += t.T @ t / (BATCH * parts)
    return center + first, second - np.outer(first, first)


@dataclass(frozen=True, eq=False)
class DirichletSetting(Setting):
    """A Dirichlet distribution: error ‖α̂ − α‖²."""

    alpha: Array

    blocks = ("α",)

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        return rng.dirichlet(self.alpha, n)

    def estimator(self, generator: Generator | Combined | str) -> Dirichlet:
        return Dirichlet(generator=generator, check=False)

    def errors_of(self, fitted: Any) -> Errors:
        return {"α": float(np.sum((fitted.alpha_ - self.alpha) ** 2))}

    def likelihood_errors(self, X: Array, rng: np.random.Generator) -> Errors:
        return {"α": float(np.sum((dirichlet_mle(X) - self.alpha) ** 2))}


def as_mean(value: Any, d: int) -> Array:
    """A location of `d` coordinates from one number or `d`."""
    mean = _numbers(value)
    if mean is None or mean.shape not in ((), (d,)):
        raise SpecificationError(f"mean must be one number or {d} of them, got {_brief(value)}.")
    return np.broadcast_to(mean, (d,)).copy()


def as_precision(value: Any, d: int) -> Array:
    """A d × d precision from one number k (k I), `d` numbers (a diagonal) or the matrix."""
    K = _numbers(value)
    if K is not None and K.shape in ((), (d,)):
        K = np.diag(np.broadcast_to(K, (d,)))
    if K is None or K.shape != (d, d) or not np.array_equal(K, K.T) or np.linalg.eigvalsh(K)[0] <= 0:
        raise SpecificationError(
            f"precision must be a positive number, {d} of them or a positive-definite {d} × {d} matrix, got {_brief(value)}."
        )
    return K


def as_range(value: Sequence[float], field: str, positive: bool = False) -> tuple[float, float]:
    """Two numbers, the smaller first."""
    if len(value) != 2 or not value[0] < value[1] or (positive and not value[0] > 0):
        kind = "two positive numbers" if positive else "two numbers"
        raise SpecificationError(f"{field} must be {kind}, the smaller first; got {_brief(value)}.")
    return value[0], value[1]


def _brief(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 100 else f"{text[:100]}…"


def _numbers(value: Any) -> Array | None:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None


def finite(value: float | None) -> float | None:
    """A number, or None for what JSON has no word for."""
    return value if value is not None and math.isfinite(value) else None
