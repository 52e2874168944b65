"""Fits that use more than one generator: the combination, and the test that their estimates agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zfree.errors import SpecificationError
from zfree.estimators.choice import beside, companions
from zfree.generators import Barrier, Combined, Generator
from zfree.inference import (
    FitResult,
    JTest,
    Search,
    Stacked,
    Target,
    as_result,
    check_variances,
    combine,
    estimate,
    judge,
    prepare,
    stack,
)
from zfree.inference.pilot import settled
from zfree.moments import Problem
from zfree.solvers import Restriction

DISAGREEMENT, HEAVY_TAILED_DISAGREEMENT = 1e-4, 1e-6
"""p-values of the J test below which combined estimates are said to disagree."""


def combined_estimate(
    asked: Combined,
    problem: Problem,
    restriction: Restriction,
    ridge: float,
    target: Target,
    known_best: bool,
    notes: tuple[str, ...],
    standard_errors: str = "auto",
) -> FitResult:
    """Combine the estimates of several generators; the problem's own, the best single one, comes first.

    Nothing is added to one that is known to be maximum likelihood; the others then serve the J test only. On a domain
    without a boundary all members of the family are one, and there is nothing to combine. Standard errors are the sandwich's: the
    weights of the combination depend on all rows, so there is no closed form without one of them.
    """
    if not problem.domain.has_boundary or not restriction.free.any():
        return estimate(problem, restriction, ridge=ridge, notes=notes, standard_errors=standard_errors)
    if ridge:
        raise SpecificationError(
            "with a ridge the estimates are biased and cannot be combined: leave out ridge= or Combined."
        )
    search = prepare(problem, restriction, ridge, target)
    others = _members(asked, problem, search)
    if not others:  # what vanishes faster grows faster, and these tails do not bear it
        return estimate(problem, restriction, ridge=ridge, notes=notes, standard_errors=standard_errors)
    stacked = stack(problem, [problem.generator, *others], restriction, ridge)
    if standard_errors == "jackknife":
        notes = (
            *notes,
            "a combination of generators has no leave-one-out in closed form: standard errors are the sandwich's.",
        )
    theta, covariance, record = combine(stacked, search.weight, restriction, alone=known_best)
    check_variances(covariance, restriction.free, problem.model.names)
    result = as_result(problem, stacked.moments[0], theta, covariance, restriction, notes)
    return _judged(replace(result, combination=record), record.j_test)


def _members(asked: Combined, problem: Problem, search: Search) -> list[Generator]:
    """The others, all of them valid for this model: one biased equation would spoil the rest."""
    leader = problem.generator
    if asked.generators is None:
        near = companions(leader, problem.domain, problem.model.heavy_tailed)
        return [g for g in near if judge(None, (), search.tails(g)).finite_variance]
    ready = [settled(g, problem, search.restriction, search.ridge) for g in asked.generators]
    others = [g for g in ready if g != leader]
    for g in others:
        trial, _ = search.look(g, any_rows=True)
        if trial.refused:
            raise SpecificationError(
                f"{g!r} cannot be combined with others on {problem.domain!r}: {trial.refused}. Leave it out."
            )
    return others


def opposed(problem: Problem, restriction: Restriction, ridge: float) -> Stacked:
    """The estimates of two generators side by side, for the J test."""
    if not problem.domain.has_boundary:
        raise SpecificationError(
            f"{problem.domain!r} has no boundary: all barriers are one there, and J has nothing to compare."
        )
    if ridge:
        raise SpecificationError("with a ridge the estimates are biased and J has no meaning: leave out ridge=.")
    if not restriction.free.any():
        raise SpecificationError("every parameter is known: there are no estimates for J to compare.")
    return stack(problem, _opponents(problem), restriction, ridge)


def _opponents(problem: Problem) -> list[Generator]:
    """The chosen generator and one that vanishes faster.

    The best generator often sits close to where the variance becomes infinite. Light tails forgive that; with heavy ones
    the test keeps its size only if both are well away from it.
    """
    leader = problem.generator
    domain = problem.domain
    in_family = isinstance(leader, Barrier) and leader.power is not None
    if not problem.model.heavy_tailed or not in_family or not domain.is_convex:
        return [leader, companions(leader, domain, heavy_tailed=False)[0]]
    assert isinstance(leader, Barrier)
    if problem.model.boundary_orders(np.ones(problem.model.n_parameters)) == ():
        return [leader, beside(leader, 0.3)]  # no such limit, only tails far out
    return [beside(leader, -0.6), beside(leader, -0.9)]


def _judged(result: FitResult, test: JTest) -> FitResult:
    """J beside the estimate. It rejects true models with heavy tails too often for an alarm, so trouble is a note."""
    if test.p_value < (HEAVY_TAILED_DISAGREEMENT if result.model.heavy_tailed else DISAGREEMENT):
        result = result.with_note(
            f"estimates with different generators disagree by more than their covariance allows (J test, p = {test.p_value:.2g})."
        )
    return replace(result, j_test=test)
