"""positive_definite=True: the same quadratic over the cone, checked by its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from zfree.errors import NotPositiveDefiniteWarning, SpecificationError


def _indefinite_data(d=4, n=35, seed=0):
    """Few rows on a solid simplex: the unconstrained K is not positive definite."""
    return np.random.default_rng(seed).dirichlet(np.full(d + 1, 1.2), n)[:, :d]


def _gradient(result):
    """∂L/∂K as a symmetric matrix, and ∂L/∂η."""
    model, m = result.model, result.moments
    flat = m.gamma.dense() @ result.working_theta + m.g
    G = np.zeros((model.dimension, model.dimension))
    half = np.where(model.rows == model.cols, 1.0, 0.5)
    G[model.rows, model.cols] = G[model.cols, model.rows] = flat[: model.n_pairs] * half
    return G, flat[model.n_pairs :]


@pytest.mark.parametrize("seed", [0, 2, 3, 5])
def test_optimality_conditions(seed):
    """∇_K L ⪰ 0, ⟨∇_K L, K − εI⟩ = 0, ∇_η L = 0: no positive-definite K does better."""
    X = _indefinite_data(seed=seed)
    domain = zf.SolidSimplex(4)
    with pytest.warns(NotPositiveDefiniteWarning):
        free = zf.TruncatedGaussian(domain=domain).fit(X)
    est = zf.TruncatedGaussian(domain=domain, positive_definite=True).fit(X)
    assert np.linalg.eigvalsh(free.precision_)[0] < 0 < np.linalg.eigvalsh(est.precision_)[0]
    G, by_eta = _gradient(est.result_)
    scale = np.abs(est.result_.moments.gamma.dense() @ est.result_.working_theta).max()
    assert np.abs(by_eta).max() < 1e-6 * scale
    assert np.linalg.eigvalsh(G)[0] > -1e-6 * np.abs(G).max() - 1e-9 * scale
    assert abs(np.sum(G * est.precision_)) < 1e-4 * np.abs(G).max() * np.abs(est.precision_).max()
    # random feasible directions do not improve the objective
    m, theta = est.result_.moments, est.result_.working_theta

    def objective(t):
        return 0.5 * t @ m.gamma.dense() @ t + m.g @ t

    rng = np.random.default_rng(0)
    model = est.result_.model
    for _ in range(200):
        A = rng.standard_normal((4, 4))
        other = np.concatenate([(A @ A.T * 50)[model.rows, model.cols], rng.standard_normal(4) * 20])
        for t in (0.001, 0.1, 1.0):
            assert objective((1 - t) * theta + t * other) >= objective(theta) - 1e-8 * abs(objective(theta))


def test_an_inactive_constraint_changes_nothing():
    X = np.abs(np.random.default_rng(0).standard_normal((500, 3)))
    a, b = zf.TruncatedGaussian().fit(X), zf.TruncatedGaussian(positive_definite=True).fit(X)
    assert np.array_equal(a.result_.theta, b.result_.theta)
    assert np.array_equal(a.result_.covariance, b.result_.covariance)


def test_an_active_constraint_gives_no_standard_errors_and_says_so():
    est = zf.TruncatedGaussian(domain=zf.SolidSimplex(4), positive_definite=True).fit(_indefinite_data())
    assert np.isnan(est.result_.standard_errors).all()
    assert "positive_definite=True" in str(est.result_.summary())


@pytest.mark.parametrize("ridge", [0.0, 1e-3])
@pytest.mark.parametrize("generator", ["search", [zf.Barrier(4 / 3), zf.Barrier(1.0)]], ids=["search", "a list"])
def test_a_generator_that_was_chosen_is_held_in_the_cone_too(generator, ridge):
    """The choice knows the minimum of the quadratic, which is not the one that was asked for."""
    est = zf.TruncatedGaussian(
        domain=zf.SolidSimplex(4), generator=generator, positive_definite=True, ridge=ridge, check=False
    ).fit(_indefinite_data())
    given = zf.TruncatedGaussian(
        domain=zf.SolidSimplex(4), generator=est.generator_, positive_definite=True, ridge=ridge, check=False
    ).fit(_indefinite_data())
    assert np.linalg.eigvalsh(est.precision_)[0] > 0
    assert np.array_equal(est.precision_, given.precision_)
    assert np.isnan(est.result_.standard_errors).all()


def test_known_entries_and_masks_are_kept_in_the_cone():
    mask = np.ones((4, 4), dtype=bool)
    mask[0, 1] = mask[1, 0] = False
    est = zf.TruncatedGaussian(
        domain=zf.SolidSimplex(4), mask=mask, fixed={"K[x3,x4]": 1.5}, positive_definite=True
    ).fit(_indefinite_data())
    assert est.precision_[0, 1] == 0.0
    assert est.precision_[2, 3] == 1.5
    assert np.linalg.eigvalsh(est.precision_)[0] > 0


def test_an_impossible_request_is_refused():
    bad = np.full((4, 4), np.nan)
    bad[0, 0] = -100.0
    with pytest.raises(SpecificationError, match="positive-definite"):
        zf.TruncatedGaussian(domain=zf.SolidSimplex(4), precision=bad, positive_definite=True).fit(_indefinite_data())


def test_more_columns_than_the_rows_can_carry():
    """Γ itself is singular; over the cone there is still a minimiser with a small ridge."""
    X = np.random.default_rng(0).dirichlet(np.full(9, 1.5), 30)[:, :8]
    est = zf.TruncatedGaussian(domain=zf.SolidSimplex(8), positive_definite=True, ridge=1e-3).fit(X)
    assert np.linalg.eigvalsh(est.precision_)[0] > 0
    assert any("not reliable" in note for note in est.result_.notes)


def test_the_cone_does_not_depend_on_units():
    """A K that is positive definite stays as it is, whatever the units of the columns; one that is not scales with them."""
    X = np.abs(np.random.default_rng(0).standard_normal((800, 2)))
    units = np.array([1e-6, 1.0])
    plain = zf.TruncatedGaussian(generator=zf.Barrier(1.2, 0.0), positive_definite=True).fit(X)
    other = zf.TruncatedGaussian(generator=zf.Barrier(1.2, 0.0), positive_definite=True).fit(X * units)
    assert not np.isnan(other.result_.standard_errors).any()
    assert np.allclose(other.precision_ * np.outer(units, units), plain.precision_, atol=0.05)
    Y, box = np.random.default_rng(1).beta(0.6, 0.6, size=(300, 2)), zf.Box([0, 0], [1, 1])
    scaled = zf.Box([0, 0], 100 * np.ones(2))
    a = zf.TruncatedGaussian(box, zf.Barrier(1.2, 0.0), positive_definite=True).fit(Y)
    b = zf.TruncatedGaussian(scaled, zf.Barrier(1.2, 0.0), positive_definite=True).fit(100 * Y)
    assert np.allclose(1e4 * b.precision_, a.precision_, rtol=1e-4, atol=1e-4 * np.abs(a.precision_).max())


def test_known_values_keep_their_zero_standard_errors_at_the_edge():
    known = [[1.0, np.nan], [np.nan, np.nan]]
    Y = np.random.default_rng(1).beta(0.6, 0.6, size=(300, 2))
    est = zf.TruncatedGaussian(
        zf.Box([0, 0], [1, 1]), zf.Barrier(1.2, 0.0), precision=known, mean=[0.5, 0.5], positive_definite=True
    ).fit(Y)
    assert est.precision_se_[0, 0] == 0.0
    assert not est.mean_se_.any()
