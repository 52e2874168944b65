"""The bare arithmetic that fits are measured against gives the estimates and the errors of the library."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import bare, bare_simplex

import zfree as zf
from tests.sampling import truncated_gaussian

SOLID = truncated_gaussian(zf.SolidSimplex(4), np.full(4, 0.2), 20.0 * np.eye(4), 300)
POSITIVE = np.abs(np.random.default_rng(0).normal(0.5, 1.0, (3000, 4)))
PARTS = np.random.default_rng(1).dirichlet([4.0, 3.0, 3.5, 4.0], 400)


def assert_agrees(found, estimator):
    """θ and its covariance, in the coordinates of the fit."""
    result = estimator.result_
    np.testing.assert_allclose(found.theta, result.working_theta, rtol=1e-8, atol=1e-10)
    size = np.sqrt(np.diagonal(result.working_covariance))
    np.testing.assert_allclose(found.covariance, result.working_covariance, rtol=1e-8, atol=1e-9 * size.max() ** 2)


@pytest.mark.parametrize("generator", [zf.named("h1"), zf.Barrier(1.0, 0.0)])
def test_orthant(generator):
    scale = 1.0 if generator == zf.named("h1") else POSITIVE.mean(axis=0)
    estimator = zf.TruncatedGaussian(generator=generator, standard_errors="sandwich").fit(POSITIVE)
    assert_agrees(bare.orthant(POSITIVE, scale), estimator)


def test_barrier_on_the_solid_simplex():
    estimator = zf.TruncatedGaussian(zf.SolidSimplex(4), generator=zf.Barrier(4 / 3)).fit(SOLID)
    found, changes = bare_simplex.barrier(SOLID, 4 / 3, 0.5)
    assert_agrees(found, estimator)
    np.testing.assert_allclose(changes.T, estimator.result_.jackknife.changes, rtol=0.05, atol=0.01)


def test_distance_on_the_solid_simplex():
    estimator = zf.TruncatedGaussian(zf.SolidSimplex(4), generator="truncated-sm").fit(SOLID)
    assert_agrees(bare_simplex.gaussian_by_distance(SOLID)[0], estimator)


def test_distance_on_the_simplex():
    estimator = zf.Dirichlet(generator="truncated-sm").fit(PARTS)
    assert_agrees(bare_simplex.dirichlet_by_distance(PARTS)[0], estimator)


def test_natural_parameters_and_products():
    pairs = bare.Pairs(3)
    theta, centre = np.arange(1.0, 10.0), np.array([1.0, -2.0, 0.5])
    K = pairs.matrix(theta)
    np.testing.assert_allclose(pairs.natural_map(centre) @ theta, np.r_[theta[:6], theta[6:] + K @ centre])
    X = POSITIVE[:50, :3]
    U = X - X.mean(axis=0)
    np.testing.assert_allclose(bare.weighted_products(X), np.einsum("nj,na,nb->jab", X, U, U))
