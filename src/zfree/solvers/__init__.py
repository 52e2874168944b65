"""From an objective to its minimum."""

from zfree.solvers.base import Solver
from zfree.solvers.closed_form import Cholesky, Elimination, equilibrated
from zfree.solvers.complaints import ILL_CONDITIONED
from zfree.solvers.cone import Cone
from zfree.solvers.groups import Groupwise
from zfree.solvers.objective import Objective
from zfree.solvers.restriction import Restriction
from zfree.solvers.solution import Inverse, Solution
from zfree.solvers.solve import solve, solver_for

__all__ = [
    "ILL_CONDITIONED",
    "Cholesky",
    "Cone",
    "Elimination",
    "Groupwise",
    "Inverse",
    "Objective",
    "Restriction",
    "Solution",
    "Solver",
    "equilibrated",
    "solve",
    "solver_for",
]
