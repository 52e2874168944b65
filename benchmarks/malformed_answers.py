"""Malformed inputs after the options: functions of the user's, and questions to a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

import zfree as zf
from benchmarks.malformed_inputs import BARRIER, INF, NAN, ODD, Case, P, X
from benchmarks.malformed_uses import TABLES, fit, without

WRONG: dict[str, Callable[[Any], Any]] = {
    "another shape": lambda x: x[:3],
    "text": lambda x: "x",
    "nothing": lambda x: None,
    "complex": lambda x: x + 1j,
    "an error": lambda x: x[:, 99],
    "a dict": lambda x: {"x": x},
    "NaN": lambda x: x * NAN,
    "masked": lambda x: np.ma.masked_less(x, np.median(x)),
}


def functions() -> Iterator[Case]:
    """Functions of the user's that return, or do, the wrong thing."""
    fits: dict[str, Callable[[Any], Any]] = {
        "D of Custom": lambda f: fit(generator=zf.Custom(f, np.ones_like, vanishing_at_boundary=True)),
        "divergence of Custom": lambda f: fit(generator=zf.Custom(np.abs, f, vanishing_at_boundary=True)),
        "CoordinateWeight": lambda f: fit(generator=zf.CoordinateWeight(f, np.ones_like)),
        "SectionDistance": lambda f: fit(generator=zf.SectionDistance(f, np.ones_like)),
        "SlackFunction": lambda f: fit(generator=zf.Barrier(potential=zf.SlackFunction(f, np.abs, decay=1.0))),
        "ConvexFunction": lambda f: fit(generator=zf.Barrier(potential=zf.ConvexFunction(hessian=f, third=f))),
        "statistic": lambda f: zf.ExponentialFamily(f, jacobian=np.abs, hessian=np.abs).fit(X),
        "jacobian": lambda f: zf.ExponentialFamily(np.abs, jacobian=f, hessian=np.abs).fit(X),
    }
    for where, run in fits.items():
        for name, wrong in WRONG.items():
            yield Case("function", f"{where} returns {name}", lambda r=run, w=wrong: r(w))

    def overwriting(x: Any) -> Any:
        out = x**2
        x[...] = -1.0
        return out

    def unchanged(generator: Any) -> Callable[[], Any]:
        def run() -> Any:
            rows = X.copy()
            fit(rows, generator=generator)
            return rows

        return run

    for where, generator in {
        "Custom": zf.Custom(overwriting, overwriting, vanishing_at_boundary=True),
        "CoordinateWeight": zf.CoordinateWeight(overwriting, overwriting),
        "SectionDistance": zf.SectionDistance(overwriting, overwriting),
    }.items():
        yield Case(
            "function", f"{where} overwrites its rows", unchanged(generator), lambda rows: np.array_equal(rows, X)
        )


def results() -> Iterator[Case]:
    """Questions to a result × bad argument."""
    est = fit()
    result = est.result_
    questions: dict[str, tuple[Callable[[Any], Any], dict[str, Any]]] = {
        "conf_int alpha": (
            lambda v: result.conf_int(alpha=v),
            without("None", zero=0.0, one=1.0, percent=5, true=True),
        ),
        "conf_int method": (lambda v: result.conf_int(method=v), ODD),
        "conf_int": (result.conf_int, without("None", zero=0.0, one=1.0, percent=95, true=True)),
        "parameters": (result.parameters, ODD),
        "summary": (result.summary, without("None", "empty")),
        "summary rows": (lambda v: result.summary(rows=v), without("None", zero=0, negative=-1, half=1.5)),
        "wald_test R": (
            result.wald_test,
            without("None", nan=np.full(5, NAN), zero=np.zeros(5), twice=np.ones((2, 5)), narrow=np.ones(3)),
        ),
        "wald_test value": (lambda v: result.wald_test(np.eye(5)[:1], v), without(infinite=INF)),
        "sample": (est.sample, without(half=1.5, zero=0, negative=-1, true=True, endless=10**15)),
        "random_state": (
            lambda v: est.sample(3, v),
            without("None", "empty", "400 digits", "two", half=1.5, negative=-1),
        ),
        "with_columns": (result.with_columns, without("two", "empty", short=["a"], twice=["a", "a"])),
    }
    for question, (ask, values) in questions.items():
        for name, value in values.items():
            yield Case("result", f"{question}({name})", lambda a=ask, v=value: a(v))
    for name, spoil in TABLES.items():
        if name not in ("one row", "column twice"):
            yield Case("result", f"score({name})", lambda s=spoil: result.score(s(X)))
    yield Case("result", "score(one row)", lambda: result.score(X[:1]), np.isfinite)
    twice = pd.DataFrame(X, columns=["a", "a"])
    yield Case("result", "score goes by position", lambda: result.score(twice), lambda v: v == result.score(X))
    for name in ("mean_", "precision_se_", "result_"):
        yield Case("result", f"unfitted {name}", lambda n=name: getattr(zf.TruncatedGaussian(), n))
    shares = P.round(4)
    closed = zf.Simplex.closure(shares)
    yield Case(
        "result",
        "closure keeps a frame",
        lambda: zf.Simplex.closure(pd.DataFrame(shares, columns=list("abc"))),
        lambda f: list(f.columns) == ["a", "b", "c"],
    )
    yield Case(
        "result",
        "four decimals are closed",
        lambda: zf.Dirichlet(BARRIER).fit(shares).alpha_,
        lambda a: np.allclose(a, zf.Dirichlet(BARRIER).fit(closed).alpha_),
    )
