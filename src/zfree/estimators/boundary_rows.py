"""Rows outside the domain are refused; rows on its boundary are refused, dropped or moved, as the user says."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zfree.arrays import Array, Index
from zfree.conversion import is_number, shown
from zfree.domains import Domain
from zfree.domains.violations import Violations
from zfree.errors import BoundaryError, DomainError, SpecificationError


class InsideRows(NamedTuple):
    """Rows strictly inside the domain, their weights, and what was done to get them there."""

    X: Array
    weight: Array | None
    note: str
    numbers: Index | None = None
    """Where they stand in the user's table, if some were dropped."""


def check_boundary(boundary: str, epsilon: float | None) -> None:
    """The two options must be known and fit together."""
    if not isinstance(boundary, str) or boundary not in ("raise", "drop", "clip"):
        raise SpecificationError(f'boundary must be "raise", "drop" or "clip", got {shown(boundary)}.')
    if boundary == "clip" and not (is_number(epsilon) and 0 < epsilon < np.inf):
        raise SpecificationError(
            f'boundary="clip" needs an explicit boundary_eps > 0, in the units of the data, got {shown(epsilon)}.'
        )


def keep_inside(
    domain: Domain,
    X: Array,
    weight: Array | None,
    names: tuple[str, ...],
    boundary: str,
    epsilon: float | None,
) -> InsideRows:
    """Refuse rows outside the domain; raise on, drop or move the rows on its boundary."""
    check_boundary(boundary, epsilon)
    found = domain.explain(X, names)
    if not found.rows.size:
        return InsideRows(domain.normalise(X), weight, "")
    if not found.on_boundary.all():
        raise DomainError(_explain_outside(domain, X, names, found))
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
            raise BoundaryError(
                f"every row lies on the boundary of {domain!r}, none is left after dropping them: {found.describe()}. "
                'Leave out the column that is always there, or pass boundary="clip" with boundary_eps=.'
            )
        note = f"{len(found)} of {len(X)} rows on the boundary were dropped."
        if 2 * len(found) > len(X):
            note += (
                f" Only {int(kept.sum())} are left, less than half: the estimate describes rows away from the boundary, "
                "which are another population than these data."
            )
        numbers = np.flatnonzero(kept)
        return InsideRows(domain.normalise(X[numbers]), None if weight is None else weight[numbers], note, numbers)
    assert epsilon is not None
    note = f"{len(found)} of {len(X)} rows on the boundary were moved inside with boundary_eps = {epsilon:g}."
    return InsideRows(_moved(domain, X, names, found, epsilon), weight, note)


def _moved(domain: Domain, X: Array, names: tuple[str, ...], found: Violations, epsilon: float) -> Array:
    # Only the rows on the boundary move: what happens to a row must not depend on the others.
    out = np.array(domain.normalise(X))
    out[found.rows] = domain.clip(out[found.rows], epsilon)
    still = domain.explain(out[found.rows], names)
    if len(still):
        row = int(found.rows[still.rows[0]])
        raise SpecificationError(
            f"boundary_eps = {epsilon:g} does not fit {domain!r}: row {row} would be moved to {_show(out[row], names)}, which "
            f"breaks “{still.constraints[0]}”. Choose one well below the width of the domain and well above rounding."
        )
    return out


def _explain_outside(domain: Domain, X: Array, names: tuple[str, ...], found: Violations) -> str:
    outside = np.flatnonzero(~found.on_boundary)
    row, constraint, amount = int(found.rows[outside[0]]), found.constraints[outside[0]], found.amounts[outside[0]]
    start = "Negative values in data: " if constraint.endswith("> 0") else ""
    end = " Divide each row by its sum (zf.Simplex.closure)." if "sum to 1" in constraint else ""
    return (
        f"{start}{outside.size} of {len(X)} rows lie outside {domain!r}. Row {row} breaks “{constraint}” by {amount:.3g}: "
        f"{_show(X[row], names)}. Remove such rows, rescale the data, or choose a domain that contains them.{end}"
    )


def _show(row: Array, names: tuple[str, ...], most: int = 6) -> str:
    shown = ", ".join(f"{name}={value:.6g}" for name, value in list(zip(names, row, strict=False))[:most])
    return shown + (", …" if len(row) > most else "")
