"""From moments to a solution."""

from zfree.solvers.closed_form import ILL_CONDITIONED, Solution, equilibrated, solve
from zfree.solvers.cone import solve_positive_definite
from zfree.solvers.restriction import Restriction

__all__ = ["ILL_CONDITIONED", "Restriction", "Solution", "equilibrated", "solve", "solve_positive_definite"]
