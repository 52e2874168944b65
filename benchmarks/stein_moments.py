"""Dirichlet and gamma by Stein's method of moments, the default, beside maximum likelihood: `python -m benchmarks.stein_moments`.

The share of maximum likelihood is the ratio of mean squared errors over 200 data sets of 800 rows; coverage is that of the 95% intervals, over 400; the
cost is the ratio of medians, measured in turn, of a default fit without the check of the model to Newton's method for the likelihood.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.special import digamma, zeta

import zfree as zf
from benchmarks.baselines import DirichletMLE
from benchmarks.table import print_table

ROWS, DATA_SETS, COVERAGE_SETS, TIMINGS = 800, 200, 400, 400

DIRICHLET = {
    "α in U(1, 3)": np.random.default_rng(5).uniform(1.0, 3.0, 10),
    "α = 1 … 10": np.arange(1.0, 11.0),
    "α in U(.3, 2)": np.random.default_rng(6).uniform(0.3, 2.0, 10),
    "α in U(.05, .5)": np.random.default_rng(7).uniform(0.05, 0.5, 10),
    "α geometric, .1 … 10": np.geomspace(0.1, 10.0, 10),
}
GAMMA = {"shape .6": 0.6, "shape 2": 2.0, "shape 8": 8.0}


def gamma_mle(x: np.ndarray) -> np.ndarray:
    """Shape and rate of one column by Newton's method in 1/k (Minka 2002)."""
    gap = np.log(x.mean()) - np.log(x).mean()
    k = 0.5 / gap
    for _ in range(50):
        step = (np.log(k) - digamma(k) - gap) / (k * k * (1.0 / k - zeta(2.0, k)))
        k, before = 1.0 / (1.0 / k + step), k
        if abs(k - before) < 1e-12 * k:
            break
    return np.array([k, k / x.mean()])


def dirichlet_mle(P: np.ndarray) -> np.ndarray:
    return zf.likelihood.dirichlet_mle(P)


def dirichlet_case(alpha):
    def draw(rng):
        P = np.maximum(rng.dirichlet(alpha, ROWS), 1e-300)
        return P / P.sum(axis=1, keepdims=True)

    return alpha, draw, zf.Dirichlet(check=False), dirichlet_mle


def gamma_case(shape):
    return np.array([shape, 1.0]), lambda rng: rng.gamma(shape, 1.0, (ROWS, 1)), zf.Gamma(check=False), gamma_mle


def compared(truth, draw, estimator, mle) -> tuple[float, float, np.ndarray]:
    """Share of maximum likelihood with its standard error, and the coverage of every parameter."""
    rng = np.random.default_rng(1)
    ours, theirs, inside = [], [], np.zeros(truth.size)
    for number in range(COVERAGE_SETS):
        X = draw(rng)
        result = estimator.fit(X).result_
        low, high = result.conf_int().T
        inside += (low <= truth) & (truth <= high)
        if number < DATA_SETS:
            scale = truth if truth.size == 2 else 1.0
            ours.append(np.sum(((result.theta - truth) / scale) ** 2))
            theirs.append(np.sum(((mle(X) - truth) / scale) ** 2))
    a, b = np.array(ours), np.array(theirs)
    share = b.mean() / a.mean()
    error = np.std(b - share * a) / a.mean() / np.sqrt(DATA_SETS)
    return share, float(error), inside / COVERAGE_SETS


def cost() -> str:
    """A default fit with ten parts against Newton's method, in turn."""
    P = np.random.default_rng(0).dirichlet(DIRICHLET["α in U(1, 3)"], ROWS)
    fits = [zf.Dirichlet(check=False), DirichletMLE()]
    times: list[list[float]] = [[], []]
    for _ in range(TIMINGS):
        for fit, seen in zip(fits, times, strict=True):
            start = time.perf_counter()
            fit.fit(P)
            seen.append(time.perf_counter() - start)
    ours, theirs = (1e3 * float(np.median(seen[TIMINGS // 10 :])) for seen in times)
    return f"{ours:.2f} ms against {theirs:.2f} ms: {ours / theirs:.2f} times"


def main() -> None:
    cases = {f"Dirichlet, {name}": dirichlet_case(alpha) for name, alpha in DIRICHLET.items()}
    cases |= {f"gamma, {name}": gamma_case(shape) for name, shape in GAMMA.items()}
    rows = []
    for name, case in cases.items():
        share, error, coverage = compared(*case)
        rows.append([name, f"{share:.3f} ± {error:.3f}", f"{coverage.min():.3f} … {coverage.max():.3f}"])
        print(name, file=sys.stderr)
    print_table(
        f"SteinMoments, N = {ROWS}: share of maximum likelihood by mean squared error, coverage of 95% intervals",
        ["setting", "share", "coverage"],
        rows,
    )
    print(f"\nDirichlet of ten parts, default fit against Newton's maximum likelihood: {cost()}")


if __name__ == "__main__":
    main()
