"""The paired jackknife behind zf.rank."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.posed import objective, posed
from zfree.models import DirichletModel
from zfree.selection import leave_out_criteria, log_ratio_error
from zfree.solvers import solve

P = np.random.default_rng(0).dirichlet([3.0, 4.0, 5.0], 600)


def _leave_out(generator, X=P, weight=None):
    problem = posed(DirichletModel(("a", "b", "c")), generator, zf.Simplex(3), X, weight)
    asked = objective(problem)
    return leave_out_criteria(asked, solve(asked).theta, np.eye(3))


def test_leave_out_values_are_close_to_fits_without_the_group():
    values = _leave_out(zf.Barrier(0.5, 0.0))
    for k in (0, 7, 19):
        rest = np.delete(P, np.arange(k, 600, 20), axis=0)
        refit = zf.Dirichlet(generator=zf.Barrier(0.5, 0.0)).fit(rest).result_.total_variance
        assert values[k] == pytest.approx(refit, rel=0.05)


def test_weights_are_used():
    w = np.random.default_rng(1).uniform(0.5, 2.0, 600)
    assert not np.allclose(_leave_out(zf.Barrier(0.5, 0.0), weight=w), _leave_out(zf.Barrier(0.5, 0.0)))


def test_standard_error_is_that_of_repeated_samples():
    a, b = zf.Barrier(0.5, 0.0), zf.Barrier.entropy()
    rng = np.random.default_rng(3)
    gaps, errors = [], []
    for _ in range(60):
        X = rng.dirichlet([3.0, 4.0, 5.0], 600)
        va, vb = (zf.Dirichlet(generator=g).fit(X).result_.total_variance for g in (a, b))
        gaps.append(np.log(vb / va))
        errors.append(log_ratio_error(_leave_out(b, X), _leave_out(a, X)))
    assert np.median(errors) == pytest.approx(np.std(gaps), rel=0.35)


def test_rank_reports_the_excess_and_its_error():
    table = zf.rank(zf.Dirichlet(), P, [zf.Barrier.log(), zf.Barrier(0.5, 0.0)])
    best, other = table.candidates
    assert best.excess == 0.0
    assert best.excess_se == 0.0
    assert other.excess == pytest.approx(other.criterion / best.criterion - 1)
    assert 0 < other.excess_se < other.excess
    assert "±" in str(table)
    assert {"excess", "excess_se", "criterion"} <= set(table.to_frame().columns)
    free = zf.rank(zf.Dirichlet(), P, [zf.Barrier.log(), zf.Barrier(0.5, 0.0)], target="information")
    assert free.best.criterion < 1.5
