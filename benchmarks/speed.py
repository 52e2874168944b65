"""Speed as ratios measured side by side in one run. Run it with one BLAS thread: `make bench`."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
from sklearn.covariance import EmpiricalCovariance
from tests.reference import dense_truncated_gaussian_fit
from tests.sampling import truncated_gaussian

import zfree as zf
from benchmarks.baselines import DirichletMLE
from benchmarks.table import print_table
from benchmarks.timing import interleaved_medians
from zfree.errors import ZfreeWarning


def import_seconds(statements, repeats=15):
    """Median seconds of import statements in fresh interpreters, start-up of the interpreter taken off."""
    code = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
    times = {s: [] for s in statements}
    for _ in range(repeats):
        for s in statements:
            done = subprocess.run([sys.executable, "-c", code.format(s)], capture_output=True, text=True, check=True)
            times[s].append(float(done.stdout))
    return [float(np.median(times[s])) for s in statements]


def main() -> int:
    warnings.simplefilter("ignore", ZfreeWarning)
    domain = zf.SolidSimplex(10)
    X = truncated_gaussian(domain, np.full(10, 1 / 11), 100 * np.eye(10), 800)
    P = np.random.default_rng(0).dirichlet(np.random.default_rng(1).uniform(1, 3, 10), 800)
    gaussian = zf.TruncatedGaussian(domain=domain, generator=zf.Barrier(power=4 / 3))
    dirichlet = zf.Dirichlet(generator=zf.Barrier.entropy())

    empirical, ours = interleaved_medians([lambda: EmpiricalCovariance().fit(X), lambda: gaussian.fit(X)], 200)
    mle, ours_dirichlet = interleaved_medians([lambda: DirichletMLE().fit(P), lambda: dirichlet.fit(P)], 300)
    (dense,) = interleaved_medians([lambda: dense_truncated_gaussian_fit(X, domain)], 1)
    sklearn_base, bare, used = import_seconds(
        ["import sklearn.base", "import zfree", "from zfree import TruncatedGaussian, SolidSimplex, Barrier"]
    )

    rows = []

    def compare(what, time_ours, against, time_theirs, ratio, target, met):
        rows.append(
            [
                what,
                f"{1e3 * time_ours:.3f}",
                against,
                f"{1e3 * time_theirs:.3f}",
                f"{ratio:.2f}",
                target,
                "yes" if met else "NO",
            ]
        )

    r = ours / empirical
    compare(
        "TruncatedGaussian S^10, N=800", ours, "sklearn EmpiricalCovariance", empirical, r, "ours/theirs ≤ 15", r <= 15
    )
    r = dense / ours
    compare("TruncatedGaussian S^10, N=800", ours, "dense path", dense, r, "theirs/ours ≥ 30", r >= 30)
    r = ours_dirichlet / mle
    compare("Dirichlet(10), N=800", ours_dirichlet, "Newton MLE", mle, r, "ours/theirs ≤ 1", r <= 1)
    r = bare / sklearn_base
    compare("import zfree", bare, "import sklearn.base", sklearn_base, r, "ours/theirs ≤ 1.15", r <= 1.15)
    r = used / sklearn_base
    compare("from zfree import three names", used, "import sklearn.base", sklearn_base, r, "(no target)", True)
    print_table(
        "Speed (medians, one BLAS thread, fits with covariance)",
        ["what", "ours ms", "against", "theirs ms", "ratio", "target", "met"],
        rows,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
