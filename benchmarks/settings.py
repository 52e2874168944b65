"""Models with a known truth: draws from them, the Fisher information, and the error of an estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import truncnorm

import zfree as zf
from zfree.data import Table
from zfree.models import DirichletModel, ExponentialModel, GammaModel, PairwiseModel
from zfree.models.separable import SeparableModel
from zfree.moments import Problem
from zfree.selection.criterion import information

BIG = 200_000
ESTIMATORS = {DirichletModel: zf.Dirichlet, ExponentialModel: zf.Exponential, GammaModel: zf.Gamma}


@dataclass(frozen=True)
class Setting:
    """A model on a domain with a truth."""

    name: str
    domain: zf.Domain
    draw: Callable[[int, np.random.Generator], np.ndarray]
    model: object
    theta: np.ndarray
    block: slice
    """The parameters whose error is reported (K of a Gaussian, all of the others)."""

    @cached_property
    def big(self) -> np.ndarray:
        return self.draw(BIG, np.random.default_rng(12345))

    def sample(self, k: int, rows: int = 800) -> np.ndarray:
        """The k-th data set."""
        return self.draw(rows, np.random.default_rng([k, 1]))

    @property
    def counts(self) -> np.ndarray:
        """How often a parameter of the block counts: off-diagonal entries of K twice, as in ‖K̂ − K‖²_F."""
        if isinstance(self.model, PairwiseModel):
            return np.where(self.model.rows == self.model.cols, 1.0, 2.0)
        return np.ones(len(self.theta[self.block]))

    def trace(self, covariance: np.ndarray) -> float:
        """Of the reported block, as :meth:`error` counts it."""
        return float(np.diagonal(covariance)[self.block] @ self.counts)

    @cached_property
    def bound(self) -> float:
        """Trace of the Cramér–Rao bound over the reported block: the information is the covariance of t."""
        problem = Problem(self.model, zf.Identity(), self.domain, Table(self.big))
        return self.trace(np.linalg.inv(information(problem)))

    def estimator(self, generator):
        """Without the check of the fit, which is measured by itself (benchmarks/fit_check.py)."""
        if isinstance(self.model, SeparableModel):
            return ESTIMATORS[type(self.model)](generator=generator, check=False)
        return zf.TruncatedGaussian(domain=self.domain, generator=generator, check=False)

    def error(self, theta) -> float:
        """Squared error over the block, as the paper reports it: ‖K̂ − K‖²_F counts off-diagonal entries twice."""
        return float((theta - self.theta)[self.block] ** 2 @ self.counts)

    @cached_property
    def truths(self) -> dict[str, np.ndarray]:
        """The parameters that a user reads, by kind."""
        if isinstance(self.model, PairwiseModel):
            mean = np.linalg.solve(self.model.matrix(self.theta), self.model.vector(self.theta))
            return {"K": self.theta[self.block], "mean": mean}
        kinds = self.model.kinds
        return dict(zip(kinds, self.theta.reshape(len(kinds), -1), strict=True))

    def intervals(self, result) -> dict[str, np.ndarray]:
        """Their 95% intervals, of shape (·, 2)."""
        if isinstance(self.model, PairwiseModel):
            return {"K": result.parameters("precision").conf_int(), "mean": result.parameters("mean").conf_int()}
        kinds = self.model.kinds
        return dict(zip(kinds, result.conf_int().reshape(len(kinds), -1, 2), strict=True))


def gaussian(name, domain, mean, K, draw=None) -> Setting:
    """A truncated Gaussian, drawn by rejection unless a faster way is given."""
    d = len(mean)
    model = PairwiseModel([f"x{j + 1}" for j in range(d)])
    theta = np.concatenate([K[np.triu_indices(d)], K @ mean])
    covariance = np.linalg.inv(K)

    def rejection(n, rng):
        kept, total = [], 0
        while total < n:
            draws = rng.multivariate_normal(mean, covariance, size=max(20_000, n))
            kept.append(draws[domain.contains(draws)])
            total += len(kept[-1])
        return np.concatenate(kept)[:n]

    return Setting(name, domain, draw or rejection, model, theta, slice(0, d * (d + 1) // 2))


def dirichlet(name, alpha) -> Setting:
    alpha = np.asarray(alpha, dtype=float)
    d = len(alpha)
    model = DirichletModel([f"x{j + 1}" for j in range(d)])
    return Setting(name, zf.Simplex(d), lambda n, rng: rng.dirichlet(alpha, n), model, alpha, slice(0, d))


def gamma(shape: float) -> Setting:
    theta = np.array([shape, 1.0])
    draw = lambda n, rng: rng.gamma(shape, 1.0, (n, 1))  # noqa: E731
    return Setting(f"Gamma {shape:g}", zf.Orthant(1), draw, GammaModel(["x1"]), theta, slice(0, 2))


def correlated(d: int, variance: float, correlation: float) -> np.ndarray:
    """The precision of columns that are all correlated alike."""
    return np.linalg.inv(variance * ((1 - correlation) * np.eye(d) + correlation))


def _polytope():
    rng = np.random.default_rng(40)
    A = rng.standard_normal((40, 5))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    return zf.Polytope(A, rng.uniform(0.8, 1.5, 40))


def all_settings() -> dict[str, Setting]:
    """The six of the table of generators."""
    d = 10
    K5 = 2.0 * np.eye(5) + 0.5
    return {
        s.name: s
        for s in (
            gaussian(
                "Gaussian, Orthant(10)",
                zf.Orthant(d),
                np.full(d, 0.1),
                100.0 * np.eye(d),
                lambda n, rng: truncnorm.rvs(-1, np.inf, loc=0.1, scale=0.1, size=(n, d), random_state=rng),
            ),
            gaussian("Gaussian, SolidSimplex(10)", zf.SolidSimplex(d), np.full(d, 1 / 11), 100.0 * np.eye(d)),
            dirichlet("Dirichlet(10)", np.random.default_rng(5).uniform(1, 3, d)),
            gaussian("Gaussian, Ball in 3d", zf.Ball(1.0, d=3), np.array([0.3, 0.0, -0.1]), 4.0 * np.eye(3)),
            gaussian("Gaussian, 40-facet polytope in 5d", _polytope(), np.full(5, 0.1), K5),
            Setting(
                "Exponential",
                zf.Orthant(1),
                lambda n, rng: rng.exponential(0.5, (n, 1)),
                ExponentialModel(["x1"]),
                np.array([2.0]),
                slice(0, 1),
            ),
        )
    }


def more_settings() -> dict[str, Setting]:
    """What the default is held to beside the six: correlated Gaussians, a product, other Dirichlets, gammas."""
    product = zf.Product([zf.Orthant(2), zf.Ball(1.0, d=2), zf.Box([0.0], [1.0])])
    uniform = np.random.default_rng(6).uniform
    return {
        s.name: s
        for s in (
            gaussian("Gaussian, Box(5)", zf.Box(np.zeros(5), np.ones(5)), np.full(5, 0.3), correlated(5, 0.15, 0.5)),
            gaussian(
                "Gaussian, Orthant(2) × Ball(2) × Interval",
                product,
                np.array([0.4, 0.3, 0.2, -0.1, 0.5]),
                correlated(5, 0.16, 0.4),
            ),
            dirichlet("Dirichlet 1..10", np.arange(1.0, 11.0)),
            dirichlet("Dirichlet U(.3, 2)", uniform(0.3, 2, 10)),
            dirichlet("Dirichlet U(.05, .5)", uniform(0.05, 0.5, 10)),
            dirichlet("Dirichlet geometric .1..10", np.geomspace(0.1, 10, 10)),
            gamma(0.6),
            gamma(2.0),
            gamma(8.0),
        )
    }


def chosen(settings: dict[str, Setting], words: list[str]) -> list[Setting]:
    """Those whose name has one of the words; all without any."""
    return [s for s in settings.values() if not words or any(word.lower() in s.name.lower() for word in words)]
