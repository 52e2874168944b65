"""Maps of parameters that nobody forms, against the matrices that they are."""

from __future__ import annotations

import numpy as np
import pytest

from zfree.models import PairwiseModel
from zfree.models.linear_maps import Leading, LinearMap, Shear, moved_by

CENTER = np.array([0.5, -2.0, 3.0])
PAIRS = (np.array([0, 0, 1, 1]), np.array([0, 2, 1, 2]))  # K_ab and K_cc are known


def _model(**kwargs):
    return PairwiseModel(("a", "b", "c"), center=CENTER, **kwargs)


def _shear_by_hand(model):
    """η_j = η_j + Σ_k K_jk c_k, entry by entry."""
    r = model.n_parameters
    out = np.eye(r)
    for p, (j, k) in enumerate(zip(model.rows, model.cols, strict=True)):
        out[model.n_pairs + j, p] += CENTER[k]
        if j != k:
            out[model.n_pairs + k, p] += CENTER[j]
    return out


MASKED = _model(pairs=PAIRS)
MAPS = {
    "shear": (_model().natural_map(), _shear_by_hand(_model())),
    "shear of some entries": (MASKED.natural_map(), _shear_by_hand(MASKED)),
    "undone": (_model().natural_map().inverse(), 2 * np.eye(9) - _shear_by_hand(_model())),
    "the first": (Leading(4, 9), np.eye(9)[:4]),
    "the first, turned": (Leading(4, 9).T, np.eye(9)[:, :4]),
    "shear, turned": (_model().natural_map().T, _shear_by_hand(_model()).T),
}


@pytest.mark.parametrize("name", MAPS)
def test_a_map_is_its_matrix(name):
    found, matrix = MAPS[name]
    rng = np.random.default_rng(0)
    q, r = matrix.shape
    assert isinstance(found, LinearMap)
    assert found.shape == (q, r)
    assert len(found) == q
    assert np.allclose(found.dense(), matrix)
    assert found.T.shape == (r, q)
    assert np.allclose(found.T.dense(), matrix.T)
    assert np.allclose(found.T.T.dense(), matrix)
    for right in (rng.standard_normal(r), rng.standard_normal((r, 5))):
        before = right.copy()
        assert np.allclose(found @ right, matrix @ right)
        assert np.array_equal(right, before)
    for left in (rng.standard_normal(q), rng.standard_normal((5, q))):
        before = left.copy()
        assert np.allclose(left @ found, left @ matrix)
        assert np.array_equal(left, before)
        assert np.allclose(found.T @ left.T, matrix.T @ left.T)
    covariance = rng.standard_normal((r, r))
    assert np.allclose((found @ covariance) @ found.T, matrix @ covariance @ matrix.T)
    assert np.allclose(found[1], matrix[1])
    assert np.allclose(found[1:3], matrix[1:3])


@pytest.mark.parametrize("name", MAPS)
def test_what_moves_with_some_of_the_parameters(name):
    found, matrix = MAPS[name]
    rng = np.random.default_rng(1)
    for _ in range(20):
        free = rng.random(matrix.shape[1]) < 0.3
        before = free.copy()
        expected = (matrix[:, free] != 0).any(axis=1)
        assert np.array_equal(moved_by(found, free), expected)
        assert np.array_equal(moved_by(matrix, free), expected)
        assert np.array_equal(free, before)


def test_a_model_that_is_not_shifted_has_no_map():
    assert PairwiseModel(("a", "b")).natural_map() is None
    assert _model(linear=False).natural_map() is None


def test_a_shear_and_its_inverse_undo_each_other():
    shear = _model().natural_map()
    assert isinstance(shear, Shear)
    theta = np.random.default_rng(0).standard_normal(9)
    assert np.allclose(shear.inverse() @ (shear @ theta), theta)
