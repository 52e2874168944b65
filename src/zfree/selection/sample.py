"""Where rows are many a sample of them decides: choosing a weight needs a precision of a per cent."""

from __future__ import annotations

from zfree.solvers import Objective

LOOK = 20_000
"""Rows that a choice looks at."""
PER_PARAMETER = 10
"""Rows for each parameter that it looks at, at least."""


def looked_at(objective: Objective) -> Objective:
    """The objective over the rows that a choice looks at: all, unless they are many."""
    source, r = objective.problem.source, objective.problem.model.n_parameters
    most = max(LOOK, PER_PARAMETER * r)
    if source.n_rows is not None and source.n_rows <= most:
        return objective
    return objective.on(source.sample(most))


def rows_looked_at(objective: Objective, looked: Objective) -> int | None:
    """How many, if not all."""
    return None if looked is objective else looked.problem.source.n_rows
