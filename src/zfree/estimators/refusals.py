"""Why a table was refused: the row, the column and what to do, in place of a conversion error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from zfree.arrays import Array
from zfree.conversion import masked_place, shown

_REPLACED = {
    "Complex data not supported": "Complex data not supported: the domains are real. Pass X.real, X.imag or np.abs(X).",
    "Expected 2D array": (
        "Expected 2D array, rows by columns, but X has {ndim} dimension(s). Reshape your data: X.reshape(-1, 1) if it is one "
        "column, X.reshape(1, -1) if it is one row."
    ),
    "Found array with dim": (
        "Found array with dim {ndim}, but X must have 2: rows by columns. Pass one slice, or X.reshape(len(X), -1)."
    ),
    "inhomogeneous shape": "the rows of X have different lengths. Give every row one value per column (NaN is not accepted).",
}
"""What scikit-learn or numpy say (often with the whole array printed), and what is said instead."""

_REMEDIES = {
    "0 sample(s)": "There are no rows: check the filter or the file that X comes from.",
    "0 feature(s)": "There are no columns: select at least one numeric column.",
    "is expecting": "Pass the columns the estimator was fitted on.",
    "feature names should match": "Reorder the columns: X[{names}].",
}
"""What is added to messages that say what is wrong, but not what to do."""


def explain_type(X: Any) -> str | None:
    """Why an object of this type is not read at all."""
    if type(X).__name__ == "LazyFrame":
        return "X is a lazy frame, which holds no data yet: pass X.collect() instead."
    if issparse(X):
        return "Sparse input is not supported: score matching needs every value. Pass X.toarray()."
    if isinstance(X, dict):
        return "X is a dict, not a table: pass pandas.DataFrame(X), or numpy.column_stack(list(X.values()))."
    if X is None or isinstance(X, str | bytes | set | frozenset | Iterator) or callable(X):
        return f"X must be a table of numbers, rows by columns, got {shown(X)}."
    place = masked_place(X)
    if place is not None:
        where = f"row {place[0]}" + (f", column 'x{place[1] + 1}'" if len(place) > 1 else "")
        return (
            f"X is masked in {where}: that entry has no value. Drop the masked rows, "
            "X[~numpy.ma.getmaskarray(X).any(axis=1)], or fill them first (numpy.ma.filled)."
        )
    if getattr(getattr(X, "dtype", None), "names", None):
        return (
            f"X is a structured array with the fields {', '.join(X.dtype.names)}, not a table. Pass pandas.DataFrame(X), or "
            "numpy.lib.recfunctions.structured_to_unstructured(X)."
        )
    is_frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    for column, dtype in enumerate(X.dtypes if is_frame else [getattr(X, "dtype", None)]):
        # numpy would turn dates into counts of nanoseconds without a word.
        if getattr(dtype, "kind", None) == "c":
            where = f"column {X.columns[column]!r} of X holds complex numbers. " if is_frame else ""
            return where + _REPLACED["Complex data not supported"]
        if getattr(dtype, "kind", None) in ("m", "M") or getattr(dtype, "is_temporal", bool)():
            where = f"column {X.columns[column]!r} of X" if is_frame else "X"
            return f"{where} holds dates or durations ({dtype}), not numbers. Convert them to a number in a unit you choose."
    return None


def explain_refusal(X: Any, error: Exception, names: Sequence[str] | None) -> str:
    """The message of `error`, or a better one."""
    text = _explain_cell(X)
    if text is not None:
        return text
    message = str(error)
    for part, instead in _REPLACED.items():
        if part in message:
            return instead.format(ndim=np.asarray(X, dtype=object).ndim) if "{ndim}" in instead else instead
    for part, remedy in _REMEDIES.items():
        if part in message:
            return f"{message.rstrip()} {remedy.format(names=None if names is None else list(names))}"
    return message


def explain_not_finite(array: Array, names: Sequence[str]) -> str:
    """Where the first value is that is not finite, and how many rows have one."""
    finite = np.isfinite(array)
    row, column = np.argwhere(~finite)[0]
    value = array[row, column]
    kind = "NaN (a missing value)" if np.isnan(value) else f"{'-' if value < 0 else ''}infinity"
    return (
        f"X contains {kind} in row {row}, column {names[column]!r}; {int((~finite).any(axis=1).sum())} of {len(array)} rows "
        "hold NaN or infinite values. Drop those rows, or impute them first."
    )


def _explain_cell(X: Any) -> str | None:
    """Where a table holds something that is not a number."""
    try:
        cells = np.asarray(X, dtype=object)
    except ValueError:
        return None
    if cells.ndim != 2:
        return None
    labels = getattr(X, "columns", None)
    for row, column in np.ndindex(*cells.shape):
        what = _not_a_number(cells[row, column])
        if what is not None:
            label = f"column {column}" if labels is None else f"column {labels[column]!r}"
            return f"row {row}, {label} holds {what}"
    return None


def _not_a_number(cell: Any) -> str | None:
    """What is wrong with a cell, and what to do about it; None if it can be read as a number."""
    try:
        float(cell)
    except OverflowError:
        return "an integer beyond the range of floating point. Divide the column by a unit."
    except (TypeError, ValueError):
        if isinstance(cell, str | bytes):
            return f"the text {shown(cell)}, not a number. Select the numeric columns, or encode this one."
        if isinstance(cell, complex):
            return f"the complex number {cell}: the domains are real. Pass X.real, X.imag or np.abs(X)."
        if type(cell).__name__ == "NAType":
            return "a missing value. Drop such rows, or impute them first."
        return f"{shown(cell)}, not a number. Give every row one number per column."
    return None
