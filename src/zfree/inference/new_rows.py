"""Rows that come after the fit, straight to its result."""

from __future__ import annotations

from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.conversion import real_array
from zfree.domains import Domain
from zfree.errors import DataError, DomainError


def rows_inside(domain: Domain, X: Any) -> Array:
    """A table of finite numbers strictly inside the domain, in the coordinates of the model; or an error that names the row."""
    rows = real_array(X, "X", DataError)
    if rows.ndim != 2 or rows.shape[1] != domain.dimension:
        raise DataError(
            f"X must have shape (rows, {domain.dimension}), the columns of the fit; its shape is {rows.shape}."
        )
    if not len(rows):
        raise DataError("X has no rows: check the filter or the file that it comes from.")
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise DataError(
            f"X holds {rows[row, column]} in row {row}, column {column}. Drop such rows, or impute them first."
        )
    found = domain.explain(rows)
    if len(found):
        raise DomainError(
            f"{len(found)} of {len(rows)} rows are not inside {domain!r}: {found.describe()}. There is no score outside it or on its "
            "boundary; leave them out, or use the estimator's own score, which treats rows on the boundary as fit does."
        )
    return domain.normalise(rows)
