"""What the samplers and the built-in data refuse, each time before anything is drawn."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.refusals import check_refusal, hidden
from zfree import datasets
from zfree.errors import SpecificationError
from zfree.models import ExponentialModel, GammaModel, PairwiseModel
from zfree.samplers import effective_size, sample_gaussian, sample_langevin, sample_model, split_rhat, truncated_normal

MEAN, K = np.zeros(2), np.eye(2)
LINE, QUADRANT = zf.Orthant(1), zf.Orthant(2)
GAMMA, SHAPES = GammaModel(["a"]), [2.0, 1.0]


def gaussian(domain=QUADRANT, mean=MEAN, precision=K, n=5, seed=0):
    return sample_gaussian(domain, mean, precision, n, seed)


def model(model=GAMMA, domain=LINE, theta=SHAPES, n=5, **options):
    return sample_model(model, domain, theta, n, **options)


def langevin(log_density=lambda X: (-X.sum(axis=1), -np.ones(X.shape)), domain=QUADRANT, n=5, **options):
    return sample_langevin(log_density, domain, n, **{"chains": 4, "burn_in": 2, "steps": 8, **options})


def normal(mean=0.0, sd=1.0, low=0.0, high=1.0, rng=None):
    return truncated_normal(mean, sd, low, high, np.random.default_rng(0) if rng is None else rng)


MAKERS = {
    "a Gaussian": lambda n: gaussian(n=n),
    "a Gaussian across a gap": lambda n: gaussian(domain=zf.Shells([0.5, 1.0], d=2), n=n),
    "a gamma": lambda n: model(n=n),
    "chains": lambda n: langevin(n=n),
    "positive data": datasets.make_positive,
    "compositions": datasets.make_composition,
    "truncated data": datasets.make_truncated,
}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("n", [-1, 0, 1.5, "a", None, True, np.nan, [5], 10**30])
def test_a_number_of_draws_that_is_none(maker, n):
    check_refusal((lambda: MAKERS[maker](n), SpecificationError, ["the number of draws n", "whole number ≥ 1"]))


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("n", [10**13, np.int64(10**13)])
def test_more_draws_than_fit_into_memory(maker, n):
    check_refusal((lambda: MAKERS[maker](n), SpecificationError, [f"{n} draws of", "memory", "TB", "in pieces"]))


def test_the_memory_is_asked_for_the_draws_and_a_copy(monkeypatch):
    n = 100_000
    monkeypatch.setattr("zfree.samplers.draws.available_bytes", lambda: 16 * 2 * n)
    assert gaussian(n=n).shape == (n, 2)
    with pytest.raises(SpecificationError, match="in pieces"):
        gaussian(n=n + 1)


CASES = {
    # what is no array of real numbers
    "a masked mean": (lambda: gaussian(mean=hidden(MEAN, 1)), [r"the mean\[1\] is masked"]),
    "a complex mean": (lambda: gaussian(mean=MEAN + 1j), ["the mean must be real numbers"]),
    "a mean of text": (lambda: gaussian(mean=["1", "2"]), ["the mean must be numbers"]),
    "no mean": (lambda: gaussian(mean=None), ["shape"]),
    "a masked precision": (lambda: gaussian(precision=hidden(K, 0, 1)), [r"the precision\[0, 1\] is masked"]),
    "a complex precision": (lambda: gaussian(precision=K * 1j), ["the precision must be real numbers"]),
    "a precision of text": (lambda: gaussian(precision="K"), ["the precision must be numbers", "'K'"]),
    "a ragged precision": (lambda: gaussian(precision=[[1.0], [0.0, 1.0]]), ["the precision", "regular"]),
    "an infinite precision": (lambda: gaussian(precision=np.diag([1.0, np.inf])), ["finite"]),
    "a masked theta": (lambda: model(theta=hidden(SHAPES, 1)), [r"theta\[1\] is masked"]),
    "a complex theta": (lambda: model(theta=[2.0, 1j]), ["theta must be real numbers"]),
    "a theta of text": (lambda: model(theta=["2", "1"]), ["theta must be numbers"]),
    "no theta": (lambda: model(theta=None), ["theta must be 2 finite numbers, got None"]),
    "a masked start": (lambda: model(start=hidden([[1.0], [2.0]], 1, 0)), [r"start\[1, 0\] is masked"]),
    "a complex start": (lambda: model(start=[[1j]]), ["start must be real numbers"]),
    "a start of text": (lambda: model(start=[["1"]]), ["start must be numbers"]),
    "a masked start of chains": (lambda: langevin(start=hidden(np.ones((2, 2)), 0, 1)), [r"start\[0, 1\] is masked"]),
    "a start of chains of text": (lambda: langevin(start=[["1", "1"]]), ["start must be numbers"]),
    # what is no domain, model, function or generator
    "a Gaussian on no domain": (
        lambda: gaussian(domain=None),
        [r"domain must be a domain such as zf\.Orthant", "None"],
    ),
    "a Gaussian on a class": (lambda: gaussian(domain=zf.Orthant), ["domain must be a domain"]),
    "a model on no domain": (lambda: model(domain=None), ["domain must be a domain", "None"]),
    "chains on no domain": (lambda: langevin(domain=None), ["domain must be a domain", "None"]),
    "no model": (lambda: model(model=None), ["model must be a model", "None"]),
    "an estimator for a model": (
        lambda: model(model=zf.Gamma()),
        ["model must be a model", r"Gamma\(\)", r"result_\.model"],
    ),
    "no density": (lambda: langevin(log_density=None), ["log_density must be a function"]),
    "a generator of text": (lambda: langevin(generator="barrier"), ["generator must be a generator", "'barrier'"]),
    "a seed of text": (lambda: datasets.make_composition(5, "a"), ["random_state", "'a'"]),
    # truncated normals
    "reversed ends": (lambda: normal(low=1.0, high=0.0), ["low must be below high", "1.0", "0.0"]),
    "equal ends": (lambda: normal(low=[0.0, 1.0], high=1.0), ["low must be below high"]),
    "an end that is NaN": (lambda: normal(high=np.nan), ["low must be below high", "nan"]),
    "a deviation of zero": (lambda: normal(sd=0.0), ["sd must be finite and > 0"]),
    "a negative deviation": (lambda: normal(sd=[1.0, -1.0]), ["sd must be finite and > 0"]),
    "an infinite deviation": (lambda: normal(sd=np.inf), ["sd must be finite and > 0"]),
    "a mean that is NaN": (lambda: normal(mean=np.nan), ["mean must be finite"]),
    "a masked mean of a normal": (lambda: normal(mean=hidden([0.0, 1.0], 1)), [r"mean\[1\] is masked"]),
    "a deviation of text": (lambda: normal(sd="1"), ["sd must be numbers"]),
    "means and ends of two lengths": (lambda: normal(mean=np.zeros(2), low=-np.ones(3)), ["one shape", r"low \(3,\)"]),
    "a seed for a Generator": (
        lambda: normal(rng=3),
        ["rng must be a numpy Generator", r"default_rng\(seed\)", "got 3"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refusals(name):
    trigger, fragments = CASES[name]
    check_refusal((trigger, SpecificationError, fragments))


@pytest.mark.parametrize(
    "patience", ["a", None, np.nan, np.inf, 0, -1, True, [1.0], pytest.param(10**400, id="400 digits")]
)
def test_a_patience_that_is_none(patience):
    for law in (GAMMA, ExponentialModel(["a"]), PairwiseModel(["a"])):
        theta = np.ones(law.n_parameters)
        check_refusal(
            (
                lambda law=law, theta=theta: model(law, theta=theta, patience=patience),
                SpecificationError,
                ["patience must be"],
            )
        )
    assert model(patience=np.float64(0.5)).draws.shape == (5, 1)


@pytest.mark.parametrize("diagnostic", [split_rhat, effective_size])
def test_diagnostics_of_what_is_no_state(diagnostic):
    states = np.random.default_rng(0).standard_normal((8, 3, 2))
    assert np.array_equal(diagnostic(states.tolist()), diagnostic(states))
    for bad, message in (
        (None, "shape"),
        ([1.0, 2.0], "shape"),
        ("abc", "states must be numbers"),
        (states + 1j, "states must be real numbers"),
        (hidden(states, 4, 1, 0), r"states\[4, 1, 0\] is masked"),
        (np.zeros((8, 0, 2)), "chains ≥ 1"),
        (np.zeros((8, 2, 0)), "d ≥ 1"),
    ):
        check_refusal((lambda bad=bad: diagnostic(bad), SpecificationError, [message]))


def test_numbers_do_for_truncated_normals():
    draws = truncated_normal(0.0, 1.0, [0.0, 2.0], np.inf, np.random.default_rng(0))
    assert draws.shape == (2,)
    assert np.all(draws > [0.0, 2.0])


@pytest.mark.parametrize("size", [1e-200, 1e200, 1e300, 1.7e308])
@pytest.mark.parametrize("domain", [zf.Orthant(2), zf.RealSpace(2)])
def test_precisions_near_the_ends_of_floating_point(domain, size):
    """The draws are those of the unit precision, times size^(−1/2)."""
    K = np.array([[1.0, 0.4], [0.4, 1.0]])
    draws, unit = gaussian(domain, precision=size * K, n=2000), gaussian(domain, precision=K, n=2000)
    assert np.allclose(draws * np.sqrt(size), unit, rtol=1e-9)


@pytest.mark.parametrize(
    ("domain", "mean"), [(zf.Box([1.0, 1.0], [2.0, 3.0]), [0.0, 0.0]), (zf.Ball(1.0, d=2), [3.0, 1.0])]
)
def test_a_gaussian_narrower_than_rounding_at_the_boundary(domain, mean, monkeypatch):
    """All of it lies within 1e-20 of the corner, or of the sphere: no double there is inside, and chains would stay where they start."""
    monkeypatch.setattr("zfree.samplers.gaussian.MOST_MOVES", 2000)
    K = np.array([[1.0, 0.4], [0.4, 1.0]])
    with pytest.raises(
        SpecificationError, match=r"narrower at the boundary.*of the moves were rounded onto it.*origin"
    ):
        gaussian(domain, mean, 1e20 * K, 20)
    assert domain.contains(gaussian(domain, mean, 1e8 * K, 20)).all()
