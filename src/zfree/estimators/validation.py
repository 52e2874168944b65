"""From whatever a user passes to a clean float array on the domain. Every refusal names the place and the remedy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import BoundaryError, DataError, DomainError, SpecificationError


def read_table(estimator: BaseEstimator, X: Any, *, reset: bool, one_dimensional: bool) -> Array:
    """A finite float64 array (N, d); never the caller's memory written to."""
    if type(X).__name__ == "LazyFrame":
        raise DataError("X is a lazy frame, which holds no data yet: pass X.collect() instead.")
    if issparse(X):
        raise DataError("Sparse input is not supported: score matching needs every value. Pass X.toarray().")
    if one_dimensional and np.ndim(X) == 1 and not isinstance(X, str):
        X = np.asarray(X)[:, None]
    try:
        array: Array = validate_data(
            estimator, X, reset=reset, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=1
        )
    except ValueError as error:
        raise DataError(_explain_text(X) or str(error)) from error
    if not np.isfinite(array.sum()) and not np.isfinite(array).all():
        raise DataError(_explain_not_finite(array, column_names(estimator, array.shape[1])))
    return array


def column_names(estimator: BaseEstimator, n_columns: int) -> tuple[str, ...]:
    """Names of the columns as the data gave them, or x1, x2, …"""
    names = getattr(estimator, "feature_names_in_", None)
    return tuple(f"x{j + 1}" for j in range(n_columns)) if names is None else tuple(map(str, names))


def check_columns(domain: Domain, estimator: BaseEstimator, n_columns: int) -> None:
    """The domain must have as many columns as the data, in the same order where both have names."""
    if domain.dimension != n_columns:
        raise DataError(
            f"X has {n_columns} columns but the domain {domain!r} has {domain.dimension}. "
            "Select the columns that live on this domain, or use another one."
        )
    given = getattr(estimator, "feature_names_in_", None)
    if domain.columns is None or given is None or tuple(domain.columns) == tuple(given):
        return
    place = next(j for j, (a, b) in enumerate(zip(given, domain.columns, strict=True)) if a != b)
    raise DataError(
        f"column {place} of X is {given[place]!r}, but the domain was written for {domain.columns[place]!r} there. "
        f"Reorder the columns: X[{list(domain.columns)}]."
    )


def check_weight(sample_weight: Any, n_rows: int) -> Array | None:
    """Non-negative finite weights, one per row."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise DataError(f"sample_weight must have one entry per row: shape ({n_rows},), got {weight.shape}.")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise DataError(f"sample_weight[{bad[0]}] = {weight[bad[0]]!r}: weights must be finite and not negative.")
    if not weight.any():
        raise DataError("all sample weights are zero: there is nothing to fit.")
    return weight


class InsideRows(NamedTuple):
    """Rows strictly inside the domain, their weights, and what was done to get them there."""

    X: Array
    weight: Array | None
    note: str


def keep_inside(
    domain: Domain,
    X: Array,
    weight: Array | None,
    names: tuple[str, ...],
    boundary: str,
    epsilon: float | None,
) -> InsideRows:
    """Refuse rows outside the domain; raise on, drop or move the rows on its boundary."""
    if boundary not in ("raise", "drop", "clip"):
        raise SpecificationError(f'boundary must be "raise", "drop" or "clip", got {boundary!r}.')
    if boundary == "clip" and not (epsilon is not None and epsilon > 0):
        raise SpecificationError('boundary="clip" needs an explicit boundary_eps > 0, in the units of the data.')
    found = domain.explain(X, names)
    if not len(found):
        return InsideRows(domain.normalise(X), weight, "")
    outside = ~found.on_boundary
    if outside.any():
        first = int(np.flatnonzero(outside)[0])
        row = int(found.rows[first])
        raise DomainError(
            f"{int(outside.sum())} of {len(X)} rows lie outside {domain!r}. Row {row} breaks “{found.constraints[first]}” by "
            f"{found.amounts[first]:.3g}: {_show(X[row], names)}. "
            "Remove such rows, rescale the data, or choose a domain that contains them."
            + (" Divide each row by its sum (zf.Simplex.closure)." if "sum to 1" in found.constraints[first] else "")
        )
    if boundary == "raise":
        raise BoundaryError(
            f"{len(found)} of {len(X)} rows lie on the boundary of {domain!r}, where the model's score need not exist: "
            f'{found.describe()}. Pass boundary="drop" to leave them out, or boundary="clip" with boundary_eps= to move '
            "them inside (zeros of counts and compositions), or add the detection limit yourself."
        )
    if boundary == "drop":
        kept = np.ones(len(X), dtype=bool)
        kept[found.rows] = False
        if not kept.any():
            raise BoundaryError(f"every row lies on the boundary of {domain!r}: none is left after dropping them.")
        note = f"{len(found)} of {len(X)} rows on the boundary were dropped."
        return InsideRows(domain.normalise(X[kept]), None if weight is None else weight[kept], note)
    assert epsilon is not None
    moved = domain.clip(domain.normalise(X), epsilon)
    note = f"{len(found)} of {len(X)} rows on the boundary were moved inside with boundary_eps = {epsilon:g}."
    return InsideRows(moved, weight, note)


def _show(row: Array, names: tuple[str, ...], most: int = 6) -> str:
    shown = ", ".join(f"{name}={value:.6g}" for name, value in list(zip(names, row, strict=False))[:most])
    return shown + (", …" if len(row) > most else "")


def _explain_not_finite(array: Array, names: tuple[str, ...]) -> str:
    bad = np.argwhere(~np.isfinite(array))
    row, column = bad[0]
    value = array[row, column]
    kind = "NaN (missing)" if np.isnan(value) else "infinity"
    return (
        f"X contains {kind} or other non-finite values in {len(np.unique(bad[:, 0]))} rows; the first is row {row}, column "
        f"{names[column]!r}. Drop those rows or impute them first (NaN and inf are not accepted)."
    )


def _explain_text(X: Any) -> str | None:
    """Where a table holds something that is not a number."""
    try:
        cells = np.asarray(X, dtype=object)
    except ValueError:
        return None
    if cells.ndim != 2:
        return None
    labels = getattr(X, "columns", None)
    for row, column in np.ndindex(*cells.shape):
        cell = cells[row, column]
        if isinstance(cell, str | bytes):
            try:
                float(cell)
            except ValueError:
                label = f"column {column}" if labels is None else f"column {labels[column]!r}"
                return (
                    f"row {row}, {label} holds the text {cell!r}, not a number. "
                    "Select the numeric columns, or encode this one."
                )
    return None
