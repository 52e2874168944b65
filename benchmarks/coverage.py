"""Coverage of the 95% intervals on simulated data sets, parameter by parameter: `make coverage`.

The first table has one model on several domains, the second one set written in many ways and units. A parameter outside 0.92 to 0.97 on 400
data sets is looked at again on 4,000, where it must lie between 0.93 and 0.97. Under the distance to the boundary, which serves the mean
badly, only K is judged: the intervals of μ = K⁻¹η cover more than they say there.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass

import numpy as np
from tests.sampling import truncated_gaussian

import zfree as zf
from benchmarks.table import print_table
from zfree.errors import InfiniteVarianceWarning, ZfreeWarning

DATA_SETS, AGAIN = 400, 4000
K3 = np.array([[2.0, 0.5, 0.0], [0.5, 2.0, -0.4], [0.0, -0.4, 1.5]])
FIXED = [zf.Barrier(power=4 / 3), zf.Barrier.entropy(), zf.Barrier.log(det_power=0)]


@dataclass(frozen=True)
class Case:
    """A truth: how to draw from it, on which set, and the columns' units (a Dirichlet has none)."""

    name: str
    domain: zf.Domain
    mean: np.ndarray
    precision: np.ndarray
    rows: int
    units: np.ndarray
    written: zf.Domain

    @property
    def truth(self) -> np.ndarray:
        """The mean, then the upper triangle of K, in the units of the columns."""
        c, d = self.units, len(self.mean)
        return np.concatenate([self.mean * c, (self.precision / np.multiply.outer(c, c))[np.triu_indices(d)]])

    def draw(self, seed: int) -> np.ndarray:
        return truncated_gaussian(self.domain, self.mean, self.precision, self.rows, seed) * self.units

    def intervals(self, generator, X) -> np.ndarray:
        result = zf.TruncatedGaussian(domain=self.written, generator=generator, check=False).fit(X).result_
        return np.vstack([result.parameters("mean").conf_int(), result.parameters("precision").conf_int()])


@dataclass(frozen=True)
class DirichletCase:
    """Compositions."""

    name: str
    alpha: tuple[float, ...]
    rows: int

    @property
    def truth(self) -> np.ndarray:
        return np.array(self.alpha)

    def draw(self, seed: int) -> np.ndarray:
        return np.random.default_rng(seed).dirichlet(self.alpha, self.rows)

    def intervals(self, generator, X) -> np.ndarray:
        return zf.Dirichlet(generator=generator, check=False).fit(X).result_.conf_int()


def plain(name, domain, mean, precision) -> Case:
    mean = np.asarray(mean, dtype=float)
    return Case(name, domain, mean, np.asarray(precision), 2000, np.ones(len(mean)), domain)


def triangle(text: str, units) -> Case:
    covariance = np.array([[0.1, 0.03], [0.03, 0.1]])
    written = zf.Polytope.from_inequalities(text)
    return Case(
        text, zf.SolidSimplex(2), np.array([0.3, 0.4]), np.linalg.inv(covariance), 1000, np.array(units), written
    )


def half_space(a, b: float, unit: float) -> Case:
    written = zf.HalfSpace(a, b)
    K = np.array([[1.3, -0.5], [-0.5, 1.0]])
    return Case(f"{written!r}", zf.HalfSpace([1.0, 1.0], 1.0), np.zeros(2), K, 1000, np.full(2, unit), written)


DOMAINS = [
    plain("TruncatedGaussian, Orthant(3)", zf.Orthant(3), [0.8, 0.5, 1.0], K3),
    plain("TruncatedGaussian, SolidSimplex(3)", zf.SolidSimplex(3), [0.25] * 3, 20 * K3),
    DirichletCase("Dirichlet(4)", (1.5, 2.0, 3.0, 2.5), 2000),
]
UNITS = [
    triangle("x1 > 0, x2 > 0, x1 + x2 < 1", [1.0, 1.0]),
    triangle("x1 > 0, x2 > 0, 10*x1 + x2 < 1", [0.1, 1.0]),
    triangle("x1 > 0, x2 > 0, 100*x1 + x2 < 1", [0.01, 1.0]),
    triangle("x1 > 0, x2 > 0, 1000*x1 + x2 < 1", [0.001, 1.0]),
    triangle("x1 > 0, x2 > 0, 0.001*x1 + 0.001*x2 < 1", [1e3, 1e3]),
    half_space([1.0, 1.0], 1.0, 1.0),
    half_space([1e-6, 1e-6], 1e-6, 1.0),
    half_space([1.0, 1.0], 1e8, 1e8),
    Case(
        "Orthant(3), columns 1e-6, 1, 1e6",
        zf.Orthant(3),
        np.array([0.8, 0.5, 1.0]),
        K3,
        1000,
        np.array([1e-6, 1.0, 1e6]),
        zf.Orthant(3),
    ),
]


def coverage(case, generator, seeds) -> tuple[np.ndarray, int]:
    """Share of data sets in which each interval covers, and how many fits said that there is no finite variance."""
    covered, flagged = [], 0
    for seed in seeds:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore", ZfreeWarning)
            warnings.simplefilter("always", InfiniteVarianceWarning)
            low, high = case.intervals(generator, case.draw(seed)).T
        flagged += any(issubclass(w.category, InfiniteVarianceWarning) for w in caught)
        covered.append((low <= case.truth) & (case.truth <= high))
    return np.mean(covered, axis=0), flagged


def row(case, generator) -> tuple[list[str], bool]:
    judged = slice(len(case.mean), None) if isinstance(generator, zf.BoundaryDistance) else slice(None)
    each, flagged = coverage(case, generator, range(DATA_SETS))
    cells = [case.name, "auto" if generator == "auto" else repr(generator), " ".join(f"{c:.3f}" for c in each)]
    if flagged:
        return [*cells, "", f"(warned in {flagged} of {DATA_SETS}: no finite variance)"], True
    if 0.92 <= each[judged].min() and each[judged].max() <= 0.97:
        return [*cells, "", "yes"], True
    again, _ = coverage(case, generator, range(DATA_SETS, DATA_SETS + AGAIN))
    met = bool(0.93 <= again[judged].min() and again[judged].max() <= 0.97)
    return [*cells, " ".join(f"{c:.3f}" for c in again), "yes" if met else "NO"], met


def main(argv) -> int:
    good = True
    for title, cases, generators in (
        ("several domains, 2000 rows", DOMAINS, FIXED),
        (
            "one set in many units, 1000 rows",
            UNITS,
            ["auto", zf.Barrier(power=4 / 3), zf.BoundaryDistance(scale="natural")],
        ),
    ):
        rows = []
        for case in cases:
            if argv and not any(word in case.name for word in argv):
                continue
            for generator in generators:
                cells, met = row(case, generator)
                rows.append(cells)
                good &= met
                print(*cells, sep=" | ", flush=True)
        if rows:
            header = ["case", "generator", f"mean, then K: {DATA_SETS} sets", f"{AGAIN} sets", "met"]
            print_table(f"Coverage of 95% intervals, {title}", header, rows)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
