r"""Coordinates in which a domain is the whole space, so that chains never meet its boundary.

A density :math:`x^{k-1}` with k close to zero has most of its mass within rounding of the facet; in y = log x it is
:math:`e^{ky}`, as smooth as any. Sides of a box are unfolded by logarithms and logits, parts of a composition by log-ratios.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit, log_expit, log_softmax, logit

from zfree.arrays import Array, Mask
from zfree.domains import Domain, Product, Simplex, SolidSimplex

LARGEST_LOG = 690.0
"""Logarithms beyond which e^y leaves the range of doubles."""
ROUNDING = 16 * np.finfo(float).eps


class Unfolded(NamedTuple):
    """Points (N, d) in the columns of the model, log |dx/dy| (N,), and which of them can be represented."""

    points: Array
    log_volume: Array
    valid: Mask


class Unfolding(Protocol):
    """A smooth one-to-one map from ℝᵏ onto a domain."""

    def fold(self, Y: Array) -> Unfolded:
        """Points of the domain."""
        ...

    def unfold(self, X: Array) -> Array:
        """Their coordinates."""
        ...

    def unresolved(self, X: Array) -> Mask:
        """Points so close to the boundary that rounding, not the density, says where they are."""
        ...


def unfolding(domain: Domain) -> Unfolding | None:
    """The unfolding of a domain, where one is known."""
    if isinstance(domain, Simplex | SolidSimplex):
        return _Parts(domain)
    if isinstance(domain, Product):
        inner = [unfolding(f) for f in domain.factors]
        return None if any(u is None for u in inner) else _Blocks(domain, [u for u in inner if u is not None])
    intervals = coordinate_intervals(domain)
    return None if intervals is None else _Sides(*intervals)


def coordinate_intervals(domain: Domain) -> tuple[Array, Array] | None:
    """Lower and upper ends of every coordinate, if the domain is a product of intervals."""
    facets = domain.coordinate_facets() if domain.is_convex and domain.chart is None else None
    if facets is None:
        return None
    inside = domain.interior_point()
    lower, upper = np.full(inside.shape, -np.inf), np.full(inside.shape, np.inf)
    for j, places in facets.items():
        lower[j] = max((p for p in places if p < inside[j]), default=-np.inf)
        upper[j] = min((p for p in places if p > inside[j]), default=np.inf)
    return lower, upper


class _Sides:
    def __init__(self, lower: Array, upper: Array) -> None:
        self._lower, self._upper = lower, upper
        has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
        self._both, self._up, self._down = has_lower & has_upper, has_lower & ~has_upper, ~has_lower & has_upper

    def fold(self, Y: Array) -> Unfolded:
        both, up, down = self._both, self._up, self._down
        X, log_slope = Y.copy(), np.zeros_like(Y)
        one = up | down
        clipped = np.clip(Y[:, one], -LARGEST_LOG, LARGEST_LOG)
        X[:, one] = np.where(up[one], 1.0, -1.0) * np.exp(clipped) + np.where(up, self._lower, self._upper)[one]
        log_slope[:, one] = Y[:, one]
        y = Y[:, both]
        width = self._upper[both] - self._lower[both]
        X[:, both] = self._lower[both] + width * expit(y)
        log_slope[:, both] = log_expit(y) + log_expit(-y) + np.log(width)
        limited = np.abs(Y[:, one | both]) < LARGEST_LOG
        valid = np.logical_and(limited.all(axis=1), ((X > self._lower) & (X < self._upper)).all(axis=1))
        return Unfolded(X, log_slope.sum(axis=1), valid)

    def unfold(self, X: Array) -> Array:
        both, up, down = self._both, self._up, self._down
        Y = X.copy()
        Y[:, up] = np.log(X[:, up] - self._lower[up])
        Y[:, down] = np.log(self._upper[down] - X[:, down])
        Y[:, both] = logit((X[:, both] - self._lower[both]) / (self._upper[both] - self._lower[both]))
        return Y

    def unresolved(self, X: Array) -> Mask:
        ends = (np.where(np.isfinite(end), end, np.nan) for end in (self._lower, self._upper))
        close: Mask = np.logical_or(*(np.any(np.abs(X - end) < ROUNDING * np.abs(end), axis=1) for end in ends))
        return close


class _Parts:
    """Log-ratios to the last part. The volume is that of the chart, whichever part it drops."""

    def __init__(self, domain: Simplex | SolidSimplex) -> None:
        self._whole = isinstance(domain, Simplex)

    def fold(self, Y: Array) -> Unfolded:
        logs = log_softmax(np.column_stack([Y, np.zeros(len(Y))]), axis=1)
        valid = logs.min(axis=1) > -LARGEST_LOG
        parts = np.exp(np.maximum(logs, -LARGEST_LOG))
        if not self._whole:
            parts = parts[:, :-1]
            valid &= parts.sum(axis=1) < 1.0
        return Unfolded(parts, logs.sum(axis=1), valid)

    def unfold(self, X: Array) -> Array:
        last = X[:, -1:] if self._whole else 1.0 - X.sum(axis=1, keepdims=True)
        return np.log(X[:, :-1] if self._whole else X) - np.log(last)

    def unresolved(self, X: Array) -> Mask:
        return np.zeros(len(X), dtype=bool) if self._whole else 1.0 - X.sum(axis=1) < ROUNDING


class _Blocks:
    def __init__(self, domain: Product, inner: list[Unfolding]) -> None:
        self._inner = inner
        given = [f.dimension for f in domain.factors]
        free = [f.dimension if f.chart is None else len(f.chart.kept) for f in domain.factors]
        self._given, self._free = np.cumsum(given)[:-1], np.cumsum(free)[:-1]

    def fold(self, Y: Array) -> Unfolded:
        pieces = [u.fold(y) for u, y in zip(self._inner, np.split(Y, self._free, axis=1), strict=True)]
        return Unfolded(
            np.concatenate([p.points for p in pieces], axis=1),
            np.sum([p.log_volume for p in pieces], axis=0),
            np.logical_and.reduce([p.valid for p in pieces]),
        )

    def unfold(self, X: Array) -> Array:
        return np.concatenate(
            [u.unfold(x) for u, x in zip(self._inner, np.split(X, self._given, axis=1), strict=True)], axis=1
        )

    def unresolved(self, X: Array) -> Mask:
        pieces = zip(self._inner, np.split(X, self._given, axis=1), strict=True)
        anywhere: Mask = np.logical_or.reduce([u.unresolved(x) for u, x in pieces])
        return anywhere
