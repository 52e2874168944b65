"""Intervals, tests and remarks that rest on the jackknife."""

from __future__ import annotations

import inspect
import warnings
from importlib import import_module

import numpy as np
import pytest
from scipy import stats

import zfree as zf
from zfree.errors import NotPositiveDefiniteWarning, SingularMomentsError, SpecificationError, ZfreeWarning
from zfree.inference import Parameters
from zfree.inference import rows_or_groups as policy

X = np.abs(np.random.default_rng(0).standard_normal((80, 2)))
BARRIER = zf.Barrier(1.2, 0.0)
RESULT = zf.TruncatedGaussian(generator=BARRIER).fit(X).result_
PLAIN = zf.TruncatedGaussian(generator=BARRIER, standard_errors="sandwich").fit(X).result_


def test_intervals_are_centred_at_the_estimate_minus_its_bias():
    assert RESULT.covariance_type == "jackknife"
    assert np.array_equal(RESULT.theta, PLAIN.theta)
    low, high = RESULT.conf_int(0.9).T
    assert np.allclose((low + high) / 2, RESULT.theta - RESULT.bias)
    quantile = stats.t.ppf(0.95, RESULT.degrees_of_freedom)
    assert np.allclose((high - low) / 2, quantile * RESULT.standard_errors)
    assert np.array_equal(RESULT.conf_int(), RESULT.conf_int(method="jackknife"))
    assert np.allclose(RESULT.conf_int(method="wald"), PLAIN.conf_int())
    assert np.allclose(RESULT.sandwich_standard_errors, PLAIN.standard_errors)
    assert np.allclose(np.sqrt(np.diagonal(RESULT.covariance)), RESULT.standard_errors)
    assert np.linalg.eigvalsh(RESULT.covariance)[0] > 0
    assert RESULT.total_variance == pytest.approx(PLAIN.total_variance)


def test_the_sandwich_has_no_bias_and_normal_quantiles():
    assert PLAIN.covariance_type == "sandwich"
    assert np.isnan(PLAIN.bias).all()
    assert np.isinf(PLAIN.degrees_of_freedom).all()
    assert np.allclose(PLAIN.p_values, 2 * stats.norm.sf(np.abs(PLAIN.z_values)))
    with pytest.raises(SpecificationError, match='standard_errors="jackknife"'):
        PLAIN.conf_int(method="jackknife")


def test_alpha_is_one_minus_the_level():
    assert np.array_equal(RESULT.conf_int(alpha=0.1), RESULT.conf_int(1 - 0.1))
    assert np.array_equal(RESULT.conf_int(), RESULT.conf_int(0.95))
    for wrong in ({"level": 0.9, "alpha": 0.1}, {"alpha": 1.5}, {"level": 95}, {"method": "bootstrap"}):
        with pytest.raises(SpecificationError):
            RESULT.conf_int(**wrong)


def test_names_of_statsmodels():
    assert RESULT.params is RESULT.theta
    assert np.array_equal(RESULT.bse, RESULT.standard_errors)
    assert np.array_equal(RESULT.pvalues, RESULT.p_values)


@pytest.mark.parametrize("result", [RESULT, PLAIN], ids=["jackknife", "sandwich"])
def test_p_values_and_wald_tests_agree_with_the_intervals(result):
    for k in range(5):
        low, high = result.conf_int(alpha=float(result.p_values[k]))[k]
        assert min(abs(low), abs(high)) < 1e-6 * (
            high - low
        )  # zero is an end of the interval at the level of the p-value
        row = np.eye(5)[k]
        assert result.wald_test(row).p_value == pytest.approx(result.p_values[k], rel=1e-6)
    two = np.eye(5)[[0, 2]]
    mixed = np.array([[1.0, 2.0], [-1.0, 0.5]]) @ two
    assert result.wald_test(mixed).p_value == pytest.approx(result.wald_test(two).p_value, rel=1e-6)
    assert result.wald_test(two, two @ result.natural.corrected).p_value == pytest.approx(1.0)


def test_known_parameters_have_no_error():
    held = zf.TruncatedGaussian(generator=BARRIER, fixed={"K[x1,x2]": 0.0}).fit(X).result_
    assert held.standard_errors[1] == 0.0
    assert held.bias[1] == 0.0
    assert np.array_equal(held.conf_int()[1], [0.0, 0.0])
    assert "fixed" in str(held.summary())


def test_derived_parameters_are_linearised_at_the_corrected_estimate():
    model, corrected = RESULT.model, RESULT.working_theta - RESULT.jackknife.spread(None).bias
    mean = RESULT.parameters("mean")
    there = model.derived(corrected)["mean"]()
    assert np.allclose(mean.conf_int().mean(axis=1), there.values)
    assert np.allclose(mean.covariance, RESULT.jackknife.spread(there.jacobian).covariance)
    assert np.allclose(mean.conf_int(method="wald"), PLAIN.parameters("mean").conf_int())
    assert np.allclose(RESULT.parameters("precision").standard_errors, RESULT.standard_errors[:3])


def test_the_summary_says_what_was_used():
    text = str(RESULT.summary())
    assert "jackknife, t with " in text
    assert "P>|t|" in text
    assert "P>|z|" in str(PLAIN.summary())
    few = zf.Gaussian().fit(np.random.default_rng(0).standard_normal((25, 4))).result_
    assert np.abs(few.bias / few.standard_errors).max() > 0.25
    assert "bias: " in str(few.summary())
    assert "bias: " in few.summary()._repr_html_()
    many = zf.Exponential().fit(np.random.default_rng(0).exponential(1.0, 2000)).result_
    assert "bias: " not in str(many.summary())


def test_which_standard_errors(monkeypatch):
    x = np.random.default_rng(0).gamma(2.0, 1.0, 300)
    kind = lambda **options: zf.Gamma(zf.Barrier(0.5, 0.0), **options).fit(x).result_.covariance_type  # noqa: E731
    assert kind() == "jackknife"
    assert kind(standard_errors="sandwich") == "sandwich"
    monkeypatch.setattr(policy, "MANY_ROWS", 200)
    assert kind() == "sandwich"
    assert kind(standard_errors="jackknife") == "jackknife"
    monkeypatch.setattr(policy, "KEPT", 100)
    assert kind() == "sandwich"  # 150 rows for each parameter
    assert kind(standard_errors="jackknife") == "grouped jackknife"
    monkeypatch.setattr(policy, "PER_PARAMETER", 200)
    assert kind() == "grouped jackknife"


def test_groups_have_nineteen_degrees_of_freedom_and_correlations_of_the_sandwich(monkeypatch):
    monkeypatch.setattr(policy, "KEPT", 0)
    grouped = zf.TruncatedGaussian(generator=BARRIER).fit(X).result_
    assert grouped.covariance_type == "grouped jackknife"
    assert np.all(grouped.degrees_of_freedom == 19)
    assert np.allclose(grouped.standard_errors, RESULT.standard_errors, rtol=0.6)
    scale = grouped.standard_errors / PLAIN.standard_errors
    assert np.allclose(grouped.covariance, PLAIN.covariance * np.outer(scale, scale))
    assert 0 < grouped.wald_test().p_value < 1
    order = np.random.default_rng(1).permutation(80)
    shuffled = zf.TruncatedGaussian(generator=BARRIER).fit(X[order]).result_
    assert np.allclose(shuffled.conf_int(), grouped.conf_int(), rtol=1e-6)
    weighted = zf.TruncatedGaussian(generator=BARRIER).fit(X, sample_weight=np.full(80, 1e-3)).result_
    assert np.allclose(weighted.conf_int(), grouped.conf_int(), rtol=1e-6)


def test_units_of_the_columns_change_nothing_but_the_units():
    x = np.random.default_rng(3).gamma([0.8, 3.0], 1.0, (90, 2))
    unit = np.array([1e-4, 1e5])
    generator = zf.Barrier.log(det_power=0.0)
    plain, other = zf.Gamma(generator).fit(x).result_, zf.Gamma(generator).fit(x * unit).result_
    scale = np.concatenate([[1.0, 1.0], 1 / unit])
    assert np.allclose(other.conf_int(), plain.conf_int() * scale[:, None], rtol=1e-6)
    assert np.allclose(other.degrees_of_freedom, plain.degrees_of_freedom, rtol=1e-8)


def test_intervals_cover_where_wald_intervals_do_not():
    truth, covered = np.array([1.0, 0.0, 1.0, 0.0, 0.0]), []
    for seed in range(200):
        rows = np.abs(np.random.default_rng([seed, 1]).standard_normal((50, 2)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotPositiveDefiniteWarning)
            result = zf.TruncatedGaussian(generator=BARRIER).fit(rows).result_
        both = [result.conf_int(method=m) for m in ("wald", "jackknife")]
        covered.append([(ci[:, 0] <= truth) & (truth <= ci[:, 1]) for ci in both])
    wald, jackknife = np.mean(covered, axis=0)
    assert wald.min() < 0.91
    assert jackknife.min() > 0.925


def test_rows_without_which_nothing_is_determined_are_named():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZfreeWarning)
        result = zf.TruncatedGaussian(generator=zf.Barrier(1.0, 0.0)).fit(X[:3]).result_
    assert result.covariance_type == "sandwich"
    note = next(n for n in result.notes if "do not determine" in n)
    assert "without row " in note
    assert any(name in note for name in result.names)


def test_a_statistic_that_one_row_has_is_named():
    x = np.append(np.random.default_rng(0).uniform(0.1, 1.0, 20), 3.0)[:, None]
    beyond = lambda X, power: np.where(X > 2, X - 2, 0.0) ** power * (X > 2)  # noqa: E731
    result = (
        zf.ExponentialFamily(
            lambda X: np.concatenate([-X, beyond(X, 3)], axis=1),
            jacobian=lambda X: np.stack([-np.ones_like(X), 3 * beyond(X, 2)], axis=1),
            hessian=lambda X: np.stack([np.zeros_like(X), 6 * beyond(X, 1)], axis=1)[..., None],
            domain=zf.Box([0.0], [4.0]),
            generator=zf.Barrier(1.0, 0.0),
        )
        .fit(x)
        .result_
    )
    assert any("without row 20 (x = 3) the others do not determine theta[1]" in note for note in result.notes)


def test_a_standard_error_of_zero_is_remarked_on():
    result = zf.Exponential(zf.Barrier(1.0, 0.0)).fit(np.ones(5)).result_
    assert result.standard_errors[0] == pytest.approx(0.0, abs=1e-12)
    assert any("no sign of accuracy" in note for note in result.notes)


def test_an_interval_that_rests_on_a_handful_of_rows_says_so():
    generator = zf.Barrier.log(det_power=0.0)
    heavy = zf.Gamma(generator).fit(np.random.default_rng(8).gamma(0.05, 1.0, 100)).result_
    assert heavy.degrees_of_freedom.min() < 3
    assert any("covers a little less" in note and "rate[x1]" in note for note in heavy.notes)
    light = zf.Gamma(generator).fit(np.random.default_rng(1).gamma(2.0, 1.0, 100)).result_
    assert not light.notes


def test_a_combination_has_the_sandwich():
    P = np.random.default_rng(0).dirichlet([2.0, 3.0, 4.0], 200)
    both = zf.Combined([zf.Barrier.log(det_power=0.0), zf.Barrier(0.4, 0.0)])
    assert zf.Dirichlet(both).fit(P).result_.covariance_type == "sandwich"
    asked = zf.Dirichlet(both, standard_errors="jackknife").fit(P).result_
    assert any("combination" in note for note in asked.notes)


def test_a_negative_variance_is_an_error_not_a_zero(monkeypatch):
    covariance = np.diag([1.0, -1e-20])
    parameters = Parameters(("a", "b"), np.ones(2), covariance.diagonal(), covariance)
    for ask in (lambda: parameters.standard_errors, parameters.conf_int, lambda: parameters.p_values):
        with pytest.raises(SingularMomentsError, match="variance of b is lost in rounding"):
            ask()
    for bad in (-1.0, np.nan):
        broken = np.diag([1.0, 1.0, bad, 1.0, 1.0])
        monkeypatch.setattr(import_module("zfree.inference.uncertainty"), "sandwich", lambda *_, c=broken: c)
        with pytest.raises(SingularMomentsError, match=r"variance of K\[x2,x2\] is lost.*ridge"):
            zf.TruncatedGaussian(generator=BARRIER, standard_errors="sandwich").fit(X)


@pytest.mark.parametrize(
    "estimator",
    [
        zf.TruncatedGaussian,
        zf.Gaussian,
        zf.LogNormal,
        zf.PowerInteraction,
        zf.Dirichlet,
        zf.Gamma,
        zf.Exponential,
        zf.ExponentialFamily,
    ],
)
def test_every_estimator_lets_one_choose(estimator):
    option = inspect.signature(estimator).parameters["standard_errors"]
    assert option.kind is inspect.Parameter.KEYWORD_ONLY
    assert option.default == "auto"
    with pytest.raises(SpecificationError, match='"auto", "jackknife" or "sandwich"'):
        estimator(standard_errors="bootstrap").fit(X)


def test_there_are_fewer_degrees_of_freedom_than_rows():
    result = zf.Gamma(zf.Barrier.log(0.0), standard_errors="jackknife").fit(np.array([[1.0], [2.0], [4.0]])).result_
    assert result.degrees_of_freedom.max() <= 2.0
