"""θ̂ = −Γ_N⁻¹ g_N (Theorem 5.1) by a dense factorisation, with the checks that make it trustworthy."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from zfree.arrays import Array
from zfree.solvers.base import Solver
from zfree.solvers.complaints import (
    ILL_CONDITIONED,
    SINGULAR,
    null_direction,
    refuse,
    warn_ill_conditioned,
)
from zfree.solvers.objective import Objective
from zfree.solvers.solution import Explicit, Factored, Solution


class Cholesky(Solver):
    """A symmetric Γ, scaled to a diagonal of one."""

    def solve(self, objective: Objective, *, quiet: bool = False) -> Solution:
        restriction, names = objective.restriction, objective.names
        g, gamma, index = objective.g, objective.gamma.dense(), restriction.index
        diagonal = gamma.diagonal()
        if not diagonal.min() > 0:
            raise refuse(objective, [names[i] for i, value in zip(index, diagonal, strict=True) if not value > 0])
        scale = 1.0 / np.sqrt(diagonal)
        scaled = gamma * scale[:, None]
        scaled *= scale
        scaled.flat[:: len(scale) + 1] += objective.penalty.share
        norm = np.abs(scaled).sum(axis=0).max()
        factor, info = lapack.dpotrf(scaled, lower=0)
        rcond = 0.0 if info else float(lapack.dpocon(factor, norm)[0])
        if not rcond >= SINGULAR:
            raise refuse(objective, null_direction(scaled, names, index) if np.isfinite(scaled).all() else [])
        if rcond < ILL_CONDITIONED and not quiet:
            warn_ill_conditioned(rcond, null_direction(scaled, names, index), penalised=True)
        theta = -scale * lapack.dpotrs(factor, scale * g, lower=0)[0]
        if not np.isfinite(theta).all():
            raise refuse(objective, [])
        return Solution(restriction.expand(theta), restriction, rcond, Factored(factor, scale))


class Elimination(Solver):
    """Equations without symmetry, by LU, in the units of rows and columns in which their largest entries are one."""

    def solve(self, objective: Objective, *, quiet: bool = False) -> Solution:
        restriction, names = objective.restriction, objective.names
        g, gamma, index = objective.g, objective.gamma.dense(), restriction.index
        rows, columns, _, _, _, dead = lapack.dgeequ(gamma)
        if dead:  # a row or a column of zeros
            rows = 1.0 / np.maximum(np.abs(gamma).max(axis=1), 1e-300)
            raise refuse(objective, null_direction(gamma * rows[:, None], names, index))
        scaled = gamma * rows[:, None] * columns
        factor, pivots, info = lapack.dgetrf(scaled)
        rcond = 0.0 if info else float(lapack.dgecon(factor, lapack.dlange("1", scaled))[0])
        if not rcond >= SINGULAR:
            raise refuse(objective, null_direction(scaled, names, index) if np.isfinite(scaled).all() else [])
        if rcond < ILL_CONDITIONED and not quiet:
            warn_ill_conditioned(rcond, null_direction(scaled, names, index), penalised=False)
        theta = -columns * lapack.dgetrs(factor, pivots, rows * g)[0]
        if not np.isfinite(theta).all():
            raise refuse(objective, [])
        inverse = lapack.dgetri(factor, pivots)[0] * columns[:, None] * rows
        return Solution(restriction.expand(theta), restriction, rcond, Explicit(inverse))


def equilibrated(gamma: Array) -> Array:
    """Γ with the largest entry of every row and every column one."""
    rows, columns, *_ = lapack.dgeequ(gamma)
    found: Array = gamma * rows[:, None] * columns
    return found
