"""Generalized gamma: gammas of powers, closed forms, intervals, draws and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from zfree.errors import DataError, SpecificationError
from zfree.models import GeneralizedGammaModel

SHAPE, RATE = np.array([2.5, 0.8]), np.array([1.5, 0.3])


def draw(a, n, seed=0, shape=SHAPE, rate=RATE):
    """By the definition: x^a is a gamma of shape κ/a."""
    u = np.random.default_rng(seed).gamma(shape / a, 1 / rate, (n, len(shape)))
    return u ** (1 / a)


@pytest.mark.parametrize("generator", ["auto", "search", "phi3", zf.Barrier(0.5, 0.2), zf.SteinMoments()], ids=repr)
def test_with_the_exponent_one_it_is_the_gamma(generator):
    X = draw(1.0, 300)
    gamma = zf.Gamma(generator, check=False).fit(X)
    general = zf.GeneralizedGamma(1.0, generator, check=False).fit(X)
    for name in ("shape_", "rate_", "shape_se_", "rate_se_"):
        assert np.allclose(getattr(general, name), getattr(gamma, name), rtol=1e-9), name


@pytest.mark.parametrize("a", [0.5, 2.0, 3.3])
def test_it_is_the_gamma_of_the_power(a):
    """The equations do not depend on coordinates: κ = a k, λ the same, standard errors alike."""
    X = draw(a, 300)
    general = zf.GeneralizedGamma(a, check=False).fit(X)
    gamma = zf.Gamma(check=False).fit(X**a)
    assert isinstance(general.generator_, zf.SteinMoments)
    assert np.allclose(general.shape_, a * gamma.shape_, rtol=1e-8)
    assert np.allclose(general.shape_se_, a * gamma.shape_se_, rtol=1e-8)
    assert np.allclose(general.rate_, gamma.rate_, rtol=1e-8)
    assert np.allclose(general.rate_se_, gamma.rate_se_, rtol=1e-8)


@pytest.mark.parametrize("unit", [1e-20, 1e20])
def test_units_of_the_columns_change_nothing(unit):
    """x ↦ c x keeps κ and divides λ by c^a, however far c^a is from one."""
    X = draw(3.0, 300)
    plain, other = (zf.GeneralizedGamma(3.0, check=False).fit(rows) for rows in (X, unit * X))
    assert np.allclose(other.shape_, plain.shape_, rtol=1e-8)
    assert np.allclose(other.rate_ * unit**3, plain.rate_, rtol=1e-8)
    assert np.allclose(other.shape_se_, plain.shape_se_, rtol=1e-8)


def test_a_half_normal_with_known_shape_has_the_closed_form():
    """a = 2, κ = 1: the estimate of λ = 1/(2σ²) is that of maximum likelihood, 1/(2 mean(x²)), and its sandwich λ² (mean u² / mean² u − 1)."""
    x = np.abs(np.random.default_rng(0).normal(0.0, 3.0, 500))
    est = zf.GeneralizedGamma(2.0, fixed={"shape[x1]": 1.0}, standard_errors="sandwich", check=False).fit(x)
    expected = 1 / (2 * np.mean(x**2))
    assert est.shape_ == 1.0
    assert est.rate_ == pytest.approx(expected, rel=1e-12)
    assert est.rate_se_ == pytest.approx(expected * np.std(x**2) / np.mean(x**2) / np.sqrt(len(x)), rel=1e-9)


@pytest.mark.parametrize("a", [0.5, 2.0])
def test_it_is_close_to_maximum_likelihood(a):
    X = draw(a, 4000)
    est = zf.GeneralizedGamma(a, check=False).fit(X)
    k, rate = zf.likelihood.gamma_mle(X**a)
    assert np.all(np.abs(est.shape_ - a * k) < 0.2 * est.shape_se_)
    assert np.all(np.abs(est.rate_ - rate) < 0.2 * est.rate_se_)


@pytest.mark.parametrize("generator", ["phi1", zf.Barrier(0.6, 0.0), "search"], ids=repr)
def test_other_weights_are_consistent(generator):
    a, shape = 2.0, np.array([2.5, 3.0])
    est = zf.GeneralizedGamma(a, generator, check=False).fit(draw(a, 20_000, shape=shape))
    assert np.all(np.abs(est.shape_ - shape) < 4.5 * est.shape_se_)
    assert np.all(np.abs(est.rate_ - RATE) < 4.5 * est.rate_se_)


def test_intervals_cover():
    """95 per cent intervals on 200 data sets: within three standard errors of what they say."""
    a, truth, hits = 2.0, np.r_[SHAPE, RATE], []
    for seed in range(200):
        low, high = zf.GeneralizedGamma(a, check=False).fit(draw(a, 150, seed)).result_.conf_int().T
        hits.append((low < truth) & (truth < high))
    assert np.all(np.abs(np.mean(hits, axis=0) - 0.95) < 3 * np.sqrt(0.05 * 0.95 / 200))


@pytest.mark.parametrize("a", [0.7, 2.0])
def test_draws_have_the_moments(a):
    model = GeneralizedGammaModel(["u", "v"], a)
    found = zf.samplers.sample_model(model, zf.Orthant(2), np.r_[SHAPE, RATE], 40_000, random_state=0)
    assert found.exact
    u = found.draws**a
    assert np.allclose(u.mean(axis=0), SHAPE / a / RATE, rtol=0.03)
    assert np.allclose(u.var(axis=0), SHAPE / a / RATE**2, rtol=0.08)
    # Of one column on another domain by inversion, of two by chains: the density itself, not its name.
    box = zf.samplers.sample_model(
        GeneralizedGammaModel(["u"], a), zf.Box([0.0], [50.0]), [2.5, 1.5], 4000, random_state=0
    )
    assert (box.draws**a).mean() == pytest.approx(2.5 / a / 1.5, rel=0.05)


def test_what_can_be_normalised():
    model = GeneralizedGammaModel(["u"], 2.0)
    assert model.normalisable(np.array([0.5, 1.0]), zf.Orthant(1)).holds
    assert model.normalisable(np.array([0.5, -1.0]), zf.Orthant(1)).holds is False
    assert "shape[u]" in model.normalisable(np.array([-0.5, 1.0]), zf.Orthant(1)).reason
    assert model.normalisable(np.array([0.5, -1.0]), zf.Box([0.0], [1.0])).holds
    assert [GeneralizedGammaModel(["u"], a).heavy_tailed for a in (0.5, 1.0, 1.1)] == [True, True, False]


def test_the_check_of_the_fit_sees_a_wrong_exponent():
    x = draw(1.0, 2000, shape=np.array([2.0]), rate=np.array([1.0]))
    assert zf.GeneralizedGamma(1.0).fit(x).result_.fit_check.p_value > 0.05
    with pytest.warns(zf.errors.MisfitWarning):
        assert zf.GeneralizedGamma(4.0).fit(x).result_.fit_check.p_value < 1e-3


X = draw(1.0, 60)


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: zf.GeneralizedGamma(0.0).fit(X), SpecificationError, "exponent must be positive .* got 0"),
        (lambda: zf.GeneralizedGamma(-1.0).fit(X), SpecificationError, "fit 1/x"),
        (lambda: zf.GeneralizedGamma(np.inf).fit(X), SpecificationError, "exponent .* finite"),
        (lambda: zf.GeneralizedGamma(np.nan).fit(X), SpecificationError, "exponent must be a number"),
        (lambda: zf.GeneralizedGamma("2").fit(X), SpecificationError, "exponent must be numbers"),
        (lambda: zf.GeneralizedGamma([1.0, 2.0]).fit(X), SpecificationError, "exponent must be one number"),
        (lambda: zf.GeneralizedGamma(2.0).fit(X * [1.0, 1e100]), DataError, "column 'x2' .* Divide the column"),
        (lambda: zf.GeneralizedGamma(2.0).fit(X * 1e-100), DataError, "column 'x1' .* Divide the column"),
        (lambda: zf.GeneralizedGamma(2.0).fit(-X), DataError, "x1 > 0"),
    ],
)
def test_what_makes_no_sense_is_refused(ask, error, words):
    with pytest.raises(error, match=words):
        ask()
