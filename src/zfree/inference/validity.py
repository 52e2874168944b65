"""Is the estimate consistent, and has it a variance? What the generator says of itself, the facets and the tails together."""

from __future__ import annotations

from typing import NamedTuple

from zfree.arrays import Array
from zfree.generators import Vanishing
from zfree.inference.facets import BoundaryVerdict, boundary_orders, judge
from zfree.inference.tails import tail_orders
from zfree.solvers import Objective


class Validity(NamedTuple):
    """Whether D vanishes on the boundary at all, and if so, whether fast enough there and slowly enough far out."""

    vanishing: Vanishing
    verdict: BoundaryVerdict


def validity(objective: Objective, theta: Array) -> Validity:
    """At an estimate."""
    problem, restriction = objective.problem, objective.restriction
    vanishing = problem.generator.check(problem.domain)
    if not vanishing.holds:
        return Validity(vanishing, BoundaryVerdict(False, False, vanishing.reason))
    decay = problem.generator.decay(problem.domain)
    orders = () if decay is None else boundary_orders(problem, theta, restriction)
    return Validity(vanishing, judge(decay, orders, tail_orders(problem, theta, restriction)))
