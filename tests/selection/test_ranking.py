"""zf.rank: the table, its order and its remarks."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from zfree.errors import DataError, SpecificationError

P = np.random.default_rng(0).dirichlet([4.0, 5.0, 6.0], 500)
CANDIDATES = [
    zf.Barrier(4 / 3),
    zf.Barrier.entropy(),
    zf.Barrier.log(),
    zf.CoordinateWeight("x"),
    zf.Barrier(0.4, 0.0),
]


def test_best_first_by_total_variance_inconsistent_ones_last():
    table = zf.rank(zf.Dirichlet(), P, CANDIDATES)
    traces = [c.total_variance for c in table]
    assert traces[:4] == sorted(traces[:4])
    assert isinstance(table.candidates[-1].generator, zf.CoordinateWeight)
    assert "inconsistent" in table.candidates[-1].refused
    assert table.best.total_variance == min(traces[:4])
    alone = zf.Dirichlet(generator=table.best.generator).fit(P).result_
    assert np.array_equal(table.best.result.theta, alone.theta)
    assert table.best.condition_number == pytest.approx(alone.condition_number)
    assert len(table) == 5


def test_table_as_text_and_frame():
    table = zf.rank(zf.Dirichlet(), P, CANDIDATES)
    text = str(table)
    assert "Tr(Σ̂)" in text
    assert "κ(Γ_N)" in text
    assert "alpha[x1]=" in text
    frame = table.to_frame()
    assert frame["total_variance"].is_monotonic_increasing or "inconsistent" in frame["remark"].iloc[-1]
    assert len(frame["estimate"].iloc[0]) == 3


def test_a_candidate_that_fails_is_listed_with_the_reason():
    X = np.random.default_rng(0).standard_normal((100, 2))
    table = zf.rank(zf.Gaussian(), X, [zf.BoundaryDistance(), zf.Identity()])
    assert table.best.generator == zf.Identity()
    assert "no boundary" in table.candidates[1].refused
    assert np.isinf(table.candidates[1].total_variance)
    with pytest.raises(SpecificationError, match="no candidate could be fitted"):
        _ = zf.rank(zf.Gaussian(), X, [zf.BoundaryDistance()]).best


def test_bad_data_and_bad_candidates_are_errors_not_rows():
    with pytest.raises(DataError, match="NaN"):
        zf.rank(zf.Dirichlet(), np.full((5, 3), np.nan), CANDIDATES)
    with pytest.raises(SpecificationError, match="empty"):
        zf.rank(zf.Dirichlet(), P, [])
    with pytest.raises(SpecificationError, match="generator"):
        zf.rank(zf.Dirichlet(), P, ["auto"])


def test_more_parameters_than_get_a_covariance_are_ranked_all_the_same(monkeypatch):
    few = zf.rank(zf.Dirichlet(), P, CANDIDATES)
    monkeypatch.setattr("zfree.inference.uncertainty.CHEAP", 2)
    many = zf.rank(zf.Dirichlet(), P, CANDIDATES)
    assert many.best.result.uncertainty.kind == "full"
    assert [(c.generator, c.refused) for c in many] == [(c.generator, c.refused) for c in few]
    assert np.allclose([c.criterion for c in many], [c.criterion for c in few])
    assert np.allclose([c.excess_se for c in many], [c.excess_se for c in few])


def test_a_candidate_without_standard_errors_comes_after_those_with():
    X = np.random.default_rng(0).beta(0.6, 0.6, size=(300, 2))
    est = zf.TruncatedGaussian(zf.Box([0, 0], [1, 1]), positive_definite=True)
    table = zf.rank(est, X, [zf.Barrier(1.2, 0.0), zf.Barrier.log(0.0)])
    assert all("no standard errors" in c.refused for c in table if np.isnan(c.result.standard_errors).any())
    with pytest.raises(SpecificationError, match="nothing to rank by"):
        zf.rank(zf.Gaussian(mean=[0.5, 0.5]), X, [zf.Identity()], target="mean")
