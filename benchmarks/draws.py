"""Draws beside those of version 0.1.0, in one run: seconds, and how far a known mean or deviation is missed.

`python -m benchmarks.draws [source of 0.1.0]`. Without a path the old source is taken from the repository (`git archive`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np

import zfree
from benchmarks.table import print_table

FIRST_VERSION = "81d4586"

CASES = {
    # name: (domain, mean, K, draws, what is measured, its true value)
    "Orthant(50), K = I + 0.1": ("zf.Orthant(50)", "np.zeros(50)", "np.eye(50) + 0.1", 1000, "1.0", 1.0),
    "slab 0.002 wide: deviation along it": (
        "zf.Polytope.from_inequalities('x1 - x2 < 0.001, x2 - x1 < 0.001, x1 > -3, x1 < 3')",
        "np.zeros(2)",
        "np.eye(2)",
        4000,
        "X.mean(axis=1).std()",
        0.7070,
    ),
    "Orthant(5), correlation 0.999: mean": (
        "zf.Orthant(5)",
        "np.full(5, -3.3)",
        "np.linalg.inv(0.001 * np.eye(5) + 0.999)",
        4000,
        "X.mean()",
        0.2968,
    ),
    "Orthant(2), correlation 0.9999: mean": (
        "zf.Orthant(2)",
        "np.full(2, -3.3)",
        "np.linalg.inv(0.0001 * np.eye(2) + 0.9999)",
        4000,
        "X.mean()",
        0.2685,
    ),
}

PROGRAMME = """
import json, time, warnings
import numpy as np, zfree as zf
warnings.simplefilter("ignore")
domain, mean, K = {domain}, {mean}, {K}
zf.samplers.sample_gaussian(domain, mean, K, 10, 1)
start = time.process_time()
X = zf.samplers.sample_gaussian(domain, mean, K, {n}, 0)
print(json.dumps([time.process_time() - start, float({measure})]))
"""


def measure(source: Path, case: str, repeats: int = 3) -> tuple[float, float]:
    """Median processor seconds with the library at `source`, and the measured value."""
    domain, mean, K, n, value, _ = CASES[case]
    code = PROGRAMME.format(domain=domain, mean=mean, K=K, n=n, measure=value)
    environment = {**os.environ, "PYTHONPATH": str(source)}
    runs = [
        json.loads(
            subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout
        )
        for _ in range(repeats)
    ]
    return float(np.median([seconds for seconds, _ in runs])), runs[0][1]


def main() -> int:
    now = Path(zfree.__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 1:
            before = Path(sys.argv[1])
        else:
            archive = subprocess.run(
                ["git", "archive", FIRST_VERSION, "src"], cwd=now.parent, capture_output=True, check=True
            ).stdout
            with tarfile.open(fileobj=BytesIO(archive)) as files:
                files.extractall(folder, filter="data")
            before = Path(folder) / "src"
        rows = []
        for case, settings in CASES.items():
            (old, old_value), (new, new_value) = measure(before, case), measure(now, case)
            known = settings[4] != "1.0"
            values = (f"{settings[5]:.4f}", f"{old_value:.4f}", f"{new_value:.4f}") if known else ("", "", "")
            rows.append([case, f"{old:.3f}", f"{new:.3f}", f"{new / old:.3f}", *values])
    print_table(
        "Draws from Gaussians on domains, beside version 0.1.0",
        ["case", "0.1.0 s", "now s", "ratio", "truth", "0.1.0", "now"],
        rows,
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
