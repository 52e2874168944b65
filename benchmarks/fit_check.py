"""Does the check of a fit see a misfit, and leave a true model in peace? Size, power and cost: `make bench-fit-check`.

`python -m benchmarks.fit_check [sets] [part of a case's name ...]` runs some of the cases, so that they can be split over days.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import zfree as zf
from benchmarks.table import print_table
from zfree.errors import ZfreeWarning
from zfree.inference.verdict import ALARM
from zfree.samplers import sample_gaussian

SETS, MISFIT_SETS = 400, 60
LARGE = 500
"""Rows from which the size at 5% must be between 2.5% and 8%."""


class Case(NamedTuple):
    """Data sets, the model fitted to them, and whether it is the one they come from."""

    name: str
    true: bool
    n: int
    draw: Callable[[np.random.Generator, int], np.ndarray]
    estimator: Callable[[], zf.Gamma]


def correlated(d: int) -> np.ndarray:
    """Precision of d variables with variances one and correlations 0.3."""
    return np.linalg.inv(0.3 * np.ones((d, d)) + 0.7 * np.eye(d))


def truncated(domain: zf.Domain, mean: float):
    return lambda rng, n: sample_gaussian(domain, [mean] * domain.dimension, correlated(domain.dimension), n, rng)


def gaussian_on(domain: zf.Domain):
    return lambda: zf.TruncatedGaussian(domain)


def gamma(shape, d: int = 1):
    return lambda rng, n: np.maximum(rng.gamma(shape, 1.0, (n, d)), 1e-300)


def log_normal(sigma: float):
    return lambda rng, n: np.exp(sigma * rng.standard_normal((n, 1)))


def dirichlet(alpha):
    return lambda rng, n: np.maximum(rng.dirichlet(alpha, n), 1e-300)


def logistic_normal(rng, n):
    covariance = [[0.5, 0.35, 0.0], [0.35, 0.5, -0.2], [0.0, -0.2, 0.8]]
    z = np.exp(np.column_stack([rng.multivariate_normal([0.3, 0.0, 0.5], covariance, n), np.zeros(n)]))
    return z / z.sum(axis=1, keepdims=True)


def two_clusters(rng, n):
    return np.abs(1.8 * rng.integers(2, size=(n, 1)) + 1.0 + 0.4 * rng.standard_normal((n, 2)))


def rounded_gamma(rng, n):
    x = np.round(4.0 * rng.gamma(2.0, 1.0, (2 * n, 1))) / 4.0
    return x[x[:, 0] > 0][:n]


def common_part(rng, n):
    """Two gamma columns that share a summand."""
    g = rng.gamma(1.0, 1.0, (n, 3))
    return g[:, :2] + g[:, 2:]


def beta_family():
    return zf.ExponentialFamily(
        lambda X: np.concatenate([np.log(X), np.log1p(-X)], axis=1),
        jacobian=lambda X: np.stack([1 / X, -1 / (1 - X)], axis=1),
        hessian=lambda X: np.stack([-1 / X**2, -1 / (1 - X) ** 2], axis=1)[..., None],
        domain=zf.Box([0.0], [1.0]),
    )


ORTHANT = zf.Orthant(2)
BOX = zf.Box([0, 0], [2, 2])

CASES = [
    Case("Gamma, shape 0.15, N = 1000", True, 1000, gamma(0.15), zf.Gamma),
    Case("Gamma, shape 0.05, N = 2000", True, 2000, gamma(0.05), zf.Gamma),
    Case("Dirichlet(0.1, 0.2, 5), N = 1000", True, 1000, dirichlet([0.1, 0.2, 5]), zf.Dirichlet),
    Case("Dirichlet(2, 3, 4, 1), N = 500", True, 500, dirichlet([2, 3, 4, 1]), zf.Dirichlet),
    Case("Gaussian, Orthant(2), N = 500", True, 500, truncated(ORTHANT, 0.5), gaussian_on(ORTHANT)),
    Case("Gamma, shape 2, N = 70", True, 70, gamma(2.0), zf.Gamma),
    Case("Gamma, shape 0.15, N = 70", True, 70, gamma(0.15), zf.Gamma),
    Case("Gamma, shapes 0.6, 2, 8, N = 100", True, 100, gamma([0.6, 2, 8], 3), zf.Gamma),
    Case("Gaussian, Orthant(4), N = 50", True, 50, truncated(zf.Orthant(4), 1.0), gaussian_on(zf.Orthant(4))),
    Case("Gaussian, Box in 2d, N = 100", True, 100, truncated(BOX, 0.5), gaussian_on(BOX)),
    Case("Gaussian, Orthant(10), N = 1000", True, 1000, truncated(zf.Orthant(10), 0.5), gaussian_on(zf.Orthant(10))),
    Case("Gaussian on R^3, N = 50", True, 50, lambda rng, n: rng.standard_normal((n, 3)), zf.Gaussian),
    Case("Log-normal, N = 500", True, 500, lambda rng, n: np.exp(rng.standard_normal((n, 2))), zf.LogNormal),
    Case("Exponential, N = 50", True, 50, lambda rng, n: rng.exponential(2.0, (n, 2)), zf.Exponential),
    Case("Gamma rounded to 1/4, N = 500", True, 500, rounded_gamma, zf.Gamma),
    Case(
        "Gaussian with one decimal, N = 500",
        True,
        500,
        lambda r, n: np.round(r.standard_normal((n, 2)), 1),
        zf.Gaussian,
    ),
    Case("beta as ExponentialFamily, N = 500", True, 500, lambda rng, n: rng.beta(2, 0.7, (n, 1)), beta_family),
    Case("log-normal 3 as gamma, N = 62", False, 62, log_normal(3.0), zf.Gamma),
    Case("log-normal 3 as gamma, N = 70", False, 70, log_normal(3.0), zf.Gamma),
    Case("log-normal 2.5 as gamma, N = 300", False, 300, log_normal(2.5), zf.Gamma),
    Case("gamma as Gaussian, Orthant(2), N = 500", False, 500, gamma(2.0, 2), gaussian_on(ORTHANT)),
    Case("logistic-normal as Dirichlet, N = 500", False, 500, logistic_normal, zf.Dirichlet),
    Case("two clusters as Gaussian, N = 500", False, 500, two_clusters, gaussian_on(ORTHANT)),
    Case("Box data, Gaussian on Orthant(2), N = 500", False, 500, truncated(BOX, 0.5), gaussian_on(ORTHANT)),
    Case(
        "x > 0.5 data, Gaussian on Orthant(2), N = 500",
        False,
        500,
        lambda rng, n: 0.5 + truncated(ORTHANT, 0.0)(rng, n),
        gaussian_on(ORTHANT),
    ),
    Case("dependent columns as gammas, N = 300", False, 300, common_part, zf.Gamma),
    Case("t with 5 degrees as Gaussian, N = 500", False, 500, lambda r, n: r.standard_t(5, (n, 2)), zf.Gaussian),
]


class Outcome(NamedTuple):
    """p-values, and processor milliseconds of the fit without the check and of the check."""

    p: np.ndarray
    fit: np.ndarray
    check: np.ndarray
    named: str


def run(case: Case, sets: int) -> Outcome:
    p, times, worst = [], [], []
    for k in range(sets):
        X = case.draw(np.random.default_rng([k, 5]), case.n)
        start = time.process_time()
        case.estimator().set_params(check=False).fit(X)
        middle = time.process_time()
        check = case.estimator().fit(X).result_.fit_check
        times.append((middle - start, time.process_time() - middle))
        p.append(check.p_value)
        worst.append(check.worst or "not checked")
    fit, both = 1e3 * np.array(times).T
    return Outcome(np.array(p), fit, both - fit, max(set(worst), key=worst.count))


def row(case: Case, found: Outcome) -> list[str]:
    checked = ~np.isnan(found.p)
    rates = [float(np.mean(found.p <= level)) for level in (0.05, 0.01, ALARM)]
    fit, check = float(np.median(found.fit)), float(np.median(found.check))
    met = check <= max(100.0, 2.0 * fit)
    if case.true:
        met &= rates[2] <= 0.005 and (case.n < LARGE or 0.025 <= rates[0] <= 0.08)
    return [
        case.name,
        f"{len(found.p)}",
        f"{checked.mean():.3f}",
        *(f"{rate:.4f}" for rate in rates),
        f"{fit:.1f}",
        f"{check:.1f}",
        "yes" if met else "NO",
        "" if case.true else found.named,
    ]


def main(argv: list[str]) -> int:
    warnings.simplefilter("ignore", ZfreeWarning)
    sets = int(argv[0]) if argv else SETS
    chosen = [case for case in CASES if len(argv) < 2 or any(part in case.name for part in argv[1:])]
    header = ["data", "sets", "checked", "p ≤ .05", "p ≤ .01", "alarms", "fit ms", "check ms", "met", "most in"]
    titles = {
        True: "True models (targets: 5% between .025 and .08 from N = 500, alarms at most .005, at most 100 ms or 2 fits)",
        False: "Misfits (power; the cost as above)",
    }
    for true, title in titles.items():
        rows = []
        for case in chosen:
            if case.true == true:
                rows.append(row(case, run(case, sets if true else min(sets, MISFIT_SETS))))
                print(*rows[-1], sep=" | ", flush=True)
        if rows:
            print_table(title, header, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
