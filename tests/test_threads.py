"""Fits in several threads: the results of fits one after another, and nothing of the process changed."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
import torch
from threadpoolctl import ThreadpoolController, threadpool_limits
from torch import nn

import zfree as zf
from zfree import autodiff, threads
from zfree.errors import DataError, SelectionWarning, ZfreeWarning, collected_warnings, warn
from zfree.neural import EnergyModel
from zfree.threads import SMALL, blas_threads_for, one_blas_thread

BLAS = ThreadpoolController().select(user_api="blas")


def counts():
    return [library.num_threads for library in BLAS.lib_controllers]


@pytest.fixture(autouse=True)
def two_blas_threads():
    """Two, however the tests were started, and no filters beyond the ordinary."""
    with BLAS.limit(limits=2, user_api="blas"):
        assert set(counts()) == {2}, "this BLAS has one thread only: nothing here could fail"
        yield
        assert set(counts()) == {2}
        assert not threads._found
        assert threads._holders == {"one": 0, "all": 0}


def in_threads(*functions):
    with ThreadPoolExecutor(len(functions)) as pool:
        return [job.result(timeout=60) for job in [pool.submit(function) for function in functions]]


def overlapping(first, second):
    """Enter `first`, enter `second` in another thread, leave `first`, leave `second`; the counts at each step."""
    seen, entered, left = [], threading.Event(), threading.Event()

    def one():
        with first:
            seen.append(counts())
            entered.wait(10)
            seen.append(counts())
        seen.append(counts())
        left.set()

    def other():
        with second:
            entered.set()
            left.wait(10)

    a, b = threading.Thread(target=one), threading.Thread(target=other)
    a.start()
    while not seen:
        pass
    b.start()
    a.join(10)
    b.join(10)
    return [set(s) for s in seen]


def test_the_last_to_leave_restores():
    assert overlapping(one_blas_thread(), blas_threads_for(50)) == [{1}, {1}, {1}]
    assert set(counts()) == {2}


def test_nested_and_with_an_exception():
    with one_blas_thread():
        with pytest.raises(ValueError, match="inside"), blas_threads_for(50):
            raise ValueError("inside")
        assert set(counts()) == {1}
        with blas_threads_for(SMALL):
            assert set(counts()) == {1}  # the outermost decides
    assert set(counts()) == {2}


def test_a_number_set_meanwhile_is_kept():
    with one_blas_thread():
        for library in BLAS.lib_controllers:
            threads._set(library, 3)
    assert set(counts()) == {3}
    for library in BLAS.lib_controllers:
        threads._set(library, 2)


def test_a_number_set_between_two_entries_is_put_back():
    inner = []

    def change_and_enter():
        for library in BLAS.lib_controllers:
            threads._set(library, 3)
        with one_blas_thread():
            inner.append(set(counts()))

    with one_blas_thread():
        in_threads(change_and_enter)
        assert set(counts()) == {1}
    assert inner == [{1}]
    assert set(counts()) == {3}
    for library in BLAS.lib_controllers:
        threads._set(library, 2)


def test_the_limit_of_another_thread_does_not_stand_in_the_way():
    """Since 3.8 threadpoolctl ignores all threads but the first that sets the number."""

    def limited():
        with one_blas_thread():
            return set(counts())

    with threadpool_limits(limits=3, user_api="blas"):
        assert in_threads(limited) == [{1}]
        assert set(counts()) == {3}


def test_large_and_small_fits_do_not_overlap():
    inside, worst = {"one": 0, "all": 0}, []
    lock = threading.Lock()

    def enter(kind):
        for _ in range(20):
            with blas_threads_for(SMALL if kind == "all" else 20):
                with lock:
                    inside[kind] += 1
                    worst.append((inside["one"] > 0 and inside["all"] > 0) or set(counts()) != {1 + (kind == "all")})
                time.sleep(0.001)
                with lock:
                    inside[kind] -= 1

    in_threads(*[lambda kind=kind: enter(kind) for kind in ("one", "all", "one", "all")])
    assert len(worst) == 80
    assert not any(worst)


def test_a_fork_while_another_thread_is_inside():
    entered, done = threading.Event(), threading.Event()

    def hold():
        with blas_threads_for(SMALL):
            entered.set()
            done.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait(10)
    with warnings.catch_warnings():  # newer Pythons warn of forks beside threads
        warnings.simplefilter("ignore", DeprecationWarning)
        child = multiprocessing.get_context("fork").Process(target=_enter_once)
        child.start()
    child.join(20)
    done.set()
    holder.join(10)
    stuck = child.is_alive()
    if stuck:
        child.kill()
    assert not stuck
    assert child.exitcode == 0


def _enter_once():
    with one_blas_thread():
        os._exit(0 if threads._holders == {"one": 1, "all": 0} else 1)


def make(k):
    rng = np.random.default_rng(k)
    kind = k % 4
    if kind == 0:
        return zf.TruncatedGaussian(domain=zf.Orthant(5)), np.abs(rng.normal(0.5, 1.0, (300, 5)))
    if kind == 1:
        return zf.Dirichlet(), rng.dirichlet([1.0, 2.0, 3.0, 4.0], 400)
    if kind == 2:
        return zf.Gamma(), rng.gamma(2.0, 1.0, (20_000, 1))
    return zf.TruncatedGaussian(domain=zf.Orthant(2), generator="auto"), np.abs(rng.normal(0.0, 1.0, (500, 2)))


def outcome(k):
    estimator, X = make(k)
    with collected_warnings() as caught:
        result = estimator.fit(X).result_
    return result.theta, result.covariance, [remark.category for remark in caught]


def test_fits_in_four_threads_are_those_of_one():
    alone = [outcome(k) for k in range(24)]
    filters = list(warnings.filters)  # scipy adds some of its own when it is imported
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(outcome, range(24)))
    for (theta, covariance, remarks), (theta_, covariance_, remarks_) in zip(alone, together, strict=True):
        assert np.array_equal(theta, theta_)
        assert np.array_equal(covariance, covariance_)
        assert remarks == remarks_
    assert set(counts()) == {2}
    assert warnings.filters == filters


def test_ranking_in_threads_leaves_the_filters_alone():
    X = np.abs(np.random.default_rng(0).normal(size=(300, 2)))
    candidates = [zf.Barrier(), zf.Barrier(1.9, det_power=0), zf.Identity()]

    def order(_=None):
        return [(c.generator, c.refused) for c in zf.rank(zf.TruncatedGaussian(domain=zf.Orthant(2)), X, candidates)]

    expected = order()
    filters = list(warnings.filters)
    assert (zf.Identity(), "inconsistent") in expected
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(order, range(12)))
    assert warnings.filters == filters
    with pytest.warns(zf.errors.InconsistentGeneratorWarning):  # a later warning is heard
        zf.TruncatedGaussian(domain=zf.Orthant(2), generator=zf.Identity()).fit(X)


def test_warnings_are_collected_by_the_thread_that_asked():
    seen = []

    def elsewhere():
        with pytest.warns(SelectionWarning, match="heard"):
            warn("heard", SelectionWarning)
        seen.append(True)

    with collected_warnings() as outer:
        warn("first", SelectionWarning)
        with suppress(RuntimeError), collected_warnings() as inner:
            warn("second", ZfreeWarning)
            raise RuntimeError
        warn("third", SelectionWarning)
        in_threads(elsewhere)
    assert [r.message for r in outer] == ["first", "third"]
    assert [(r.message, r.category) for r in inner] == [("second", ZfreeWarning)]
    assert seen == [True]


def test_overflow_in_one_thread_is_not_another_threads():
    """The handler of floating-point errors belongs to the fit that set it."""
    extreme = np.abs(np.random.default_rng(1).normal(size=(200, 2))) * 1e160
    ordinary = np.abs(np.random.default_rng(2).normal(size=(200, 2)))
    before = np.geterr(), np.geterrcall()

    def fit(k):
        X = extreme if k % 2 else ordinary
        try:
            zf.TruncatedGaussian(domain=zf.Orthant(2), generator=zf.Barrier()).fit(X)
        except DataError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(fit, range(40)))
    assert not any(found[::2])
    assert all("range of floating point" in text for text in found[1::2])
    assert (np.geterr(), np.geterrcall()) == before


def test_automatic_derivatives_in_threads_leave_the_filters_alone():
    X = np.random.default_rng(0).uniform(0.1, 1.0, (50, 3))
    expected = autodiff.hessian_and_third(lambda x: (x**4).sum(), X)
    filters = list(warnings.filters)

    def derive(_):
        return autodiff.hessian_and_third(lambda x: (x**4).sum(), X)

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(derive, range(12)):
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    assert warnings.filters == filters


def test_trainings_in_threads_are_those_of_one():
    X = np.random.default_rng(0).uniform(0.0, 1.0, (120, 1))

    # Random in every step. Made here: initial values of a user's network are random numbers of the process too.
    network = nn.Sequential(nn.Linear(1, 8), nn.Dropout(0.2), nn.Tanh(), nn.Linear(8, 1))

    def train(seed):
        est = EnergyModel(network, zf.Box([0.0], [1.0]), epochs=3, random_state=seed).fit(X)
        return [p.detach().numpy() for p in est.network_.parameters()]

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        state = torch.get_rng_state()
        alone = [train(seed) for seed in range(6)]
        with ThreadPoolExecutor(3) as pool:
            together = list(pool.map(train, range(6)))
        for a, b in zip(alone, together, strict=True):
            assert all(np.array_equal(p, q) for p, q in zip(a, b, strict=True))
        assert torch.get_num_threads() == 2
        torch.set_rng_state(state)
    finally:
        torch.set_num_threads(before)
