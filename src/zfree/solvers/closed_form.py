"""θ̂ = −Γ_N⁻¹ g_N (Theorem 5.1), with the checks that make it trustworthy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from zfree.arrays import Array, Index
from zfree.errors import IllConditionedWarning, SingularMomentsError, SpecificationError, warn
from zfree.moments import Moments
from zfree.solvers.restriction import Restriction

SINGULAR = 1e-14
"""Reciprocal condition number of Γ, scaled to unit diagonal, below which a fit is refused."""
ILL_CONDITIONED = 1e-10
"""The same, below which it is warned about."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The minimiser of the quadratic, and what inference needs of Γ.

    Attributes
    ----------
    theta : ndarray
        All parameters, known ones included.
    inverse : ndarray
        Γ⁻¹ over the free parameters.
    restriction : Restriction
    reciprocal_condition : float
        Estimate of 1/κ of Γ after scaling to unit diagonal.
    """

    theta: Array
    inverse: Array
    restriction: Restriction
    reciprocal_condition: float


NOT_FINITE = "the estimate is not finite: some rows are too large, or too close to the boundary."
NO_RIDGE = "a ridge penalises the loss of score matching, and equations with test functions (SteinMoments) have none: leave out ridge=, or pass a Barrier."


def solve(
    moments: Moments, restriction: Restriction, names: tuple[str, ...], ridge: float = 0.0, *, quiet: bool = False
) -> Solution:
    """Minimise ½θᵀΓθ + gᵀθ over the free parameters; where Γ is not symmetric, solve the equations Γθ + g = 0 of these.

    Parameters
    ----------
    moments : Moments
    restriction : Restriction
    names : tuple of str
        Parameter names, for messages.
    ridge : float
        ρ ≥ 0: the diagonal of Γ is multiplied by 1 + ρ, a penalty that does not depend on units.
    quiet : bool
        Do not warn about conditioning (while candidates are compared).
    """
    g, gamma = reduced(moments, restriction)
    if not g.size:
        return Solution(restriction.expand(np.zeros(0)), np.zeros((0, 0)), restriction, 1.0)
    if not moments.symmetric:
        if ridge:
            raise SpecificationError(NO_RIDGE)
        return _solve_equations(moments, gamma, g, restriction, names, quiet)
    index, diagonal = restriction.index, gamma.diagonal()
    if not diagonal.min() > 0:
        dead = [names[i] for i, value in zip(index, diagonal, strict=True) if not value > 0]
        raise SingularMomentsError(_deficiency(moments, len(index), dead))
    scale = 1.0 / np.sqrt(diagonal)
    scaled = gamma * scale[:, None] * scale
    if ridge:
        scaled.flat[:: len(scale) + 1] += ridge
    factor, info = lapack.dpotrf(scaled, lower=0)
    rcond = 0.0 if info else float(lapack.dpocon(factor, np.abs(scaled).sum(axis=0).max())[0])
    if rcond < SINGULAR:
        raise SingularMomentsError(_deficiency(moments, len(index), _null_direction(scaled, names, index)))
    if rcond < ILL_CONDITIONED and not quiet:
        _warn_ill_conditioned(rcond, _null_direction(scaled, names, index), penalised=True)
    inverse = lapack.dpotri(factor, lower=0)[0]  # the upper triangle; the lower one is zero
    inverse = inverse + inverse.T
    inverse.flat[:: len(scale) + 1] *= 0.5
    theta = -scale * lapack.dpotrs(factor, scale * g, lower=0)[0]
    if not np.isfinite(theta).all():
        raise SingularMomentsError(NOT_FINITE)
    return Solution(restriction.expand(theta), inverse * scale[:, None] * scale, restriction, rcond)


def reduced(moments: Moments, restriction: Restriction) -> tuple[Array, Array]:
    """g_N with what the known parameters add to it, and Γ_N as a matrix, both over the free ones."""
    free, g, gamma = restriction.free, moments.g, moments.gamma
    if not free.all():
        g = (g + gamma.matvec(restriction.values))[free]
    return g, gamma.block(free).dense()


def _solve_equations(
    moments: Moments, gamma: Array, g: Array, restriction: Restriction, names: tuple[str, ...], quiet: bool
) -> Solution:
    """θ = −Γ⁻¹g by LU, in the units of rows and columns in which their largest entries are one."""
    rows, columns, _, _, _, dead = lapack.dgeequ(gamma)
    if dead:  # a row or a column of zeros
        rows = 1.0 / np.maximum(np.abs(gamma).max(axis=1), 1e-300)
        culprits = _null_direction(gamma * rows[:, None], names, restriction.index)
        raise SingularMomentsError(_deficiency(moments, len(gamma), culprits))
    scaled = gamma * rows[:, None] * columns
    factor, pivots, info = lapack.dgetrf(scaled)
    rcond = 0.0 if info else float(lapack.dgecon(factor, lapack.dlange("1", scaled))[0])
    if not rcond >= SINGULAR:
        culprits = _null_direction(scaled, names, restriction.index) if np.isfinite(scaled).all() else []
        raise SingularMomentsError(_deficiency(moments, len(gamma), culprits) if culprits else NOT_FINITE)
    if rcond < ILL_CONDITIONED and not quiet:
        _warn_ill_conditioned(rcond, _null_direction(scaled, names, restriction.index), penalised=False)
    theta = -columns * lapack.dgetrs(factor, pivots, rows * g)[0]
    if not np.isfinite(theta).all():
        raise SingularMomentsError(NOT_FINITE)
    inverse = lapack.dgetri(factor, pivots)[0] * columns[:, None] * rows
    return Solution(restriction.expand(theta), inverse, restriction, rcond)


def equilibrated(gamma: Array) -> Array:
    """Γ with the largest entry of every row and every column one."""
    rows, columns, *_ = lapack.dgeequ(gamma)
    return gamma * rows[:, None] * columns


def _warn_ill_conditioned(rcond: float, culprits: list[str], *, penalised: bool) -> None:
    """`penalised`: whether there is a loss that a ridge could be added to."""
    warn(
        f"Γ_N is ill-conditioned (1/κ ≈ {rcond:.1e} after scaling): estimates lose digits. "
        f"The data say least about {', '.join(culprits)}. "
        f"Use more rows, {'a small ridge=, ' if penalised else ''}a mask, or another generator.",
        IllConditionedWarning,
    )


def _null_direction(scaled: Array, names: tuple[str, ...], index: Index, most: int = 4) -> list[str]:
    """Names of the parameters that make up the flattest direction of Γ."""
    vector = np.abs(np.linalg.svd(scaled)[2][-1])
    leading = np.argsort(-vector)[:most]
    return [names[index[i]] for i in leading if vector[i] > 0.1 * vector[leading[0]]]


def _deficiency(moments: Moments, n_free: int, culprits: list[str]) -> str:
    ridge = "add a small ridge= (for example 1e-3), " if moments.symmetric else ""
    shown = ", ".join(culprits[:4]) + (", …" if len(culprits) > 4 else "")
    return (
        f"Γ_N is singular: {moments.n} rows do not determine the {n_free} free parameters, in particular {shown}. "
        f"Use more rows, drop constant or linearly dependent columns, {ridge}or leave parameters out (mask=, fixed=)."
    )
