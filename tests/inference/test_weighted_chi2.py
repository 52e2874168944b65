"""The tail of a weighted sum of squares, against distributions that are known and against draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from zfree.inference.weighted_chi2 import upper_tail


@pytest.mark.parametrize("k", [1, 2, 7, 40])
@pytest.mark.parametrize("p", [0.9, 0.5, 0.05, 1e-3, 1e-8, 1e-40])
def test_equal_weights_are_a_chi_squared(k, p):
    value = chi2.isf(p, k)
    assert upper_tail(0.3 * value, np.full(k, 0.3)) == pytest.approx(p, rel=0.12)


@pytest.mark.parametrize("p", [0.3, 0.05, 0.01, 1e-3])
def test_the_weights_of_anderson_and_darling(p):
    weights = 1.0 / (np.arange(1, 16) * np.arange(2, 17.0))
    draws = np.random.default_rng(0).standard_normal((400_000, 15)) ** 2 @ weights
    assert upper_tail(float(np.quantile(draws, 1 - p)), weights) == pytest.approx(p, rel=0.15)


def test_weights_that_are_rounding_count_for_nothing():
    weights = np.array([2.0, 0.5, 1e-14, 0.0, -1e-16])
    assert upper_tail(9.0, weights) == pytest.approx(upper_tail(9.0, weights[:2]), rel=1e-9)


def test_it_decreases_through_the_mean():
    weights = np.array([1.0, 0.4, 0.1])
    tails = [upper_tail(float(v), weights) for v in np.linspace(1.3, 1.7, 401)]
    assert np.all(np.diff(tails) < 0)
    assert np.abs(np.diff(tails)).max() < 2e-3


def test_ends():
    assert upper_tail(0.0, np.ones(3)) == 1.0
    assert upper_tail(1e-300, np.ones(3)) == pytest.approx(1.0)
    assert upper_tail(1.0, np.zeros(3)) == 0.0
    assert 0.0 <= upper_tail(1e6, np.ones(3)) < 1e-300
