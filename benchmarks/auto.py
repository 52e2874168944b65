"""Does the automatic choice keep its promises? Cost, win rates, coverage, combination and the J test: `make bench-auto`."""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

import zfree as zf
from benchmarks.baselines import DirichletMLE
from benchmarks.coverage import DOMAINS
from benchmarks.coverage import coverage as covered
from benchmarks.likelihood import maximum_likelihood
from benchmarks.settings import all_settings, gaussian
from benchmarks.settings import dirichlet as dirichlet_setting
from benchmarks.table import print_table
from benchmarks.timing import interleaved_medians
from zfree.errors import ZfreeWarning
from zfree.models import DirichletModel

PAPER = [
    zf.Barrier(4 / 3),
    zf.Barrier.entropy(),
    zf.Barrier.log(),
    zf.CoordinateWeight("x"),
    zf.CoordinateWeight("x^2"),
    zf.BoundaryDistance(),
    zf.SectionDistance("x"),
]


def cost() -> bool:
    """Processor time of the default against one fit with a given barrier, taking turns; a Dirichlet also against Newton's method."""
    rows, good = [], True

    def compare(name, one, default, bar):
        nonlocal good
        met = bar is None or default <= bar * one
        good &= met
        limit = ["", ""] if bar is None else [f"≤ {bar}", "yes" if met else "NO"]
        rows.append([name, f"{1e3 * one:.2f}", f"{1e3 * default:.2f}", f"{default / one:.1f}", *limit])

    for setting in all_settings().values():
        X = setting.sample(0)
        calls = [lambda g=g, s=setting, X=X: s.estimator(g).fit(X) for g in (zf.Barrier(1.0, 0.0), "auto")]
        compare(setting.name, *interleaved_medians(calls, 41, time.process_time), 6 if X.shape[1] == 10 else None)
        if isinstance(setting.model, DirichletModel):
            calls[0] = lambda X=X: DirichletMLE().fit(X)
            compare(f"{setting.name}, Newton MLE", *interleaved_medians(calls, 101, time.process_time), 2)
    print_table(
        "Cost of the default, N = 800: medians of processor time, over a given barrier or what is named",
        ["setting", "one fit ms", "default ms", "ratio", "bar", "met"],
        rows,
    )
    return good


def random_truth(kind: str, seed: int):
    """Another truth of the same kind."""
    rng = np.random.default_rng(seed)
    d = 10
    if kind == "Dirichlet(10)":
        return dirichlet_setting(kind, rng.uniform(1, 5, d))
    A = rng.standard_normal((d, d)) / np.sqrt(d)
    K = rng.uniform(60, 200) * (np.eye(d) + 0.3 * (A + A.T) / 2)
    if kind == "SolidSimplex(10)":
        return gaussian(kind, zf.SolidSimplex(d), rng.uniform(0.05, 0.1, d), K)
    return gaussian(kind, zf.Orthant(d), rng.uniform(0.05, 0.15, d), K)


def wins(truths: int = 50, trials: int = 11) -> None:
    """Over random truths, how often auto has the smallest median error of all, and the ratio to the best of the others."""
    rows = []
    for kind in ("Orthant(10)", "SolidSimplex(10)", "Dirichlet(10)"):
        won, ratios = 0, []
        for seed in range(truths):
            setting = random_truth(kind, seed)
            rng = np.random.default_rng(1000 + seed)
            errors: dict[str, list[float]] = {}
            for _ in range(trials):
                X = setting.draw(800, rng)
                for g in [*(g for g in PAPER if g.check(setting.domain).holds), "auto"]:
                    theta = setting.estimator(g).fit(X).result_.theta
                    errors.setdefault(repr(g), []).append(setting.error(theta))
            medians = {name: np.median(e) for name, e in errors.items()}
            auto = medians.pop("'auto'")
            won += auto < min(medians.values())
            ratios.append(auto / min(medians.values()))
        met = "yes" if won >= 0.95 * truths else "NO"
        rows.append([kind, f"{won / truths:.2f}", f"{np.median(ratios):.3f}", f"{np.max(ratios):.3f}", met])
        print(rows[-1], flush=True)
    print_table(
        f"auto against all of the paper's candidates together: {truths} truths × {trials} data sets (target ≥ 0.95)",
        ["setting", "win rate", "median of error ratio to the best other", "largest", "met"],
        rows,
    )


def coverage(data_sets: int = 400) -> None:
    """95% intervals after the generator was chosen on the same data."""
    rows = []
    for case in DOMAINS:
        each, _ = covered(case, "auto", range(data_sets))
        met = 0.92 <= each.mean() <= 0.97
        rows.append([case.name, f"{each.mean():.3f}", f"{each.min():.3f}", f"{each.max():.3f}", "yes" if met else "NO"])
    print_table(
        f"Coverage of 95% intervals after selection, {data_sets} data sets of 2000 rows (target 0.92 to 0.97)",
        ["model", "mean over parameters", "smallest", "largest", "met"],
        rows,
    )


def combined(data_sets: int = 100) -> None:
    """Mean squared error of auto over that of the combination."""
    rows = []
    for setting in all_settings().values():
        ratios = []
        for n in (800, 5000):
            rng = np.random.default_rng(7)
            a, c = [], []
            for _ in range(data_sets if n == 800 else data_sets // 3):
                X = setting.draw(n, rng)
                a.append(setting.error(setting.estimator("auto").fit(X).result_.theta))
                c.append(setting.error(setting.estimator(zf.Combined()).fit(X).result_.theta))
            ratios.append(np.mean(a) / np.mean(c))
        met = min(ratios) >= 0.97
        rows.append([setting.name, *(f"{r:.3f}" for r in ratios), "yes" if met else "NO"])
        print(rows[-1], flush=True)
    print_table(
        "Combined: MSE of auto / MSE of combined (target ≥ 0.97)", ["setting", "N = 800", "N = 5000", "met"], rows
    )


def j_test(data_sets: int = 500) -> None:
    """Size at 5% where the model is right; power where it is not."""
    d, rows = 10, []
    settings = all_settings()
    cases = {
        "right: Gaussian, Orthant(10)": settings["Gaussian, Orthant(10)"],
        "right: Dirichlet(10)": settings["Dirichlet(10)"],
        "right: Gaussian, Ball in 3d": settings["Gaussian, Ball in 3d"],
    }

    def gamma_for_gaussian(n, rng):
        return rng.gamma(2.0, 0.06, size=(n, d))

    def logistic_normal_for_dirichlet(n, rng):
        z = np.exp(0.6 * rng.standard_normal((n, d)))
        return z / z.sum(axis=1, keepdims=True)

    wrong = {
        "wrong: gamma data, Gaussian on Orthant(10)": (settings["Gaussian, Orthant(10)"], gamma_for_gaussian),
        "wrong: logistic-normal data, Dirichlet(10)": (settings["Dirichlet(10)"], logistic_normal_for_dirichlet),
    }
    for name, (setting, draw) in [*((k, (s, s.draw)) for k, s in cases.items()), *wrong.items()]:
        rng = np.random.default_rng(3)
        repeats = data_sets if name.startswith("right") else 100
        sets = (draw(800, rng) for _ in range(repeats))
        p = [setting.estimator("auto").fit(X).j_test(X).p_value for X in sets]
        rate = float(np.mean(np.array(p) < 0.05))
        met = "yes" if 0.03 <= rate <= 0.08 else "NO"
        rows.append([name, f"{repeats}", f"{rate:.3f}", met if name.startswith("right") else "(power)"])
    print_table(
        "J test at 5%, N = 800 (target for the size: 0.03 to 0.08)", ["data", "data sets", "rejected", "met"], rows
    )


def dirichlet(data_sets: int = 200) -> None:
    """Mean squared error of maximum likelihood over ours, α in U(1, 3)."""
    setting = all_settings()["Dirichlet(10)"]
    rng = np.random.default_rng(11)
    errors: dict[str, list[float]] = {"auto": [], "Barrier(0.4, 0)": [], "maximum likelihood": []}
    for _ in range(data_sets):
        X = setting.draw(800, rng)
        errors["auto"].append(setting.error(setting.estimator("auto").fit(X).result_.theta))
        errors["Barrier(0.4, 0)"].append(setting.error(setting.estimator(zf.Barrier(0.4, 0.0)).fit(X).result_.theta))
        errors["maximum likelihood"].append(setting.error(maximum_likelihood(setting, X)))
    best = np.mean(errors["maximum likelihood"])
    rows = [[name, f"{np.mean(e):.5f}", f"{best / np.mean(e):.3f}"] for name, e in errors.items()]
    print_table(
        f"Dirichlet(10), {data_sets} data sets, N = 800 (target for auto: efficiency ≥ 0.90)",
        ["estimator", "mean squared error", "efficiency"],
        rows,
    )


STUDIES = {"cost": cost, "dirichlet": dirichlet, "coverage": coverage, "combined": combined, "j": j_test, "wins": wins}


def main(argv: list[str]) -> int:
    warnings.simplefilter("ignore", ZfreeWarning)
    for name in argv or STUDIES:
        STUDIES[name]()
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
