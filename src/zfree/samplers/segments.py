"""Exact draws from exp(g t − ½ q t²) on segments, whatever the sign of q."""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array, Index
from zfree.samplers.truncated_normal import draw_normal

FLAT, FAR = 1e-8, 1e3
"""A truncated normal loses digits when its ends are less than 1e-4 deviations apart, or a thousand of them from the mean."""


def quadratic_on_segment(g: Array, q: Array | float, low: Array, high: Array, rng: np.random.Generator) -> Array:
    """One draw for each element from exp(g t − ½ q t²) restricted to (low, high).

    With q > 0 it is a truncated normal, and an end may be infinite; with q = 0 too, if the density falls towards it. Where it is
    nearly an exponential, or log-convex (q < 0), an exponential that lies above it is drawn from and thinned; about half of the
    proposals or more are kept.
    """
    length, root = high - low, np.sqrt(np.maximum(q, 0.0))
    with np.errstate(over="ignore", invalid="ignore"):
        flat = np.abs(q) * length * length <= FLAT
        # The slope of log p at either end: where it is steep, what lies inside is the tail of a normal far outside.
        tail = ((g - q * low < -FAR * root) | (g - q * high > FAR * root)) & (q > 0) & ~flat
    if np.any(q == 0):
        tail = tail | ((q == 0) & np.isinf(length))
    if np.ndim(q) == 0 and q > 0 and not (flat.any() or tail.any()):
        return draw_normal(g / q, 1.0 / float(root), low, high, rng)
    g, q, low, high, flat, tail = np.broadcast_arrays(g, q, low, high, flat, tail)
    rest = ~(flat | tail)
    out = np.empty(g.shape)
    for here, draw in (
        (flat, _nearly_exponential),
        (tail, _tail),
        (rest & (q > 0), _normal),
        (rest & (q <= 0), _log_convex),
    ):
        if here.any():
            out[here] = draw(g[here], q[here], low[here], high[here], rng)
    return np.clip(out, low, high)


def _tail(g: Array, q: Array, low: Array, high: Array, rng: np.random.Generator) -> Array:
    """From the nearer end the density falls like an exponential, and a little faster."""
    upwards = np.isfinite(low) & (g - q * np.where(np.isfinite(low), low, 0.0) < 0)  # the mode is below the lower end
    end = np.where(upwards, low, high)
    rate = np.abs(g - q * end)
    out, todo = np.empty(g.shape), np.arange(g.size)
    while todo.size:
        cut = -np.expm1(-rate[todo] * (high - low)[todo])
        t = -np.log1p(-rng.uniform(size=todo.size) * cut) / rate[todo]
        kept = np.log(rng.uniform(size=todo.size)) < -0.5 * q[todo] * t * t
        out[todo[kept]] = t[kept]
        todo = todo[~kept]
    return np.where(upwards, end + out, end - out)


def _normal(g: Array, q: Array, low: Array, high: Array, rng: np.random.Generator) -> Array:
    return draw_normal(g / q, 1.0 / np.sqrt(q), low, high, rng)


def _nearly_exponential(g: Array, q: Array, low: Array, high: Array, rng: np.random.Generator) -> Array:
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    slope = g - q * middle
    out, todo = np.empty(g.shape), np.arange(g.size)
    while todo.size:
        h, q_ = half[todo], q[todo]
        s = h * (2.0 * _tilted(2.0 * h * slope[todo], rng) - 1.0)
        kept = np.log(rng.uniform(size=todo.size)) < 0.5 * (np.minimum(q_, 0.0) * h * h - q_ * s * s)
        out[todo[kept]] = middle[todo[kept]] + s[kept]
        todo = todo[~kept]
    return out


def _log_convex(g: Array, q: Array, low: Array, high: Array, rng: np.random.Generator) -> Array:
    """The logarithm is convex, so that its chords lie above it: one on either side of its lowest point."""
    lowest = np.clip(g / q, low, high)

    def log_density(t: Array, k: Index) -> Array:
        return t * (g[k] - 0.5 * q[k] * t)

    every = np.arange(g.size)
    ends = np.stack([low, lowest, high])
    values = np.stack([log_density(t, every) for t in ends])
    rise, length = np.diff(values, axis=0), np.diff(ends, axis=0)
    size = np.abs(rise)
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = np.where(size > 1e-12, -np.expm1(-size) / np.where(size > 0, size, 1.0), 1.0)
        mass = np.maximum(values[:-1], values[1:]) + np.log(length) + np.log(shrink)
    right = 1.0 / (1.0 + np.exp(np.clip(mass[0] - mass[1], -700.0, 700.0)))  # share of the second piece
    out, todo = np.empty(g.shape), every
    while todo.size:
        piece = (rng.uniform(size=todo.size) < right[todo]).astype(np.intp)
        w = _tilted(rise[piece, todo], rng)
        t = ends[piece, todo] + length[piece, todo] * w
        above = values[piece, todo] + rise[piece, todo] * w
        kept = np.log(rng.uniform(size=todo.size)) < log_density(t, todo) - above
        out[todo[kept]] = t[kept]
        todo = todo[~kept]
    return out


def _tilted(rise: Array, rng: np.random.Generator) -> Array:
    """w in (0, 1) with density proportional to exp(rise · w)."""
    u, size = rng.uniform(size=rise.shape), np.abs(rise)
    with np.errstate(divide="ignore", invalid="ignore"):
        w = np.where(size > 1e-12, -np.log1p(u * np.expm1(-size)) / np.where(size > 0, size, 1.0), u)
    return np.where(rise > 0, 1.0 - w, w)
