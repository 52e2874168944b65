"""Objective → solution → result, with its uncertainty: the sandwich, and for few rows the jackknife."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array
from zfree.inference.jackknife import Jackknife
from zfree.inference.result import FitResult
from zfree.inference.rows_or_groups import check_kind, leave_out
from zfree.inference.sandwich import from_parts
from zfree.inference.uncertainty import (
    Full,
    Uncertainty,
    check_covariance,
    check_uncertainty,
    how_much,
    uncertainty,
    unknown,
    working_variances,
)
from zfree.penalties import Penalty
from zfree.solvers import ILL_CONDITIONED, Objective, Solution, solve


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a fit is to say of its errors.

    Attributes
    ----------
    standard_errors : {"auto", "jackknife", "sandwich"}
        See :mod:`zfree.inference.rows_or_groups`.
    covariance : {"auto", "full", "diagonal"} or None
        How much of the covariance is computed; "auto" goes by the number of parameters.
    """

    standard_errors: str = "auto"
    covariance: str | None = "auto"


def check_wanted(standard_errors: object, covariance: object) -> None:
    """Both options must be known."""
    check_kind(standard_errors)
    check_covariance(covariance)


@dataclass(frozen=True, eq=False)
class Found:
    """What a choice of the generator knows of the one that it took: its solution on all rows with some penalty, and Σ ψ_i ψ_iᵀ there."""

    solution: Solution
    meat: Array
    penalty: Penalty


def estimate(
    objective: Objective, wanted: Wanted, notes: tuple[str, ...] = (), found: Found | None = None
) -> FitResult:
    """Fit a model in closed form.

    Parameters
    ----------
    objective : Objective
    wanted : Wanted
    notes : tuple of str
        Remarks to carry into the result.
    found : Found, optional
        The solution, where it is known already.
    """
    if found is not None and found.penalty is not objective.penalty:
        found = None
    solution = solve(objective) if found is None else found.solution
    if found is not None and solution.reciprocal_condition < ILL_CONDITIONED:
        solution = solve(objective)  # once more, to warn
    kind = how_much(wanted.covariance, objective.n_free)
    if solution.free_inverse is None:
        return _at_an_edge(objective, solution, kind, notes)
    if solution.reciprocal_condition < ILL_CONDITIONED:
        notes = (
            *notes,
            f"Γ_N is ill-conditioned (1/κ ≈ {solution.reciprocal_condition:.1e} after scaling): digits are lost.",
        )
    jackknife, remarks = (None, ()) if kind is None else leave_out(objective, solution, wanted.standard_errors)
    error = _uncertainty(objective, solution, kind, jackknife, None if found is None else found.meat)
    check_uncertainty(error, solution, objective)
    notes = (*notes, *remarks, *_without_variation(objective, solution, error))
    return as_result(objective, solution, error, notes, jackknife)


def _uncertainty(
    objective: Objective, solution: Solution, kind: str | None, jackknife: Jackknife | None, meat: Array | None
) -> Uncertainty:
    free = solution.restriction.free
    if kind == "full" and jackknife is not None and jackknife.influences is not None:
        a = jackknife.influences  # the influences are Γ⁻¹ψ_i/N
        return Full(a.T @ a, free)
    if kind == "full" and meat is not None:
        inner = solution.restriction.block(meat)
        return Full(solution.restriction.embed(from_parts(solution.inverse, inner, objective.moments.weight)), free)
    return uncertainty(objective, solution, kind)


def _at_an_edge(objective: Objective, solution: Solution, kind: str | None, notes: tuple[str, ...]) -> FitResult:
    note = (
        "K is held at the edge of the positive-definite matrices (positive_definite=True): standard errors are not "
        "available there."
    )
    return as_result(objective, solution, unknown(objective, solution, kind), (*notes, note))


def _without_variation(objective: Objective, solution: Solution, error: Uncertainty) -> tuple[str, ...]:
    """A variance of zero is no certainty: the rows are all alike, or a single one determines the parameter."""
    variances = working_variances(error)
    if variances is None:
        return ()
    still = np.flatnonzero(solution.restriction.free & (variances <= 1e-24 * solution.theta**2))
    if not still.size:
        return ()
    names = objective.names
    found = [names[k] for k in still]
    shown = ", ".join(found[:4]) + (", …" if len(found) > 4 else "")
    return (
        f"the rows do not differ in what they say about {shown}, or a single one says it: a standard error of zero is no "
        "sign of accuracy.",
    )


def as_result(
    objective: Objective,
    solution: Solution,
    error: Uncertainty,
    notes: tuple[str, ...],
    jackknife: Jackknife | None = None,
) -> FitResult:
    """Pack a solution, translated to natural parameters."""
    problem, moments, restriction, theta = objective.problem, objective.moments, solution.restriction, solution.theta
    if moments.n <= objective.n_free:
        notes = (
            *notes,
            f"{moments.n} rows for {objective.n_free} free parameters: the standard errors are not reliable.",
        )
    return FitResult(
        theta=problem.model.natural(theta),
        names=problem.model.names,
        free=restriction.free.copy(),
        n_observations=moments.n,
        model=problem.model,
        generator=problem.generator,
        domain=problem.domain,
        moments=moments,
        working_theta=theta,
        uncertainty=error,
        reciprocal_condition=solution.reciprocal_condition,
        notes=notes,
        units=problem.units,
        jackknife=jackknife,
    )
