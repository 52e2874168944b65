r"""Can an unknown density be normalised? A numerical look along lines to the facets and to infinity.

On a line that meets the boundary let the density behave like :math:`s^\kappa` at distance s: with :math:`\kappa \le -1` its
integral across that facet diverges. On a line that never does let it behave like :math:`r^{-m}`: with :math:`m \le 1` the integral
over a tube around the line diverges, with :math:`m > d` the line is harmless, and between them one line cannot tell. Both exponents
are slopes of log p between points that lie a constant factor apart.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.models.normalisable import Normalisable

CENTRES, RANDOM_DIRECTIONS = 8, 8
APPROACH = 10.0 ** -np.arange(1.0, 9.0)
"""Fractions of the way left to a facet."""
DEPARTURE = 10.0 ** np.arange(1.0, 15.5, 0.5)
"""Multiples of the spread of the rows."""


def look(log_density: Callable[[Array], Array], domain: Domain, rows: Array | None = None) -> Normalisable:
    """Whether exp(log_density) has a finite integral over the domain, as far as lines from a few rows can tell.

    Corners of several facets and singularities inside the domain are not looked at.
    """
    chart = domain.chart
    inner = domain if chart is None else chart.domain
    if not inner.is_convex:
        return Normalisable(None)
    centres = inner.interior_point()[None] if rows is None else rows[:: -(-len(rows) // CENTRES)]
    if rows is not None and chart is not None:
        rows, centres = chart.pull(rows), chart.pull(centres)
    spread = np.abs(centres[0]) if rows is None or len(rows) < 2 else np.ptp(rows, axis=0)
    spread = np.where(spread > 0, spread, 1.0)

    def evaluate(Y: Array) -> Array:
        try:
            with np.errstate(all="ignore"):
                return log_density(Y if chart is None else chart.push(Y))
        except SpecificationError:  # a statistic that overflows there
            return np.full(len(Y), np.nan)

    verdict = Normalisable(True)
    for v in _directions(len(spread)) * spread:
        end = inner.chord(centres, v).above[:, None]
        for finite, steps in ((True, (1.0 - APPROACH) * end), (False, DEPARTURE)):
            here = np.isfinite(end[:, 0]) == finite
            if not here.any():
                continue
            Y, t = centres[here], np.broadcast_to(steps, (len(end), np.shape(steps)[-1]))[here]
            values = np.column_stack([evaluate(Y + column[:, None] * v) for column in t.T])
            slope = _last_slope(values, np.log(APPROACH if finite else DEPARTURE))
            if finite and np.any(slope <= -1.0):
                where = _nearest_facet(inner, Y[int(np.nanargmin(slope))] + end[here][int(np.nanargmin(slope))] * v)
                return Normalisable(False, f"close to {where} it behaves like s^{np.nanmin(slope):.3g}")
            if not finite and np.any(slope >= -1.0):
                return Normalisable(False, f"far out along {_named(v)} it falls no faster than 1/r")
            if np.isnan(slope).any() or (not finite and np.any(slope >= -len(spread))):
                verdict = Normalisable(None)
    return verdict


def _directions(d: int) -> Array:
    random = np.random.default_rng(0).standard_normal((RANDOM_DIRECTIONS if d > 1 else 0, d))
    return np.concatenate([np.eye(d), -np.eye(d), random, -random])


def _last_slope(values: Array, position: Array) -> Array:
    """Slope of log p between the last two positions at which it is finite (NaN where there are no two)."""
    out = np.full(len(values), np.nan)
    for k in range(1, len(position)):
        step = (values[:, k] - values[:, k - 1]) / (position[k] - position[k - 1])
        out = np.where(np.isfinite(step), step, out)
    return out


def _nearest_facet(domain: Domain, point: Array) -> str:
    relative = domain.margins(point[None])[0] / domain.margin_scales()
    return domain.constraint_names()[int(np.argmin(relative))].replace(">", "=").replace("<", "=")


def _named(v: Array) -> str:
    (moving,) = np.nonzero(v)
    if moving.size > 1:
        return f"({', '.join(f'{x:.3g}' for x in v)})"
    return f"x{moving[0] + 1} → {'∞' if v[moving[0]] > 0 else '−∞'}"
