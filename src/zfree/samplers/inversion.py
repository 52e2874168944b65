"""Densities of one variable: the distribution function on a grid, inverted. No chain is needed there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.samplers.draws import Draws
from zfree.samplers.unfolding import Unfolding, unfolding

DEEP = 45.0
"""Logarithms below its maximum at which a density counts as zero: a share of 1e-19."""
CELLS = 2**14
"""Of the final grid. Inside a cell the density is taken as linear."""
AGREEMENT = 1e-6
"""Relative difference between the integral on the grid and on every other point of it, beyond which the grid is not trusted."""
WIDEST = 2.0**40


def inversion_draws(
    log_density: Callable[[Array], Array], domain: Domain, n: int, rng: np.random.Generator, rows: Array | None
) -> Draws | None:
    """`n` independent draws from a density of one variable; None where the grid cannot resolve it.

    In unfolded coordinates (:mod:`zfree.samplers.unfolding`) a pole at an end is an exponential tail. The grid covers all that is within
    e⁻⁴⁵ of the maximum.
    """
    map_ = unfolding(domain)
    anchors = None if map_ is None else map_.unfold(domain.interior_point()[None] if rows is None else rows)
    if map_ is None or anchors is None or anchors.shape[1] != 1:
        return None
    density = _UnfoldedLogDensity(log_density, map_)
    bracket = _bracket(density, float(anchors.min()), float(anchors.max()))
    if bracket is None:
        return None
    y = np.linspace(*bracket, CELLS + 1)
    logs = density(y)
    p = np.exp(logs - logs.max())
    ends = 0.5 * (p[0] + p[-1])
    fine, coarse = p.sum() - ends, 2.0 * (p[::2].sum() - ends)  # the trapezoid rule
    if not abs(fine - coarse) <= AGREEMENT * fine:
        return None
    mass = np.concatenate([[0.0], np.cumsum(0.5 * (p[1:] + p[:-1]))])
    u = rng.uniform(size=n) * mass[-1]
    cell = np.clip(np.searchsorted(mass, u, side="right") - 1, 0, CELLS - 1)
    left, right = p[cell], p[cell + 1]
    # ∫₀ᵗ (left + (right − left) τ) dτ = rest, solved so that a flat cell loses no digits.
    rest = u - mass[cell]
    share = 2.0 * rest / (left + np.sqrt(left**2 + 2.0 * (right - left) * rest))
    drawn = y[cell] + np.clip(share, 0.0, 1.0) * (y[1] - y[0])
    return Draws(map_.fold(drawn[:, None]).points, True, "inversion of the distribution function")


class _UnfoldedLogDensity:
    """The log-density of the unfolded coordinate, −∞ where a point cannot be represented or the density is not a number.

    Where the latter matters, the density jumps, the grid is not trusted, and chains find out whether it is an error.
    """

    def __init__(self, log_density: Callable[[Array], Array], map_: Unfolding) -> None:
        self._log_density, self._map = log_density, map_

    def __call__(self, y: Array) -> Array:
        folded = self._map.fold(y[:, None])
        out = np.full(len(y), -np.inf)
        if folded.valid.any():
            with np.errstate(all="ignore"):
                values = self._log_density(folded.points[folded.valid]) + folded.log_volume[folded.valid]
            out[folded.valid] = np.where(np.isnan(values), -np.inf, values)
        return out


def _bracket(density: _UnfoldedLogDensity, low: float, high: float) -> tuple[float, float] | None:
    """Where the density is not negligible: widened from where the data are, then narrowed on finer grids."""
    width = max(high - low, 1.0)
    low, high = low - width, high + width
    while True:
        y = np.linspace(low, high, 1025)
        logs = density(y)
        top = logs.max()
        if not np.isfinite(top):
            return None
        open_low, open_high = (edge > top - DEEP for edge in (logs[0], logs[-1]))
        if not (open_low or open_high):
            break
        width *= 2.0
        if width > WIDEST:
            return None
        low, high = low - width * open_low, high + width * open_high
    for _ in range(8):
        y = np.linspace(low, high, 4097)
        logs = density(y)
        (inside,) = np.nonzero(logs > logs.max() - DEEP)
        first, last = max(inside[0] - 1, 0), min(inside[-1] + 1, len(y) - 1)
        if last - first > 2048:
            break
        low, high = float(y[first]), float(y[last])
    return low, high
