"""Models with a known truth: draws from them, the Fisher information, and the error of an estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import truncnorm

import zfree as zf
from zfree.models import DirichletModel, ExponentialModel, PairwiseModel

BIG = 200_000


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

    @cached_property
    def bound(self) -> float:
        """Trace of the Cramér–Rao bound over the reported block: the information is the covariance of t."""
        information = np.cov(self.model.statistics(self.big).T)
        return float(np.trace(np.atleast_2d(np.linalg.inv(np.atleast_2d(information)))[self.block, self.block]))

    def estimator(self, generator):
        """Without the check of the fit, which is measured by itself (benchmarks/fit_check.py)."""
        if isinstance(self.model, DirichletModel):
            return zf.Dirichlet(generator=generator, check=False)
        if isinstance(self.model, ExponentialModel):
            return zf.Exponential(generator=generator, check=False)
        return zf.TruncatedGaussian(domain=self.domain, generator=generator, check=False)

    def error(self, theta) -> float:
        """Squared error over the block, as the paper reports it: ‖K̂ − K‖²_F counts off-diagonal entries twice."""
        gap = (theta - self.theta)[self.block] ** 2
        if isinstance(self.model, PairwiseModel):
            gap = gap * np.where(self.model.rows == self.model.cols, 1.0, 2.0)
        return float(gap.sum())


def _gaussian(name, domain, mean, K, draw=None):
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


def _polytope():
    rng = np.random.default_rng(40)
    A = rng.standard_normal((40, 5))
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    return zf.Polytope(A, rng.uniform(0.8, 1.5, 40))


def all_settings() -> dict[str, Setting]:
    d = 10
    alpha = np.random.default_rng(5).uniform(1, 3, d)
    columns = [f"x{j + 1}" for j in range(d)]
    K5 = 2.0 * np.eye(5) + 0.5
    return {
        s.name: s
        for s in (
            _gaussian(
                "Gaussian, Orthant(10)",
                zf.Orthant(d),
                np.full(d, 0.1),
                100.0 * np.eye(d),
                lambda n, rng: truncnorm.rvs(-1, np.inf, loc=0.1, scale=0.1, size=(n, d), random_state=rng),
            ),
            _gaussian("Gaussian, SolidSimplex(10)", zf.SolidSimplex(d), np.full(d, 1 / 11), 100.0 * np.eye(d)),
            Setting(
                "Dirichlet(10)",
                zf.Simplex(d),
                lambda n, rng: rng.dirichlet(alpha, n),
                DirichletModel(columns),
                alpha,
                slice(0, d),
            ),
            _gaussian("Gaussian, Ball in 3d", zf.Ball(1.0, d=3), np.array([0.3, 0.0, -0.1]), 4.0 * np.eye(3)),
            _gaussian("Gaussian, 40-facet polytope in 5d", _polytope(), np.full(5, 0.1), K5),
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
