"""Coverage of 95% intervals with 50 to 150 rows, the worst parameter of each model: `make bench-small-samples`.

Wald intervals stand beside those of the jackknife, which are the default. A cell below the target is run again with ten times the data sets. The
target is for natural parameters; the mean K⁻¹η of a Gaussian before truncation, Wald → default, is printed beside them.
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

DATA_SETS = 400
TARGET = 0.93


class Setting(NamedTuple):
    """Draws from a truth, an estimator, and the natural parameters it should find."""

    draw: Callable[[np.random.Generator], np.ndarray]
    estimator: Callable[[], zf.TruncatedGaussian]
    truth: np.ndarray
    mean: np.ndarray | None = None


def _gaussian(domain, mean, n, scale=1.0, make=zf.TruncatedGaussian):
    """Correlations 0.3, by rejection."""
    d = domain.dimension
    covariance = (0.3 + 0.7 * np.eye(d)) / scale
    precision, mu = np.linalg.inv(covariance), np.full(d, mean)

    def draw(rng):
        kept = np.empty((0, d))
        while len(kept) < n:
            more = rng.multivariate_normal(mu, covariance, 4 * n)
            kept = np.concatenate([kept, more[domain.contains(more)]])
        return kept[:n]

    truth = np.concatenate([precision[np.triu_indices(d)], precision @ mu])
    return Setting(draw, lambda: make(domain), truth, mu)


def _log_normal(d, n):
    plain = _gaussian(zf.RealSpace(d), 0.5, n)
    return Setting(lambda rng: np.exp(plain.draw(rng)), zf.LogNormal, plain.truth, plain.mean)


def _gamma(shape, n):
    shape = np.atleast_1d(shape)
    draw = lambda rng: rng.gamma(shape, 1.0, (n, len(shape)))  # noqa: E731
    return Setting(draw, zf.Gamma, np.concatenate([shape, np.ones(len(shape))]))


def _dirichlet(alpha, n):
    return Setting(lambda rng: rng.dirichlet(alpha, n), zf.Dirichlet, np.asarray(alpha))


def _half_normal(d, n):
    """Independent half-normals: K = I and η = 0 on the orthant, with a given weight."""
    truth = np.concatenate([np.eye(d)[np.triu_indices(d)], np.zeros(d)])
    draw = lambda rng: np.abs(rng.standard_normal((n, d)))  # noqa: E731
    return Setting(draw, lambda: zf.TruncatedGaussian(generator=zf.Barrier(1.2, 0.0)), truth)


SETTINGS = {
    "Gamma 2, N 100": _gamma(2.0, 100),
    "Gamma 0.6 2 8, N 100": _gamma([0.6, 2.0, 8.0], 100),
    "Dirichlet 2 3 4, N 60": _dirichlet([2.0, 3.0, 4.0], 60),
    "Dirichlet 0.5 2 3, N 80": _dirichlet([0.5, 2.0, 3.0], 80),
    "Gaussian, Orthant(2), N 60": _gaussian(zf.Orthant(2), 0.5, 60),
    "Gaussian, Orthant(4), N 150": _gaussian(zf.Orthant(4), 0.5, 150),
    "Gaussian, Box(2), N 100": _gaussian(zf.Box([0.0, 0.0], [2.0, 2.0]), 0.5, 100),
    "Gaussian, SolidSimplex(3), N 100": _gaussian(zf.SolidSimplex(3), 0.25, 100, 20.0),
    "Gaussian, Ball(2), N 100": _gaussian(zf.Ball(1.0, d=2), 0.2, 100, 3.0),
    "LogNormal(2), N 60": _log_normal(2, 60),
    "Exponential 1, N 50": Setting(lambda rng: rng.exponential(1.0, (50, 1)), zf.Exponential, np.ones(1)),
}
MANY = {"Gaussian, Orthant(30), N 2200": _half_normal(30, 2200)}
"""So many parameters (495) that groups of rows are left out; the mean over parameters is judged, for the worst of so many is chance."""


class Coverage(NamedTuple):
    """Which intervals held the truth, one row per data set, and the cost."""

    wald: np.ndarray
    jackknife: np.ndarray
    means: np.ndarray
    width: float
    kinds: set[str]
    seconds: float


def measure(setting: Setting, sets: int) -> Coverage:
    """Fit `sets` data sets."""
    wald, jackknife, means, width, kinds, start = [], [], [], [], set(), time.perf_counter()
    for k in range(sets):
        result = setting.estimator().fit(setting.draw(np.random.default_rng([k, 3]))).result_
        old, new = result.conf_int(method="wald"), result.conf_int()
        wald.append((old[:, 0] <= setting.truth) & (setting.truth <= old[:, 1]))
        jackknife.append((new[:, 0] <= setting.truth) & (setting.truth <= new[:, 1]))
        if setting.mean is not None:
            both = [result.parameters("mean").conf_int(method=m) for m in ("wald", "auto")]
            means.append([(ci[:, 0] <= setting.mean) & (setting.mean <= ci[:, 1]) for ci in both])
        width.append(np.median((new[:, 1] - new[:, 0]) / (old[:, 1] - old[:, 0])))
        kinds.add(result.covariance_type)
    return Coverage(
        np.array(wald),
        np.array(jackknife),
        np.array(means),
        float(np.median(width)),
        kinds,
        time.perf_counter() - start,
    )


def main() -> int:
    warnings.simplefilter("ignore", ZfreeWarning)
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else DATA_SETS
    rows, good = [], True
    for name, setting in (SETTINGS | MANY).items():
        sets, many = asked if name in SETTINGS else max(1, asked // 4), name in MANY

        def value(covered, many=many):
            return float(covered.mean() if many else covered.mean(axis=0).min())

        found = measure(setting, sets)
        if value(found.jackknife) < TARGET:
            sets *= 10
            found = measure(setting, sets)
        met = value(found.jackknife) >= TARGET
        good &= met
        cells = [f"{c.mean():.3f}, {c.mean(axis=0).min():.3f}" for c in (found.wald, found.jackknife)]
        kinds = ", ".join(sorted(found.kinds))
        per_set = f"{1e3 * found.seconds / sets:.1f}"
        mean = " → ".join(f"{c.min():.3f}" for c in found.means.mean(axis=0)) if len(found.means) else ""
        rows.append([name, str(sets), *cells, mean, f"{found.width:.2f}", kinds, per_set, "yes" if met else "NO"])
    print_table(
        f"Coverage of 95% intervals with few rows: mean over parameters, worst parameter (target {TARGET} for the worst)",
        ["model", "data sets", "Wald", "default", "mean of a Gaussian", "width ratio", "kind", "ms a set", "met"],
        rows,
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
