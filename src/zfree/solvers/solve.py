"""Which solver minimises an objective."""

from __future__ import annotations

import numpy as np

from zfree.errors import SpecificationError
from zfree.penalties import PositiveDefinite
from zfree.solvers.base import Solver
from zfree.solvers.closed_form import Cholesky, Elimination
from zfree.solvers.cone import Cone
from zfree.solvers.groups import Groupwise, groups_apart
from zfree.solvers.objective import Objective
from zfree.solvers.solution import Explicit, Solution

NO_RIDGE = "a ridge penalises the loss of score matching, and equations with test functions (SteinMoments) have none: leave out ridge=, or pass a Barrier."


def solver_for(objective: Objective) -> Solver:
    """The one that suits what the objective is, and how large."""
    if isinstance(objective.penalty, PositiveDefinite):
        return Cone()
    if not objective.moments.symmetric:
        if objective.penalty.share:
            raise SpecificationError(NO_RIDGE)
        return Elimination()
    apart = groups_apart(objective)
    return Cholesky() if apart is None else Groupwise(apart)


def solve(objective: Objective, *, quiet: bool = False) -> Solution:
    """Minimise an objective.

    Parameters
    ----------
    objective : Objective
    quiet : bool
        Do not warn about conditioning (while candidates are compared).
    """
    if not objective.n_free:
        theta = objective.restriction.expand(np.zeros(0))
        return Solution(theta, objective.restriction, 1.0, Explicit(np.zeros((0, 0))))
    return solver_for(objective).solve(objective, quiet=quiet)
