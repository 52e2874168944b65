"""Draws on segments against distribution functions by quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from zfree.samplers.segments import quadratic_on_segment


def _cdf(g, q, low, high):
    """By the midpoint rule, on a grid that is dense where the density is."""
    edges = np.unique(
        np.concatenate([np.linspace(low, high, 20_001), low + (high - low) * 10.0 ** np.linspace(-12, 0, 5000)])
    )
    edges = np.unique(np.concatenate([edges, high + low - edges]))
    middle, width = 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)
    log_density = g * middle - 0.5 * q * middle**2
    mass = np.exp(log_density - log_density.max()) * width
    total = np.concatenate([[0.0], np.cumsum(mass)]) / mass.sum()
    return lambda t: np.interp(t, edges, total)


@pytest.mark.parametrize(
    ("g", "q", "low", "high"),
    [
        (0.7, 2.0, -1.0, 3.0),
        (-3.0, 0.0, -1.0, 2.0),  # an exponential
        (0.0, 0.0, -1.0, 2.0),  # uniform
        (1.0, 1e-20, -1.0, 2.0),  # a normal 1e10 deviations away
        (1e7, 1e-3, -1.0, 1.0),
        (-1e9, 1.0, -1e-9, 5.0),  # the tail of a normal 1e9 deviations below
        (1e9, 1.0, -5.0, 2e-9),  # and above
        (-40.0, -1e-9, -0.5, 0.5),
        (0.5, -3.0, -1.0, 2.0),  # two humps at the ends
        (0.0, -400.0, -1.0, 1.0),
        (50.0, -10.0, -1.0, 1.0),  # the lowest point outside
        (1.0, -2.0, 0.0, 1e-3),
        (30.0, -900.0, -1.0, 0.95),
    ],
)
def test_distribution_functions(g, q, low, high):
    n = 20_000
    ones = np.ones(n)
    for curvature in (q, q * ones):  # shared by all elements or not
        draws = quadratic_on_segment(g * ones, curvature, low * ones, high * ones, np.random.default_rng(0))
        assert draws.min() >= low
        assert draws.max() <= high
        assert stats.kstest(draws, _cdf(g, q, low, high)).pvalue > 0.001


def test_elements_of_every_kind_together():
    """A normal, a flat and a log-convex element side by side, and infinite ends where the curvature allows them."""
    n = 6000
    g, q = np.tile([0.0, 1.0, 0.0], (n, 1)), np.tile([1.0, 0.0, -8.0], (n, 1))
    low, high = np.tile([-np.inf, -1.0, -1.0], (n, 1)), np.tile([np.inf, 1.0, 1.0], (n, 1))
    draws = quadratic_on_segment(g, q, low, high, np.random.default_rng(1))
    assert stats.kstest(draws[:, 0], "norm").pvalue > 0.001
    assert stats.kstest(draws[:, 1], _cdf(1.0, 0.0, -1.0, 1.0)).pvalue > 0.001
    assert stats.kstest(draws[:, 2], _cdf(0.0, -8.0, -1.0, 1.0)).pvalue > 0.001


def test_exponentials_without_an_end():
    ones = np.ones(5000)
    up = quadratic_on_segment(-3.0 * ones, 0.0, -1.0 * ones, np.inf * ones, np.random.default_rng(2))
    assert stats.kstest(up + 1.0, stats.expon(scale=1 / 3).cdf).pvalue > 0.001
    down = quadratic_on_segment(3.0 * ones, 0.0 * ones, -np.inf * ones, 2.0 * ones, np.random.default_rng(3))
    assert stats.kstest(2.0 - down, stats.expon(scale=1 / 3).cdf).pvalue > 0.001


def test_a_tail_below_an_upper_end_without_a_lower_one():
    """The mode at −10 lies 1990 deviations above (−∞, −2000): from its end the density falls like an exponential of rate 1990."""
    ones = np.ones(5000)
    draws = quadratic_on_segment(-10.0 * ones, 1.0, -np.inf * ones, -2000.0 * ones, np.random.default_rng(4))
    assert np.all(np.isfinite(draws))
    assert np.mean((-2000.0 - draws) * 1990.0) == pytest.approx(1.0, abs=0.06)  # four standard errors
