"""Results: covariance, intervals, tests, summaries, held-out scores, immutability."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import integrate, stats

import zfree as zf
from zfree.errors import SpecificationError

X = np.abs(np.random.default_rng(0).standard_normal((400, 2))) + 0.1 * np.random.default_rng(1).random((400, 2))
EST = zf.TruncatedGaussian(generator=zf.Barrier(1.0), standard_errors="sandwich").fit(X)
RESULT = EST.result_


def test_covariance_is_the_sandwich_written_out():
    """Γ⁻¹ Σ Γ⁻¹ / N from per-row moments, one row at a time."""
    from tests.posed import posed

    m, theta = RESULT.moments, RESULT.working_theta
    psi = []
    for x in X:
        row = posed(RESULT.model, RESULT.generator, RESULT.domain, x[None], units=RESULT.units).moments()
        psi.append(np.exp(row.log_scale - m.log_scale) * (row.gamma.dense() @ theta + row.g))
    psi = np.array(psi)
    inverse = np.linalg.inv(m.gamma.dense())
    assert np.allclose(RESULT.working_covariance, inverse @ (psi.T @ psi / len(X)) @ inverse / len(X), rtol=1e-8)
    T = RESULT.model.natural_map()
    assert np.allclose(RESULT.covariance, T @ RESULT.working_covariance @ T.T)
    assert RESULT.total_variance == pytest.approx(np.trace(RESULT.covariance) * len(X))


def test_covariance_agrees_with_the_bootstrap():
    rng = np.random.default_rng(3)
    x = rng.gamma(2.0, 1.0, 600)
    gamma = zf.Gamma(generator=zf.Barrier(0.5, 0.0))
    se = gamma.fit(x).result_.standard_errors
    draws = [gamma.fit(rng.choice(x, 600)).result_.theta for _ in range(300)]
    assert np.allclose(np.std(draws, axis=0), se, rtol=0.2)


def test_condition_number_is_that_of_gamma_in_natural_parameters():
    from tests.posed import posed
    from zfree.models import PairwiseModel

    gamma = posed(PairwiseModel(("x1", "x2")), RESULT.generator, RESULT.domain, X).moments().gamma.dense()
    assert RESULT.condition_number == pytest.approx(np.linalg.cond(gamma), rel=1e-6)


def test_intervals_z_and_p_values():
    low, high = RESULT.conf_int(0.9).T
    assert np.allclose((low + high) / 2, RESULT.theta)
    assert np.allclose((high - low) / 2, stats.norm.ppf(0.95) * RESULT.standard_errors)
    assert np.allclose(RESULT.p_values, 2 * stats.norm.sf(np.abs(RESULT.z_values)))
    with pytest.raises(SpecificationError, match="between 0 and 1"):
        RESULT.conf_int(95)


def test_wald_test():
    R = np.zeros((1, 5))
    R[0, 1] = 1.0
    test = RESULT.wald_test(R)
    assert test.statistic == pytest.approx(RESULT.z_values[1] ** 2)
    assert test.degrees_of_freedom == 1
    assert test.p_value == pytest.approx(RESULT.p_values[1])
    assert RESULT.wald_test().degrees_of_freedom == 5
    assert RESULT.wald_test(np.eye(5), RESULT.theta).statistic == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(SpecificationError, match="columns"):
        RESULT.wald_test(np.eye(4))
    with pytest.raises(SpecificationError, match="independent"):
        RESULT.wald_test(np.vstack([R, R]))


def test_parametrisations():
    assert np.allclose(RESULT.parameters("mean").values, EST.mean_)
    assert np.allclose(EST.covariance_ @ EST.precision_, np.eye(2))
    p = RESULT.parameters("covariance")
    assert np.allclose(p.values, EST.covariance_[[0, 0, 1], [0, 1, 1]])
    assert np.allclose(EST.covariance_se_[[0, 0, 1], [0, 1, 1]], p.standard_errors)
    assert np.array_equal(EST.covariance_se_, EST.covariance_se_.T)
    with pytest.raises(SpecificationError, match="natural, precision"):
        RESULT.parameters("variance")


def test_summary_as_text_frame_and_html():
    summary = RESULT.summary()
    text = str(summary)
    for piece in (
        "Gaussian",
        "Orthant(2)",
        "Barrier(power=1",
        "mean[x1]",
        "K[x1,x2]",
        "std. error",
        "[2.5%",
        "97.5%]",
        "400",
    ):
        assert piece in text
    frame = summary.to_frame()
    assert frame.loc["mean[x1]", "estimate"] == pytest.approx(EST.mean_[0])
    assert frame.loc["K[x2,x2]", "std. error"] == pytest.approx(EST.precision_se_[1, 1])
    assert len(frame) == 5
    html = summary._repr_html_()
    assert "<table>" in html
    assert "K[x1,x2]" in html
    assert "eta[x1]" in str(RESULT.summary("natural"))
    assert "[5%" in str(RESULT.summary(level=0.9))
    assert "cov[x1,x1]" in str(RESULT.summary(["mean", "covariance"]))
    fixed = zf.TruncatedGaussian(generator=zf.Barrier(), fixed={"K[x1,x2]": 0.0}).fit(X).result_.summary()
    assert "fixed" in str(fixed)


def test_html_escapes_column_names():
    import pandas as pd

    frame = pd.DataFrame(X, columns=["<b>", "&"])
    html = zf.TruncatedGaussian().fit(frame).result_.summary()._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_results_are_immutable():
    with pytest.raises(ValueError, match="read-only"):
        RESULT.theta[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        RESULT.theta = RESULT.theta
    assert RESULT.with_note("remark").notes[-1] == "remark"
    assert "remark" not in RESULT.notes


def test_score_is_equation_twelve():
    """½ ∇EᵀG∇E − ∇·(G∇E) in one dimension, with φ = −log x: G = x³, E = ½K(x−μ)²."""
    x = np.abs(np.random.default_rng(5).standard_normal(50)) + 0.1
    est = zf.TruncatedGaussian(generator=zf.Barrier.log()).fit(x[:, None])
    K, mu = est.precision_[0, 0], est.mean_[0]
    slope = K * (x - mu)
    by_hand = 0.5 * x**3 * slope**2 - (3 * x**2 * slope + x**3 * K)
    assert np.allclose(est.result_.scores(x[:, None]), by_hand)
    assert est.result_.score(x[:, None]) == pytest.approx(by_hand.mean())
    judged = 0.5 * x**2 * slope**2 - (2 * x * slope + x**2 * K)  # with G = x², whatever the fit used
    assert est.score(x[:, None]) == pytest.approx(-judged.mean())
    shift = est.result_.moments.log_scale
    assert est.result_.score(x[:, None], log_scale=shift) == pytest.approx(by_hand.mean() / np.exp(shift))


def test_the_scoring_rule_is_proper():
    """Proposition 4.1: under the truth, the expected score of the truth is the smallest (one-dimensional quadrature)."""
    from zfree.data import Block
    from zfree.models import ExponentialModel
    from zfree.moments import Rows

    grid = np.linspace(1e-6, 30, 200_001)[:, None]
    density = 2.0 * np.exp(-2.0 * grid[:, 0])
    for generator, proper in (
        (zf.Barrier(1.0, scale="raw"), True),
        (zf.Barrier(0.3, 0.0, scale="raw"), True),
        (zf.Identity(), False),
    ):
        rows = Rows(ExponentialModel(("x",)), generator, zf.Orthant(1), Block(grid))
        expected = {
            rate: integrate.trapezoid(density * rows.scores(np.array([rate]), 0.0), grid[:, 0])
            for rate in (0.5, 1.0, 1.8, 2.0, 2.2, 4.0)
        }
        assert (min(expected, key=expected.get) == 2.0) is proper


def test_the_minimum_of_the_score_on_the_data_is_the_estimate():
    """θ̂ minimises result.score: any change makes it worse."""
    from tests.posed import posed

    def loss(theta):
        problem = posed(RESULT.model, RESULT.generator, RESULT.domain, X)
        return np.mean(np.concatenate(problem.reduce(lambda rows: [rows.scores(theta, 0.0)])))

    best = loss(RESULT.working_theta)
    assert best == pytest.approx(RESULT.score(X))
    for e in np.eye(5):
        for h in (-1e-2, 1e-2):
            assert loss(RESULT.working_theta + h * e) > best
