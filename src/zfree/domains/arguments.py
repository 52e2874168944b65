"""Checks shared by the constructors of domains."""

from __future__ import annotations

from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.conversion import is_whole, real_array, shown
from zfree.domains.linear_programs import balanced
from zfree.errors import InvalidDomainError, SpecificationError

WIDEST = 10**9
"""Columns that a domain may have: a row of as many numbers takes 8 GB."""
LARGEST = 1e150
"""Lengths beyond it, or below its inverse, have no square."""


def check_dimension(d: Any, smallest: int = 1) -> None:
    """A dimension is a whole number of at least `smallest`, and not larger than an array can be wide."""
    if not is_whole(d) or not smallest <= d <= WIDEST:
        raise InvalidDomainError(f"the dimension must be a whole number ≥ {smallest}, got {shown(d)}.")


def as_vector(values: Any, what: str, *, finite: bool = True) -> Array:
    """A one-dimensional float array, read-only, or an error that names `what`."""
    return _own(np.atleast_1d(real_array(values, what, InvalidDomainError)), values, what, finite)


def as_side(values: Any, what: str) -> Array:
    """A bound for every column: a vector, or one number (shape ()), which stands for as many columns as there are."""
    return _own(real_array(values, what, InvalidDomainError), values, what, finite=False)


def _own(given: Array, values: Any, what: str, finite: bool) -> Array:
    if given.ndim > 1 or given.size == 0:
        raise InvalidDomainError(f"{what} must be a non-empty vector, got shape {given.shape}.")
    if np.isnan(given).any() or (finite and not np.isfinite(given).all()):
        raise InvalidDomainError(f"{what} must be finite numbers, got {shown(values)}.")
    vector = given.copy()
    vector.flags.writeable = False
    return vector


def check_squares(values: Array, what: str, remedy: str) -> None:
    """Lengths whose squares are finite and, unless the length is zero, not zero."""
    sizes = np.abs(values[values != 0])
    bad = sizes[(sizes > LARGEST) | (sizes < 1.0 / LARGEST)]
    if bad.size:
        raise InvalidDomainError(
            f"{what} holds {bad[0]:.3g}, whose square is out of the range of floating point. {remedy}"
        )


def check_affine(B: Array, c: Array, d: int) -> tuple[Array, Array]:
    """Validate an invertible affine map of ℝᵈ."""
    B, c = real_array(B, "B of an affine map"), real_array(c, "c of an affine map")
    if B.shape != (d, d) or c.shape != (d,):
        raise SpecificationError(f"an affine map of ℝ^{d} needs B of shape ({d}, {d}) and c of shape ({d},).")
    if not np.isfinite(c).all():
        raise SpecificationError("c of an affine map must be finite numbers.")
    if not np.all(np.isfinite(B)) or np.linalg.cond(balanced(B)[0]) > 1e14:
        raise SpecificationError("B must be invertible: it would flatten the domain.")
    return B, c
