"""What a reader must know about the generator of a fit."""

from __future__ import annotations

from zfree.errors import InconsistentGeneratorWarning, InfiniteVarianceWarning, UnitsWarning, warn
from zfree.inference import FitResult, validity
from zfree.moments import Problem
from zfree.solvers import Objective

IMBALANCE = 100.0
"""How many times too much some slacks may count, because of their units, before a fit says so. On a triangle with one column ten times
smaller (a factor of about 16) intervals still cover, with one a hundred times smaller (about 250) they do not."""


def remark_on_units(result: FitResult, problem: Problem) -> FitResult:
    """Say so when a generator that takes slacks and columns as written is far from the units of the data."""
    assert problem.units is not None
    factor = result.generator.imbalance(problem.domain, problem.units, problem.model.is_separable)
    if factor <= IMBALANCE:
        return result
    note = (
        f"{result.generator!r} takes slacks and columns as they are written; on these data some count {_times(factor)} times too much, and "
        'the estimate depends on the units. Pass scale="natural", or bring the columns to one scale.'
    )
    warn(note, UnitsWarning)
    return result.with_note(note)


def _times(factor: float) -> str:
    return f"{factor:.0f}" if factor < 1e4 else f"{factor:.0e}"


def remark_on_boundary(result: FitResult, objective: Objective) -> FitResult:
    """Say so when the generator does not vanish at all, or not fast enough for this model, or grows too fast far out."""
    generator, domain = result.generator, result.domain
    vanishing, verdict = validity(objective, result.working_theta)
    if not vanishing.holds:
        remedy = "a Barrier" if domain.is_convex else "BoundaryDistance()"
        warn(
            f"{generator!r} does not vanish on the boundary of {domain!r} ({vanishing.reason}): the estimate is "
            f"inconsistent, it does not converge to the truth however many rows there are. Use {remedy}.",
            InconsistentGeneratorWarning,
        )
        return result.with_note("inconsistent: the generator does not vanish on the boundary.")
    if verdict.finite_variance:
        return result
    kind = "has no finite variance and may be inconsistent" if verdict.consistent else "is inconsistent"
    note = f"with {generator!r} the estimate {kind}; its standard errors are not valid: {verdict.reason}."
    warn(note, InfiniteVarianceWarning if verdict.consistent else InconsistentGeneratorWarning)
    return result.with_note(note)
