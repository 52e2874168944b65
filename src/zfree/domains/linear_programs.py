"""Questions about A x < b that a linear programme answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from zfree.arrays import Array


def _linprog(*args: Any, **kwargs: Any) -> Any:
    from scipy.optimize import linprog  # a tenth of the time of the whole import, and few domains need it

    return linprog(*args, **kwargs)


def chebyshev_centre(A: Array, b: Array) -> tuple[Array, float]:
    """Centre and radius of the largest ball inside {A x ≤ b} (radius capped; ≤ 0 when the interior is empty)."""
    norms = np.linalg.norm(A, axis=1)
    d = A.shape[1]
    cap = 1.0 + float(np.abs(b / norms).max())
    result = _linprog(
        np.r_[np.zeros(d), -1.0],
        A_ub=np.column_stack([A, norms]),
        b_ub=b,
        bounds=[(None, None)] * d + [(None, cap)],
        method="highs",
    )
    if result.x is None:
        return np.zeros(d), -np.inf
    return result.x[:d], float(result.x[d])


def has_bounded_solutions(A: Array) -> bool:
    """Whether {A x ≤ b} is bounded: A has full rank and some y ≥ 1 has Aᵀy = 0 (Stiemke)."""
    m, d = A.shape
    if np.linalg.matrix_rank(A) < d:
        return False
    result = _linprog(np.zeros(m), A_eq=A.T, b_eq=np.zeros(d), bounds=[(1.0, None)] * m, method="highs")
    return result.status == 0


def redundant_rows(A: Array, b: Array) -> tuple[int, ...]:
    """Rows implied by the others, found one at a time so that one of two equal rows is kept."""
    kept = list(range(len(b)))
    redundant = []
    scale = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
    for k in range(len(b)):
        others = [i for i in kept if i != k]
        if not others:
            continue
        result = _linprog(
            -A[k],
            A_ub=np.vstack([A[others], A[k]]),
            b_ub=np.r_[b[others], b[k] + scale[k]],
            bounds=[(None, None)] * A.shape[1],
            method="highs",
        )
        if result.status == 0 and -result.fun <= b[k] + 1e-9 * scale[k]:
            redundant.append(k)
            kept.remove(k)
    return tuple(redundant)


def contradictory_rows(A: Array, b: Array) -> tuple[int, ...]:
    """A small set of rows with no common interior point: the support of a Farkas certificate.

    Minimises b·y over y ≥ 0, Aᵀy = 0, Σ‖a_k‖ y_k = 1, the dual of the Chebyshev programme. A vertex solution has at
    most d + 1 rows.
    """
    norms = np.linalg.norm(A, axis=1)
    result = _linprog(
        b,
        A_eq=np.vstack([A.T, norms]),
        b_eq=np.r_[np.zeros(A.shape[1]), 1.0],
        bounds=[(0.0, None)] * len(b),
        method="highs-ds",
    )
    if result.x is None:
        return tuple(range(len(b)))
    return tuple(int(k) for k in np.flatnonzero(result.x * norms > 1e-9))
