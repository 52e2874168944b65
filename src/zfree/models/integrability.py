r"""Can an unknown density be normalised? A numerical look along lines to the facets and to infinity.

On a line that meets the boundary let the density behave like :math:`s^\kappa` at distance s: with :math:`\kappa \le -1` its
integral across that facet diverges. On a line that never does let it behave like :math:`r^{-m}`: with :math:`m \le 1` the integral
over a tube around the line diverges, with :math:`m > d` the line is harmless, and between them one line cannot tell. Both exponents
are slopes of log p between points that lie a constant factor apart.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zfree.arrays import Array, Mask
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.models.normalisable import Normalisable

ROWS, CENTERS, RANDOM_DIRECTIONS = 1000, 8, 8
APPROACH = 10.0 ** -np.arange(2.0, 11.0, 2.0)
"""Fractions of the way left to a facet."""
DEPARTURE = 10.0 ** np.array([1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0])
"""Multiples of the spread of the rows."""
LEVELS_OFF = 0.5
"""Share of the slope one step before that a slope must keep to be taken for the exponent of a power."""
EDGE = 1e-5
"""Rounding of an exponent."""


def look(log_density: Callable[[Array], Array], domain: Domain, rows: Array | None = None) -> Normalisable:
    """Whether exp(log_density) has a finite integral over the domain, as far as lines from a few rows can tell.

    Corners of several facets and singularities inside the domain are not looked at.
    """
    chart = domain.chart
    inner = domain if chart is None else chart.domain
    if not inner.is_convex:
        return Normalisable(None)
    rows = inner.interior_point()[None] if rows is None else rows if chart is None else chart.pull(rows)
    rows = rows[:: -(-len(rows) // ROWS)]
    spread = np.ptp(rows, axis=0)
    spread = np.where(spread > 0, spread, np.where(rows[0] != 0, np.abs(rows[0]), 1.0))
    # Half-way to the mean: a row within rounding of a facet cannot tell how the density behaves there.
    centers = 0.5 * (rows[:: -(-len(rows) // CENTERS)] + rows.mean(axis=0))
    V = _directions(rows / spread) * spread
    ends = np.concatenate([inner.chord(centers, v).above for v in V])
    Y, V = np.tile(centers, (len(V), 1)), np.repeat(V, len(centers), axis=0)
    near = np.isfinite(ends)

    def slopes(here: Mask, steps: Array, position: Array, smallest: Array | float = 0.0) -> tuple[Array, Array]:
        values = np.column_stack([_evaluate(log_density, points(Y[here] + t[:, None] * V[here])) for t in steps.T])
        values[np.broadcast_to(position, values.shape) < smallest] = np.nan
        return _last_slopes(values, np.log(position))

    def points(Z: Array) -> Array:
        return Z if chart is None else chart.push(Z)

    holds: bool | None = True
    if near.any():
        way = ends[near, None] * V[near]
        # Far from the origin the last steps to a facet are shorter than rounding.
        resolved = 1e5 * np.finfo(float).eps * np.abs(Y[near] + way).max(axis=1) / np.abs(way).max(axis=1)
        slope, before = slopes(near, (1.0 - APPROACH) * ends[near, None], APPROACH, resolved[:, None])
        # The slope of a power is the same at every step. One that levels off, as of a steep exponential, says nothing yet.
        levelling = (slope <= -1.0 + EDGE) & (np.abs(slope) < LEVELS_OFF * np.abs(before))
        slope = np.where(levelling, np.nan, slope)
        if np.any(slope <= -1.0 + EDGE):
            worst = np.flatnonzero(near)[int(np.nanargmin(slope))]
            where = _nearest_facet(inner, Y[worst] + ends[worst] * V[worst])
            return Normalisable(False, f"close to {where} it behaves like s^{np.nanmin(slope):.3g}")
        holds = None if np.isnan(slope).any() else holds
    if not near.all():
        slope, _ = slopes(~near, np.broadcast_to(DEPARTURE, (int((~near).sum()), len(DEPARTURE))), DEPARTURE)
        if np.any(slope >= -1.0 - EDGE):
            worst = np.flatnonzero(~near)[int(np.nanargmax(slope))]
            return Normalisable(False, f"far out along {named_direction(V[worst])} it falls no faster than 1/r")
        # One line of many that could be anywhere: a power below the dimension may be one ridge, or may not be integrable.
        holds = None if np.any(~(slope < -len(spread))) else holds
    return Normalisable(holds)


def _evaluate(log_density: Callable[[Array], Array], X: Array) -> Array:
    """log p, and NaN at rows where a statistic overflows."""
    try:
        with np.errstate(all="ignore"):
            return log_density(X)
    except SpecificationError:
        half = len(X) // 2
        if not half:
            return np.array([np.nan])
        return np.concatenate([_evaluate(log_density, X[:half]), _evaluate(log_density, X[half:])])


def _directions(Z: Array) -> Array:
    """Axes, the principal directions of the rows (where tails are longest), and some at random; both ways."""
    d = Z.shape[1]
    random = np.random.default_rng(0).standard_normal((RANDOM_DIRECTIONS if d > 1 else 0, d))
    principal = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2] if len(Z) > d > 1 else random[:0]
    one_way = np.concatenate([np.eye(d), principal, random])
    return np.concatenate([one_way, -one_way])


def _last_slopes(values: Array, position: Array) -> tuple[Array, Array]:
    """Slope of log p between the last two positions at which it is finite (NaN where there are no two), and the slope before."""
    out, before = np.full(len(values), np.nan), np.full(len(values), np.nan)
    for k in range(1, len(position)):
        step = (values[:, k] - values[:, k - 1]) / (position[k] - position[k - 1])
        before = np.where(np.isfinite(step), out, before)
        out = np.where(np.isfinite(step), step, out)
    return out, before


def _nearest_facet(domain: Domain, point: Array) -> str:
    relative = domain.margins(point[None])[0] / domain.margins(domain.interior_point()[None])[0]
    return domain.constraint_names()[int(np.argmin(relative))].replace(">", "=").replace("<", "=")


def named_direction(v: Array) -> str:
    """A direction in words: a column that tends to infinity, or the components."""
    (moving,) = np.nonzero(v)
    if moving.size > 1:
        return f"({', '.join(f'{x:.3g}' for x in v)})"
    return f"x{moving[0] + 1} → {'∞' if v[moving[0]] > 0 else '−∞'}"
