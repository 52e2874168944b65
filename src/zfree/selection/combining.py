"""Fits that use more than one generator: the combination, and the test that their estimates agree."""

from __future__ import annotations

from dataclasses import replace

from zfree.arrays import Array
from zfree.errors import SpecificationError
from zfree.generators import Combined, Generator
from zfree.inference import FitResult, Full, Wanted, as_result, check_variances, estimate, judge
from zfree.selection.combination import JTest, Stacked, combine, stack
from zfree.selection.companions import companions, opponents
from zfree.selection.criterion import Target
from zfree.selection.pilot import settled
from zfree.selection.search import Leniency, Search, prepare
from zfree.solvers import Objective, Solution

DISAGREEMENT, HEAVY_TAILED_DISAGREEMENT = 1e-4, 1e-6
"""p-values of the J test below which combined estimates are said to disagree."""


def combined_estimate(
    asked: Combined, objective: Objective, target: Target, known_best: bool, notes: tuple[str, ...], wanted: Wanted
) -> FitResult:
    """Combine the estimates of several generators; the objective's own, the best single one, comes first.

    Nothing is added to one that is known to be maximum likelihood; the others then serve the J test only. On a domain
    without a boundary all members of the family are one, and there is nothing to combine. Standard errors are the sandwich's: the
    weights of the combination depend on all rows, so there is no closed form without one of them.
    """
    if not objective.problem.domain.has_boundary or not objective.n_free:
        return estimate(objective, wanted, notes)
    if objective.penalty.share:
        raise SpecificationError(
            "with a ridge the estimates are biased and cannot be combined: leave out ridge= or Combined."
        )
    search = prepare(objective, target)
    others = _members(asked, objective, search)
    if not others:  # what vanishes faster grows faster, and these tails do not bear it
        return estimate(objective, wanted, notes)
    stacked = stack(objective, [objective.problem.generator, *others])
    if wanted.standard_errors == "jackknife":
        notes = (
            *notes,
            "a combination of generators has no leave-one-out in closed form: standard errors are the sandwich's.",
        )
    theta, covariance, record = combine(stacked, search.weight, objective.restriction, alone=known_best)
    check_variances(covariance.diagonal(), objective.restriction.free, objective.names)
    result = _as_result(stacked, objective, theta, covariance, notes)
    return _judged(replace(result, combination=record), record.j_test)


def _as_result(
    stacked: Stacked, objective: Objective, theta: Array, covariance: Array, notes: tuple[str, ...]
) -> FitResult:
    """The combination in the place of the first one's solution."""
    first: Solution = replace(stacked.solutions[0], theta=theta)
    objective.take(stacked.objectives[0].moments)
    return as_result(objective, first, Full(covariance, objective.restriction.free), notes)


def _members(asked: Combined, objective: Objective, search: Search) -> list[Generator]:
    """The others, all of them valid for this model: one biased equation would spoil the rest."""
    problem = objective.problem
    leader = problem.generator
    if asked.generators is None:
        near = companions(leader, problem.domain, problem.model.heavy_tailed)
        return [g for g in near if judge(None, (), search.tails(g)).finite_variance]
    ready = [settled(g, objective) for g in asked.generators]
    others = [g for g in ready if g != leader]
    for candidate in search.look_at(others, Leniency(any_rows=True)):
        if candidate.refused:
            raise SpecificationError(
                f"{candidate.generator!r} cannot be combined with others on {problem.domain!r}: {candidate.refused}. Leave it out."
            )
    return others


def opposed(objective: Objective) -> Stacked:
    """The estimates of two generators side by side, for the J test."""
    domain = objective.problem.domain
    if not domain.has_boundary:
        raise SpecificationError(
            f"{domain!r} has no boundary: all barriers are one there, and J has nothing to compare."
        )
    if objective.penalty.share:
        raise SpecificationError("with a ridge the estimates are biased and J has no meaning: leave out ridge=.")
    if not objective.n_free:
        raise SpecificationError("every parameter is known: there are no estimates for J to compare.")
    return stack(objective, opponents(objective.problem))


def _judged(result: FitResult, test: JTest) -> FitResult:
    """J beside the estimate. It rejects true models with heavy tails too often for an alarm, so trouble is a note."""
    if test.p_value < (HEAVY_TAILED_DISAGREEMENT if result.model.heavy_tailed else DISAGREEMENT):
        result = result.with_note(
            f"estimates with different generators disagree by more than their covariance allows (J test, p = {test.p_value:.2g})."
        )
    return replace(result, j_test=test)
