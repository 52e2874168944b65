"""How far chains can be trusted: split-R̂ and effective sample size (Gelman et al., *Bayesian Data Analysis*, 3rd ed., 11.4–11.5)."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from zfree.arrays import Array
from zfree.conversion import real_array
from zfree.errors import SpecificationError


def split_rhat(states: Array) -> Array:
    """Potential scale reduction of each coordinate, every chain cut in half.

    Parameters
    ----------
    states : array_like of shape (steps, chains, d)
        At least four steps.

    Returns
    -------
    ndarray of shape (d,)
        1 when the halves of all chains agree; above 1.01 the chains have not mixed.
    """
    halves = _halves(states)
    n = halves.shape[0]
    within = halves.var(axis=0, ddof=1).mean(axis=0)
    between = n * halves.mean(axis=0).var(axis=0, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.sqrt(((n - 1) / n * within + between / n) / within)
    return np.where(within > 0, ratio, np.where(between > 0, np.inf, 1.0))


def effective_size(states: Array) -> Array:
    """How many independent draws the chains are worth, per coordinate (d,), by Geyer's initial monotone sequence."""
    halves = _halves(states)
    n, m, _ = halves.shape
    centered = halves - halves.mean(axis=0)
    spectrum = np.fft.rfft(centered, 2 * n, axis=0)
    autocovariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=0)[:n] / np.arange(n, 0, -1)[:, None, None]
    within = autocovariance[0].mean(axis=0) * n / (n - 1)
    between = halves.mean(axis=0).var(axis=0, ddof=1)
    total = (n - 1) / n * within + between
    with np.errstate(invalid="ignore", divide="ignore"):
        # Chains are centered at their own means; what that takes away from either term cancels (BDA's variogram).
        rho = 1.0 - (autocovariance[0] - autocovariance).mean(axis=1) / total
    pairs = rho[: 2 * (n // 2)].reshape(n // 2, 2, -1).sum(axis=1)
    # Sums of neighbours are positive and decreasing for a reversible chain; what is not is noise.
    positive = np.cumprod(pairs > 0, axis=0).astype(bool)
    monotone = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    time = -1.0 + 2.0 * monotone.sum(axis=0)
    size = n * m / np.maximum(time, 1.0 / np.log10(max(n * m, 10)))
    return np.where(total > 0, size, float(n * m))


def rank_normal(states: Array) -> Array:
    """Normal scores of the ranks of each coordinate, so that tails without a variance are judged like any (Vehtari et al. 2021)."""
    steps, chains, d = states.shape
    order = states.reshape(-1, d).argsort(axis=0, kind="stable")
    scores = ndtri((np.arange(1.0, steps * chains + 1) - 0.375) / (steps * chains + 0.25))
    out = np.empty((steps * chains, d))
    np.put_along_axis(out, order, np.broadcast_to(scores[:, None], order.shape), axis=0)
    return out.reshape(states.shape)


def _halves(states: Array) -> Array:
    states = real_array(states, "states")
    steps = states.shape[0] if states.ndim == 3 else 0
    if steps < 4 or not states.size:
        raise SpecificationError(
            f"diagnostics need states of shape (steps ≥ 4, chains ≥ 1, d ≥ 1), got the shape {states.shape}."
        )
    if not np.all(np.isfinite(states)):
        raise SpecificationError("diagnostics need finite states.")
    states = states - states[0, 0]  # so that a coordinate that never moves has variance zero, not rounding
    half = steps // 2
    return np.concatenate([states[:half], states[steps - half :]], axis=1)
