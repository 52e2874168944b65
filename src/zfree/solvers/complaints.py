"""What is said of a Γ that determines its parameters badly, or not at all."""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array, Index
from zfree.errors import IllConditionedWarning, SingularMomentsError, warn
from zfree.moments import Moments
from zfree.solvers.objective import Objective

SINGULAR = 1e-14
"""Reciprocal condition number of Γ, scaled to unit diagonal, below which a fit is refused."""
ILL_CONDITIONED = 1e-10
"""The same, below which it is warned about."""
NOT_FINITE = "the estimate is not finite: some rows are too large, or too close to the boundary."


def refuse(objective: Objective, culprits: list[str]) -> SingularMomentsError:
    """Γ is singular; the culprits are what it does not determine, none where it is not even finite."""
    return SingularMomentsError(deficiency(objective.moments, objective.n_free, culprits) if culprits else NOT_FINITE)


def warn_ill_conditioned(rcond: float, culprits: list[str], *, penalised: bool) -> None:
    """`penalised`: whether there is a loss that a ridge could be added to."""
    warn(
        f"Γ_N is ill-conditioned (1/κ ≈ {rcond:.1e} after scaling): estimates lose digits. "
        f"The data say least about {', '.join(culprits)}. "
        f"Use more rows, {'a small ridge=, ' if penalised else ''}a mask, or another generator.",
        IllConditionedWarning,
    )


def null_direction(scaled: Array, names: tuple[str, ...], index: Index) -> list[str]:
    """Names of the parameters that make up the flattest direction of Γ."""
    return leading(np.linalg.svd(scaled)[2][-1], names, index)


def leading(direction: Array, names: tuple[str, ...], index: Index, most: int = 4) -> list[str]:
    """Names of the parameters with the largest components."""
    size = np.abs(direction)
    first = np.argsort(-size)[:most]
    return [names[index[i]] for i in first if size[i] > 0.1 * size[first[0]]]


def deficiency(moments: Moments, n_free: int, culprits: list[str]) -> str:
    """Rows that do not determine the parameters, and what to do."""
    ridge = "add a small ridge= (for example 1e-3), " if moments.symmetric else ""
    shown = ", ".join(culprits[:4]) + (", …" if len(culprits) > 4 else "")
    return (
        f"Γ_N is singular: {moments.n} rows do not determine the {n_free} free parameters, in particular {shown}. "
        f"Use more rows, drop constant or linearly dependent columns, {ridge}or leave parameters out (mask=, fixed=)."
    )
