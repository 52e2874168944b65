"""Penalties: what they add to the equations, and what an objective makes of them."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.posed import objective, posed, whole
from zfree.errors import SpecificationError
from zfree.models import PairwiseModel
from zfree.penalties import NO_PENALTY, PositiveDefinite, Ridge, ridge_of
from zfree.selection import settled
from zfree.solvers import Cholesky, Cone, solve, solver_for

X = np.random.default_rng(0).gamma(2.0, 1.0, (200, 2))
PROBLEM = posed(PairwiseModel(("a", "b")), zf.Barrier(1.2, 0.0), zf.Orthant(2), X)


def test_no_ridge_is_no_penalty():
    assert ridge_of(0.0) is NO_PENALTY
    assert ridge_of(0) is NO_PENALTY
    assert ridge_of(0.3) == Ridge(0.3)
    assert NO_PENALTY.share == 0.0


def test_a_ridge_adds_to_every_row_what_it_adds_to_the_sum():
    """Σ ψ_i is the derivative of the penalised loss: Γθ + g + ρ diag(Γ) θ."""
    rows, moments = whole(PROBLEM), PROBLEM.moments()
    theta, gamma = np.array([1.0, 0.3, 2.0, 0.5, -1.0]), moments.gamma_sum.dense()
    plain, ridge = (rows.influence(theta, moments.log_scale, p).sum(axis=1) for p in (NO_PENALTY, Ridge(0.4)))
    assert np.allclose(plain, gamma @ theta + moments.g_sum)
    assert np.allclose(ridge, plain + 0.4 * gamma.diagonal() * theta)
    diagonals = rows.model.gram_diagonal(X, rows.value.field)
    assert np.allclose(Ridge(0.4).pull(theta, diagonals), 0.4 * theta[:, None] * diagonals)
    gram = PROBLEM.influence_gram(theta, moments.log_scale, Ridge(0.4))
    psi = rows.influence(theta, moments.log_scale, Ridge(0.4))
    assert np.allclose(gram, psi @ psi.T)


def test_the_minimum_with_a_ridge_has_no_slope():
    asked = objective(PROBLEM, ridge=0.4)
    theta = solve(asked).theta
    psi = whole(PROBLEM).influence(theta, asked.moments.log_scale, asked.penalty)
    assert np.all(np.abs(psi.sum(axis=1)) < 1e-9 * np.abs(psi).sum(axis=1))


def test_positive_definiteness_stands_beside_a_ridge():
    spread = X.std(axis=0)
    for beside in (NO_PENALTY, Ridge(0.4)):
        both = PositiveDefinite(spread, beside)
        assert both.share == beside.share
        asked = objective(PROBLEM).penalised(both)
        assert isinstance(solver_for(asked), Cone)
        # Where the constraint does not bind, it is the fit without it, and nothing is lost.
        found, free = solve(asked), solve(objective(PROBLEM).penalised(beside))
        assert np.array_equal(found.theta, free.theta)
        assert np.array_equal(found.inverse, free.inverse)


def test_where_the_constraint_binds_there_is_no_linear_relation():
    Y = np.random.default_rng(0).dirichlet(np.full(5, 1.2), 35)[:, :4]
    problem = posed(PairwiseModel("abcd"), zf.Barrier(4 / 3), zf.SolidSimplex(4), Y)
    asked = objective(problem).penalised(PositiveDefinite(Y.std(axis=0), NO_PENALTY))
    found = solve(asked)
    assert np.linalg.eigvalsh(problem.model.matrix(solve(objective(problem)).theta))[0] < 0
    assert np.linalg.eigvalsh(problem.model.matrix(found.theta))[0] > 0
    assert found.free_inverse is None
    with pytest.raises(AssertionError, match="a constraint binds"):
        _ = found.inverse


def test_another_penalty_keeps_the_sums_and_other_rows_do_not(monkeypatch):
    asked = objective(PROBLEM)
    moments = asked.moments
    with monkeypatch.context() as still:
        still.setattr(type(PROBLEM), "moments", lambda problem: pytest.fail("summed again"))
        assert asked.penalised(Ridge(0.1)).moments is moments
        assert asked.penalised(Ridge(0.1)).penalised(NO_PENALTY).moments is moments
    assert asked.on(PROBLEM.source.every(2)).moments.n == 100
    assert asked.with_generator(zf.Barrier(1.0)).moments is not moments
    fresh = objective(PROBLEM).penalised(Ridge(0.1))
    assert np.allclose(fresh.moments.g, moments.g)


def test_what_is_known_moves_to_the_right_hand_side():
    from zfree.solvers import Restriction

    held = objective(PROBLEM, Restriction.from_names({"K[a,b]": 0.3, "eta[b]": 1.0}, PROBLEM.model.names))
    gamma, free = held.moments.gamma.dense(), held.restriction.free
    assert held.n_free == 3
    assert np.allclose(held.gamma.dense(), gamma[np.ix_(free, free)])
    assert np.allclose(held.g, held.moments.g[free] + gamma[np.ix_(free, ~free)] @ [0.3, 1.0])
    assert isinstance(solver_for(held), Cholesky)


def test_equations_have_no_loss_to_penalise():
    from zfree.models import GammaModel

    problem = posed(GammaModel(("a", "b")), zf.SteinMoments(), zf.Orthant(2), X)
    problem = problem.with_generator(settled(zf.SteinMoments(), objective(problem)))
    assert np.isfinite(solve(objective(problem)).theta).all()
    with pytest.raises(SpecificationError, match="leave out ridge"):
        solve(objective(problem, ridge=0.1))
