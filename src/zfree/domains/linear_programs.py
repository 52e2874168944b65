"""Questions about A x < b that a linear programme answers, whatever the units of its rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from zfree.arrays import Array

RANK_TOLERANCE = 1e-10
"""Singular values below this share of the largest count as zero, once rows and columns have been balanced."""
ROUNDING = 64 * np.finfo(float).eps
"""A slack smaller than this share of the terms it is the difference of is rounding."""
ROUNDS = 3
"""Times that the origin is moved to the center found so far, and the columns measured anew from there."""


RAYS = 2048
"""Random rays that look for facets before a linear programme does."""


def _linprog(*args: Any, **kwargs: Any) -> Any:
    from scipy.optimize import linprog  # a tenth of the time of the whole import, and few domains need it

    return linprog(*args, **kwargs)


def balanced(A: Array) -> tuple[Array, Array]:
    """A with rows and columns scaled so that its entries are as close to one as they can be, and the columns' factors.

    Least squares in the logarithms of the entries that are not zero (Curtis and Reid 1972), by turns over rows and columns: other
    units of either lead to the same matrix.
    """
    filled = A != 0
    logs = np.log(np.abs(np.where(filled, A, 1.0)))
    per_row, per_column = np.maximum(filled.sum(axis=1), 1), np.maximum(filled.sum(axis=0), 1)
    rows, columns = np.zeros(A.shape[0]), np.zeros(A.shape[1])
    for _ in range(100):
        rows = -np.where(filled, logs + columns, 0.0).sum(axis=1) / per_row
        previous, columns = columns, -np.where(filled, logs + rows[:, None], 0.0).sum(axis=0) / per_column
        if np.abs(columns - previous).max(initial=0.0) < 1e-3:
            break
    scaled = np.where(filled, np.sign(A) * np.exp(logs + rows[:, None] + columns), 0.0)
    return scaled, np.exp(columns)


def rank(A: Array) -> int:
    """The rank of A, which depends neither on the units of its rows nor on those of its columns."""
    if not A.size:
        return 0
    singular = np.linalg.svd(balanced(A)[0], compute_uv=False)
    return int(np.sum(singular > RANK_TOLERANCE * singular[0]))


def interior_point(A: Array, b: Array) -> Array | None:
    """A point well inside {A x < b}; None when the interior is empty.

    The center of the largest ball (Chebyshev), where a ball means one in columns measured by the room there is: a first
    programme is written in the units that A and b suggest, the next ones in those of the slacks at the point found before.
    """
    center, units = np.zeros(A.shape[1]), _column_units(A, b)
    for _ in range(ROUNDS):
        room = b - A @ center
        step, radius = _chebyshev(A * units, room)
        if not radius > 0:
            return None
        candidate = center + units * step
        slack = b - A @ candidate
        if not np.all(slack > 0):
            break  # the point found before is as good as floating point allows
        center, units = candidate, _column_units(A, slack)
    slack = b - A @ center
    terms = np.abs(b) + np.abs(A) @ np.abs(center)
    return center if np.all(slack > ROUNDING * terms) else None


def _column_units(A: Array, room: Array) -> Array:
    """A typical length along each column: the geometric mean of |room_k / a_kj| over the rows that bear on it."""
    balanced_units = balanced(A)[1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lengths = np.log(np.abs(room[:, None] / A))
    known = np.isfinite(lengths)
    mean = np.where(known, lengths, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    # Where no row says a length (a cone), the columns are balanced against each other, in the unit of the others.
    typical = np.where(known.any(axis=0), mean, np.nan)
    shift = np.nanmean(typical - np.log(balanced_units)) if known.any() else 0.0
    return np.asarray(np.where(np.isnan(typical), balanced_units * np.exp(shift), np.exp(typical)))


def _chebyshev(A: Array, b: Array) -> tuple[Array, float]:
    """Center and radius of the largest ball inside {A x ≤ b} (radius capped; ≤ 0 when the interior is empty)."""
    norms = np.linalg.norm(A, axis=1)
    d = A.shape[1]
    level = b / norms
    cap = 1.0 + float(np.abs(level).max())
    result = _linprog(
        np.r_[np.zeros(d), -1.0],
        A_ub=np.column_stack([A / norms[:, None], np.ones(len(b))]),
        b_ub=level,
        bounds=[(None, None)] * d + [(None, cap)],
        method="highs",
    )
    if result.x is None:
        return np.zeros(d), -np.inf
    return result.x[:d], float(result.x[d])


def has_bounded_solutions(A: Array) -> bool:
    """Whether {A x ≤ b} is bounded: A has full rank and some y ≥ 1 has Aᵀy = 0 (Stiemke)."""
    m, d = A.shape
    if rank(A) < d:
        return False
    A = balanced(A)[0]
    result = _linprog(np.zeros(m), A_eq=A.T, b_eq=np.zeros(d), bounds=[(1.0, None)] * m, method="highs")
    solved: bool = result.status == 0
    return solved


def vertex(objective: Array, A: Array, height: Array) -> Array | None:
    """Where `objective` is least over {v : A v ≤ 0, height·v = 1}; None where that set is empty."""
    result = _linprog(
        objective,
        A_ub=A,
        b_ub=np.zeros(len(A)),
        A_eq=height[None],
        b_eq=np.ones(1),
        bounds=[(None, None)] * len(objective),
        method="highs-ds",
    )
    return None if result.x is None or result.status != 0 else np.asarray(result.x)


def redundant_rows(A: Array, b: Array, inside: Array) -> tuple[int, ...]:
    """Rows implied by the others, found one at a time so that one of two equal rows is kept.

    `inside` is a point of the interior: from there every slack is one. A facet that is the first and only one on some ray from there is
    none of them; rays settle most rows, a programme the rest.
    """
    kept = list(range(len(b)))
    redundant = []
    room = b - A @ inside
    A = A / room[:, None]
    A = A * balanced(A)[1]
    needed = _first_on_some_ray(A)
    for k in range(len(b)):
        if k in needed:
            continue
        others = [i for i in kept if i != k]
        if not others:
            continue
        result = _linprog(
            -A[k],
            A_ub=np.vstack([A[others], A[k]]),
            b_ub=np.r_[np.ones(len(others)), 2.0],
            bounds=[(None, None)] * A.shape[1],
            method="highs",
        )
        if result.status == 0 and -result.fun <= 1.0 + 1e-9:
            redundant.append(k)
            kept.remove(k)
    return tuple(redundant)


def _first_on_some_ray(A: Array) -> set[int]:
    """Rows of A x < 1 that a ray from the origin meets before any other, with room to spare."""
    rays = np.random.default_rng(0).standard_normal((RAYS, A.shape[1]))
    speed = np.concatenate([rays @ A.T, A @ A.T])  # and straight towards every facet
    if speed.shape[1] < 2:
        return {0}
    first = speed.argmax(axis=1)
    runner_up, fastest = np.partition(speed, -2, axis=1)[:, -2:].T
    alone = (fastest > 0) & (fastest > runner_up * (1.0 + 1e-6) + 1e-12)
    return set(first[alone].tolist())


def contradictory_rows(A: Array, b: Array) -> tuple[int, ...]:
    """A small set of rows with no common interior point: the support of a Farkas certificate.

    Minimises b·y over y ≥ 0, Aᵀy = 0, Σ‖a_k‖ y_k = 1, the dual of the Chebyshev programme. A vertex solution has at
    most d + 1 rows.
    """
    A = A * _column_units(A, b)
    norms = np.linalg.norm(A, axis=1)
    A, b = A / norms[:, None], b / norms
    result = _linprog(
        b,
        A_eq=np.vstack([A.T, np.ones(len(b))]),
        b_eq=np.r_[np.zeros(A.shape[1]), 1.0],
        bounds=[(0.0, None)] * len(b),
        method="highs-ds",
    )
    if result.x is None:
        return tuple(range(len(b)))
    found = tuple(int(k) for k in np.flatnonzero(result.x > 1e-9))
    return found or tuple(range(len(b)))
