"""Data whose squares or reciprocals leave the range of floating point."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from zfree.errors import DataError, SingularMomentsError
from zfree.estimators.data import Data

LARGE = 1e50
"""Values beyond it, or below its inverse, are blamed for a sum that overflowed or vanished."""


@contextmanager
def within_range(data: Data) -> Iterator[None]:
    """Where the fit inside overflows or fails because of extreme values, say which, not that Γ is singular."""
    events: list[str] = []
    with np.errstate(over="call", divide="call", invalid="call", call=lambda kind, _: events.append(kind)):
        try:
            yield
        except (SingularMomentsError, np.linalg.LinAlgError) as error:
            reason = _explain(data)
            if reason is None:
                raise
            raise DataError(reason) from error
        reason = _explain(data) if events else None
    if reason is not None:
        raise DataError(reason)


def _explain(data: Data) -> str | None:
    """The value that is too large, too small or too close to the boundary, if there is one."""
    remedy = (
        "products of such values leave the range of floating point. Divide the columns by their standard deviations."
    )
    domain, names, (block,) = data.domain, data.columns, data.source.blocks(len(data.source.X))
    size = np.abs(block.X)
    largest = size.max(axis=0)
    j, k = int(largest.argmax()), int(largest.argmin())
    if largest[j] > LARGE:
        row = int(size[:, j].argmax())
        return f"row {block.number(row)}, column {names[j]!r}, holds {block.X[row, j]:.3g}: {remedy}"
    if largest[k] < 1.0 / LARGE:
        return f"no value in column {names[k]!r} is larger than {largest[k]:.3g}: {remedy}"
    margins = domain.margins(block.X)
    room = margins / domain.margin_scales(block.X)
    if room.size and room.min() < 1.0 / LARGE:
        row, m = (int(i) for i in np.unravel_index(int(room.argmin()), room.shape))
        return (
            f"row {block.number(row)} is {margins[row, m]:.3g} away from the boundary of “{domain.constraint_names(names)[m]}”: "
            "derivatives there leave the range of floating point. Leave it out, or put it exactly on the boundary and pass "
            'boundary="clip" with boundary_eps=.'
        )
    return None
