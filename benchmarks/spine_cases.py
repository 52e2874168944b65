"""What the way from rows to a result is measured on, each beside the arithmetic that it cannot do without."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.covariance import EmpiricalCovariance
from tests.sampling import truncated_gaussian

import zfree as zf
from benchmarks import bare, bare_simplex
from benchmarks.baselines import DirichletMLE

Call = Callable[[], object]


@dataclass(frozen=True)
class Comparison:
    """Ours over theirs must not exceed `most`; or ours alone must not exceed `seconds`, where that is given: either will do."""

    what: str
    ours: str
    against: str
    theirs: str
    most: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Case:
    """Calls that take turns, and what is compared among them."""

    calls: dict[str, Call]
    comparisons: list[Comparison]


def _fit(estimator, X) -> Call:
    return partial(estimator.fit, X)


def truncated(**settings):
    """An estimator without the check of its fit; `covariance` is left out as long as there is no such option."""
    if "covariance" not in inspect.signature(zf.TruncatedGaussian).parameters:
        settings.pop("covariance", None)
    return zf.TruncatedGaussian(check=False, **settings)


def knows_covariance() -> bool:
    """Whether an estimator can be asked for less than a full covariance."""
    return "covariance" in inspect.signature(zf.TruncatedGaussian).parameters


def small() -> Case:
    """Ten columns, 800 rows: what is not arithmetic shows."""
    domain = zf.SolidSimplex(10)
    X = truncated_gaussian(domain, np.full(10, 1 / 11), 100.0 * np.eye(10), 800)
    given, auto, search = (
        truncated(domain=domain, generator=generator) for generator in (zf.Barrier(4 / 3), "auto", "search")
    )
    calls = {
        "given": _fit(given, X),
        "auto": _fit(auto, X),
        "search": _fit(search, X),
        "bare": partial(bare_simplex.barrier, X, 4 / 3, 0.5),
        "sklearn": _fit(EmpiricalCovariance(), X),
    }
    _same(given.fit(X), bare_simplex.barrier(X, 4 / 3, 0.5)[0])
    what = "SolidSimplex(10), N = 800"
    return Case(
        calls,
        [
            Comparison(f"{what}, given", "given", "its arithmetic", "bare", 2.0),
            Comparison(f"{what}, given", "given", "EmpiricalCovariance", "sklearn", 15.0),
            Comparison(f"{what}, auto", "auto", "given", "given", 6.0),
            Comparison(f"{what}, search", "search", "given", "given", 6.0),
        ],
    )


def _million(rows: int = 1_000_000) -> np.ndarray:
    return np.abs(np.random.default_rng(0).normal(0.5, 1.0, (rows, 10))) + 1e-9


def many_rows() -> Case:
    """A million rows and a diagonal D."""
    X = _million()
    h, barrier = truncated(generator="h1"), truncated(generator=zf.Barrier(1.0, 0.0))
    _same(h.fit(X), bare.orthant(X))
    what = "Orthant(10), N = 10⁶"
    return Case(
        {"h": _fit(h, X), "barrier": _fit(barrier, X), "bare": partial(bare.orthant, X)}
        | {"sklearn": _fit(EmpiricalCovariance(), X)},
        [
            Comparison(f"{what}, h(x) = x", "h", "its arithmetic", "bare", 2.0),
            Comparison(f"{what}, Barrier(1, 0)", "barrier", "its arithmetic", "bare", 2.0),
            Comparison(f"{what}, h(x) = x", "h", "EmpiricalCovariance", "sklearn"),
        ],
    )


def chosen(how: str) -> Case:
    """A million rows, and the generator chosen from them: against a fit with the one that is chosen."""
    X = _million()
    chooses = truncated(generator=how)
    return Case(
        {how: _fit(chooses, X), "given": lambda: truncated(generator=chooses.generator_).fit(X)},
        [Comparison(f"Orthant(10), N = 10⁶, {how}", how, "a fit with what it chose", "given", 1.5)],
    )


def high_dimension(d: int, most: float) -> Case:
    """All of K over d columns, with and without its covariance."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(0.5, 1.0, (2000, d)) + 0.3 * rng.normal(size=(2000, 4)) @ rng.normal(size=(4, d))) + 1e-6
    r = d * (d + 3) // 2
    root = rng.normal(size=(r, 20))
    gamma, psi = r * np.eye(r) + root @ root.T, rng.normal(size=(r, len(X)))
    T = bare.Pairs(d).natural_map(X.mean(axis=0))
    estimate = partial(bare.products_and_cholesky, X, gamma)
    dense = partial(bare.dense_covariance, X, gamma, psi, T)
    what, products = f"Orthant({d}), N = 2000, all of K", f"{d} products and a Cholesky"
    bars = {
        None: (most, products, "estimate"),
        "diagonal": (20.0, products, "estimate"),
        "full": (2.0, "that, Γ⁻¹, ΨΨᵀ, Γ⁻¹ΣΓ⁻¹, TCTᵀ", "dense"),
    }
    calls: dict[str, Call] = {"estimate": estimate, "dense": dense}
    comparisons = []
    for covariance, (bar, words, theirs) in bars.items():
        ours = f"covariance={covariance!r}"
        calls[ours] = partial(_delivered, truncated(generator="h1", covariance=covariance), X, covariance)
        label = ours if knows_covariance() else f"plain ({ours})"
        comparisons.append(Comparison(f"{what}, {label}", ours, words, theirs, bar))
    return Case(calls, comparisons)


def _delivered(estimator, X, covariance: str | None) -> None:
    """A fit, and what was asked of it: results compute some of that only when they are read."""
    result = estimator.fit(X).result_
    if covariance == "full":
        result.covariance  # noqa: B018 - reading is computing
    elif covariance == "diagonal":
        result.standard_errors  # noqa: B018


def dirichlet() -> Case:
    """Ten parts with the default, against Newton's method for the likelihood."""
    P = np.random.default_rng(0).dirichlet(np.random.default_rng(1).uniform(1, 3, 10), 800)
    return Case(
        {"ours": _fit(zf.Dirichlet(check=False), P), "mle": _fit(DirichletMLE(), P)},
        [Comparison("Dirichlet(10), N = 800, auto", "ours", "Newton MLE, or 1.5 ms", "mle", 1.0, 1.5e-3)],
    )


def by_distance() -> Case:
    """Truncated score matching on solid simplices and compositions."""
    solid, parts = zf.SolidSimplex(10), zf.Simplex(10)
    X = truncated_gaussian(solid, np.full(10, 1 / 11), 100.0 * np.eye(10), 800)
    inner = truncated_gaussian(parts.chart.domain, np.full(9, 0.1), 100.0 * np.eye(9), 800)
    Y, P = parts.chart.push(inner), np.random.default_rng(0).dirichlet(np.full(10, 4.0), 800)
    on_solid, on_parts = (truncated(domain=domain, generator="truncated-sm") for domain in (solid, parts))
    composition = zf.Dirichlet(generator="truncated-sm", check=False)
    _same(on_solid.fit(X), bare_simplex.gaussian_by_distance(X)[0])
    _same(composition.fit(P), bare_simplex.dirichlet_by_distance(P)[0])
    calls = {
        "solid": _fit(on_solid, X),
        "bare solid": partial(bare_simplex.gaussian_by_distance, X),
        "parts": _fit(on_parts, Y),
        "bare parts": lambda: bare_simplex.gaussian_by_distance(Y[:, :9]),
        "dirichlet": _fit(composition, P),
        "bare dirichlet": partial(bare_simplex.dirichlet_by_distance, P),
    }
    return Case(
        calls,
        [
            Comparison("truncated SM, Gaussian on SolidSimplex(10)", "solid", "its arithmetic", "bare solid", 3.0),
            Comparison("truncated SM, Gaussian on Simplex(10)", "parts", "its arithmetic", "bare parts", 3.0),
            Comparison("truncated SM, Dirichlet(10)", "dirichlet", "its arithmetic", "bare dirichlet", 3.0),
        ],
    )


def diagonal() -> Case:
    """400 columns without interactions: 800 parameters in pairs that do not see each other."""
    X = np.random.default_rng(0).normal(1.0, 2.0, (2000, 400))
    estimator, what = zf.Gaussian(structure="diagonal", check=False), "Gaussian, K diagonal, d = 400, N = 2000"

    def with_errors():
        fitted = estimator.fit(X)
        return fitted.precision_se_, fitted.mean_se_

    return Case(
        {"fit": _fit(estimator, X), "errors": with_errors, "numpy": lambda: (X.mean(axis=0), X.var(axis=0))},
        [
            Comparison(what, "fit", "numpy's mean and var", "numpy", None, 0.5),
            Comparison(f"{what}, errors of K and μ", "errors", "numpy's mean and var", "numpy", None, 0.5),
        ],
    )


CASES: dict[str, Callable[[], Case]] = {
    "small": small,
    "dirichlet": dirichlet,
    "distance": by_distance,
    "million": many_rows,
    "million-auto": partial(chosen, "auto"),
    "million-search": partial(chosen, "search"),
    "diagonal": diagonal,
    "k50": partial(high_dimension, 50, 3.0),
    "k100": partial(high_dimension, 100, 4.0),
}


def cases(words: list[str]) -> Iterator[tuple[str, Case]]:
    """Those whose name starts with one of the words, made when it is their turn; all without any."""
    for name, make in CASES.items():
        if not words or any(name.startswith(word) for word in words):
            yield name, make()


def _same(estimator, found: bare.Estimate) -> None:
    """The arithmetic that is timed is that of the fit."""
    result = estimator.result_
    error = np.sqrt(np.diagonal(result.working_covariance))
    worst = max(
        np.abs((found.theta - result.working_theta) / error).max(),
        np.abs((found.covariance - result.working_covariance) / np.multiply.outer(error, error)).max(),
    )
    if not worst < 1e-8:
        raise AssertionError(f"the bare arithmetic is off by {worst:.1e} standard errors.")
