"""A ridge changes the estimate, and the standard errors must follow it."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from zfree.errors import SpecificationError


@pytest.mark.parametrize("ridge", [0.1, 1.0])
def test_exponential_with_a_ridge_is_a_multiple_of_the_plain_one(ridge):
    """θ̂ = 1 / ((1 + ρ) mean x): estimate and standard error both shrink by 1 + ρ."""
    x = np.random.default_rng(0).exponential(size=500)
    plain, shrunk = zf.Exponential().fit(x), zf.Exponential(ridge=ridge).fit(x)
    assert shrunk.rate_[0] == pytest.approx(plain.rate_[0] / (1 + ridge), rel=1e-12)
    assert shrunk.rate_se_[0] == pytest.approx(plain.rate_se_[0] / (1 + ridge), rel=1e-10)


def test_ridge_standard_errors_agree_with_repeated_samples():
    rng = np.random.default_rng(1)
    fits = []
    for _ in range(200):
        X = rng.multivariate_normal([0.5, 0.5], np.eye(2), 1000)
        X = X[(X > 0).all(axis=1)][:400]
        fits.append(zf.TruncatedGaussian(generator=zf.Barrier(1.2, 0.0), ridge=0.3).fit(X).result_)
    spread = np.std([f.theta for f in fits], axis=0)
    assert np.allclose(np.mean([f.standard_errors for f in fits], axis=0), spread, rtol=0.15)


def test_no_j_test_and_no_combination_with_a_ridge():
    x = np.random.default_rng(0).gamma(3.0, 0.5, size=2000)
    with pytest.raises(SpecificationError, match="ridge"):
        zf.Gamma(ridge=0.05).fit(x).j_test(x)
    with pytest.raises(SpecificationError, match="ridge"):
        zf.Gamma(ridge=0.05, generator=zf.Combined()).fit(x)


def test_rows_without_weight_are_no_rows():
    x = np.random.default_rng(0).gamma(2.0, 1.0, size=300)
    w = np.r_[np.ones(100), np.zeros(200)]
    a, b = zf.Gamma().fit(x, sample_weight=w), zf.Gamma().fit(x[:100])
    assert a.generator_ == b.generator_
    assert np.allclose(a.result_.theta, b.result_.theta)
    assert np.allclose(a.result_.covariance, b.result_.covariance)
    assert a.result_.n_observations == 100
