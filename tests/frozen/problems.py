"""Problems over all domains, models and generators whose answers are kept, to hold a reshaped library to them.

`python -m tests.frozen.problems` writes the answers of the library as it is; do that only when an answer is meant to change, and say so in the changelog.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import zfree as zf
from tests.contracts.tables import DOMAINS
from tests.sampling import interior
from zfree.errors import ZfreeError

ANSWERS = Path(__file__).with_name("answers.jsonl")
ROWS = 150
Fit = Callable[[], Any]

GENERATORS = {
    "auto": "auto",
    "search": "search",
    "Barrier(4/3, 1/2)": zf.Barrier(),
    "Barrier(1.2, 0)": zf.Barrier(1.2, 0.0),
    "phi1": "phi1",
    "phi3": "phi3",
    "distance": zf.BoundaryDistance(scale="natural"),
    "section": zf.SectionDistance("x", scale="natural"),
    "Stein": zf.SteinBarrier(),
}
WEIGHTS = {
    "x": zf.CoordinateWeight("x"),
    "x^2": zf.CoordinateWeight("x^2"),
    "min(x, .5)": zf.CoordinateWeight("x", cap=0.5),
}
PARTS = {**GENERATORS, "SteinMoments": zf.SteinMoments(), "GSM CD": "gsm-cd", "truncated SM": "truncated-sm"}


def problems() -> Iterator[tuple[str, Fit]]:
    """Names and fits; those that are refused by design are not among them."""
    yield from _gaussians()
    yield from _options()
    yield from _shares()
    yield from _positive()
    yield from _own()
    yield from _several_blocks()


def _gaussians() -> Iterator[tuple[str, Fit]]:
    for place, domain in DOMAINS.items():
        X = interior(domain, ROWS, seed=3)
        if place.startswith("Simplex") or "with-simplex" in place:
            continue  # a Gaussian there is one of the chart
        for name, generator in GENERATORS.items():
            yield f"Gaussian, {place}, {name}", _fit(zf.TruncatedGaussian(domain, generator, check=False), X)
    for place in ("Orthant", "SolidSimplex", "Ball", "Product"):
        X = interior(DOMAINS[place], ROWS, seed=5)
        members = zf.Combined([zf.Barrier(), zf.Barrier.log(0.0)])
        yield f"Gaussian, {place}, combined", _fit(zf.TruncatedGaussian(DOMAINS[place], members, check=False), X)
    X = interior(zf.Simplex(4), ROWS, seed=3)
    for name in ("auto", "search", "phi1", "distance", "section"):
        chosen = zf.TruncatedGaussian(zf.Simplex(4), GENERATORS[name], check=False)
        yield f"Gaussian, Simplex, {name}", _fit(chosen, X)


def _options() -> Iterator[tuple[str, Fit]]:
    d = 4
    rng = np.random.default_rng(11)
    X = np.abs(rng.standard_normal((ROWS, d)) @ (np.eye(d) + 0.3 * rng.standard_normal((d, d)))) + 0.05
    weight = rng.uniform(0.5, 2.0, ROWS)
    mask = np.eye(d, dtype=bool) | np.eye(d, k=1, dtype=bool) | np.eye(d, k=-1, dtype=bool)
    mean, K = np.full(d, 0.2), 2.0 * np.eye(d) + 0.2
    changes: dict[str, dict[str, Any]] = {
        "diagonal": {"structure": "diagonal"},
        "mask": {"mask": mask},
        "mean": {"mean": mean},
        "precision": {"precision": K},
        "ridge": {"ridge": 0.05},
        "fixed": {"fixed": {"K[0,1]": 0.0}},
        "cone": {"positive_definite": True},
        "sandwich": {"standard_errors": "sandwich"},
        "jackknife": {"standard_errors": "jackknife"},
        "target": {"target": "K"},
    }
    for name, change in changes.items():
        for generator in ("auto", "phi1"):
            est = zf.TruncatedGaussian(zf.Orthant(d), generator, check=False, **change)
            yield f"Gaussian, Orthant, {generator}, {name}", _fit(est, X)
    for generator in ("auto", "search", "phi1"):
        est = zf.TruncatedGaussian(zf.Orthant(d), generator, check=False)
        yield f"Gaussian, Orthant, {generator}, weights", _fit(est, X, sample_weight=weight)
    wide = np.abs(rng.standard_normal((80, 12))) + 0.02
    yield "Gaussian, Orthant(12), auto", _fit(zf.TruncatedGaussian(zf.Orthant(12), check=False), wide)
    yield "Gaussian, RealSpace(12)", _fit(zf.Gaussian(check=False), wide)


def _shares() -> Iterator[tuple[str, Fit]]:
    rng = np.random.default_rng(12)
    for d, alpha in ((3, [2.5, 3.0, 4.0]), (6, [1.5, 2.0, 2.5, 3.0, 4.0, 6.0])):
        P = rng.dirichlet(alpha, ROWS)
        for name, generator in PARTS.items():
            if name != "Stein":
                yield f"Dirichlet({d}), {name}", _fit(zf.Dirichlet(generator, check=False), P)
    yield "Dirichlet(6), drop first", _fit(zf.Dirichlet("gsm-cd", domain=zf.Simplex(6, drop=0), check=False), P)
    yield "Dirichlet(6), fixed", _fit(zf.Dirichlet(fixed={"alpha[0]": 1.5}, check=False), P)


def _positive() -> Iterator[tuple[str, Fit]]:
    rng = np.random.default_rng(13)
    X = rng.gamma([2.5, 3.0, 5.0], [1.0, 0.3, 2.0], (ROWS, 3))
    for name, generator in {**GENERATORS, **WEIGHTS, "SteinMoments": zf.SteinMoments()}.items():
        if name not in ("Stein", "SteinMoments", "phi3"):
            yield f"Exponential, {name}", _fit(zf.Exponential(generator, check=False), X)
            yield f"LogNormal, {name}", _fit(zf.LogNormal(generator, check=False), X / X.mean(axis=0))
        if name not in ("Stein", "phi3"):
            yield f"Gamma, {name}", _fit(zf.Gamma(generator, check=False), X)
    for a, b in ((0.5, 0.5), (1.5, 0.5), (0.5, 0.0), (1.0, 0.0), (2.0, 1.0)):
        for name in ("auto", "search", "Barrier(1.2, 0)"):
            est = zf.PowerInteraction(a, b, GENERATORS[name], check=False)
            yield f"PowerInteraction({a}, {b}), {name}", _fit(est, X / X.mean(axis=0))


def _own() -> Iterator[tuple[str, Fit]]:
    def waves(domain: zf.Domain, generator: Any) -> Any:
        d = domain.dimension
        return zf.ExponentialFamily(
            statistic=lambda X: np.stack([np.sin(X).sum(1), -(X**2).sum(1), X[:, 0]], 1),
            jacobian=lambda X: np.stack([np.cos(X), -2 * X, np.broadcast_to(np.eye(d)[0], X.shape)], 1),
            hessian=lambda X: np.stack(
                [
                    -np.sin(X)[:, :, None] * np.eye(d),
                    np.broadcast_to(-2 * np.eye(d), (len(X), d, d)),
                    np.zeros((len(X), d, d)),
                ],
                1,
            ),
            domain=domain,
            generator=generator,
            check=False,
        )

    for place in ("RealSpace", "Box", "Orthant", "SolidSimplex", "Polytope", "Ball"):
        for name in ("auto", "Barrier(1.2, 0)"):
            X = interior(DOMAINS[place], ROWS, seed=8)
            yield f"own family, {place}, {name}", _fit(waves(DOMAINS[place], GENERATORS[name]), X)


def _several_blocks() -> Iterator[tuple[str, Fit]]:
    """More rows than one block holds, by the jackknife of rows and of groups."""
    rng = np.random.default_rng(14)
    X = np.abs(rng.normal(0.5, 1.0, (2500, 30))) + 1e-3
    weight = rng.uniform(0.5, 2.0, 2500)
    for name in ("auto", "Barrier(1.2, 0)"):
        for structure, columns in (("diagonal", 30), ("full", 12)):
            est = zf.TruncatedGaussian(zf.Orthant(columns), GENERATORS[name], structure=structure, check=False)
            yield (
                f"Gaussian, Orthant({columns}), {structure}, 2500 rows, {name}",
                _fit(est, X[:, :columns], sample_weight=weight),
            )
    est = zf.Gamma(GENERATORS["Barrier(1.2, 0)"], standard_errors="jackknife", check=False)
    yield "Gamma(30), 2500 rows", _fit(est, X)
    yield "Gamma(30), 2500 rows, auto", _fit(zf.Gamma(check=False), X, sample_weight=weight)


def _fit(estimator: Any, X: np.ndarray, **options: Any) -> Fit:
    return lambda: estimator.fit(X, **options)


def answer(fit: Fit) -> dict[str, Any] | None:
    """What is kept of a fit; None where the library refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = fit().result_
        except ZfreeError:
            return None
    return {
        "generator": repr(result.generator),
        "theta": result.theta.tolist(),
        "standard_errors": None if result.standard_errors is None else result.standard_errors.tolist(),
    }


def write() -> None:
    """Keep the answers of the library as it is."""
    lines = []
    for name, fit in problems():
        found = answer(fit)
        if found is not None:
            lines.append(json.dumps({"problem": name, **found}, ensure_ascii=False) + "\n")
    ANSWERS.write_text("".join(lines), encoding="utf-8")
    print(f"{len(lines)} answers in {ANSWERS}")


if __name__ == "__main__":
    write()
