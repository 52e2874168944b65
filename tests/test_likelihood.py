"""Maximum likelihood against optimality conditions and known answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import psi
from scipy.stats import gamma

import zfree as zf
from tests.refusals import check_refusal, hidden
from zfree.errors import DataError, SpecificationError
from zfree.likelihood import dirichlet_mle, exponential_mle, gamma_mle, monte_carlo_mle
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


def test_gamma_solves_the_likelihood_equations():
    shapes = np.array([0.02, 0.6, 2.0, 8.0, 300.0])
    X = np.random.default_rng(3).gamma(shapes, 0.5, (800, 5))
    shape, rate = gamma_mle(X)
    assert np.allclose(np.log(rate) - psi(shape) + np.log(X).mean(axis=0), 0, atol=1e-9)
    assert np.allclose(shape / rate, X.mean(axis=0), rtol=1e-12)
    fitted, _, scale = gamma.fit(X[:, 2], floc=0)
    assert [fitted, 1 / scale] == pytest.approx([shape[2], rate[2]], rel=1e-6)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_gamma_in_other_units(unit):
    X = np.random.default_rng(4).gamma([0.5, 3.0], 1.0, (200, 2))
    assert np.allclose(gamma_mle(X * unit) * [[1.0], [unit]], gamma_mle(X), rtol=1e-10)


@pytest.mark.parametrize("spread", [1e-2, 1e-3, 2e-5])
def test_gamma_of_values_that_are_close_keeps_its_digits(spread):
    """Far from zero a gamma is nearly normal: shape = mean²/variance, with corrections of the order of one."""
    x = 1 + spread * np.random.default_rng(5).standard_normal(500)
    shape, rate = gamma_mle(x)[:, 0]
    assert shape == pytest.approx(x.mean() ** 2 / x.var(), rel=max(3 * spread, 1e-6))
    assert shape / rate == pytest.approx(x.mean(), rel=1e-12)


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


def test_known_moments_take_the_place_of_draws():
    """Of an exponential: with 2000 draws alone the estimate is off by their own error, with E x and Var x it is not."""
    x, draws = RNG.exponential(0.5, (400, 1)), RNG.exponential(0.48, (2000, 1))
    model, theta = ExponentialModel(["x1"]), np.array([1 / 0.48])
    sign = float(np.sign(model.statistics(np.ones((1, 1)))[0, 0]))
    alone = monte_carlo_mle(model, x, draws, theta)[0]
    known = monte_carlo_mle(model, x, draws, theta, ([sign * 0.48], [[0.48**2]]))[0]
    assert abs(known * x.mean() - 1) < 1e-3
    assert abs(known * x.mean() - 1) < 0.1 * abs(alone * x.mean() - 1)
    with pytest.raises(SpecificationError, match="moments must be the mean of 1 statistics and their covariance"):
        monte_carlo_mle(model, x, draws, theta, ([0.48], [0.2]))


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


GAUSSIAN, EXPONENTIAL = PairwiseModel(["x1", "x2"]), ExponentialModel(["x1"])
THETA = np.array([1.0, 0.0, 1.0, 0.0, 0.0])
ROWS, DRAWS = RNG.standard_normal((50, 2)), RNG.standard_normal((500, 2))


def monte_carlo(model=GAUSSIAN, X=ROWS, draws=DRAWS, theta=THETA):
    return monte_carlo_mle(model, X, draws, theta)


CASES = {
    "a masked value": (lambda: exponential_mle(hidden([1.0, 2.0], 1)), DataError, [r"X\[1\] is masked"]),
    "text": (lambda: exponential_mle(["1", "2"]), DataError, ["X must be numbers"]),
    "a dictionary": (lambda: exponential_mle({"a": [1.0]}), DataError, ["X must be numbers"]),
    "an object": (lambda: exponential_mle(object()), DataError, ["X must be numbers"]),
    "complex values": (lambda: exponential_mle([1.0, 1j]), DataError, ["X must be real numbers"]),
    "no columns": (lambda: exponential_mle(np.ones((5, 0))), DataError, ["X must be a table"]),
    "a mean that overflows": (
        lambda: exponential_mle([[1.0, 1.7e308], [1.0, 1.7e308]]),
        DataError,
        ["column 1", "unit"],
    ),
    "a rate that overflows": (lambda: exponential_mle([5e-324]), DataError, ["column 0", "unit"]),
    "rows all alike": (lambda: dirichlet_mle(np.full((9, 3), 1 / 3)), DataError, ["all alike"]),
    "rows alike to rounding": (
        lambda: dirichlet_mle(0.5 + 1e-12 * np.outer(np.arange(9.0), [1.0, -1.0])),
        DataError,
        ["all alike, to rounding"],
    ),
    "one row": (lambda: dirichlet_mle([[0.2, 0.8]]), DataError, ["all alike"]),
    "a gamma of zero": (lambda: gamma_mle([1.0, 0.0]), DataError, ["needs positive values"]),
    "a gamma of text": (lambda: gamma_mle(["1", "2"]), DataError, ["X must be numbers"]),
    "a gamma with NaN": (lambda: gamma_mle([1.0, np.nan]), DataError, ["finite"]),
    "a gamma of masked values": (lambda: gamma_mle(hidden([1.0, 2.0], 1)), DataError, [r"X\[1\] is masked"]),
    "a gamma of one value": (lambda: gamma_mle([2.0]), DataError, ["column 0", "all alike"]),
    "a gamma of values alike to rounding": (
        lambda: gamma_mle([[1.0, 3.0], [2.0, 3.0 + 1e-9]]),
        DataError,
        ["column 1", "all alike"],
    ),
    "a gamma whose rate overflows": (
        lambda: gamma_mle([[1.0, 5e-324], [2.0, 1e-323]]),
        DataError,
        ["column 1", "unit"],
    ),
    "a gamma whose values have no common unit": (
        lambda: gamma_mle([5e-324] * 9 + [1e308]),
        DataError,
        ["column 0", "unit"],
    ),
    "masked parts": (lambda: dirichlet_mle(hidden(np.full((9, 2), 0.5), 3, 1)), DataError, [r"X\[3, 1\] is masked"]),
    "a theta of NaN": (
        lambda: monte_carlo(theta=THETA * np.nan),
        SpecificationError,
        ["theta must be 5 finite numbers"],
    ),
    "a theta of one number": (lambda: monte_carlo(theta=[1.0]), SpecificationError, ["theta must be 5 finite numbers"]),
    "a theta of text": (lambda: monte_carlo(theta="a"), SpecificationError, ["theta must be numbers"]),
    "no model": (lambda: monte_carlo(model=None), SpecificationError, ["model must be a model", "None"]),
    "an estimator": (lambda: monte_carlo(model=zf.Gaussian()), SpecificationError, ["model must be a model"]),
    "no draws": (lambda: monte_carlo(draws=None), DataError, ["draws must be"]),
    "draws that are too wide": (lambda: monte_carlo(draws=np.ones((9, 3))), DataError, ["draws", "2 columns", "got 3"]),
    "data that are too narrow": (lambda: monte_carlo(X=ROWS[:, :1]), DataError, ["X must have the 2 columns", "got 1"]),
    "draws that are all alike": (
        lambda: monte_carlo(draws=np.ones((9, 2))),
        SpecificationError,
        ["same at all 9 draws"],
    ),
    "fewer draws than parameters": (lambda: monte_carlo(draws=DRAWS[:3]), SpecificationError, ["too few"]),
    "draws outside the domain": (
        lambda: monte_carlo(zf.models.GammaModel(["x1"]), np.ones((3, 1)), [[1.0], [-1.0]], [1.0, 1.0]),
        DataError,
        ["not finite at row 1 of draws"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_refused(name):
    check_refusal(CASES[name])


def test_a_part_that_never_varies_is_left_out_of_the_first_guess():
    """Two parts vary against one another, the third is constant."""
    x = np.random.default_rng(2).uniform(0.1, 0.4, 300)
    X = np.column_stack([x, 0.5 - x, np.full(300, 0.5)])
    found = dirichlet_mle(X)
    assert np.allclose(psi(found) - psi(found.sum()), np.log(X).mean(axis=0), atol=1e-9)
