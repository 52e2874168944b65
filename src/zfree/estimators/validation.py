"""From whatever a user passes to a clean float array. Every refusal names the place and the remedy."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from zfree.arrays import Array
from zfree.conversion import is_number, real_array, shown
from zfree.domains import Domain
from zfree.errors import DataError, DataTypeError, SpecificationError
from zfree.estimators.refusals import explain_not_finite, explain_refusal, explain_type


def read_table(estimator: BaseEstimator, X: Any, *, reset: bool, one_dimensional: bool) -> Array:
    """A finite float64 array (N, d); never the caller's memory written to."""
    refusal = explain_type(X)
    if refusal is not None:
        raise DataError(refusal)
    try:
        if one_dimensional and _is_flat(X):
            X = _as_column(X)
        array: Array = validate_data(
            estimator, X, reset=reset, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=1
        )
    except (ValueError, OverflowError) as error:
        raise DataError(explain_refusal(X, error, getattr(estimator, "feature_names_in_", None))) from error
    except TypeError as error:
        raise DataTypeError(f"{explain_refusal(X, error, None)} ({error})") from error
    with np.errstate(over="ignore", invalid="ignore"):
        total = array.sum()  # one pass without a temporary: only a suspicious sum is looked into
    if not np.isfinite(total) and not np.isfinite(array).all():
        raise DataError(explain_not_finite(array, column_names(estimator, array.shape[1])))
    return array


def _is_flat(X: Any) -> bool:
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    return len(shape) == 1


def _as_column(X: Any) -> Any:
    """One column from a series, with its name, or from a vector."""
    named = isinstance(getattr(X, "name", None), str) and X.name and hasattr(X, "to_frame")
    return X.to_frame() if named else np.asarray(X)[:, None]


def column_names(estimator: BaseEstimator, n_columns: int, written: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Names of the columns as the data gave them, or as the domain was written, or x1, x2, …"""
    names = getattr(estimator, "feature_names_in_", written)
    return tuple(f"x{j + 1}" for j in range(n_columns)) if names is None else tuple(map(str, names))


def check_domain(domain: Any, estimator: BaseEstimator, n_columns: int) -> Domain:
    """A domain with as many columns as the data, in the same order where both have names."""
    if not isinstance(domain, Domain):
        raise SpecificationError(f"domain must be a domain such as zf.Orthant({n_columns}), got {shown(domain)}.")
    found: Domain = domain.for_columns(n_columns)
    if found.dimension != n_columns:
        raise DataError(
            f"X has {n_columns} columns but the domain {domain!r} has {found.dimension}. "
            "Select the columns that live on this domain, or use another one."
        )
    given = getattr(estimator, "feature_names_in_", None)
    if found.columns is None or given is None or tuple(found.columns) == tuple(given):
        return found
    place = next(j for j, (a, b) in enumerate(zip(given, found.columns, strict=True)) if a != b)
    raise DataError(
        f"column {place} of X is {given[place]!r}, but the domain was written for {found.columns[place]!r} there. "
        f"Reorder the columns: X[{list(found.columns)}]."
    )


def check_weight(sample_weight: Any, n_rows: int) -> Array | None:
    """Non-negative finite weights, one per row."""
    if sample_weight is None:
        return None
    weight = real_array(sample_weight, "sample_weight", DataError)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise DataError(f"sample_weight must have one entry per row: shape ({n_rows},), got {weight.shape}.")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise DataError(
            f"sample_weight[{bad[0]}] = {weight[bad[0]]:.6g}: weights must be finite and not negative. "
            "Give a row that should not count the weight 0, or leave it out."
        )
    if not weight.any():
        raise DataError("all sample weights are zero: there is nothing to fit. Give some row a positive weight.")
    return weight


def check_rows(n_rows: int, weight: Array | None, note: str) -> None:
    """What is left inside the domain must be more than one row, with some weight."""
    left = f" ({note.rstrip('.')})" if note else ""
    if n_rows < 2:
        raise DataError(f"n_samples={n_rows}: at least 2 rows inside the domain are needed{left}. Collect more rows.")
    if weight is not None and not weight.any():
        raise DataError(f"the rows that are left{left} all have sample weight zero: there is nothing to fit.")


def check_not_negative(value: Any, name: str) -> None:
    """A parameter that must be a number ≥ 0."""
    if not is_number(value) or not 0 <= value < np.inf:
        raise SpecificationError(f"{name} must be a number ≥ 0, got {shown(value)}.")


def check_fixed(fixed: Any) -> Mapping[str, float]:
    """Known values by the name of their parameter."""
    if fixed is None:
        return {}
    if not isinstance(fixed, Mapping):
        raise SpecificationError(
            f'fixed must map names of parameters to numbers, as in {{"K[x1,x2]": 0.0}}, got {shown(fixed)}.'
        )
    for name, value in fixed.items():
        if not isinstance(name, str):
            raise SpecificationError(
                f'fixed must name its parameters, as in {{"K[x1,x2]": 0.0}}; {shown(name)} is not the name of one.'
            )
        if not is_number(value) or not abs(value) < sys.float_info.max:
            raise SpecificationError(f"the known value of {name} must be a finite number, got {shown(value)}.")
    return {name: float(value) for name, value in fixed.items()}


def check_target(target: Any) -> None:
    """What the choice of a generator minimises: a name, or a matrix of finite real numbers."""
    if isinstance(target, str):
        return
    matrix = real_array(target, "target", SpecificationError)
    if matrix.ndim != 2 or not np.isfinite(matrix).all():
        raise SpecificationError(
            f'target must be "information", "natural", a parametrisation of the model, or a square matrix, got {shown(target)}.'
        )


def as_numbers(values: Any, what: str) -> Array:
    """A float array of known values, or an error that names `what`."""
    return real_array(values, what, SpecificationError)
