"""One pass over the rows against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from zfree.data import Table

N = 10_007  # more than one block


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e4, -1e7])
def test_means_spreads_and_extremes(offset, weighted):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((N, 3)) * [1.0, 1e-3, 1e6]
    X, w = offset + Z, rng.uniform(0.1, 5.0, N) if weighted else np.ones(N)
    found = Table(X, w if weighted else None).statistics
    Z = X - offset  # what the rounding of the offset has left
    mean = np.average(Z, axis=0, weights=w)
    assert found.n_rows == N
    assert found.total == pytest.approx(w.sum(), rel=1e-12)
    assert np.allclose(found.mean - offset, mean, rtol=1e-9, atol=1e-15 * abs(offset) + 1e-9 * Z.std(axis=0))
    assert np.allclose(found.variance, np.average((Z - mean) ** 2, axis=0, weights=w), rtol=1e-9)
    assert np.array_equal(found.lowest, X.min(axis=0))
    assert np.array_equal(found.highest, X.max(axis=0))
    assert np.allclose(found.spread, np.sqrt(found.variance), rtol=1e-15)


def test_a_column_that_does_not_vary_has_its_size_for_a_unit():
    X = np.column_stack([np.full(50, -300.0), np.zeros(50), np.arange(50.0), np.full(50, 0.1) * (1 + 1e-16)])
    spread = Table(X).statistics.spread
    assert spread[0] == 300.0
    assert spread[1] == 1.0
    assert spread[2] == pytest.approx(np.arange(50).std())
    assert spread[3] == pytest.approx(0.1)


def test_neither_blocks_nor_the_order_of_memory_matter():
    X = np.random.default_rng(1).gamma(2.0, 1.0, (N, 4))
    plain, turned = Table(X).statistics, Table(np.asfortranarray(X)).statistics
    for name in ("mean", "variance", "lowest", "highest"):
        assert np.array_equal(getattr(plain, name), getattr(turned, name))
        assert np.allclose(
            getattr(plain, name), getattr(Table(X[np.random.default_rng(0).permutation(N)]).statistics, name)
        )


def test_units_of_a_source_are_those_of_its_rows():
    X, w = np.random.default_rng(2).uniform(0.1, 0.9, (N, 2)), np.random.default_rng(3).uniform(0.5, 2.0, N)
    for domain in (zf.Box([0.0, 0.0], [1.0, 1.0]), zf.Ball(2.0, d=2), zf.Orthant(2)):
        found = zf.Units.of_source(domain, Table(X, w))
        slacks = domain.slack_units(np.average(domain.slacks(X), axis=0, weights=w))
        assert np.allclose(found.slacks, slacks, rtol=1e-12)
        mean = np.average(X, axis=0, weights=w)
        assert np.allclose(found.spread, np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w)), rtol=1e-12)
        assert found == zf.Units.of(domain, X, w)
