r"""The same quadratic, minimised over precision matrices whose eigenvalues stay above a floor.

.. math:: \min_\theta\; \tfrac12\theta^\top\Gamma\theta + g^\top\theta \quad\text{subject to}\quad S K(\theta) S \succeq \epsilon I .

ADMM: one copy of K takes the quadratic step (a factorisation made once), the other is projected onto the cone.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from zfree.arrays import Array
from zfree.errors import SingularMomentsError, SpecificationError
from zfree.models import PairwiseModel
from zfree.penalties import PositiveDefinite
from zfree.solvers.base import Solver
from zfree.solvers.closed_form import Cholesky
from zfree.solvers.objective import Objective
from zfree.solvers.restriction import Restriction
from zfree.solvers.solution import Solution

FLOOR = 1e-6
"""Smallest eigenvalue allowed to K, in units of the inverse variances of the columns."""


class Cone(Solver):
    """ADMM over S K S ⪰ :data:`FLOOR` · I, with S the diagonal of the columns' standard deviations; the closed form where it lies inside."""

    tolerance = 1e-10
    max_iterations = 20_000

    def solve(self, objective: Objective, *, quiet: bool = False) -> Solution:
        penalty, model = objective.penalty, objective.problem.model
        assert isinstance(penalty, PositiveDefinite)
        assert isinstance(model, PairwiseModel)
        free: Solution | None
        try:
            free = Cholesky().solve(objective.penalised(penalty.beside), quiet=quiet)
        except SingularMomentsError:
            free = None
        if free is not None and np.linalg.eigvalsh(_scaled(model, free.theta, penalty.spread))[0] >= FLOOR:
            return free
        theta = self._constrained(objective, model, None if free is None else free.theta, penalty.spread)
        return Solution(theta, objective.restriction, 1.0 if free is None else free.reciprocal_condition, None)

    def _constrained(self, objective: Objective, model: PairwiseModel, start: Array | None, spread: Array) -> Array:
        """The minimiser on the edge of the cone; `start` is the unconstrained one, if there is one."""
        restriction = objective.restriction
        index = restriction.index
        g, gamma = objective.g, objective.gamma.dense()
        gamma = gamma + objective.penalty.share * np.diag(np.diagonal(gamma))
        # K is measured in units of the columns' spread, so that one step size and one floor serve all its entries.
        diagonal_pairs = model.rows == model.cols
        entry_scale = 1.0 / (spread[model.rows] * spread[model.cols])
        multiplicity = np.where(diagonal_pairs, 1.0, 2.0)
        in_free = index[index < model.n_pairs]
        position = np.arange(in_free.size)
        penalty = np.zeros(index.size)
        penalty[position] = multiplicity[in_free] / entry_scale[in_free] ** 2
        if not position.size:
            raise SpecificationError("all of K is known and not positive definite: there is nothing to choose.")
        rho = float(np.median(np.diagonal(gamma)[position] / penalty[position]))
        floor_matrix = FLOOR * np.eye(model.dimension)

        theta = restriction.values.copy() if start is None else start.copy()
        Z = _project(_scaled(model, theta, spread), floor_matrix)
        U = np.zeros_like(Z)
        try:
            factor = cho_factor(gamma + rho * np.diag(penalty))
        except np.linalg.LinAlgError:
            raise SingularMomentsError(
                f"Γ_N is singular: {objective.moments.n} rows do not determine η even when K is held in the cone. "
                "Use more rows or add a small ridge= (for example 1e-3)."
            ) from None
        size = max(1.0, float(np.abs(Z).max()))
        residual = np.inf
        for iteration in range(1, self.max_iterations + 1):
            target = (Z - U)[model.rows, model.cols] * entry_scale
            right = -g
            right[position] += rho * penalty[position] * target[in_free]
            theta = restriction.expand(cho_solve(factor, right))
            S = _scaled(model, theta, spread)
            previous = Z
            Z = _project(S + U, floor_matrix)
            U = U + S - Z
            primal, dual = float(np.abs(S - Z).max()), float(np.abs(Z - previous).max())
            residual = max(primal, dual) / size
            if residual < self.tolerance:
                break
            if iteration % 50 == 0 and not 0.1 < primal / max(dual, 1e-300) < 10.0:
                # Keep both residuals of one size: a larger ρ pulls the copies together, a smaller one lets Z move.
                change = 2.0 if primal > dual else 0.5
                rho, U = rho * change, U / change
                factor = cho_factor(gamma + rho * np.diag(penalty))
        if residual > 1e-5:
            raise SpecificationError(
                f"no positive-definite estimate was found (residual {residual:.1e}): the fixed values or the mask may "
                "exclude every positive-definite matrix."
            )
        return _onto_cone(model, restriction, theta, spread)


def _scaled(model: PairwiseModel, theta: Array, spread: Array) -> Array:
    return model.matrix(theta) * spread[:, None] * spread


def _project(S: Array, floor_matrix: Array) -> Array:
    values, vectors = np.linalg.eigh(S - floor_matrix)
    found: Array = (vectors * np.maximum(values, 0.0)) @ vectors.T + floor_matrix
    return found


def _onto_cone(model: PairwiseModel, restriction: Restriction, theta: Array, spread: Array) -> Array:
    """Remove the last rounding: lift the diagonal by the amount (of order 1e-10) by which K misses the floor."""
    short = FLOOR - float(np.linalg.eigvalsh(_scaled(model, theta, spread))[0])
    if short > 0:
        theta = theta.copy()
        lift = np.flatnonzero(model.rows == model.cols)
        lift = lift[restriction.free[lift]]
        theta[lift] += short / spread[model.rows[lift]] ** 2
    return theta
