"""The seam between objectives and solutions."""

from __future__ import annotations

from abc import ABC, abstractmethod

from zfree.solvers.objective import Objective
from zfree.solvers.solution import Solution


class Solver(ABC):
    """A way to minimise objectives of some kind."""

    @abstractmethod
    def solve(self, objective: Objective, *, quiet: bool = False) -> Solution:
        """The minimum; a warning where it loses digits, unless `quiet`, an error where there is none."""
