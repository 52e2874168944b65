"""Coordinates without a boundary: there and back, and the volume they change."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from zfree.samplers.unfolding import coordinate_intervals, unfolding

UNFOLDED = [
    zf.Orthant(2),
    zf.Box([0.0, -np.inf], [2.0, 1.0]),
    zf.Box([-np.inf, 3.0], [np.inf, np.inf]),
    zf.RealSpace(2),
    zf.SolidSimplex(2),
    zf.Simplex(3),
    zf.Simplex(3, drop=0),
    zf.Product([zf.Simplex(3), zf.Orthant(1)]),
]


@pytest.mark.parametrize("domain", UNFOLDED, ids=repr)
def test_there_and_back(domain):
    chart = unfolding(domain)
    k = domain.dimension if domain.chart is None else len(domain.chart.kept)
    Y = np.random.default_rng(0).standard_normal((50, k)) * 3
    X, log_volume, valid = chart.fold(Y)
    assert valid.all()
    assert domain.contains(X).all()
    assert np.allclose(chart.unfold(X), Y, rtol=1e-9, atol=1e-9)
    # The volume by differences, in the chart's coordinates where the domain is flat.
    step = 1e-6
    pull = (lambda Z: Z) if domain.chart is None else domain.chart.pull
    J = np.stack(
        [(pull(chart.fold(Y + step * e)[0]) - pull(chart.fold(Y - step * e)[0])) / (2 * step) for e in np.eye(k)], 2
    )
    assert np.allclose(np.linalg.slogdet(J)[1], log_volume, atol=1e-5)


def test_tiny_parts_keep_their_digits():
    X, log_volume, _ = unfolding(zf.Orthant(1)).fold(np.array([[-600.0]]))
    assert X[0, 0] == pytest.approx(np.exp(-600.0))
    assert log_volume[0] == -600.0
    parts = unfolding(zf.Simplex(2)).fold(np.array([[500.0]])).points[0]
    assert parts[1] == pytest.approx(np.exp(-500.0))
    assert not unfolding(zf.Orthant(1)).fold(np.array([[-800.0]])).valid[0]


def test_rounding_is_told_from_a_small_number():
    assert unfolding(zf.Orthant(1)).unresolved(np.array([[1e-290]]))[0] is np.False_
    assert unfolding(zf.Box([0.0], [1.0])).unresolved(np.array([[1e-290], [np.nextafter(1.0, 0)]])).tolist() == [
        False,
        True,
    ]
    assert unfolding(zf.SolidSimplex(1)).unresolved(np.array([[np.nextafter(1.0, 0)]]))[0]


def test_intervals_of_boxes_however_they_are_written():
    lower, upper = coordinate_intervals(zf.Polytope.from_inequalities("2*x1 > 1, x1 < 9, x1 < 7, x2 < 3"))
    assert lower.tolist() == [0.5, -np.inf]
    assert upper.tolist() == [7.0, 3.0]
    for other in (zf.SolidSimplex(2), zf.Ball(1.0, d=2), zf.Shells([1.0, 2.0], d=1), zf.Simplex(3)):
        assert coordinate_intervals(other) is None
    assert unfolding(zf.Ball(1.0, d=2)) is None
    assert unfolding(zf.Product([zf.Orthant(1), zf.Ball(1.0, d=2)])) is None
