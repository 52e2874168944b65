"""Exact draws from one-dimensional truncated normals, elementwise and in the tails too."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from zfree.arrays import Array


def truncated_normal(mean: Array, sd: Array | float, low: Array, high: Array, rng: np.random.Generator) -> Array:
    """One draw from N(mean, sd²) restricted to (low, high) for each element; the bounds may be infinite.

    The distribution function is inverted in logarithms, on the side where it has digits, so intervals forty standard
    deviations out are as good as any.
    """
    a, b = (low - mean) / sd, (high - mean) / sd
    flip = a > 0  # right tail: mirror it to the left
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    log_a, log_b = log_ndtr(a), log_ndtr(b)
    u = rng.uniform(size=np.broadcast(a, b).shape)
    # log(Φ(a) + u (Φ(b) − Φ(a))) = log Φ(b) + log(u + (1 − u) Φ(a)/Φ(b))
    z = ndtri_exp(log_b + np.log(u + (1.0 - u) * np.exp(log_a - log_b)))
    z = np.clip(z, a, b)
    return np.clip(mean + sd * np.where(flip, -z, z), low, high)
