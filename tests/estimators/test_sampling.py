"""What estimators say of their draws, and of fits that are no distribution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import zfree as zf
from zfree.errors import ImproperDensityError, ImproperDensityWarning, SamplingWarning, SpecificationError
from zfree.samplers import Draws

RNG = np.random.default_rng(0)


def family(**more):
    """t = (log x, 1/x, x) on the half-line."""
    return zf.ExponentialFamily(
        lambda X: np.column_stack([np.log(X), 1 / X, X]),
        jacobian=lambda X: np.stack([1 / X, -1 / X**2, np.ones_like(X)], axis=1),
        hessian=lambda X: np.stack([-1 / X**2, 2 / X**3, np.zeros_like(X)], axis=1)[:, :, :, None],
        domain=zf.Orthant(1),
        **more,
    )


def test_draws_with_their_diagnostics():
    est = zf.PowerInteraction(0.5, 0.0).fit(RNG.gamma(0.3, 1.0, (400, 2)))
    found = est.sample(500, 0, return_diagnostics=True)
    assert isinstance(found, Draws)
    assert found.rhat.shape == found.effective_size.shape == (2,)
    assert not found.doubt
    assert np.array_equal(found.draws, est.sample(500, 0))
    gamma = zf.Gamma().fit(RNG.gamma(2.0, 1.0, (300, 1)))
    assert gamma.sample(10, 0, return_diagnostics=True).exact


def test_a_gaussian_on_the_simplex_gets_all_its_parts():
    P = RNG.dirichlet([4.0, 5.0, 6.0], 500)
    found = zf.TruncatedGaussian(zf.Simplex(3), zf.Barrier(1.2, 0.0)).fit(P).sample(200, 0, return_diagnostics=True)
    assert found.draws.shape == (200, 3)
    assert np.allclose(found.draws.sum(axis=1), 1.0)


def test_small_shapes_of_a_power_interaction():
    """Nearly half of a gamma with shape 0.114 lies below 0.001."""
    est = zf.PowerInteraction(0.5, 0.0, fixed={"eta[x1]": -0.886, "K[x1,x1]": 1.0}).fit(RNG.gamma(0.114, 1.0, (500, 1)))
    share = stats.gamma(0.114).cdf(1e-3)
    assert share == pytest.approx(0.48, abs=0.005)
    draws = est.sample(5000, 0)
    assert np.mean(draws < 1e-3) == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 5000))


def test_bad_chains_are_told(monkeypatch):
    monkeypatch.setattr("zfree.samplers.gaussian.MOST_MOVES", 2000)
    A = np.random.default_rng(0).standard_normal((10, 10))
    X = RNG.uniform(-1, 1, (200, 10))
    K = 20 * (A + A.T)
    with pytest.warns(zf.errors.NotPositiveDefiniteWarning):
        est = zf.TruncatedGaussian(
            zf.Box([-1] * 10, [1] * 10), zf.Barrier(1.0, 0.0), mean=np.zeros(10), precision=K
        ).fit(X)
    with pytest.warns(SamplingWarning, match="cannot be trusted: .*split-R̂"):
        est.sample(500, 0)
    with pytest.warns(SamplingWarning):
        assert est.sample(500, 0, return_diagnostics=True).doubt


@pytest.mark.parametrize("n", [1.5, "a", None, 0, -3, True, [5]])
def test_numbers_of_draws(n):
    for est in (zf.Gamma(check=False), zf.Gaussian(check=False), zf.PowerInteraction(0.5, 0.5, check=False)):
        est.fit(RNG.gamma(2.0, 1.0, (100, 1)))
        with pytest.raises(SpecificationError, match="number of draws"):
            est.sample(n)
    assert zf.Gamma().fit(RNG.gamma(2.0, 1.0, (100, 1))).sample(np.int64(3)).shape == (3, 1)


@pytest.mark.parametrize("flag", ["yes", "False", 1, None])
def test_a_flag_is_true_or_false(flag):
    est = zf.Gamma(check=False).fit(RNG.gamma(2.0, 1.0, (100, 1)))
    with pytest.raises(SpecificationError, match="return_diagnostics must be True or False"):
        est.sample(5, return_diagnostics=flag)


def test_more_draws_than_fit_into_memory():
    est = zf.Gamma(check=False).fit(RNG.gamma(2.0, 1.0, (100, 1)))
    with pytest.raises(SpecificationError, match="in pieces"):
        est.sample(10**13)


def test_a_family_that_cannot_be_normalised():
    x = np.random.default_rng(0).pareto(1.2, (150, 1)) + 0.2
    with pytest.warns(ImproperDensityWarning, match=r"cannot be normalised on Orthant\(1\).*x1 → ∞"):
        est = family().fit(x)
    assert est.theta_[2] > 0
    assert any("no distribution" in note for note in est.result_.notes)
    assert "no distribution" in str(est.result_.summary())
    with pytest.raises(ImproperDensityError, match="There is no distribution to draw from"):
        est.sample(10)


def test_a_family_that_can_be_normalised_is_left_in_peace():
    est = family().fit(stats.geninvgauss(0.5, 1.0).rvs((400, 1), random_state=0))
    assert not est.result_.notes
    assert not est.sample(200, 0, return_diagnostics=True).doubt


def test_rates_and_shapes_that_are_not_positive():
    with pytest.warns(ImproperDensityWarning, match=r"shape\[x1\] = -0.5"):
        est = zf.Gamma(zf.Barrier.log(det_power=2.0), fixed={"shape[x1]": -0.5}).fit(RNG.gamma(2.0, 1.0, (100, 1)))
    with pytest.raises(ImproperDensityError, match=r"shape\[x1\]"):
        est.sample(5)
    with pytest.warns(ImproperDensityWarning, match=r"eta\[x1\] = -2 is not above -1"):
        zf.PowerInteraction(0.5, 0.0, zf.Barrier.log(det_power=2.0), fixed={"eta[x1]": -2.0}).fit(
            RNG.gamma(2.0, 1.0, (100, 1))
        )


def test_an_indefinite_estimate_on_the_orthant_can_be_drawn_from():
    """Copositive, not positive definite: a distribution all the same."""
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    X = zf.samplers.sample_gaussian(zf.Orthant(2), [0.0, 0.0], K, 3000, 0)
    with pytest.warns(zf.errors.NotPositiveDefiniteWarning, match="still normalisable"):
        est = zf.TruncatedGaussian(mean=[0.0, 0.0], precision=K).fit(X)
    draws = est.sample(3000, 1)
    for j in range(2):
        assert stats.ks_2samp(draws[:, j], X[:, j]).pvalue > 0.001
