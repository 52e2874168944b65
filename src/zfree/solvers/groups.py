"""Parameters in groups that do not see each other: a diagonal D and statistics of single columns. Nothing of size r × r is formed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array, Index, Mask
from zfree.quadratic import ColumnBlocks
from zfree.solvers.base import Solver
from zfree.solvers.complaints import ILL_CONDITIONED, SINGULAR, leading, refuse, warn_ill_conditioned
from zfree.solvers.objective import Objective
from zfree.solvers.solution import Apart, Solution

FEWEST = 64
"""Parameters below which one factorisation is as fast."""


@dataclass(frozen=True, eq=False)
class Groupwise(Solver):
    """Each group by itself, all of them at once.

    Attributes
    ----------
    gamma : ColumnBlocks
        Of all parameters.
    """

    gamma: ColumnBlocks

    def solve(self, objective: Objective, *, quiet: bool = False) -> Solution:
        restriction, names = objective.restriction, objective.names
        free = np.append(restriction.free, False)
        index = self.gamma.groups.index
        inside = free[index]
        blocks = self.gamma.blocks * (inside[:, :, None] & inside[:, None, :])
        diagonal = np.diagonal(blocks, axis1=1, axis2=2)
        dead = inside & ~(diagonal > 0)
        if dead.any():
            raise refuse(objective, [names[k] for k in index[dead]])
        scale = np.where(inside, 1.0 / np.sqrt(np.where(inside, diagonal, 1.0)), 0.0)
        scaled = blocks * scale[:, :, None] * scale[:, None, :]
        own = np.arange(index.shape[1])
        scaled[:, own, own] = np.where(inside, scaled[:, own, own] + objective.penalty.share, 1.0)
        if not np.isfinite(scaled).all():
            raise refuse(objective, [])
        values, vectors = np.linalg.eigh(scaled)
        at = np.unravel_index(int(values.argmin()), values.shape)
        rcond = max(0.0, float(values[at] / values.max()))
        culprits = leading(np.where(inside[at[0]], vectors[at[0], :, at[1]], 0.0), names, index[at[0]])
        if rcond < SINGULAR:
            raise refuse(objective, culprits)
        if rcond < ILL_CONDITIONED and not quiet:
            warn_ill_conditioned(rcond, culprits, penalised=True)
        inverses = (vectors / values[:, None, :]) @ np.swapaxes(vectors, 1, 2)
        inverses *= scale[:, :, None] * scale[:, None, :]
        solved = self._among_the_free(index, inside, restriction.free, inverses)
        theta = -solved.times(objective.g)
        if not np.isfinite(theta).all():
            raise refuse(objective, [])
        return Solution(restriction.expand(theta), restriction, rcond, solved)

    @staticmethod
    def _among_the_free(index: Index, inside: Mask, free: Mask, inverses: Array) -> Apart:
        """The groups with positions among the free parameters."""
        n_free = int(free.sum())
        position = np.full(free.size + 1, n_free)
        position[np.flatnonzero(free)] = np.arange(n_free)
        return Apart(np.where(inside, position[index], n_free), inverses, n_free)


def groups_apart(objective: Objective) -> ColumnBlocks | None:
    """Γ, if it is large and consists of groups that share no parameter."""
    if objective.n_free < FEWEST or not isinstance(gamma := objective.moments.gamma, ColumnBlocks):
        return None
    seen = np.bincount(gamma.groups.index.ravel(), minlength=gamma.size + 1)[: gamma.size]
    return gamma if seen.max() == 1 else None
