"""Malformed inputs of a fit: its data, its weights, its options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

import zfree as zf
from benchmarks.malformed_inputs import BARRIER, INF, NAN, ODD, Case, P, X, hidden

SERIES = X[:, 0]


def fit(table: Any = X, sample_weight: Any = None, **options: Any) -> Any:
    return zf.TruncatedGaussian(**({"generator": BARRIER} | options)).fit(table, sample_weight=sample_weight)


def _put(table: Any, value: float) -> Any:
    out = np.array(table, dtype=float)
    out[4, 1] = value
    return out


def without(*names: str, **more: Any) -> dict[str, Any]:
    return {k: v for k, v in (ODD | more).items() if k not in names}


TABLES: dict[str, Callable[[Any], Any]] = {
    "NaN": lambda A: _put(A, NAN),
    "infinity": lambda A: _put(A, INF),
    "minus infinity": lambda A: _put(A, -INF),
    "negative": lambda A: _put(A, -1.0),
    "zero": lambda A: _put(A, 0.0),
    "huge": lambda A: _put(A, 1e300),
    "masked": lambda A: hidden(A, 4, 1),
    "masked rows": lambda A: list(hidden(A, 4, 1)),
    "complex": lambda A: A + 0j,
    "complex objects": lambda A: (A + 1j).astype(object),
    "text": lambda A: A.astype(str).astype(object) + "?",
    "dates": lambda A: A.astype("datetime64[s]"),
    "dict": lambda A: {"a": A[:, 0]},
    "structured": lambda A: np.array([tuple(row) for row in A], dtype=[(f"f{j}", float) for j in range(A.shape[1])]),
    "sparse": lambda A: sparse.csr_matrix(A),
    "lazy": lambda A: pl.DataFrame(A).lazy(),
    "generator": iter,
    "None": lambda A: None,
    "number": lambda A: 5.0,
    "name of a file": lambda A: "data.csv",
    "set": lambda A: {1.0, 2.0},
    "three dimensions": lambda A: A[None],
    "no rows": lambda A: A[:0],
    "no columns": lambda A: A[:, :0],
    "one row": lambda A: A[:1],
    "ragged": lambda A: [[1.0], [1.0, 2.0]],
    "400 digits": lambda A: [[10**400] * A.shape[1]] * 9,
    "list in a cell": lambda A: pd.DataFrame({"a": [[1], [2]], "b": [1.0, 2.0]}),
    "missing of pandas": lambda A: pd.DataFrame({"a": [1.0, pd.NA], "b": [1.0, 2.0]}),
    "null of polars": lambda A: pl.DataFrame({"a": [1.0, None], "b": [1.0, 2.0]}),
    "column twice": lambda A: pd.DataFrame(A, columns=["a"] * A.shape[1]),
    "class": lambda A: np.ndarray,
}
ESTIMATORS: dict[str, tuple[Callable[[], Any], Any]] = {
    "TruncatedGaussian": (lambda: zf.TruncatedGaussian(generator=BARRIER), X),
    "Dirichlet": (lambda: zf.Dirichlet(BARRIER), P),
    "Gamma": (lambda: zf.Gamma(BARRIER), X),
}
FRAMES = ("list in a cell", "missing of pandas", "null of polars", "column twice")
"""scikit-learn itself warns of names that come after a fit without any."""


def data() -> Iterator[Case]:
    """Estimator × bad data, at the fit and after it."""
    for label, (build, table) in ESTIMATORS.items():
        for name, spoil in TABLES.items():
            yield Case("data", f"{label}.fit: {name}", lambda b=build, s=spoil, t=table: b().fit(s(t)))
    fitted = fit()
    for name, spoil in TABLES.items():
        if name not in ("one row", *FRAMES):
            if name != "huge":
                yield Case("data", f"log_density: {name}", lambda s=spoil: fitted.log_density(s(X)))
            yield Case("data", f"score: {name}", lambda s=spoil: fitted.score(s(X)))
    yield Case("data", "log_density: huge", lambda: fitted.log_density(_put(X, 1e300)), lambda v: v[4] == -INF)
    yield Case("data", "log_density: one row", lambda: fitted.log_density(X[:1]), lambda v: v.shape == (1,))
    plain = zf.Gaussian().fit(X).precision_
    yield Case(
        "data", "negative on the whole space", lambda: zf.Gaussian().fit(-X).precision_, lambda K: np.allclose(K, plain)
    )
    reference = fit().precision_
    for name, same in {
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "list": np.ndarray.tolist,
        "no mask": np.ma.masked_array,
    }.items():
        yield Case(
            "data", f"{name} is a table", lambda s=same: fit(s(X)).precision_, lambda K: np.allclose(K, reference)
        )
    column = fit(X[:, :1]).precision_
    for name, same in {"a vector": np.array, "a series": pd.Series, "a polars series": pl.Series}.items():
        yield Case(
            "data",
            f"{name} is a column",
            lambda s=same: fit(s(SERIES)).precision_,
            lambda K: np.allclose(K, column),
        )


def weights() -> Iterator[Case]:
    """Bad sample weights."""
    one = np.ones(60)
    bad: dict[str, Any] = without(
        "None",
        negative=-one,
        zero=0 * one,
        nan_entry=np.where(np.arange(60) == 2, NAN, 1.0),
        infinite=np.where(np.arange(60) == 2, INF, 1.0),
        hidden=hidden(one, 2),
        imaginary=one + 0j,
        texts=["1"] * 60,
        short=one[:5],
        column=one[:, None],
        missing=[None] * 60,
        digits=[10**400] * 60,
    )
    for name, value in bad.items():
        yield Case("weights", name, lambda v=value: fit(sample_weight=v))
    half = np.arange(60) % 2
    reference, rest = fit().precision_, fit(X[half > 0]).precision_
    for name, value in {"one number": 3.0, "booleans": one > 0, "integers": [2] * 60}.items():
        yield Case(
            "weights", name, lambda v=value: fit(sample_weight=v).precision_, lambda K: np.allclose(K, reference)
        )
    yield Case(
        "weights", "zeros leave rows out", lambda: fit(sample_weight=half).precision_, lambda K: np.allclose(K, rest)
    )


OPTIONS: dict[str, tuple[Callable[[Any], Any], dict[str, Any]]] = {
    "ridge": (lambda v: fit(ridge=v), without(negative=-1.0, infinite=INF, true=True)),
    "target": (
        lambda v: fit(generator="auto", target=v),
        without(
            small=np.eye(2),
            negative=-np.eye(5),
            nan=np.full((5, 5), NAN),
            asymmetric=np.triu(np.ones((5, 5))),
            imaginary=np.eye(5) * 1j,
        ),
    ),
    "boundary": (lambda v: fit(boundary=v), without(capital="Drop", number=1)),
    "boundary_eps": (lambda v: fit(boundary="clip", boundary_eps=v), without(zero=0.0, negative=-1.0, infinite=INF)),
    "structure": (lambda v: fit(structure=v), without(capital="Full")),
    "mask": (
        lambda v: fit(mask=v),
        without(
            "None",
            nan=np.full((2, 2), NAN),
            texts=[["False"] * 2] * 2,
            twos=2 * np.ones((2, 2)),
            asymmetric=np.triu(np.ones((2, 2))),
            hidden=hidden(np.eye(2), 0, 1),
            imaginary=np.eye(2) + 0j,
            objects=np.full((2, 2), object()),
        ),
    ),
    "mean": (
        lambda v: fit(mean=v),
        without("None", "two", infinite=[INF, 0.0], imaginary=[1j, 0.0], hidden=hidden([1, 1], 0)),
    ),
    "precision": (
        lambda v: fit(precision=v),
        without(
            "None",
            infinite=np.full((2, 2), INF),
            asymmetric=np.triu(np.ones((2, 2))),
            hidden=hidden(np.eye(2), 0, 0),
            imaginary=np.eye(2) * 1j,
        ),
    ),
    "fixed": (
        lambda v: fit(fixed=v),
        without(
            "None",
            "dict",
            number={5: 1.0},
            unknown={"K": 1.0},
            text={"K[x1,x2]": "0"},
            nan={"K[x1,x2]": NAN},
            digits={"K[x1,x2]": 10**400},
            imaginary={"K[x1,x2]": 1j},
            hidden={"K[x1,x2]": np.ma.masked},
            several={"K[x1,x2]": np.ones(2)},
        ),
    ),
    "generator": (lambda v: fit(generator=v), without(number=5, names=["phi1", 5], unknown="phi9")),
    "domain": (lambda v: fit(domain=v), without("None", width=zf.Orthant(3))),
    "positive_definite": (lambda v: fit(positive_definite=v), without(number=1, false="False")),
    "exponent a": (lambda v: zf.PowerInteraction(a=v, generator=BARRIER).fit(X), without(negative=-1.0, infinite=INF)),
    "statistic": (lambda v: zf.ExponentialFamily(v).fit(X), without("function", "class", number=5)),
    "rank candidates": (lambda v: zf.rank(zf.Gamma(), X, v), without(names=["phi9"], generator=BARRIER)),
    "rank estimator": (lambda v: zf.rank(v, X, [BARRIER]), ODD),
}


def options() -> Iterator[Case]:
    """Fit × bad argument."""
    for option, (run, values) in OPTIONS.items():
        for name, value in values.items():
            yield Case("fit", f"{option} = {name}", lambda r=run, v=value: r(v))
    held = {"K[x1,x2]": 0.25}
    yield Case("fit", "fixed = {}", lambda: fit(fixed={}).precision_, lambda K: np.array_equal(K, fit().precision_))
    yield Case("fit", "fixed holds", lambda: fit(fixed=held).precision_, lambda K: K[0, 1] == 0.25)
    yield Case("fit", "mask of 0 and 1", lambda: fit(mask=[[1, 0], [0, 1]]).precision_, lambda K: K[0, 1] == 0.0)
