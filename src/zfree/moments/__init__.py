"""Where a model and a generator meet: rows with the weight evaluated on them, and the sums over rows from which the estimate follows."""

from zfree.moments.problem import Problem
from zfree.moments.rows import Rows
from zfree.moments.sums import Moments

__all__ = ["Moments", "Problem", "Rows"]
