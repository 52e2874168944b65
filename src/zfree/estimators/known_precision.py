"""Which entries of a precision matrix are parameters, and which are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Index, Mask
from zfree.conversion import shown
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.estimators.size import check_pairs
from zfree.estimators.validation import as_numbers
from zfree.models import PairwiseModel
from zfree.solvers import Restriction


def chosen_pairs(domain: Domain, structure: str, mask: ArrayLike | None, covariance: str | None) -> tuple[Index, Index]:
    """Entries (j ≤ k) of K that may differ from zero, if they fit into memory."""
    d = domain.dimension
    if not isinstance(structure, str) or structure not in ("full", "diagonal"):
        raise SpecificationError(f'structure must be "full" or "diagonal", got {shown(structure)}.')
    if mask is None:
        pairs, most = (d * (d + 1) // 2, d) if structure == "full" else (d, 1)
        check_pairs(domain, pairs, most, covariance)
        allowed = np.ones((d, d), dtype=bool) if structure == "full" else np.eye(d, dtype=bool)
    else:
        if structure == "diagonal":
            raise SpecificationError('a mask and structure="diagonal" contradict each other: give one of them.')
        allowed = _as_mask(mask)
        if allowed.shape != (d, d):
            raise SpecificationError(f"mask must have shape ({d}, {d}) for {d} columns, got {allowed.shape}.")
        if (allowed != allowed.T).any():
            j, k = np.argwhere(allowed != allowed.T)[0]
            raise SpecificationError(f"mask must be symmetric: entries ({j}, {k}) and ({k}, {j}) differ.")
        np.fill_diagonal(allowed, True)
    rows, cols = np.nonzero(np.triu(allowed))
    check_pairs(domain, len(rows), int(allowed.sum(axis=1).max()), covariance)
    return rows, cols


def _as_mask(mask: ArrayLike) -> Mask:
    """Zeros and ones, or booleans: everything else is more likely a mistake than a truth value."""
    values = as_numbers(mask, "mask")
    odd = np.argwhere(~((values == 0) | (values == 1)))
    if odd.size:
        place = ", ".join(map(str, odd[0]))
        raise SpecificationError(
            f"mask must be True or False (1 or 0) in every entry; entry ({place}) is {values[tuple(odd[0])]:.6g}. A matrix of "
            "numbers becomes a mask by K != 0."
        )
    found: Mask = values != 0
    return found


def known_entries(precision: ArrayLike | None, model: PairwiseModel) -> Restriction:
    """Hold the entries of K that `precision` gives (those that are not NaN)."""
    restriction = Restriction.none(model.n_parameters)
    if precision is None:
        return restriction
    d = model.dimension
    known = as_numbers(precision, "a known precision")
    if known.shape != (d, d):
        raise SpecificationError(f"a known precision must have shape ({d}, {d}), got {known.shape}.")
    given = ~np.isnan(known)
    bad = np.isinf(known) | ~np.isclose(known, known.T, equal_nan=True)
    if bad.any():
        j, k = np.argwhere(bad)[0]
        raise SpecificationError(
            f"a known precision must be symmetric and finite, with NaN where it is not known: entries ({j}, {k}) and "
            f"({k}, {j}) are {known[j, k]:.6g} and {known[k, j]:.6g}."
        )
    inside = np.zeros((d, d), dtype=bool)
    inside[model.rows, model.cols] = inside[model.cols, model.rows] = True
    if np.any(given & ~inside & (known != 0)):
        j, k = np.argwhere(given & ~inside & (known != 0))[0]
        raise SpecificationError(f"entry ({j}, {k}) of precision is {known[j, k]:.6g}, but the mask says it is zero.")
    held = given[model.rows, model.cols]
    values, free = restriction.values.copy(), restriction.free.copy()
    values[: model.n_pairs][held] = known[model.rows, model.cols][held]
    free[: model.n_pairs] = ~held
    return Restriction(values, free)
