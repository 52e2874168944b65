"""The count of crossings says what it says it does."""

from __future__ import annotations

import numpy as np
from benchmarks.walk import Walk, room_of

import zfree as zf

X = np.random.default_rng(0).dirichlet(np.full(4, 3.0), 200)[:, :3]


def test_a_call_into_another_room_is_a_crossing_and_the_users_own_is_none():
    kind = zf.SolidSimplex
    walk = Walk().follow(lambda: kind(3).slacks(X))
    assert walk.order == ["domains", "conversion"]
    assert walk.crossings == {("domains", "conversion"): 1}  # its size is a number that a user gives
    assert all(origin != entered for origin, entered in walk.crossings)


def test_gamma_is_formed_once_for_a_given_generator():
    fit = zf.TruncatedGaussian(zf.SolidSimplex(3), generator=zf.Barrier(4 / 3), check=False).fit
    walk = Walk().follow(lambda: fit(X))
    assert list(walk.formed.values()) == [1]
    assert walk.total > 0


def test_forming_gamma_twice_is_seen():
    estimator = zf.TruncatedGaussian(zf.SolidSimplex(3), generator=zf.Barrier(4 / 3), check=False)
    walk = Walk().follow(lambda: (estimator.fit(X), estimator.fit(X)))
    assert list(walk.formed.values()) == [2]


def test_only_the_package_has_rooms():
    import inspect

    assert room_of(inspect.currentframe()) is None
