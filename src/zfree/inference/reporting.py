"""The summary of a result: what is said in its head, and which parameters it shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zfree.conversion import check_level, shown, whole_number
from zfree.errors import SpecificationError
from zfree.inference.result import FitResult
from zfree.inference.summary import Estimates, Summary
from zfree.inference.uncertainty import CHEAP

UNITS_MATTER = 1e6
"""κ(Γ_N) from which a summary also says what it is without units."""


def summarise(result: FitResult, which: str | Sequence[str] | None, level: float, rows: int | None) -> Summary:
    """See :meth:`FitResult.summary`."""
    if rows is not None:
        whole_number(rows, "rows")
    check_level(level)
    if which is not None and not isinstance(which, str | list | tuple):
        raise SpecificationError(f"which must be the name of a parametrisation or a list of them, got {shown(which)}.")
    chosen = result.model.reported if which is None else ((which,) if isinstance(which, str) else tuple(which))
    blocks = []
    for name in chosen:
        p = result.parameters(name)
        blocks.append(Estimates(name, p, None if p.refused else p.conf_int(level)))
    trace = result.total_variance if result.uncertainty.kind else np.nan
    header = (
        ("domain", repr(result.domain)),
        ("generator", _generator(result)),
        ("rows", f"{result.n_observations}"),
        ("free parameters", f"{int(result.free.sum())}"),
        *([] if np.isnan(trace) else [("Tr(Σ̂)", f"{trace:.4g}")]),
        ("κ(Γ_N)", _condition(result)),
        ("standard errors", _errors(result)),
        *([("fit check", result.fit_check.verdict)] if result.fit_check else []),
        *([("J test", f"p = {result.j_test.p_value:.3g}")] if result.j_test else []),
    )
    return Summary(result.model.title, header, tuple(blocks), level, result.notes, result.remarks, rows)


def _condition(result: FitResult) -> str:
    if len(result.theta) > CHEAP:
        return f"about {1.0 / result.reciprocal_condition:.2g} without units"
    plain = f"{result.condition_number:.4g}"
    if result.condition_number < UNITS_MATTER:
        return plain
    return f"{plain} in the units of these columns; {result.scaled_condition_number:.4g} without units"


def _errors(result: FitResult) -> str:
    if result.uncertainty.kind is None:
        return "not computed (covariance=None)"
    if np.isnan(result.total_variance):
        return "not available, see the notes"
    if result.uncertainty.kind == "diagonal":
        return f"{result.covariance_type}; the covariance between parameters was not computed"
    if result.jackknife is None:
        return "sandwich, normal intervals"
    df = result.degrees_of_freedom[result.free]
    return f"{result.jackknife.kind}, t with {df.min():.0f} to {df.max():.0f} degrees of freedom, bias corrected"


def _generator(result: FitResult) -> str:
    if result.combination is not None:
        many = len(result.combination.generators)
        return f"{many} combined ({result.combination.shrinkage}), first {result.generator!r}"
    record = result.selection
    how = "" if record is None else (" (by theory)" if record.by_theory else " (chosen from the data)")
    return f"{result.generator!r}{how}"
