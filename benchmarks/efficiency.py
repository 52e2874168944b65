"""How close to maximum likelihood? Share of the Cramér–Rao bound and error at N = 800 of every generator: part of `make bench-efficiency`."""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

import zfree as zf
from benchmarks.errors import likelihood_errors, measured
from benchmarks.likelihood import pseudo_likelihood
from benchmarks.settings import Setting, all_settings, chosen
from benchmarks.shares import share
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


def table(setting: Setting, data_sets: int = DATA_SETS) -> tuple[str, list[list[str]]]:
    """A title and the rows: every generator of the paper, the default, the combination, likelihoods."""
    samples = [setting.sample(k) for k in range(data_sets)]
    rows = []
    for name, generator in FIXED.items():
        try:
            if not generator.check(setting.domain).holds:
                raise ZfreeError("does not vanish on the boundary")
            errors = [setting.error(setting.estimator(generator).fit(X).result_.theta) for X in samples]
            rows.append([name, f"{share(setting, generator).value:.3f}", *_errors(errors)])
        except ZfreeError as error:
            rows.append([name, "—", str(error)[:40], ""])
    started = time.perf_counter()
    auto = measured(setting, "auto", data_sets, 0)
    auto_time = (time.perf_counter() - started) / data_sets
    shares = measured(setting, "auto", 0, PICKS)["shares"]
    rows.append(["auto", f"{np.mean(shares, axis=0)[0]:.3f}" if shares else "—", *_errors(auto["errors"])])
    combined = [setting.estimator(zf.Combined()).fit(X).result_.theta for X in samples]
    rows.append(["combined", "", *_errors([setting.error(t) for t in combined])])
    rows.append(["maximum likelihood", "1", *_errors(likelihood_errors(setting, data_sets))])
    if isinstance(setting.model, PairwiseModel):
        rows.append(
            ["pseudo-likelihood", "", *_errors([setting.error(pseudo_likelihood(setting, X)) for X in samples])]
        )
    title = f"{setting.name}: N = {ROWS}, {data_sets} data sets; auto took {1e3 * auto_time:.1f} ms a fit"
    return title, rows


def show(title: str, rows: list[list[str]]) -> None:
    print_table(title, ["estimator", "share of the Cramér–Rao bound", "median squared error", "mean"], rows)


def _errors(errors) -> list[str]:
    return [f"{np.median(errors):.5g}", f"{np.mean(errors):.5g}"]


def main(argv: list[str]) -> int:
    warnings.simplefilter("ignore", ZfreeWarning)
    for setting in chosen(all_settings(), argv):
        show(*table(setting))
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
