"""Fields carried over from a chart, against C D Cᵀ written out, whatever the field and the chart."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.reference import check_field, sum_of_parts
from zfree.fields import BlockDiagonal, Carried, Dense, Diagonal, DiagonalPlusRankOne, Scalar
from zfree.models import DirichletModel, GammaModel
from zfree.neighbourhoods import SoftNeighbourhood
from zfree.roots import root

CHARTS = {
    "last": zf.Simplex(4).chart,
    "first": zf.Simplex(4, drop=0).chart,
    "product": zf.Product([zf.Simplex(2, drop=0), zf.Orthant(1), zf.Simplex(2)]).chart,
}
MATRICES = {name: (chart.matrix, chart.kept) for name, chart in CHARTS.items()}
_B = np.array([[-1.0, 0.5, 0.0], [2.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
MATRICES["general"] = np.vstack([np.eye(3), _B]), np.arange(3)
"""Rows that share columns, and one that is constant: only here is there no sum of simple terms."""
N, M = 6, 3


def _inner():
    rng = np.random.default_rng(0)
    value, delta, u = rng.uniform(0.5, 2.0, N), rng.uniform(0.5, 2.0, (N, M)), rng.standard_normal((N, M))
    rank_one = DiagonalPlusRankOne(delta, -0.1 * value, u)
    return {
        "scalar": Scalar(value, M),
        "diagonal": Diagonal(delta),
        "rank one": rank_one,
        "block": BlockDiagonal((Diagonal(delta[:, :1]), DiagonalPlusRankOne(delta[:, 1:], value, u[:, 1:])), (1, 2)),
        "dense": Dense(rank_one.dense()),
        "block with a dense one": BlockDiagonal((Dense(rank_one.dense()[:, :2, :2]), Scalar(value, 1)), (2, 1)),
    }


INNER = _inner()


@pytest.mark.parametrize("chart", MATRICES)
@pytest.mark.parametrize("inner", INNER)
def test_every_method_is_that_of_the_product(inner, chart):
    (C, kept), field = MATRICES[chart], INNER[inner]
    check_field(Carried(field, C, kept), C @ field.dense() @ C.T)
    v = np.random.default_rng(2).standard_normal((N, len(C)))
    check_field(Carried(field, C, kept).rescale(v), v[:, :, None] * (C @ field.dense() @ C.T) * v[:, None, :])


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("inner", ["scalar", "diagonal", "rank one", "block"])
def test_nothing_of_size_d_by_d_is_formed(inner, chart, monkeypatch):
    def refuse(self):
        raise AssertionError("matrices are written out")

    for kind in (Scalar, Diagonal, DiagonalPlusRankOne, BlockDiagonal, Carried):
        monkeypatch.setattr(kind, "dense", refuse)
    C, kept = MATRICES[chart]
    field = Carried(INNER[inner], C, kept)
    d = len(C)
    for one in (field, field.rescale(np.full((N, d), 2.0))):
        one.apply(np.ones((N, d))), one.diagonal(), one.entries(*np.triu_indices(d))
        assert one.parts.dense is None
        assert one.along().dense is None


@pytest.mark.parametrize("model", [DirichletModel, GammaModel])
@pytest.mark.parametrize("chart", CHARTS)
def test_gamma_of_columns_is_a_block_for_every_direction(model, chart):
    """A part and the one that is dropped share parameters, and no others do."""
    C, kept = MATRICES[chart]
    X = np.random.default_rng(3).uniform(0.1, 1.0, (N, len(C)))
    weight = np.random.default_rng(4).uniform(0.5, 2.0, N)
    family, field = model([f"x{j}" for j in range(len(C))]), Carried(INNER["diagonal"], C, kept)
    found = family.gram(X, field, weight)
    assert found.parts() == (found,)
    assert np.allclose(found.dense(), family.gram(X, Dense(field.dense()), weight).dense(), rtol=1e-13, atol=0)
    apart = np.tile((np.abs(C) @ np.abs(C).T) == 0, (len(family.kinds),) * 2)
    assert not found.dense()[apart].any()


def test_the_sum_of_simple_terms_keeps_the_digits_of_small_entries():
    """Next to a facet, where entries of δ are fifteen powers of ten apart, terms that cancel leave rounding of the smaller ones."""
    delta = 10.0 ** np.random.default_rng(5).uniform(-15, 0, (200, 9))
    chart = zf.Simplex(10).chart
    field = Carried(Diagonal(delta), chart.matrix, chart.kept)
    error = np.abs(sum_of_parts(field.parts, 10) - field.dense())
    own = field.diagonal()
    assert (error <= 1e-14 * np.minimum(own[:, :, None], own[:, None, :])).all()


def test_roots_of_terms_that_overlap_are_those_of_the_matrix():
    delta, rng = np.random.default_rng(6).uniform(0.5, 2.0, (N, 3)), np.random.default_rng(7)
    chart = zf.Simplex(4).chart
    field = Carried(Diagonal(delta), chart.matrix, chart.kept)
    factor = np.stack([root(field.parts).apply(np.tile(e, (N, 1))) for e in np.eye(4)], axis=2)
    assert np.allclose(factor @ np.swapaxes(factor, 1, 2), field.dense(), atol=1e-12)
    neighbours = SoftNeighbourhood(zf.BoundaryDistance(), 1e-4)
    X = rng.dirichlet(np.full(4, 5.0), 50)
    Y = neighbours.place(zf.Simplex(4), X, rng.standard_normal((3, 50, 4))).points
    assert np.allclose(Y.sum(axis=2), 1.0, atol=1e-12)
    at = neighbours.log_density(zf.Simplex(4), X, Y)
    by_chart = neighbours.log_density(chart.domain, chart.pull(X), Y[..., :3])
    assert np.allclose(at, by_chart, rtol=1e-9)
