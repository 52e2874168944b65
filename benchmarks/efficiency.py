"""How close to maximum likelihood? Share of the Cramér–Rao bound and error at N = 800: `make bench-efficiency`."""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

import zfree as zf
from benchmarks.likelihood import maximum_likelihood, pseudo_likelihood
from benchmarks.settings import Setting, all_settings
from benchmarks.table import print_table
from zfree.errors import ZfreeError, ZfreeWarning
from zfree.models import PairwiseModel

ROWS, DATA_SETS, PICKS = 800, 50, 20

FIXED = {
    "φ₁ (4/3, ½)": zf.named("phi1"),
    "φ₂ (1, ½)": zf.named("phi2"),
    "φ₃ (0, ½)": zf.named("phi3"),
    "h₁ = x": zf.CoordinateWeight("x"),
    "h₂ = x²": zf.CoordinateWeight("x^2"),
    "truncated SM": zf.BoundaryDistance(),
    "GSM CD": zf.SectionDistance("x"),
}


def share(setting: Setting, generator) -> float:
    """Trace of the bound over trace of the asymptotic covariance, at the truth on many draws."""
    result = setting.estimator(generator).fit(setting.big).result_
    block = setting.block
    return setting.bound / float(np.trace(result.covariance[block, block]) * result.n_observations)


def run(setting: Setting, data_sets: int = DATA_SETS) -> None:
    rng = np.random.default_rng(1)
    samples = [setting.draw(ROWS, rng) for _ in range(data_sets)]
    rows = []
    for name, generator in FIXED.items():
        try:
            if not generator.check(setting.domain).holds:
                raise ZfreeError("does not vanish on the boundary")
            errors = [setting.error(setting.estimator(generator).fit(X).result_.theta) for X in samples]
            rows.append([name, f"{share(setting, generator):.3f}", *_errors(errors)])
        except ZfreeError as error:
            rows.append([name, "—", str(error)[:40], ""])
    started = time.perf_counter()
    fits = [setting.estimator("auto").fit(X) for X in samples]
    auto_time = (time.perf_counter() - started) / len(samples)
    picked = [fit.generator_ for fit in fits[:PICKS]]
    shares = [share(setting, g) for g in dict.fromkeys(picked)]
    counts = [picked.count(g) for g in dict.fromkeys(picked)]
    errors = [setting.error(fit.result_.theta) for fit in fits]
    rows.append(["auto", f"{np.average(shares, weights=counts):.3f}", *_errors(errors)])
    combined = [setting.estimator(zf.Combined()).fit(X).result_.theta for X in samples]
    rows.append(["combined", "", *_errors([setting.error(t) for t in combined])])
    rows.append(["maximum likelihood", "1", *_errors([setting.error(maximum_likelihood(setting, X)) for X in samples])])
    if isinstance(setting.model, PairwiseModel):
        rows.append(
            ["pseudo-likelihood", "", *_errors([setting.error(pseudo_likelihood(setting, X)) for X in samples])]
        )
    print_table(
        f"{setting.name}: N = {ROWS}, {data_sets} data sets; auto took {1e3 * auto_time:.1f} ms a fit",
        ["estimator", "share of the Cramér–Rao bound", "median squared error", "mean"],
        rows,
    )


def _errors(errors) -> list[str]:
    return [f"{np.median(errors):.5g}", f"{np.mean(errors):.5g}"]


def main(argv: list[str]) -> int:
    warnings.simplefilter("ignore", ZfreeWarning)
    for setting in all_settings().values():
        if not argv or any(word.lower() in setting.name.lower() for word in argv):
            run(setting)
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
