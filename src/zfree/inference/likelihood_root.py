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
NEWTON_STEPS, HALVINGS = 40, 8
EXACT, ALMOST, NOISE = 1e-6, 1e-2, 1.5
"""Squared gap between the means of t, per parameter and in units of the noise of the draws: when to stop, when what was found will
do, and when θ cannot be told from the root to begin with."""
KEPT, NEAR = 0.5, 0.8
"""Share of a pool's draws that weighted ones must be worth: on the way, and for the pool to be the last one."""
SMALL_POOL = 2000
"""Draws of a pool on the way; only the last one is larger."""
SINGULAR = 1e-10
"""Added to the diagonal of a correlation matrix of t."""


class Pool(NamedTuple):
    """Draws from the model at some θ, and how many independent ones they are worth."""

    rows: Array
    effective: float


class Refusal(NamedTuple):
    """Why there are no draws at some θ."""

    reason: str


Draw = Callable[[Array, int], Pool | Refusal]
"""(θ, number of draws) → draws from the model at θ, or the reason why there are none."""


class LikelihoodRoot(NamedTuple):
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
    """Newton's method on a pool: the change of θ at which the weighted mean of `t` (m, r) is `target`, or as far as it goes.

    The Hessian is that of the pool without weights: the steps are small where a pool can follow them, and one factorisation serves.
    """
    m, r = t.shape
    center, spread = t.mean(axis=0), t.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    z, goal = (t - center) / spread, (target - center) / spread
    inverse = regular_solve(z.T @ z / m, np.eye(r))
    step, weights, gap = np.zeros(r), np.full(m, 1.0 / m), goal
    if (m - r) * float(gap @ inverse @ gap) < NOISE * r:  # m − r: the inverse of r estimated variances is too large
        return Tilt(step, weights, True)
    for _ in range(NEWTON_STEPS):
        direction = inverse @ gap
        if m * float(gap @ direction) < EXACT * r:
            return Tilt(step / spread, weights, True)
        fraction = _allowed(z @ step, z @ direction)
        if fraction == 0.0:
            break
        step = step + fraction * direction
        weights = _weights(z @ step)
        gap = goal - weights @ z
    return Tilt(step / spread, weights, m * float(gap @ inverse @ gap) < ALMOST * r)


def _allowed(exponent: Array, direction: Array) -> float:
    """How much of a direction the weights can follow and still be worth enough draws; 0 if they cannot."""
    fraction = 1.0 / max(1.0, float(direction.std()))  # normal exponents with this deviation are worth e⁻¹ of the draws
    for _ in range(HALVINGS):
        if worth(_weights(exponent + fraction * direction)) >= KEPT:
            return fraction
        fraction *= 0.5
    return 0.0


def likelihood_root(
    theta: Array, free: Mask, statistics: Callable[[Array], Array], target: Array, draw: Draw, size: int
) -> LikelihoodRoot | Refusal:
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
    pool = draw(theta, size)
    if isinstance(pool, Refusal):
        return pool
    change = tilt(statistics(pool.rows), target)
    whole, small = True, min(size, SMALL_POOL)
    for _ in range(MOST_ROUNDS):
        if change.reached and whole and worth(change.weights) > NEAR:
            break
        whole = change.reached
        moved = _move(theta, free, change.step, draw, size if whole else small)
        if moved is None:
            break  # the edge of the parameters
        theta, pool = moved
        change = tilt(statistics(pool.rows), target)
    if not whole and isinstance(again := draw(theta, size), Pool):
        pool, change = again, tilt(statistics(again.rows), target)
    theta = theta.copy()
    theta[free] += change.step
    return LikelihoodRoot(theta, change.reached, pool, change.weights)


def _move(theta: Array, free: Mask, step: Array, draw: Draw, size: int) -> tuple[Array, Pool] | None:
    """The farthest of a few fractions of a step at which there is a distribution, and draws from it."""
    for fraction in (1.0, 0.5, 0.2, 0.05):
        new = theta.copy()
        new[free] += fraction * step
        pool = draw(new, size)
        if isinstance(pool, Pool):
            return new, pool
    return None


def regular_solve(matrix: Array, right: Array) -> Array:
    """Solution with a correlation matrix; statistics that are combinations of others share what they have in common."""
    return np.asarray(np.linalg.solve(matrix + SINGULAR * np.eye(len(matrix)), right), dtype=np.float64)


def worth(weights: Array) -> float:
    """The share of a pool's draws that weighted ones are worth."""
    return 1.0 / (len(weights) * float(weights @ weights))


def _weights(exponent: Array) -> Array:
    weights = np.exp(exponent - exponent.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)
