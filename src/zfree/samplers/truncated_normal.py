"""Exact draws from one-dimensional truncated normals, elementwise and in the tails too."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtri_exp

from zfree.arrays import Array
from zfree.conversion import real_array, shown
from zfree.errors import SpecificationError


def truncated_normal(
    mean: ArrayLike, sd: ArrayLike, low: ArrayLike, high: ArrayLike, rng: np.random.Generator
) -> Array:
    """One draw from N(mean, sd²) restricted to (low, high) for each element; the bounds may be infinite.

    The distribution function is inverted in logarithms, on the side where it has digits, so intervals forty standard
    deviations out are as good as any.

    Parameters
    ----------
    mean, sd, low, high : array_like
        Of one shape, or of shapes that broadcast to one.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray
    """
    given = {"mean": mean, "sd": sd, "low": low, "high": high}
    values = {name: real_array(value, name) for name, value in given.items()}
    try:
        m, s, below, above = np.broadcast_arrays(*values.values())
    except ValueError as cause:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in values.items())
        raise SpecificationError(f"mean, sd, low and high must have one shape, got {shapes}.") from cause
    if not np.isfinite(m).all():
        raise SpecificationError(f"mean must be finite, got {shown(mean)}.")
    if not np.all((s > 0) & (s < np.inf)):
        raise SpecificationError(f"sd must be finite and > 0, got {shown(sd)}.")
    if not np.all((below < above) & (below < np.inf) & (above > -np.inf)):
        raise SpecificationError(f"low must be below high, got low = {shown(low)} and high = {shown(high)}.")
    if not isinstance(rng, np.random.Generator):
        raise SpecificationError(f"rng must be a numpy Generator (numpy.random.default_rng(seed)), got {shown(rng)}.")
    return draw_normal(m, s, below, above, rng)


def draw_normal(mean: Array, sd: Array | float, low: Array, high: Array, rng: np.random.Generator) -> Array:
    """:func:`truncated_normal` of arrays that need no check: chains call it at every move."""
    a, b = (low - mean) / sd, (high - mean) / sd
    flip = a > 0  # right tail: mirror it to the left
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    log_a, log_b = log_ndtr(a), log_ndtr(b)
    u = rng.uniform(size=np.broadcast(a, b).shape)
    # log(Φ(a) + u (Φ(b) − Φ(a))) = log Φ(b) + log(u + (1 − u) Φ(a)/Φ(b))
    z = ndtri_exp(log_b + np.log(u + (1.0 - u) * np.exp(log_a - log_b)))
    z = np.clip(z, a, b)
    drawn: Array = np.clip(mean + sd * np.where(flip, -z, z), low, high)
    return drawn
