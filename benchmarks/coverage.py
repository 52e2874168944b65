"""Coverage of the 95% intervals on simulated data sets: `make coverage`."""

from __future__ import annotations

import sys
import warnings

import numpy as np
from tests.sampling import truncated_gaussian

import zfree as zf
from benchmarks.table import print_table
from zfree.errors import InfiniteVarianceWarning, ZfreeWarning

DATA_SETS = 400
ROWS = 2000
K3 = np.array([[2.0, 0.5, 0.0], [0.5, 2.0, -0.4], [0.0, -0.4, 1.5]])


def gaussian_case(domain, mean, precision):
    """An estimator-maker, a sampler and the truth (mean, then the upper triangle of K)."""

    def sample(seed):
        return truncated_gaussian(domain, mean, precision, ROWS, seed)

    def intervals(generator, X):
        result = zf.TruncatedGaussian(domain=domain, generator=generator).fit(X).result_
        return np.vstack([result.parameters("mean").conf_int(), result.parameters("precision").conf_int()])

    return sample, intervals, np.concatenate([mean, precision[np.triu_indices(len(mean))]])


def dirichlet_case(alpha):
    def sample(seed):
        return np.random.default_rng(seed).dirichlet(alpha, ROWS)

    def intervals(generator, X):
        return zf.Dirichlet(generator=generator).fit(X).result_.conf_int()

    return sample, intervals, np.asarray(alpha)


CASES = {
    "TruncatedGaussian, Orthant(3)": gaussian_case(zf.Orthant(3), np.array([0.8, 0.5, 1.0]), K3),
    "TruncatedGaussian, SolidSimplex(3)": gaussian_case(zf.SolidSimplex(3), np.full(3, 0.25), 20 * K3),
    "Dirichlet(4)": dirichlet_case([1.5, 2.0, 3.0, 2.5]),
}
GENERATORS = [zf.Barrier(power=4 / 3), zf.Barrier.entropy(), zf.Barrier.log(det_power=0)]


def main() -> int:
    warnings.simplefilter("ignore", ZfreeWarning)
    rows, good = [], True
    for name, (sample, intervals, truth) in CASES.items():
        covered = {g: np.zeros((DATA_SETS, len(truth)), dtype=bool) for g in GENERATORS}
        flagged = dict.fromkeys(GENERATORS, 0)
        for seed in range(DATA_SETS):
            X = sample(seed)
            for g in GENERATORS:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always", InfiniteVarianceWarning)
                    low, high = intervals(g, X).T
                flagged[g] += any(issubclass(w.category, InfiniteVarianceWarning) for w in caught)
                covered[g][seed] = (low <= truth) & (truth <= high)
        for g in GENERATORS:
            each = covered[g].mean(axis=0)
            met = 0.92 <= each.mean() <= 0.97
            verdict = "yes" if met else "NO"
            if flagged[g]:
                verdict = f"(warned in {flagged[g]} of {DATA_SETS}: no finite variance)"
            else:
                good &= met
            rows.append([name, repr(g), f"{each.mean():.3f}", f"{each.min():.3f}", f"{each.max():.3f}", verdict])
    print_table(
        f"Coverage of 95% intervals, {DATA_SETS} data sets of {ROWS} rows (target 0.92 to 0.97)",
        ["model", "generator", "mean over parameters", "smallest", "largest", "met"],
        rows,
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
