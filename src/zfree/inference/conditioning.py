"""How many digits the solution of the equations loses."""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array, Mask
from zfree.models.linear_maps import Shear
from zfree.moments import Moments
from zfree.solvers import equilibrated


def condition_number(moments: Moments, free: Mask, natural_map: Shear | None) -> float:
    """κ(Γ_N) over the free natural parameters."""
    gamma = moments.gamma.dense()
    if natural_map is not None:
        back = natural_map.inverse()
        gamma = (back.T @ gamma) @ back
    return _condition(gamma[np.ix_(free, free)], moments.symmetric)


def scaled_condition_number(moments: Moments, free: Mask) -> float:
    """κ(Γ_N) scaled to unit diagonal; where it is not symmetric, to rows and columns with largest entry one."""
    gamma = moments.gamma.block(free).dense()
    if not gamma.size:
        return 1.0
    if not moments.symmetric:
        return _condition(equilibrated(gamma), False)
    scale = 1.0 / np.sqrt(np.diagonal(gamma))
    return _condition(gamma * scale[:, None] * scale, True)


def _condition(gamma: Array, symmetric: bool) -> float:
    if not gamma.size:
        return 1.0
    if not symmetric:
        return float(np.linalg.cond(gamma))
    values = np.linalg.eigvalsh(gamma)
    return float(values[-1] / values[0]) if values[0] > 0 else np.inf
