"""Can a density be normalised? The verdict, and the quadratic tails exp(−½ xᵀKx + ηᵀx) when K is not positive definite."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array, is_diagonal

EXACT_UP_TO = 12
"""Largest dimension in which strict copositivity is decided by looking at every principal submatrix."""


class Normalisable(NamedTuple):
    """Whether ∫ exp(θᵀt + b) over the domain is finite; None where that could not be decided."""

    holds: bool | None
    reason: str = ""
    """Where it diverges, when it does."""


def all_above(values: Array, bound: float, names: Sequence[str]) -> Normalisable:
    """The density can be normalised if and only if each of these parameters exceeds `bound`."""
    worst = int(np.argmin(values))
    if values[worst] > bound:
        return Normalisable(True)
    return Normalisable(False, f"{names[worst]} = {values[worst] + 0.0:.4g} is not above {bound:g}")


def quadratic(K: Array, recession: Array | None) -> Normalisable:
    """The verdict on exp(−½ xᵀKx + ηᵀx): :func:`is_normalisable`, undecided where a direction has vᵀKv = 0 to rounding."""
    K, unit = without_units(K)
    recession = None if recession is None else recession * unit
    holds = is_normalisable(K, recession)
    if holds is False:
        edge = 1e-12 * (float(np.abs(K).max()) or 1.0)
        if is_normalisable(K + edge * np.eye(len(K)), recession) is not False:
            return Normalisable(None)
        return Normalisable(
            False, "vᵀKv < 0 along a direction v in which the domain is unbounded (positive_definite=True prevents it)"
        )
    return Normalisable(holds)


def without_units(K: Array) -> tuple[Array, Array]:
    """K with a diagonal of ±1 (or 0), and the units u it was divided by: K_jk u_j u_k has the same inertia and no units."""
    size = np.abs(np.diagonal(K))
    unit = 1.0 / np.sqrt(np.where(size > 0, size, 1.0))
    return K * np.multiply.outer(unit, unit), unit


def power_interaction(a: float, b: float, K: Array, eta: Array, columns: Sequence[str]) -> Normalisable:
    """The verdict on exp(−(x^a)ᵀK x^a / (2a) + ηᵀx^b / b) on the orthant, from its leading terms (Yu, Drton and Shojaie 2019).

    In y = log x, or in u = x^a > 0, the larger power decides: K alone where 2a > b, η where b > 2a, K − diag(η) where they are
    equal. With b = 0 the density is x^η at zero, so every η must exceed −1.
    """
    if a == 0.0:
        names = [f"−eta[{c}]" for c in columns]
        if b > 0.0 and np.any(eta > 0):
            return all_above(-eta, 0.0, names)  # exp(η x^b / b) outgrows every power of log x
        falling = np.eye(len(eta))[(eta < 0) if b > 0.0 else np.zeros(len(eta), dtype=bool)]
        return quadratic(K, falling)  # towards infinity a falling exponential leaves nothing of those coordinates
    if b == 0.0 and np.any(eta <= -1.0):
        return all_above(eta, -1.0, [f"eta[{c}]" for c in columns])
    if b > 2.0 * a:
        if np.any(eta > 0):
            return all_above(-eta, 0.0, [f"−eta[{c}]" for c in columns])
        K = K[np.ix_(eta == 0, eta == 0)]
    elif b == 2.0 * a:
        K = K - np.diag(eta)
    return quadratic(K, -np.eye(len(K))) if len(K) else Normalisable(True)


def is_normalisable(K: Array, recession: Array | None) -> bool | None:
    """Whether vᵀKv > 0 in every direction v ≠ 0 in which the domain is unbounded; None if undecided.

    Parameters
    ----------
    K : ndarray of shape (d, d)
    recession : ndarray of shape (m, d) or None
        The unbounded directions are the solutions of ``recession @ v ≤ 0``; None for a bounded domain.
    """
    if recession is None or _is_positive(K):
        return True
    if not recession.size:
        return False
    if np.all((recession != 0).sum(axis=1) == 1):
        return _on_axis_cone(K, recession)
    return False if _finds_descent(K, recession) else None


def _is_positive(K: Array) -> bool:
    values = np.diagonal(K) if is_diagonal(K) else np.linalg.eigvalsh(K)
    return bool(values.min() > 0)


def _on_axis_cone(K: Array, recession: Array) -> bool | None:
    """Each coordinate of v is free, has a sign, or is zero."""
    lower = (recession < 0).any(axis=0)  # −v_j ≤ 0: v_j ≥ 0
    upper = (recession > 0).any(axis=0)
    moving = ~(lower & upper)
    sign = np.where(upper, -1.0, 1.0)[moving]
    K = K[np.ix_(moving, moving)] * sign[:, None] * sign
    free = np.logical_not(lower | upper)[moving]
    if free.any():
        inner = K[np.ix_(free, free)]
        if np.linalg.eigvalsh(inner)[0] <= 0:
            return False
        cross = K[np.ix_(free, ~free)]
        K = K[np.ix_(~free, ~free)] - cross.T @ np.linalg.solve(inner, cross)
    return _is_strictly_copositive(K)


def _is_strictly_copositive(K: Array) -> bool | None:
    """vᵀKv > 0 for all v ≥ 0, v ≠ 0 (Kaplan 2000: no principal submatrix has λ ≤ 0 with a positive eigenvector)."""
    d = len(K)
    if d == 0 or (np.all(K >= 0) and np.all(np.diagonal(K) > 0)) or _is_positive(K):
        return True
    if np.any(np.diagonal(K) <= 0):
        return False
    if d > EXACT_UP_TO:
        return False if _finds_descent(K, -np.eye(d)) else None
    for size in range(2, d + 1):
        subsets = np.array(list(combinations(range(d), size)))
        values, vectors = np.linalg.eigh(K[subsets[:, :, None], subsets[:, None, :]])
        one_sign = np.all(vectors > 0, axis=1) | np.all(vectors < 0, axis=1)
        if np.any(one_sign & (values <= 0)):
            return False
    return True


def _finds_descent(K: Array, recession: Array) -> bool:
    """Search for a direction of the cone with vᵀKv < 0, from several starts."""
    from scipy.optimize import minimize

    scale = float(np.abs(K).max())
    rng = np.random.default_rng(0)
    starts = np.vstack([np.linalg.eigh(K)[1].T, -np.linalg.eigh(K)[1].T, rng.standard_normal((10, len(K)))])
    constraints = [
        {"type": "ineq", "fun": lambda v: -(recession @ v), "jac": lambda v: -recession},
        {"type": "ineq", "fun": lambda v: 1.0 - v @ v, "jac": lambda v: -2.0 * v[None, :]},
    ]
    for start in starts:
        found = minimize(
            lambda v: 0.5 * v @ K @ v / scale,
            start,
            jac=lambda v: K @ v / scale,
            constraints=constraints,
            method="SLSQP",
        )
        if found.fun < -1e-9 and np.all(recession @ found.x <= 1e-9):
            return True
    return False
