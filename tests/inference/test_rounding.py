"""Columns that lie on a grid are recognised, in any unit; others are left alone."""

from __future__ import annotations

import numpy as np
import pytest

from zfree.inference.rounding import find_grid

RNG = np.random.default_rng(0)
VALUES = RNG.gamma(2.0, 1.0, 300)


@pytest.mark.parametrize("unit", [1.0, 0.0254, 1e-9, 3e7])
@pytest.mark.parametrize("step", [0.1, 0.25, 1.0])
def test_a_rounded_column(unit, step):
    X = np.column_stack([VALUES, unit * step * np.round(VALUES / step)])
    grid = find_grid(X)
    assert grid.step[0] == 0.0
    assert grid.step[1] == pytest.approx(unit * step, rel=1e-6)
    moved = grid.round(X + [[0.3, 0.3 * unit * step]])
    assert np.array_equal(moved[:, 0], X[:, 0] + 0.3)
    assert np.allclose(moved[:, 1], X[:, 1], rtol=1e-9)


def test_a_grid_of_which_neighbours_are_missing():
    column = np.array([0.0, 2.0, 5.0, 9.0, 9.0, 30.0])  # the smallest gap is two steps
    assert find_grid(column[:, None]).step[0] == pytest.approx(1.0)


def test_no_ties_or_no_grid():
    assert not find_grid(VALUES[:, None]).any
    with_ties = np.concatenate([VALUES, VALUES[:5]])
    grid = find_grid(with_ties[:, None])
    assert not grid.any
    assert grid.round(with_ties[:, None]) is not None
    assert np.array_equal(grid.round(with_ties[:, None])[:, 0], with_ties)


def test_two_values_are_no_grid():
    assert not find_grid(RNG.integers(0, 2, (50, 1)).astype(float)).any
