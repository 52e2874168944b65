"""Split-R̂ and effective size on chains whose correlation is known, fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from zfree.errors import SpecificationError
from zfree.samplers import effective_size, split_rhat


def autoregressive(rho, steps, chains, d, seed=0):
    """Stationary chains x_t = ρ x_{t−1} + noise with variance one."""
    noise = np.random.default_rng(seed).standard_normal((steps, chains, d))
    noise[1:] *= np.sqrt(1.0 - rho**2)
    return lfilter([1.0], [1.0, -rho], noise, axis=0)


def test_independent_chains_agree():
    rhat = split_rhat(autoregressive(0.0, 1000, 4, 3))
    assert rhat.shape == (3,)
    assert np.all(np.abs(rhat - 1.0) < 0.005)


def test_a_chain_elsewhere_is_seen_in_its_own_coordinate():
    """One of four chains moved by two standard deviations: the variance of four means is 1, R̂² ≈ 1 + 1 with halves counted."""
    states = autoregressive(0.0, 1000, 4, 2)
    states[:, 0, 1] += 2.0
    rhat = split_rhat(states)
    assert rhat[0] == pytest.approx(1.0, abs=0.005)
    assert rhat[1] == pytest.approx(np.sqrt(1.0 + np.var([2.0, 2.0, 0, 0, 0, 0, 0, 0], ddof=1)), rel=0.02)


def test_a_trend_shared_by_all_chains_is_seen():
    """Whole chains agree about their mean; halves do not. That is what splitting is for."""
    states = autoregressive(0.0, 1000, 4, 1) + np.linspace(-1.0, 1.0, 1000)[:, None, None]
    assert np.ptp(states.mean(axis=0)) < 0.2
    assert split_rhat(states)[0] > 1.1


def test_an_odd_number_of_steps_leaves_out_the_middle():
    states = autoregressive(0.3, 101, 3, 2)
    shorter = np.delete(states, 50, axis=0)
    assert np.allclose(split_rhat(states), split_rhat(shorter))
    assert np.allclose(effective_size(states), effective_size(shorter))


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e6 + 0.1])
def test_a_coordinate_that_never_moves(value):
    states = np.concatenate([np.full((100, 4, 1), value), autoregressive(0.0, 100, 4, 1)], axis=2)
    assert split_rhat(states)[0] == 1.0
    assert effective_size(states)[0] == 400.0


def test_chains_stuck_at_different_values():
    states = np.tile(np.arange(5.0)[:, None], (100, 1, 1))
    assert split_rhat(states)[0] == np.inf
    assert effective_size(states)[0] == pytest.approx(5.0, rel=0.02)  # one draw per chain


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_effective_size_of_autoregressive_chains(rho):
    steps, chains = 4000, 8
    size = effective_size(autoregressive(rho, steps, chains, 3))
    assert np.allclose(size, steps * chains * (1 - rho) / (1 + rho), rtol=0.15)


@pytest.mark.parametrize("steps", [8, 20, 100])
def test_short_chains_of_independent_draws_are_worth_as_many(steps):
    """Centring halves of a few states at their own means makes them look antithetic, unless that is accounted for."""
    size = effective_size(autoregressive(0.0, steps, 400, 8)) / (steps * 400)
    assert np.all(size < 1.1)
    assert size.mean() == pytest.approx(1.0, abs=0.1)


def test_effective_size_is_the_variance_of_the_mean():
    """Over 400 repetitions (as coordinates), the mean of all states has the variance of that many independent draws."""
    states = autoregressive(0.7, 500, 4, 400)
    assert states.mean(axis=(0, 1)).var() == pytest.approx(np.mean(1.0 / effective_size(states)), rel=0.2)


def test_antithetic_chains_are_worth_more_than_independent_draws():
    steps, chains, rho = 4000, 8, -0.5
    size = effective_size(autoregressive(rho, steps, chains, 3))
    assert np.all(size > 1.5 * steps * chains)
    assert np.allclose(size, steps * chains * (1 - rho) / (1 + rho), rtol=0.15)


def test_chains_that_disagree_are_worth_few_draws():
    states = autoregressive(0.0, 1000, 4, 1) + 10.0 * np.arange(4.0)[:, None]
    assert effective_size(states)[0] < 10


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_units_do_not_matter(rho):
    states = autoregressive(rho, 200, 4, 2)
    moved = 1e3 + 1e-3 * states
    assert np.allclose(split_rhat(moved), split_rhat(states), rtol=1e-8)
    assert np.allclose(effective_size(moved), effective_size(states), rtol=1e-6)


@pytest.mark.parametrize("diagnostic", [split_rhat, effective_size])
def test_refusals(diagnostic):
    for shape in ((3, 4, 2), (100, 4), (100,), (2, 100, 4, 1)):
        with pytest.raises(SpecificationError, match="shape"):
            diagnostic(np.zeros(shape))
    for bad in (np.nan, np.inf):
        states = autoregressive(0.0, 100, 4, 2)
        states[7, 1, 0] = bad
        with pytest.raises(SpecificationError, match="finite"):
            diagnostic(states)
