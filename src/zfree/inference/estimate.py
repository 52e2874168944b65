"""Moments → solution → result, with the covariance: the sandwich, and for few rows the jackknife."""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array
from zfree.inference.jackknife import Jackknife
from zfree.inference.parameters import check_variances
from zfree.inference.result import FitResult
from zfree.inference.rows_or_groups import leave_out
from zfree.moments import Moments, Problem
from zfree.solvers import ILL_CONDITIONED, Restriction, Solution, solve


def estimate(
    problem: Problem,
    restriction: Restriction,
    *,
    ridge: float = 0.0,
    notes: tuple[str, ...] = (),
    standard_errors: str = "auto",
) -> FitResult:
    """Fit a model in closed form.

    Parameters
    ----------
    problem : Problem
    restriction : Restriction
        Parameters held at known values.
    ridge : float
        See :func:`zfree.solvers.solve`.
    notes : tuple of str
        Remarks to carry into the result.
    standard_errors : {"auto", "jackknife", "sandwich"}
        See :mod:`zfree.inference.rows_or_groups`.
    """
    moments = problem.moments()
    solution = solve(moments, restriction, problem.model.names, ridge)
    if solution.reciprocal_condition < ILL_CONDITIONED:
        notes = (
            *notes,
            f"Γ_N is ill-conditioned (1/κ ≈ {solution.reciprocal_condition:.1e} after scaling): digits are lost.",
        )
    jackknife, remarks = leave_out(problem, moments, solution, ridge, standard_errors)
    if jackknife is not None and jackknife.influences is not None:
        covariance = jackknife.influences.T @ jackknife.influences  # the sandwich: the influences are Γ⁻¹ψ_i/N
    else:
        covariance = sandwich(problem, moments, solution, ridge)
    measured = f" (1/κ ≈ {solution.reciprocal_condition:.1e} after scaling)"
    check_variances(covariance, restriction.free, problem.model.names, measured)
    notes = (*notes, *remarks, *_without_variation(solution, covariance, problem.model.names))
    return as_result(problem, moments, solution.theta, covariance, restriction, notes, jackknife)


def _without_variation(solution: Solution, covariance: Array, names: tuple[str, ...]) -> tuple[str, ...]:
    """A variance of zero is no certainty: the rows are all alike, or a single one determines the parameter."""
    still = np.diagonal(covariance) <= 1e-24 * solution.theta**2
    found = [names[k] for k in np.flatnonzero(solution.restriction.free & still)]
    if not found:
        return ()
    shown = ", ".join(found[:4]) + (", …" if len(found) > 4 else "")
    return (
        f"the rows do not differ in what they say about {shown}, or a single one says it: a standard error of zero is no "
        "sign of accuracy.",
    )


def sandwich(problem: Problem, moments: Moments, solution: Solution, ridge: float = 0.0) -> Array:
    r"""Γ⁻¹ Σ Γ⁻ᵀ / N over the free parameters, zero elsewhere (Theorem 5.1).

    Σ is the sum of :math:`\psi_i\psi_i^\top`. A ridge multiplies the diagonal of Γ, which is random too, so it is part of ψ.
    """
    theta, restriction = solution.theta, solution.restriction
    meat = problem.influence_gram(theta, moments.log_scale, ridge)
    inverse = solution.inverse
    covariance = inverse @ restriction.block(meat) @ inverse.T / moments.weight**2
    return restriction.embed(0.5 * (covariance + covariance.T))


def as_result(
    problem: Problem,
    moments: Moments,
    theta: Array,
    covariance: Array,
    restriction: Restriction,
    notes: tuple[str, ...],
    jackknife: Jackknife | None = None,
) -> FitResult:
    """Pack a solution, translated to natural parameters."""
    T = problem.model.natural_map()
    n_free = int(restriction.free.sum())
    if moments.n <= n_free:
        notes = (
            *notes,
            f"{moments.n} rows for {n_free} free parameters: the standard errors are not reliable.",
        )
    return FitResult(
        theta=theta.copy() if T is None else T @ theta,
        names=problem.model.names,
        free=restriction.free.copy(),
        n_observations=moments.n,
        model=problem.model,
        generator=problem.generator,
        domain=problem.domain,
        moments=moments,
        working_theta=theta,
        working_covariance=covariance,
        notes=notes,
        units=problem.units,
        jackknife=jackknife,
    )
