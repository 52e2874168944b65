"""Checks shared by the constructors of domains."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.errors import InvalidDomainError


def check_dimension(d: Any, smallest: int = 1) -> None:
    """A dimension is a whole number of at least `smallest`."""
    if isinstance(d, bool) or not isinstance(d, Integral) or d < smallest:
        raise InvalidDomainError(f"the dimension must be a whole number ≥ {smallest}, got {d!r}.")


def as_vector(values: Any, what: str, *, finite: bool = True) -> Array:
    """A one-dimensional float array, read-only, or an error that names `what`."""
    try:
        vector = np.array(values, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError) as error:
        raise InvalidDomainError(f"{what} must be numbers, got {values!r}.") from error
    if vector.ndim != 1 or vector.size == 0:
        raise InvalidDomainError(f"{what} must be a non-empty vector, got shape {vector.shape}.")
    if np.isnan(vector).any() or (finite and not np.isfinite(vector).all()):
        raise InvalidDomainError(f"{what} must be finite numbers, got {values!r}.")
    vector.flags.writeable = False
    return vector
