"""Problems and objectives from arrays, for tests that look behind the estimators."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from zfree.data import Table
from zfree.moments import Moments, Problem, Rows
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


def given(gamma, g, names, restriction=None, ridge=0.0):
    """An objective from Γ_N and g_N themselves, of ten rows that nobody has seen."""
    moments = Moments(10, 10.0, 0.0, gamma.scaled(10.0), 10.0 * np.asarray(g))
    model = SimpleNamespace(names=tuple(names), n_parameters=len(names))
    return objective(SimpleNamespace(model=model, moments=lambda: moments), restriction, ridge)
