"""The likelihood root from draws is that of Newton's method with the exact moments, from wherever it starts."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from zfree.inference.likelihood_root import Pool, Refusal, likelihood_root, tilt, worth
from zfree.likelihood import dirichlet_mle
from zfree.models import DirichletModel, ExponentialModel, GammaModel
from zfree.samplers import sample_model

P = np.random.default_rng(1).dirichlet([2.0, 3.0, 0.5], size=200)
MODEL = DirichletModel(["a", "b", "c"])


def drawer(model, domain, seed=0):
    rng = np.random.default_rng(seed)

    def draw(theta, n):
        try:
            return Pool(sample_model(model, domain, theta, n, random_state=rng).draws, float(n))
        except zf.errors.ZfreeError as error:
            return Refusal(str(error))

    return draw


@pytest.mark.parametrize("start", [[2.0, 3.0, 0.5], [1.0, 1.0, 1.0], [40.0, 0.2, 9.0]])
def test_a_dirichlet(start):
    exact = dirichlet_mle(P)
    error = np.sqrt(np.diagonal(np.linalg.inv(np.cov(np.log(P).T))) / len(P))
    found = likelihood_root(
        np.array(start),
        np.ones(3, bool),
        MODEL.statistics,
        np.log(P).mean(axis=0),
        drawer(MODEL, zf.Simplex(3)),
        20_000,
    )
    assert found.reached
    assert len(found.pool.rows) == 20_000
    assert np.all(np.abs(found.theta - exact) < 0.5 * error)
    gap = found.weights @ np.log(found.pool.rows) - np.log(P).mean(axis=0)
    assert np.abs(gap).max() < 0.03


def test_a_known_parameter_stays():
    x = np.random.default_rng(2).gamma(2.0, 1.0, size=(300, 1))
    model, free = GammaModel(["x"]), np.array([False, True])
    found = likelihood_root(
        np.array([2.0, 7.0]),
        free,
        lambda X: model.statistics(X)[:, free],
        model.statistics(x).mean(axis=0)[free],
        drawer(model, zf.Orthant(1)),
        20_000,
    )
    assert found.theta[0] == 2.0
    assert found.theta[1] == pytest.approx(2.0 / x.mean(), rel=0.03)


def test_nothing_to_draw_from():
    found = likelihood_root(
        np.array([-1.0]),
        np.ones(1, bool),
        ExponentialModel(["x"]).statistics,
        np.array([-1.0]),
        drawer(ExponentialModel(["x"]), zf.Orthant(1)),
        1000,
    )
    assert isinstance(found, Refusal)
    assert "normalised" in found.reason


def test_the_edge_of_the_parameters_is_not_crossed():
    """A target that no member of the family has: the search ends at the edge instead of running for ever."""
    model = GammaModel(["x"])
    target = np.array([0.5, -1.0])  # E log x above log E x
    draw = drawer(model, zf.Orthant(1))
    found = likelihood_root(np.array([1.0, 1.0]), np.ones(2, bool), model.statistics, target, draw, 4000)
    assert not found.reached
    assert np.isfinite(found.theta).all()


def test_statistics_that_repeat_each_other():
    t = np.random.default_rng(3).standard_normal((4000, 2))
    both = tilt(np.column_stack([t, t[:, 0] - t[:, 1]]), np.array([0.3, 0.0, 0.3]))
    assert both.reached
    assert both.weights @ t[:, 0] == pytest.approx(0.3, abs=1e-3)
    assert 0.8 < worth(both.weights) < 1.0


def test_a_pool_follows_no_further_than_its_weights_allow():
    t = np.random.default_rng(4).standard_normal((2000, 1))
    far = tilt(t, np.array([3.0]))
    assert not far.reached
    assert 0.49 < worth(far.weights) < 0.75
    assert 0.4 < far.step[0] < 1.0
