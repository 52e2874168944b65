r"""The maximum-likelihood estimate of an exponential family from draws, wherever one starts.

The likelihood is stationary where the model's mean of t is that of the data. Draws at θ, weighted by
:math:`e^{(\theta'-\theta)^\top t}`, are draws at θ' (Geyer and Thompson 1992), so Newton's method runs on one pool of draws as long as the
weights leave half of its effective number. Where they do not, θ moves as far as they allow and a new pool is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array, Mask

MOST_ROUNDS = 25
"""Pools that are drawn on the way, at most."""
NEWTON_STEPS = 30
KEPT = 0.5
"""Share of a pool's effective number that its weights must leave."""
SMALL_POOL = 2000
"""Draws of a pool on the way; only the last one is larger."""
SINGULAR = 1e-10
"""Eigenvalues of the correlation matrix of t below this share of the largest: directions that t does not have."""


class Pool(NamedTuple):
    """Draws from the model at some θ, and how many independent ones they are worth."""

    rows: Array
    effective: float


class Refusal(NamedTuple):
    """Why there are no draws at some θ."""

    reason: str


Draw = Callable[[Array, int], Pool | Refusal]
"""(θ, number of draws) → draws from the model at θ, or the reason why there are none."""


class Root(NamedTuple):
    """The likelihood root, with draws that stand for the model there.

    Attributes
    ----------
    theta : ndarray
        The root, or the last θ that was reached.
    reached : bool
        Whether the mean of t is that of the data there.
    pool : Pool
    weights : ndarray
        Of the rows of the pool, summing to one.
    """

    theta: Array
    reached: bool
    pool: Pool
    weights: Array


class Tilt(NamedTuple):
    """A change of θ that a pool can follow."""

    step: Array
    weights: Array
    reached: bool


def tilt(t: Array, target: Array) -> Tilt:
    """Newton's method on a pool: the change of θ at which the weighted mean of `t` (m, r) is `target`, or as far as it goes."""
    m = len(t)
    centre, spread = t.mean(axis=0), t.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    z, goal = (t - centre) / spread, (target - centre) / spread
    step, weights = np.zeros(z.shape[1]), np.full(m, 1.0 / m)
    for _ in range(NEWTON_STEPS):
        mean = weights @ z
        gap = goal - mean
        direction = pseudo_solve((z * weights[:, None]).T @ z - np.multiply.outer(mean, mean), gap)
        if m * float(gap @ direction) < 1e-6:  # far below the noise of the draws
            return Tilt(step / spread, weights, True)
        size = 1.0
        while size > 1e-3:
            trial = step + size * direction
            tried = _weights(z @ trial)
            if float(tried @ tried) * m * KEPT < 1.0:
                break
            size *= 0.5
        else:
            break
        step, weights = trial, tried
        if size < 1.0 and float(weights @ weights) * m * KEPT > 0.9:
            break  # all that the pool allows
    return Tilt(step / spread, weights, False)


def likelihood_root(
    theta: Array, free: Mask, statistics: Callable[[Array], Array], target: Array, draw: Draw, size: int
) -> Root | Refusal:
    """The root from θ, ending with a pool of `size` draws at it.

    Parameters
    ----------
    theta : ndarray
        Where to start; known parameters stay where they are.
    free : ndarray of bool
    statistics : callable
        Rows to the free statistics (m, r).
    target : ndarray
        Their mean over the data.
    draw : callable
    size : int
    """
    small = min(size, SMALL_POOL)
    pool = draw(theta, small)
    if isinstance(pool, Refusal):
        return pool
    for _ in range(MOST_ROUNDS):
        change = tilt(statistics(pool.rows), target)
        moved = _move(theta, free, change.step, draw, size if change.reached else small)
        if moved is None:
            break  # the edge of the parameters
        theta, pool = moved
        if change.reached:
            break
    if len(pool.rows) < size:
        again = draw(theta, size)
        pool = pool if isinstance(again, Refusal) else again
    change = tilt(statistics(pool.rows), target)
    theta = theta.copy()
    theta[free] += change.step
    return Root(theta, change.reached, pool, change.weights)


def _move(theta: Array, free: Mask, step: Array, draw: Draw, size: int) -> tuple[Array, Pool] | None:
    """The farthest of a few fractions of a step at which there is a distribution, and draws from it."""
    for fraction in (1.0, 0.5, 0.2, 0.05):
        new = theta.copy()
        new[free] += fraction * step
        pool = draw(new, size)
        if isinstance(pool, Pool):
            return new, pool
    return None


def pseudo_solve(matrix: Array, right: Array) -> Array:
    """Least-squares solution with a symmetric matrix, directions that it does not have left alone."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > SINGULAR * max(values[-1], 0.0)
    inside = vectors[:, kept]
    return np.asarray(inside @ ((inside.T @ right).T / values[kept]).T, dtype=np.float64)


def _weights(exponent: Array) -> Array:
    weights = np.exp(exponent - exponent.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)
