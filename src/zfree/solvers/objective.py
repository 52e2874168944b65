"""What is minimised: the loss of a problem over the parameters that are not known, with a penalty."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from zfree.arrays import Array
from zfree.data import Source
from zfree.generators import Generator
from zfree.moments import Moments, Problem
from zfree.penalties import NO_PENALTY, Penalty
from zfree.quadratic import Quadratic
from zfree.solvers.restriction import Restriction


@dataclass(frozen=True, eq=False)
class Objective:
    """½θᵀΓθ + gᵀθ over the free parameters, with a penalty; where Γ is not symmetric, the equations Γθ + g = 0 of these.

    Attributes
    ----------
    problem : Problem
    restriction : Restriction
        Parameters held at known values.
    penalty : Penalty
    """

    problem: Problem
    restriction: Restriction
    penalty: Penalty = field(default=NO_PENALTY)
    n_free: int = field(init=False)
    """How many parameters are estimated."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_free", int(self.restriction.free.sum()))

    def with_generator(self, generator: Generator) -> Objective:
        """The same with another weight."""
        return replace(self, problem=self.problem.with_generator(generator))

    def on(self, source: Source) -> Objective:
        """The same over other rows, measured in the units of these."""
        return replace(self, problem=self.problem.on(source))

    def penalised(self, penalty: Penalty) -> Objective:
        """The same loss with another penalty; its sums over rows are kept."""
        twin = replace(self, penalty=penalty)
        if "moments" in self.__dict__:
            twin.take(self.moments)
        return twin

    @cached_property
    def moments(self) -> Moments:
        """Γ_N and g_N: one pass over the rows, at the first question."""
        return self.problem.moments()

    def take(self, moments: Moments) -> None:
        """Moments that were summed together with those of others."""
        self.__dict__["moments"] = moments

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all parameters."""
        return self.problem.model.names

    @cached_property
    def gamma(self) -> Quadratic:
        """Γ_N over the free parameters, without the penalty."""
        free = self.restriction.free
        return self.moments.gamma if free.all() else self.moments.gamma.block(free)

    @cached_property
    def g(self) -> Array:
        """g_N over the free parameters, with what the known ones add to it."""
        free, g = self.restriction.free, self.moments.g
        if not free.all():
            g = (g + self.moments.gamma.matvec(self.restriction.values))[free]
        return np.asarray(g, dtype=np.float64)
