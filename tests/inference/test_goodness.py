"""The statistical core: true families are left in peace, wrong ones are seen, and the error of θ̂ does not matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

import zfree as zf
from zfree.data import Table
from zfree.inference.goodness import Estimated, goodness_of_fit, pool_size
from zfree.inference.indicators import DEPENDENCE, LOG_DENSITY, Indicators, n_indicators
from zfree.inference.likelihood_root import Pool, Refusal
from zfree.inference.verdict import ALARM, GoodnessOfFit
from zfree.models import DirichletModel, ExponentialModel, GammaModel
from zfree.samplers import sample_model

ORTHANT = zf.Orthant(1)


def drawer(model, domain, seed, effective=1.0):
    rng = np.random.default_rng(seed)
    return lambda theta, n: Pool(sample_model(model, domain, theta, n, random_state=rng).draws, effective * n)


def check(model, domain, theta, X, seed=0, *, weight=None, free=None, size=4000, effective=1.0):
    theta = np.asarray(theta, dtype=float)
    free = np.ones(len(theta), bool) if free is None else np.asarray(free)
    estimate = Estimated(theta, 0.01 * np.eye(len(theta)), free)
    rows = Table(X, weight, tuple(f"x{j + 1}" for j in range(X.shape[1])))
    return goodness_of_fit(model, domain, estimate, rows, drawer(model, domain, seed, effective), size=size)


def exponential_p(k, n=60, offset=0.0, **options):
    """A true exponential, with an estimate that is off by some standard errors."""
    x = np.random.default_rng([k, 1]).exponential(2.0, (n, 1))
    rate = (1.0 + offset / np.sqrt(n)) / x.mean()
    return check(ExponentialModel(["x1"]), ORTHANT, [rate], x, [k, 2], **options).p_value


@pytest.mark.parametrize("offset", [0.0, 3.0, -4.0])
def test_p_values_are_uniform_whatever_the_error_of_theta(offset):
    p = [exponential_p(k, offset=offset) for k in range(200)]
    assert kstest(p, "uniform").pvalue > 0.01
    assert np.mean(np.array(p) < 0.05) < 0.1


def test_known_parameters_are_part_of_the_hypothesis():
    model, right, wrong = GammaModel(["x1"]), [], []
    for k in range(60):
        x = np.random.default_rng([k, 3]).gamma(2.0, 1.0, (200, 1))
        right.append(check(model, ORTHANT, [2.0, 1.0], x, [k, 4], free=[False, True]).p_value)
        wrong.append(check(model, ORTHANT, [3.5, 1.0], x, [k, 4], free=[False, True]).p_value)
    assert np.mean(np.array(right) < 0.05) < 0.15
    assert np.mean(np.array(wrong) < ALARM) > 0.9
    all_known = check(model, ORTHANT, [2.0, 1.0], x, free=[False, False])
    assert 0.0 < all_known.p_value <= 1.0


def test_few_draws_and_dependent_ones_cost_power_not_size():
    p = np.array([exponential_p(k, n=3000, size=1000) for k in range(120)])
    assert np.mean(p < 0.05) < 0.12
    assert kstest(p, "uniform").pvalue > 0.01
    x = np.random.default_rng(0).gamma(1.3, 1.0, (300, 1))
    many, half = (check(ExponentialModel(["x1"]), ORTHANT, [1.0], x, effective=e).p_value for e in (1.0, 0.02))
    assert many < 0.01 < half


def test_every_part_has_its_p_value():
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.gamma(2.0, 1.0, 400), np.exp(1.5 * rng.standard_normal(400)), rng.gamma(0.7, 1.0, 400)])
    found = check(GammaModel(["x1", "x2", "x3"]), zf.Orthant(3), [2.0, 0.5, 0.7, 1.0, 0.2, 1.0], X)
    assert list(found.by_column) == ["x1", "x2", "x3", LOG_DENSITY, DEPENDENCE]
    assert found.worst == "x2"
    assert found.by_column["x2"] < ALARM
    assert min(found.by_column["x1"], found.by_column["x3"], found.by_column[DEPENDENCE]) > 0.01
    assert found.alarms
    assert "the data contradict the model" in found.verdict
    assert "column 'x2'" in found.verdict
    with pytest.raises(TypeError):
        found.by_column["x2"] = 1.0
    with pytest.raises(AttributeError):
        found.p_value = 1.0


def test_dependence_that_no_column_shows():
    g = np.random.default_rng(6).gamma(1.0, 1.0, (300, 3))
    found = check(GammaModel(["x1", "x2"]), zf.Orthant(2), [2.0, 2.0, 1.0, 1.0], g[:, :2] + g[:, 2:])
    assert found.worst == DEPENDENCE
    assert found.alarms
    assert "the dependence of the columns" in found.verdict


def test_a_column_called_log_density_loses_nothing():
    found = Indicators.of(
        ExponentialModel([LOG_DENSITY]),
        np.ones(1),
        np.random.default_rng(0).exponential(size=(500, 1)),
        np.full(500, 0.002),
        [LOG_DENSITY],
    )
    assert len(found.parts) == 2


def test_weights_that_undo_a_biased_sample():
    """Rows from √x e^(−x) with weights 1/√x are exponential; without the weights they are not."""
    model, weighted, plain = ExponentialModel(["x1"]), [], []
    for k in range(100):
        x = np.random.default_rng([k, 7]).gamma(1.5, 1.0, (400, 1))
        w = x[:, 0] ** -0.5
        weighted.append(check(model, ORTHANT, [1.0], x, [k, 8], weight=w).p_value)
        plain.append(check(model, ORTHANT, [1.0], x, [k, 8]).p_value)
    assert np.mean(np.array(weighted) < 0.05) < 0.15
    assert np.mean(np.array(weighted) < ALARM) <= 0.02
    assert np.mean(np.array(plain) < ALARM) > 0.9


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_constant_weights_are_no_weights(scale):
    x = np.random.default_rng(9).exponential(1.0, (300, 1))
    plain = check(ExponentialModel(["x1"]), ORTHANT, [1.0], x)
    constant = check(ExponentialModel(["x1"]), ORTHANT, [1.0], x, weight=np.full(300, scale))
    assert constant.p_value == pytest.approx(plain.p_value, rel=0.5)
    assert constant.distance == pytest.approx(plain.distance, rel=1e-3, abs=1e-3)


def test_rounded_data_are_held_against_rounded_draws():
    model, p, raw = GammaModel(["x1"]), [], []
    for k in range(60):
        x = np.round(2.0 * np.random.default_rng([k, 10]).gamma(3.0, 1.0, (400, 1))) / 2.0
        x = x[x[:, 0] > 0]
        found = check(model, ORTHANT, [3.0, 1.0], x, [k, 11])
        assert "'x1' to steps of 0.5" in found.verdict
        p.append(found.p_value)
        # The same values, moved so little that nothing looks rounded.
        raw.append(
            check(
                model, ORTHANT, [3.0, 1.0], x * (1 + 1e-4 * np.random.default_rng(k).uniform(-1, 1, x.shape)), [k, 11]
            ).p_value
        )
    assert np.mean(np.array(p) < ALARM) <= 0.02
    assert np.mean(np.array(p) < 0.05) < 0.15
    assert np.mean(np.array(raw) < ALARM) > 0.5


def test_rounded_compositions_stay_compositions():
    P = np.round(np.random.default_rng(12).dirichlet([3.0, 4.0, 5.0], 300), 2)
    P[:, 2] = 1.0 - P[:, 0] - P[:, 1]
    P = P[(P > 1e-9).all(axis=1)]
    found = check(DirichletModel(["x1", "x2", "x3"]), zf.Simplex(3), [3.0, 4.0, 5.0], P)
    assert found.p_value > ALARM
    assert "rounded" in found.remark


def test_distance_is_in_standard_errors_of_the_estimate():
    x = np.random.default_rng(13).exponential(1.0, (400, 1))
    root = 1.0 / x.mean()
    near = check(ExponentialModel(["x1"]), ORTHANT, [root], x, size=20_000)
    far = check(ExponentialModel(["x1"]), ORTHANT, [root + 0.3], x, size=20_000)
    assert near.distance < 0.3
    assert far.distance == pytest.approx(3.0, abs=0.4)  # the standard error above is 0.1
    assert "3" in far.verdict.split("the estimate is")[1]
    assert near.p_value == pytest.approx(far.p_value, abs=0.2)


def test_reasons_are_told():
    estimate = Estimated(np.ones(1), np.eye(1), np.ones(1, bool))
    rows = Table(np.ones((30, 1)) + np.arange(30)[:, None], None, ("x1",))
    found = goodness_of_fit(
        ExponentialModel(["x1"]), ORTHANT, estimate, rows, lambda theta, n: Refusal("it rains"), size=1000
    )
    assert found.verdict == str(found) == "not checked, because it rains"
    assert np.isnan(found.p_value)
    assert not found.alarms
    assert found.worst == ""


def test_of_very_many_columns_some_are_compared():
    d = 150
    P = np.random.default_rng(14).dirichlet(np.linspace(1, 3, d), 400)
    found = check(DirichletModel([f"x{j + 1}" for j in range(d)]), zf.Simplex(d), np.linspace(1, 3, d), P, size=1000)
    assert found.p_value > ALARM
    assert len(found.by_column) == 64 + 2
    assert "64 of 150 columns were compared" in found.verdict


def test_numbers_that_are_none_are_no_verdict():
    class Broken(ExponentialModel):
        def statistics(self, X):
            return np.where(X > 5.0, np.inf, -X)

    x = np.append(np.random.default_rng(15).exponential(1.0, 99), 6.0)[:, None]
    found = check(Broken(["x1"]), ORTHANT, [1.0], x)
    assert np.isnan(found.p_value)
    assert "range of floating point" in found.verdict


def test_verdicts():
    assert GoodnessOfFit(0.4).verdict == "no sign of misfit (p = 0.4)"
    assert GoodnessOfFit(0.01, (("x1", 0.02), ("x2", 0.3))).verdict == "slight doubt (p = 0.01, most in column 'x1')"


def test_the_number_of_draws_is_bounded():
    assert pool_size(50, 1, 1) == 4000
    assert pool_size(1000, 2, 5) == 10_000
    assert pool_size(10**7, 2, 5) == 20_000
    for d, r in ((10, 65), (30, 495), (100, 100), (400, 800)):
        m = pool_size(2000, d, r)
        assert m >= 2 * r
        assert m * n_indicators(d) < 10**7
