"""Resident memory of a fit with a million rows."""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

import zfree as zf
from benchmarks.table import print_table


def resident_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    X = np.abs(np.random.default_rng(0).standard_normal((1_000_000, 10)))
    before = resident_mb()
    start = time.perf_counter()
    zf.TruncatedGaussian(domain=zf.Orthant(10), generator=zf.Barrier(power=4 / 3)).fit(X)
    seconds, after = time.perf_counter() - start, resident_mb()
    print_table(
        "TruncatedGaussian on Orthant(10), N = 1,000,000",
        ["resident before fit", "peak", "target", "met", "fit"],
        [[f"{before:.0f} MB", f"{after:.0f} MB", "< 600 MB", "yes" if after < 600 else "NO", f"{seconds:.1f} s"]],
    )
    return 0 if after < 600 else 1


if __name__ == "__main__":
    sys.exit(main())
