"""Moments → solution → result, with the sandwich covariance."""

from __future__ import annotations

from zfree.arrays import Array
from zfree.inference.result import FitResult
from zfree.moments import Moments, Problem
from zfree.solvers import ILL_CONDITIONED, Restriction, Solution, solve


def estimate(
    problem: Problem, restriction: Restriction, *, ridge: float = 0.0, notes: tuple[str, ...] = ()
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
    """
    moments = problem.moments()
    solution = solve(moments, restriction, problem.model.names, ridge)
    covariance = sandwich(problem, moments, solution, ridge)
    if solution.reciprocal_condition < ILL_CONDITIONED:
        notes = (
            *notes,
            f"Γ_N is ill-conditioned (1/κ ≈ {solution.reciprocal_condition:.1e} after scaling): digits are lost.",
        )
    return as_result(problem, moments, solution.theta, covariance, restriction, notes)


def sandwich(problem: Problem, moments: Moments, solution: Solution, ridge: float = 0.0) -> Array:
    r"""Γ⁻¹ Σ Γ⁻¹ / N over the free parameters, zero elsewhere (Theorem 5.1).

    Σ is the sum of :math:`\psi_i\psi_i^\top`. A ridge multiplies the diagonal of Γ, which is random too, so it is part of ψ.
    """
    theta, restriction = solution.theta, solution.restriction
    meat = problem.influence_gram(theta, moments.log_scale, ridge)
    inverse = solution.inverse
    covariance = inverse @ restriction.block(meat) @ inverse / moments.weight**2
    return restriction.embed(0.5 * (covariance + covariance.T))


def as_result(
    problem: Problem,
    moments: Moments,
    theta: Array,
    covariance: Array,
    restriction: Restriction,
    notes: tuple[str, ...],
) -> FitResult:
    """Pack a solution, translated to natural parameters."""
    T = problem.model.natural_map()
    if T is None:
        natural, natural_covariance = theta.copy(), covariance.copy()
    else:
        natural, natural_covariance = T @ theta, T @ covariance @ T.T
    n_free = int(restriction.free.sum())
    if moments.n <= n_free:
        notes = (
            *notes,
            f"{moments.n} rows for {n_free} free parameters: the standard errors are not reliable.",
        )
    return FitResult(
        theta=natural,
        names=problem.model.names,
        covariance=natural_covariance,
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
    )
