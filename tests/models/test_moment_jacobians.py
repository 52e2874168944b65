"""Jacobians of means and covariances that are never formed, against differences of the functions themselves."""

from __future__ import annotations

import numpy as np
import pytest

from zfree.models import PairwiseModel
from zfree.models.linear_maps import Nothing

NAMES = ("a", "b", "c", "d")
K = np.array([[2.0, 0.3, 0.0, 0.1], [0.3, 1.5, -0.4, 0.0], [0.0, -0.4, 1.0, 0.2], [0.1, 0.0, 0.2, 0.8]])
CENTER = np.array([0.5, -1.0, 0.0, 2.0])
PAIRS = {
    "full": np.triu_indices(4),
    "mask": tuple(np.nonzero(np.triu(K))),
    "diagonal": (np.arange(4), np.arange(4)),
    "blocks": (np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 2, 3])),
}
every_structure = pytest.mark.parametrize("structure", PAIRS)
every_map = pytest.mark.parametrize("which", ["mean", "covariance"])


def _model(structure, **options):
    model = PairwiseModel(NAMES, pairs=PAIRS[structure], center=CENTER, **options)
    theta = np.concatenate([K[model.rows, model.cols], np.array([0.4, -0.2, 0.3, 0.1])])[: model.n_parameters]
    return model, theta


@every_structure
@every_map
def test_it_is_the_derivative(structure, which):
    model, theta = _model(structure)
    found = model.derived(theta)[which]()
    assert found.jacobian.shape == (len(found.names), model.n_parameters)
    step = 1e-6
    for k, unit in enumerate(np.eye(model.n_parameters)):
        ends = [model.derived(theta + s * unit)[which]().values for s in (step, -step)]
        assert np.allclose((found.jacobian @ unit), (ends[0] - ends[1]) / (2 * step), atol=1e-8), model.names[k]


@every_structure
@every_map
def test_products_from_both_sides_are_those_of_one_matrix(structure, which):
    model, theta = _model(structure)
    J = model.derived(theta)[which]().jacobian
    dense, rng = J.dense(), np.random.default_rng(0)
    q, r = J.shape
    for V in (rng.normal(size=r), rng.normal(size=(r, 3))):
        assert np.allclose(J @ V, dense @ V)
    for V in (rng.normal(size=q), rng.normal(size=(q, 3))):
        assert np.allclose(J.T @ V, dense.T @ V)
    rows = rng.normal(size=(5, r))
    assert np.allclose(rows @ J.T, rows @ dense.T)
    columns = rng.normal(size=(2, q))
    assert np.allclose(columns @ J, columns @ dense)


@every_structure
@every_map
def test_what_moves_is_known_without_the_matrix(structure, which):
    model, theta = _model(structure)
    J = model.derived(theta)[which]().jacobian
    for seed in range(8):
        free = np.random.default_rng(seed).random(model.n_parameters) < 0.3
        assert np.array_equal(J.moved_by(free), J.dense()[:, free].any(axis=1))


def test_a_known_mean_moves_with_nothing():
    model, theta = _model("full", linear=False)
    found = model.derived(theta)["mean"]()
    assert isinstance(found.jacobian, Nothing)
    assert np.array_equal(found.values, CENTER)
    assert not found.jacobian.dense().any()
    assert not found.jacobian.moved_by(np.ones(model.n_parameters, dtype=bool)).any()
    assert (found.jacobian.T @ np.ones((4, 2))).shape == (model.n_parameters, 2)


@every_structure
@every_map
def test_moments_of_many_are_those_of_each(structure, which):
    model, theta = _model(structure)
    changes = 0.01 * np.random.default_rng(0).normal(size=(6, model.n_parameters))
    theta[model.n_pairs :] = 0.0
    found = model.sample_moments(which, theta, changes)
    each = [model.derived(t)[which]().values for t in theta + changes]
    assert np.allclose(found, each, rtol=1e-12)


def test_a_singular_K_has_no_mean():
    model, theta = _model("diagonal")
    theta[1] = 0.0
    assert np.isnan(model.derived(theta)["mean"]().values).all()
    theta[model.n_pairs :] = 0.0
    assert np.isnan(model.sample_moments("mean", theta, np.zeros((1, 8)))).any()
