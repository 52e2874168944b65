"""Which standard errors: leave out rows, leave out groups of rows, or the sandwich alone."""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array
from zfree.errors import SpecificationError
from zfree.inference.jackknife import Jackknife, leave_groups_out, leave_rows_out
from zfree.inference.leaving_out import DeterminedAlone, check_no_row_alone
from zfree.solvers import Objective, Solution

KINDS = ("auto", "jackknife", "sandwich")
MANY_ROWS = 20_000
"""Rows beyond which leaving each out changes an interval by one or two per cent of its length, and less in the median."""
PER_PARAMETER = 50
"""Rows per parameter beyond which the bias is below about a seventh of a standard error, which costs 0.2% of coverage."""
KEPT = 2**20
"""Doubles that the changes of all rows may take (8 MB); beyond, groups of rows are left out."""
FEW = 3.0
"""Degrees of freedom below which an interval rests on a handful of rows: the rate of a gamma with shape 0.05, with 100 rows."""


def check_kind(asked: object) -> None:
    """The option must be known."""
    if not isinstance(asked, str) or asked not in KINDS:
        raise SpecificationError(f'standard_errors must be "auto", "jackknife" or "sandwich", got {asked!r}.')


def leave_out(objective: Objective, solution: Solution, asked: str) -> tuple[Jackknife | None, tuple[str, ...]]:
    """The jackknife that suits the size of the problem, if any, and what must be said about it."""
    check_kind(asked)
    n, r = objective.moments.n, objective.n_free
    by_rows = n * objective.problem.model.n_parameters <= KEPT
    enough = n > (MANY_ROWS if by_rows else PER_PARAMETER * r)
    if asked == "sandwich" or not r or n < 3 or (asked == "auto" and enough):
        return None, ()
    try:
        check_no_row_alone(objective)
        leave = leave_rows_out if by_rows else leave_groups_out
        jackknife = leave(objective, solution)
    except DeterminedAlone as error:
        return None, (_alone(objective, error, by_rows),)
    return jackknife, _rests_on_few(objective, jackknife)


def _alone(objective: Objective, error: DeterminedAlone, by_rows: bool) -> str:
    name, x = objective.names[error.parameter], error.x
    assert x is not None
    shown = ", ".join(f"{value:.6g}" for value in x[:6]) + (", …" if x.size > 6 else "")
    which = f"row {error.number} (x = {shown})" if by_rows else f"the group of row {error.number} (x = {shown})"
    return (
        f"without {which} the others do not determine {name}: there is no jackknife, and the standard errors are the "
        "sandwich's, which are too small. Look at that row, or leave the parameter out (mask=, fixed=)."
    )


def _rests_on_few(objective: Objective, jackknife: Jackknife) -> tuple[str, ...]:
    if jackknife.groups:
        return ()
    df: Array = jackknife.degrees_of_freedom(None)
    few = np.flatnonzero(objective.restriction.free & (df < FEW))
    if not few.size:
        return ()
    worst = int(few[np.argmin(df[few])])
    return (
        f"the standard error of {objective.names[worst]} rests on few rows ({df[worst]:.1f} degrees of freedom): "
        "its interval covers a little less than it says.",
    )
