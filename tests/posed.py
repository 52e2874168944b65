"""Problems and objectives from arrays, for tests that look behind the estimators."""

from __future__ import annotations

from zfree.data import Table
from zfree.moments import Problem, Rows
from zfree.penalties import ridge_of
from zfree.solvers import Objective, Restriction


def posed(model, generator, domain, X, weight=None, units=None):
    """A problem over the rows of an array."""
    return Problem(model, generator, domain, Table(X, weight), units=units)


def objective(problem, restriction=None, ridge=0.0):
    """Its objective; everything is free by default."""
    free = Restriction.none(problem.model.n_parameters)
    return Objective(problem, free if restriction is None else restriction, ridge_of(ridge))


def whole(problem) -> Rows:
    """All rows as one block, evaluated."""
    return problem.evaluated(problem.source.whole)
