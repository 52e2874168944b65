"""Parametric energies: mixtures and heavy tails with standard errors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import zfree as zf
from zfree.errors import SamplingWarning, SingularMomentsError, SpecificationError
from zfree.neural import ParametricModel


def gaussian(x, p):
    return 0.5 * x @ p["K"] @ x - p["eta"] @ x


def test_a_gaussian_is_that_of_the_closed_form():
    """Estimates and sandwich covariance, in a parametrisation with K written twice off the diagonal left out."""
    domain = zf.Orthant(2)
    X = zf.samplers.sample_gaussian(domain, np.array([0.5, 0.2]), np.array([[2.0, 0.3], [0.3, 1.5]]), 600, 0)

    def energy(x, p):
        K = torch.stack([torch.stack([p["a"], p["b"]]), torch.stack([p["b"], p["c"]])])
        return gaussian(x, {"K": K, "eta": p["eta"]})

    est = ParametricModel(energy, {"a": 1.0, "b": 0.0, "c": 1.0, "eta": [0.0, 0.0]}, domain, zf.Barrier(1.2, 0.0)).fit(
        X
    )
    reference = zf.TruncatedGaussian(domain, zf.Barrier(1.2, 0.0), standard_errors="sandwich").fit(X)
    K = reference.precision_
    found = np.array([est.parameters_["a"], est.parameters_["b"], est.parameters_["c"]])
    assert np.allclose(found, [K[0, 0], K[0, 1], K[1, 1]], rtol=2e-3)
    errors = np.array([est.standard_errors_[k] for k in "abc"])
    se = reference.precision_se_
    assert np.allclose(errors, [se[0, 0], se[0, 1], se[1, 1]], rtol=5e-3)
    assert np.allclose(est.parameters_["eta"], K @ reference.mean_, rtol=1e-2, atol=1e-3)
    assert est.score(X) == pytest.approx(-est.loss_)


def mixture(x, p):
    k = torch.exp(p["log_k"])
    a, b = (-0.5 * k * ((x - p[name]) ** 2).sum() for name in ("first", "second"))
    return -torch.logsumexp(torch.stack([a + p["logit"], b]), dim=0)


@pytest.fixture(scope="module")
def fitted_mixture():
    rng = np.random.default_rng(0)
    which = rng.uniform(size=6000) < 0.4
    X = np.where(which[:, None], rng.normal([0.5, 2.0], 0.5, (6000, 2)), rng.normal([2.0, 0.5], 0.5, (6000, 2)))
    X = X[(X > 0).all(axis=1)][:2500]
    start = {"first": [1.0, 2.0], "second": [2.0, 1.0], "log_k": 0.0, "logit": 0.0}
    return ParametricModel(mixture, start, zf.Orthant(2)).fit(X), X


def test_a_mixture_of_truncated_gaussians(fitted_mixture):
    est, _ = fitted_mixture
    truth = {
        "first": np.array([0.5, 2.0]),
        "second": np.array([2.0, 0.5]),
        "log_k": np.log(4.0),
        "logit": np.log(2 / 3),
    }
    for name, value in truth.items():
        assert np.all(np.abs(est.parameters_[name] - value) < 4 * est.standard_errors_[name]), name
        assert np.all(est.standard_errors_[name] < 0.3)


def test_draws_and_densities(fitted_mixture):
    est, X = fitted_mixture
    with pytest.warns(SamplingWarning, match="split-R̂"):  # two modes, and few steps to go between them
        draws = est.sample(1500, random_state=0, burn_in=200, steps=200)
    assert (draws > 0).all()
    assert np.allclose(draws.mean(axis=0), X.mean(axis=0), atol=0.1)
    h = 1e-5
    for j, e in enumerate(np.eye(2)):
        numeric = (est.log_density(X[:5] + h * e) - est.log_density(X[:5] - h * e)) / (2 * h)
        assert np.allclose(est.density_gradient(X[:5])[:, j], numeric, rtol=1e-5, atol=1e-7)


def test_tails_like_those_of_t():
    x = np.abs(np.random.default_rng(1).standard_t(5, size=(4000, 1))) * 2

    def energy(x, p):
        nu, scale = torch.exp(p["log_nu"]), torch.exp(p["log_scale"])
        return 0.5 * (nu + 1) * torch.log1p((x[0] / scale) ** 2 / nu)

    est = ParametricModel(energy, {"log_nu": 1.0, "log_scale": 0.0}, zf.Orthant(1), restarts=1).fit(x)
    assert abs(est.parameters_["log_nu"] - np.log(5)) < 4 * est.standard_errors_["log_nu"]
    assert abs(est.parameters_["log_scale"] - np.log(2)) < 4 * est.standard_errors_["log_scale"]


def test_refusals():
    X = np.random.default_rng(0).exponential(size=(50, 1))
    with pytest.raises(SpecificationError, match="start must map"):
        ParametricModel(gaussian, {}, zf.Orthant(1)).fit(X)
    with pytest.raises(SpecificationError, match="generator must be"):
        ParametricModel(gaussian, {"K": [[1.0]]}, zf.Orthant(1), 3).fit(X)
    with pytest.raises(SingularMomentsError, match="not determined"):
        ParametricModel(lambda x, p: (p["a"] + p["b"]) * x[0], {"a": 1.0, "b": 0.0}, zf.Orthant(1)).fit(X)
