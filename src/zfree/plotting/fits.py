"""What a plot is given: a result or a fitted estimator, rows as an array or a frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.conversion import real_array, shown
from zfree.errors import DataError, SpecificationError
from zfree.inference import FitResult


def as_result(fit: Any) -> FitResult:
    """The result of a fitted estimator, or the result itself."""
    result = fit if isinstance(fit, FitResult) else getattr(fit, "result_", None)
    if isinstance(result, FitResult):
        return result
    raise SpecificationError(f"a plot needs a fitted estimator or its result_, got {shown(fit)}. Call fit(X) first.")


def as_points(X: Any, n_columns: int) -> Array:
    """Rows to draw."""
    points = real_array(X, "X", DataError)
    if points.ndim != 2 or points.shape[1] != n_columns or not len(points):
        raise DataError(f"X must have shape (rows, {n_columns}), as the fit has columns; its shape is {points.shape}.")
    if not np.isfinite(points).all():
        raise DataError(f"X holds NaN or infinity in row {int(np.argwhere(~np.isfinite(points))[0][0])}: leave it out.")
    return points


def labels_for(result: FitResult, X: Any, columns: Any) -> list[str]:
    """Names of the axes: as asked for, as the frame has them, or as the fit knows them."""
    d = result.model.dimension
    default = getattr(result.model, "columns", tuple(f"x{j + 1}" for j in range(d)))
    names = columns if columns is not None else getattr(X, "columns", default)
    labels = [str(name) for name in names]
    if len(labels) != d:
        raise SpecificationError(f"{len(labels)} column names given for {d} columns.")
    return labels
