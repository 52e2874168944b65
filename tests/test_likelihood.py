"""Maximum likelihood against optimality conditions and known answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import psi

import zfree as zf
from zfree.errors import DataError, SpecificationError
from zfree.likelihood import dirichlet_mle, exponential_mle, monte_carlo_mle
from zfree.models import ExponentialModel, PairwiseModel

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("alpha", [[2.0, 3.0, 4.0], [0.2, 0.5, 0.1], np.arange(1.0, 11.0), [400.0, 1.0]])
def test_dirichlet_solves_the_likelihood_equations(alpha):
    X = np.random.default_rng(1).dirichlet(alpha, 500)
    found = dirichlet_mle(X)
    assert np.allclose(psi(found) - psi(found.sum()), np.log(X).mean(axis=0), atol=1e-9)


def test_exponential_is_the_inverse_mean_and_phi1():
    x = RNG.exponential(0.5, 100)
    assert exponential_mle(x)[0] == pytest.approx(1 / x.mean(), rel=1e-15)
    assert zf.Exponential("phi1").fit(x).rate_[0] == pytest.approx(exponential_mle(x)[0], rel=1e-13)


def test_monte_carlo_likelihood_of_an_exponential():
    x = RNG.exponential(0.5, (400, 1))
    theta = monte_carlo_mle(ExponentialModel(["x1"]), x, RNG.exponential(0.48, (200_000, 1)), np.array([1 / 0.48]))
    assert theta[0] == pytest.approx(1 / x.mean(), rel=2e-3)


def test_monte_carlo_likelihood_of_a_gaussian_is_the_inverse_covariance():
    X = RNG.multivariate_normal([0.1, -0.2], [[1.0, 0.3], [0.3, 0.8]], 500)
    K0 = np.linalg.inv([[1.0, 0.3], [0.3, 0.8]])
    draws = RNG.multivariate_normal([0.0, 0.0], [[1.0, 0.3], [0.3, 0.8]], 200_000)
    model = PairwiseModel(["x1", "x2"])
    theta = monte_carlo_mle(model, X, draws, np.array([K0[0, 0], K0[0, 1], K0[1, 1], 0.0, 0.0]))
    assert np.allclose(model.matrix(theta), np.linalg.inv(np.cov(X.T, bias=True)), atol=0.02)


def test_refusals():
    with pytest.raises(DataError, match="sum to one"):
        dirichlet_mle(np.array([[0.5, 0.6], [0.2, 0.8]]))
    with pytest.raises(DataError, match="positive"):
        exponential_mle(np.array([1.0, -1.0]))
    with pytest.raises(DataError, match="finite"):
        exponential_mle(np.array([1.0, np.nan]))
    far = RNG.exponential(50.0, (200, 1))
    with pytest.raises(SpecificationError, match="too far"):
        monte_carlo_mle(ExponentialModel(["x1"]), far, RNG.exponential(1.0, (500, 1)), np.array([1.0]))
