"""What a domain can do that says only where it is: everything here follows from margins, or from the barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zfree.arrays import Array
from zfree.potentials import SlackPotential

if TYPE_CHECKING:
    from zfree.domains.base import Domain

STEP = 2.0**-20
"""Share of a coordinate by which it is moved to see how much of a margin is its."""
SHARE = 1e-3
"""Share of the room along a line that a difference of curvatures spans."""


class Sections(NamedTuple):
    """Distances (N, d) from x_j down and up to the ends of coordinate j's own section of the domain."""

    below: Array
    above: Array


def reach(domain: Domain, X: Array, v: Array) -> Array:
    """How far (N,) each row can move along v (d,), or a v of its own (N, d), before it leaves a convex domain: by doubling and bisection."""
    steps = 2.0 ** np.arange(-60, 61)
    within = sum(
        domain.contains(X + t * v).astype(np.intp) for t in steps
    )  # convex: inside up to some step, then outside
    low, high = np.r_[0.0, steps][within], np.r_[steps, np.inf][within]
    for _ in range(55):
        middle = np.where(np.isinf(high), low, 0.5 * (low + high))
        inside = domain.contains(X + middle[:, None] * v)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.where(np.isinf(high), np.inf, low)


def terms_of_margins(domain: Domain, X: Array) -> Array:
    """Σ_j |x_j ∂_j m_k| + |m_k| (m,), at most over the rows: the size of the terms that margin k is a difference of."""
    margins = domain.margins(X)
    sizes = np.abs(margins)
    for j in range(X.shape[1]):
        moved = X.copy()
        moved[:, j] *= 1.0 + STEP
        sizes += np.abs(domain.margins(moved) - margins) / STEP
    return np.asarray(sizes.max(axis=0, initial=0.0))


def pulled_to_the_interior(domain: Domain, X: Array, epsilon: float) -> Array:
    """Rows moved towards the interior point, no further than it takes every margin to be `epsilon`, or half of what it is there."""
    center = domain.interior_point()
    target = np.minimum(epsilon, 0.5 * domain.margins(center[None])[0])
    low, high = np.zeros(len(X)), np.ones(len(X))
    short = (domain.margins(X) < target).any(axis=1)
    for _ in range(60):
        middle = 0.5 * (low + high)
        inside = (domain.margins(X + middle[:, None] * (center - X)) >= target).all(axis=1)
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    return np.where(short[:, None], X + high[:, None] * (center - X), X)


def curvature_along(domain: Domain, potential: SlackPotential, X: Array, V: Array) -> tuple[Array, Array]:
    """vᵀHv (N,) by inverting the barrier's inverse Hessian, and its derivative along v by differences over a share of the room."""
    room = np.minimum(reach(domain, X, V), reach(domain, X, -V))
    size = np.linalg.norm(V, axis=1)
    h = SHARE * np.where(np.isfinite(room), room, 1.0 / np.where(size > 0, size, 1.0))

    def second(t: float) -> Array:
        inverse = domain.barrier(potential, X + (t * h)[:, None] * V).inverse.dense()
        H = np.linalg.inv(inverse) if domain.chart is None else np.linalg.pinv(inverse, rcond=1e-12, hermitian=True)
        curvature: Array = np.einsum("nj,njk,nk->n", V, H, V)
        return curvature

    slope = (8.0 * (second(1.0) - second(-1.0)) - second(2.0) + second(-2.0)) / (12.0 * h)
    return second(0.0), slope


def pull_inwards(X: Array, center: Array, room: Array, room_at_center: Array, epsilon: float) -> Array:
    """Move each row towards `center` just enough that every affine margin reaches `epsilon`.

    `room` (N, m) are the margins of the rows, `room_at_center` (m,) those of the center. Margins are affine, so moving
    by a fraction t changes a margin to ``(1 - t) room + t room_at_center``.
    """
    target = np.minimum(epsilon, room_at_center)
    short = np.maximum(target - room, 0.0)
    gap = np.maximum(room_at_center - room, np.finfo(float).tiny)
    t = np.clip((short / gap).max(axis=1, initial=0.0), 0.0, 1.0)[:, None]
    inside: Array = X + t * (center - X)
    return inside
