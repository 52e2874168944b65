r"""The sandwich :math:`\Gamma^{-1}\Sigma\,\Gamma^{-\top}/N` (Theorem 5.1), and as much of it as is wanted.

Σ is the sum of :math:`\psi_i\psi_i^\top`. Where only variances are asked for, no matrix over parameters is formed: the variance of a function of θ with
Jacobian J is the sum of squares of :math:`J\Gamma^{-1}\psi_i` over the rows.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from zfree.arrays import Array
from zfree.data import Together
from zfree.models.linear_maps import Jacobian
from zfree.moments import Rows
from zfree.solvers import Objective, Solution


def from_parts(inverse: Array, meat: Array, total: float) -> Array:
    """Γ⁻¹ Σ Γ⁻ᵀ / total², symmetric to the last bit."""
    covariance = inverse @ meat @ inverse.T / total**2
    symmetric: Array = 0.5 * (covariance + covariance.T)
    return symmetric


def sandwich(objective: Objective, solution: Solution) -> Array:
    """The covariance over all parameters, zero where one is known."""
    moments, restriction = objective.moments, solution.restriction
    meat = objective.problem.influence_gram(solution.theta, moments.log_scale, objective.penalty)
    return restriction.embed(from_parts(solution.inverse, restriction.block(meat), moments.weight))


def variances(objective: Objective, solution: Solution, maps: Mapping[str, Jacobian | None]) -> dict[str, Array]:
    """The diagonals of J C Jᵀ for several Jacobians J (None for the identity), C the sandwich."""
    moments, inverse = objective.moments, solution.whole_inverse

    def squares(rows: Rows) -> Together:
        influences = inverse.times(rows.influence(solution.theta, moments.log_scale, objective.penalty))
        mapped = (influences if J is None else J @ influences for J in maps.values())
        return Together(np.einsum("qn,qn->q", a, a) for a in mapped)

    found = objective.problem.reduce(squares, least_rows=inverse.worth_at_once)
    return {name: total / moments.weight**2 for name, total in zip(maps, found, strict=True)}
