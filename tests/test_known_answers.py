"""Cases whose answer is known in closed form, most of them printed in the paper."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.reference import dense_truncated_gaussian_fit
from tests.sampling import truncated_gaussian
from zfree.errors import ImproperDensityWarning, InconsistentGeneratorWarning

X1 = np.random.default_rng(0).exponential(0.5, 500)


def test_exponential_with_power_four_thirds_is_maximum_likelihood():
    assert zf.Exponential(generator=zf.Barrier(4 / 3)).fit(X1).rate_[0] == pytest.approx(1 / X1.mean(), rel=1e-12)
    assert zf.Exponential(generator=zf.CoordinateWeight("x")).fit(X1).rate_[0] == pytest.approx(
        1 / X1.mean(), rel=1e-12
    )


def test_exponential_entropy_and_log_barriers_are_the_papers_formulas():
    entropy = 3 * np.sum(X1**0.5) / (2 * np.sum(X1**1.5))
    log = 3 * np.sum(X1**2) / np.sum(X1**3)
    assert zf.Exponential(generator=zf.Barrier.entropy()).fit(X1).rate_[0] == pytest.approx(entropy, rel=1e-12)
    assert zf.Exponential(generator=zf.Barrier.log()).fit(X1).rate_[0] == pytest.approx(log, rel=1e-12)


def test_exponential_non_negative_score_matching():
    expected = 2 * X1.sum() / np.sum(X1**2)
    assert zf.Exponential(generator=zf.CoordinateWeight("x^2")).fit(X1).rate_[0] == pytest.approx(expected, rel=1e-12)


def test_original_score_matching_of_an_exponential_is_zero_and_warns():
    with (
        pytest.warns(InconsistentGeneratorWarning, match="inconsistent"),
        pytest.warns(ImproperDensityWarning, match=r"rate\[x1\] = 0 is not above 0"),
    ):
        est = zf.Exponential(generator=zf.Identity()).fit(X1)
    assert est.rate_[0] == 0.0
    assert "inconsistent" in str(est.result_.summary())


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_gaussian_on_the_whole_space_is_maximum_likelihood(offset):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 5)) @ rng.standard_normal((5, 5)) + offset
    est = zf.Gaussian(generator=zf.Identity()).fit(X)
    assert np.allclose(est.mean_, X.mean(axis=0), rtol=1e-10)
    assert np.allclose(est.precision_, np.linalg.inv(np.cov(X.T, bias=True)), rtol=1e-10 if offset == 0 else 1e-7)
    assert np.allclose(est.covariance_, np.cov(X.T, bias=True), rtol=1e-9 if offset == 0 else 1e-7)


def test_gaussian_weights_are_those_of_the_weighted_sample():
    rng = np.random.default_rng(2)
    X, w = rng.standard_normal((200, 3)), rng.uniform(0, 2, 200)
    est = zf.Gaussian().fit(X, sample_weight=w)
    assert np.allclose(est.mean_, np.average(X, axis=0, weights=w), atol=1e-12)
    assert np.allclose(est.covariance_, np.cov(X.T, aweights=w, bias=True), rtol=1e-10)


def test_gaussian_standard_error_of_the_mean_is_the_textbook_one():
    X = np.random.default_rng(3).standard_normal((400, 3)) * [1.0, 2.0, 5.0]
    est = zf.Gaussian(standard_errors="sandwich").fit(X)
    assert np.allclose(est.mean_se_, X.std(axis=0) / np.sqrt(400), rtol=1e-10)


@pytest.mark.parametrize("model", ["gaussian", "log-normal"])
def test_the_jackknife_of_sample_moments_is_the_textbook_one(model):
    """The mean has no bias and s/√n with n − 1 in s; the covariance with n loses its bias."""
    X = np.random.default_rng(3).standard_normal((40, 3)) * [1.0, 2.0, 5.0]
    result = (zf.Gaussian().fit(X) if model == "gaussian" else zf.LogNormal().fit(np.exp(X))).result_
    mean, covariance = result.parameters("mean"), result.parameters("covariance")
    assert np.allclose(mean.standard_errors, X.std(axis=0, ddof=1) / np.sqrt(40), rtol=1e-3)
    assert np.all(np.abs(mean.bias) < 1e-3 * mean.standard_errors)
    assert np.allclose(covariance.corrected, np.cov(X.T)[np.triu_indices(3)], atol=1e-2 * np.abs(np.cov(X.T)).max())


def test_log_normal_with_the_square_weight_is_maximum_likelihood():
    rng = np.random.default_rng(4)
    L = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 3)) + 1
    est = zf.LogNormal().fit(np.exp(L))
    assert np.allclose(est.mean_, L.mean(axis=0), atol=1e-10)
    assert np.allclose(est.covariance_, np.cov(L.T, bias=True), rtol=1e-9)


def test_known_mean_gaussian_is_the_second_moment_about_it():
    X = np.random.default_rng(5).standard_normal((300, 3)) + 2
    est = zf.Gaussian(mean=[2.0, 2.0, 2.0]).fit(X)
    assert np.allclose(est.covariance_, (X - 2).T @ (X - 2) / 300, rtol=1e-10)
    assert np.array_equal(est.mean_, [2.0, 2.0, 2.0])
    assert not est.mean_se_.any()


def test_known_precision_gaussian_is_the_sample_mean():
    X = np.random.default_rng(6).normal([1.0, 2.0, 3.0], size=(300, 3))
    K = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.0]])
    est = zf.Gaussian(precision=K, check=False).fit(X)
    assert np.allclose(est.mean_, X.mean(axis=0))
    assert np.array_equal(est.precision_, K)
    assert not est.precision_se_.any()
    assert (est.mean_se_ > 0).all()


def test_diagonal_gaussian_is_the_inverse_variance():
    X = np.random.default_rng(7).standard_normal((300, 3)) * [1.0, 2.0, 3.0]
    est = zf.Gaussian(structure="diagonal").fit(X)
    assert np.allclose(est.precision_, np.diag(1 / X.var(axis=0)))


def test_power_interaction_with_unit_exponents_is_the_truncated_gaussian():
    X = np.abs(np.random.default_rng(8).standard_normal((500, 3)))
    a = zf.PowerInteraction(1.0, 1.0, generator=zf.Barrier(1.2)).fit(X)
    b = zf.TruncatedGaussian(generator=zf.Barrier(1.2)).fit(X)
    assert np.allclose(a.result_.theta, b.result_.theta)
    assert np.allclose(a.result_.covariance, b.result_.covariance)
    assert np.allclose(a.precision_ @ b.mean_, a.eta_)


def test_gamma_family_three_ways():
    """Gamma, the custom family and (in one dimension, K = 0) the power family agree."""
    x = np.random.default_rng(9).gamma(3.0, 0.5, size=(800, 1))
    g = zf.Barrier.entropy()
    gamma = zf.Gamma(generator=g).fit(x)
    import torch

    family = zf.ExponentialFamily(
        lambda X: torch.cat([X.log(), -X], dim=1), lambda X: -X.log()[:, 0], domain=zf.Orthant(1), generator=g
    ).fit(x)
    assert np.allclose(family.theta_, [gamma.shape_[0], gamma.rate_[0]])
    assert np.allclose(family.theta_se_, [gamma.shape_se_[0], gamma.rate_se_[0]])
    assert gamma.shape_[0] == pytest.approx(3.0, abs=4 * gamma.shape_se_[0])


def test_whole_fit_equals_the_dense_path():
    domain = zf.SolidSimplex(3)
    X = truncated_gaussian(domain, np.full(3, 0.25), 30 * np.eye(3), 150)
    theta, covariance = dense_truncated_gaussian_fit(X, domain)
    plain = zf.TruncatedGaussian(domain=domain, generator=zf.Barrier(4 / 3, scale="raw"), standard_errors="sandwich")
    result = plain.fit(X).result_
    assert np.allclose(result.theta, theta, rtol=1e-5)
    assert np.allclose(result.covariance, covariance, rtol=1e-4, atol=1e-6 * np.abs(covariance).max())


@pytest.mark.parametrize(
    ("domain", "mean", "precision"),
    [
        (zf.Orthant(3), [0.5, 0.2, 1.0], [[2.0, 0.5, 0.0], [0.5, 2.0, -0.4], [0.0, -0.4, 1.0]]),
        (zf.SolidSimplex(2), [0.3, 0.2], [[20.0, 5.0], [5.0, 30.0]]),
        (zf.Ball(1.0, d=2), [0.3, 0.0], [[3.0, 1.0], [1.0, 2.0]]),
        (zf.Box([0.0, -np.inf], [1.0, 0.5]), [0.4, 0.4], [[6.0, 1.0], [1.0, 1.0]]),
        (
            zf.Polytope.from_inequalities("x1 > 0, x2 > -1, x1 + 2*x2 < 2, x1 - x2 < 1.5"),
            [0.5, 0.2],
            [[2.0, 0.3], [0.3, 3.0]],
        ),
    ],
    ids=["orthant", "solid simplex", "ball", "box", "polytope"],
)
@pytest.mark.parametrize("power", [0.5, 1.2])
def test_the_truth_is_recovered(domain, mean, precision, power):
    """Consistency (Theorem 5.1): within five standard errors of the truth at N = 60,000."""
    X = truncated_gaussian(domain, mean, np.array(precision), 60_000, seed=3)
    est = zf.TruncatedGaussian(domain=domain, generator=zf.Barrier(power, 0.5)).fit(X)
    assert np.all(np.abs(est.mean_ - mean) < 5 * est.mean_se_ + 1e-9)
    assert np.all(np.abs(est.precision_ - precision) < 5 * est.precision_se_ + 1e-9)
    assert np.all(est.mean_se_ < 0.2)


def test_dirichlet_recovers_the_truth_and_baselines_run():
    alpha = np.array([2.5, 3.0, 4.0, 3.5])
    P = np.random.default_rng(0).dirichlet(alpha, 20_000)
    for generator in (zf.Barrier.entropy(), zf.Barrier(0.4, 0.0), zf.BoundaryDistance(), zf.SectionDistance("x")):
        est = zf.Dirichlet(generator=generator).fit(P)
        assert np.all(np.abs(est.alpha_ - alpha) < 5 * est.alpha_se_), generator
    with pytest.warns(InconsistentGeneratorWarning):
        zf.Dirichlet(generator=zf.CoordinateWeight("x")).fit(P)
