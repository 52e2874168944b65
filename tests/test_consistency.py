"""Theorem 5.1: the estimate converges, and √N(θ̂ − θ₀) is normal with covariance Γ₀⁻¹Σ₀Γ₀⁻¹."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import gamma

import zfree as zf

SHAPE, RATE = 2.5, 1.5
TRUTH = np.array([SHAPE, RATE])
SETS = 400


def moment(k):
    """E x^k of the gamma law."""
    return gamma(SHAPE + k) / gamma(SHAPE) / RATE**k


def limit(q):
    """Γ₀⁻¹Σ₀Γ₀⁻¹ for a gamma law with D = x^q, by hand: t = (log x, −x), so t' = (1/x, −1) and t'' = (−1/x², 0)."""
    gamma_0 = np.array([[moment(q - 2), -moment(q - 1)], [-moment(q - 1), moment(q)]])
    # The estimating function t''D + t'D' + t'D s with s = (SHAPE − 1)/x − RATE is a sum of powers of x.
    a = (SHAPE - 1) + q - 1
    first = {q - 2: a, q - 1: -RATE}
    second = {q - 1: -(SHAPE - 1) - q, q: RATE}
    middle = [
        [sum(u * v * moment(j + k) for j, u in one.items() for k, v in two.items()) for two in (first, second)]
        for one in (first, second)
    ]
    inverse = np.linalg.inv(gamma_0)
    return inverse @ np.array(middle) @ inverse


def estimates(q, n, sets=SETS):
    rng = np.random.default_rng([n, round(10 * q)])
    generator = zf.Barrier(2.0 - q, det_power=0.0, scale="raw")  # D = x^q
    fits = [
        zf.Gamma(generator=generator, check=False).fit(rng.gamma(SHAPE, 1 / RATE, size=(n, 1))) for _ in range(sets)
    ]
    return np.array([[fit.shape_[0], fit.rate_[0]] for fit in fits]), fits[0].result_


@pytest.mark.parametrize("q", [1.3, 1.6, 2.0])
def test_the_estimate_converges(q):
    few, _ = estimates(q, 200, 60)
    many, _ = estimates(q, 20_000, 10)
    error = [float(np.sqrt(np.mean((found - TRUTH) ** 2))) for found in (few, many)]
    assert error[1] < 0.2 * error[0]  # √100 = 10 in expectation
    assert np.abs(many.mean(axis=0) - TRUTH).max() < 5 * np.sqrt(np.diag(limit(q)).max() / 20_000 / 10)


@pytest.mark.parametrize("q", [1.3, 1.6, 2.0])
def test_it_is_normal_with_the_covariance_of_the_theorem(q):
    n = 4000
    found, _ = estimates(q, n)
    covariance = limit(q)
    scaled = np.sqrt(n) * (found - TRUTH)
    ratio = np.linalg.solve(covariance, np.cov(scaled.T))
    assert np.allclose(ratio, np.eye(2), atol=0.35)  # its columns are correlated: shape and rate go together
    distance = np.einsum("ni,ij,nj->n", scaled, np.linalg.inv(covariance), scaled)
    assert stats.kstest(distance, stats.chi2(2).cdf).pvalue > 0.01


@pytest.mark.parametrize("q", [1.3, 1.6, 2.0])
def test_the_sandwich_estimates_that_covariance(q):
    _, result = estimates(q, 200_000, 1)
    assert np.allclose(200_000 * result.covariance, limit(q), rtol=0.06)
