"""Groups of parameters apart: the same answers as one factorisation, without a matrix over all of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import zfree as zf
from tests.posed import given, objective, posed
from zfree.errors import IllConditionedWarning, SingularMomentsError
from zfree.models import GammaModel, PairwiseModel
from zfree.penalties import Ridge
from zfree.quadratic import ColumnBlocks, DenseQuadratic, Groups
from zfree.solvers import Cholesky, Groupwise, Restriction, solve, solver_for

D = 40
X = np.random.default_rng(0).gamma(2.0, np.logspace(-5, 5, D), (300, D))
WEIGHT = np.random.default_rng(1).uniform(0.5, 2.0, 300)


def _objective(ridge=0.0, held=False):
    model = GammaModel([f"x{k}" for k in range(D)])
    known = {"shape[x3]": 2.0, "rate[x3]": 0.1, "rate[x7]": 3.0, "shape[x39]": 1.5} if held else {}
    problem = posed(model, zf.CoordinateWeight("x^2"), zf.Orthant(D), X, WEIGHT)
    return objective(problem, Restriction.from_names(known, model.names), ridge)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_same_answers_as_one_factorisation(ridge, held):
    asked = _objective(ridge, held)
    solver = solver_for(asked)
    assert isinstance(solver, Groupwise)
    apart, whole = solver.solve(asked), Cholesky().solve(asked)
    size = np.sqrt(np.abs(whole.inverse.diagonal()))
    assert np.allclose(apart.theta, whole.theta, rtol=1e-9)
    assert np.array_equal(apart.theta[~asked.restriction.free], asked.restriction.values[~asked.restriction.free])
    scaled = lambda A: A / np.multiply.outer(size, size)  # noqa: E731
    assert np.allclose(scaled(apart.inverse), scaled(whole.inverse), atol=1e-9)
    assert np.allclose(apart.free_inverse.diagonal(), whole.inverse.diagonal(), rtol=1e-9)
    assert 0.3 < apart.reciprocal_condition / whole.reciprocal_condition < 3.0 * D
    rng = np.random.default_rng(2)
    for shape in ((asked.n_free,), (asked.n_free, 3)):
        V = rng.standard_normal(shape)
        scale = size if V.ndim == 1 else size[:, None]
        assert np.allclose(apart.free_inverse.times(V / scale) / scale, whole.inverse @ (V / scale) / scale, atol=1e-9)
    full = rng.standard_normal((2 * D, 2))
    assert np.allclose(apart.whole_inverse.times(full), apart.restriction.embed(apart.inverse) @ full, rtol=1e-9)
    assert np.array_equal(apart.whole_inverse.diagonal(), apart.whole_inverse.dense().diagonal())


def test_it_is_the_minimum_of_the_penalised_quadratic():
    asked = _objective(0.3, held=True)
    theta, gamma, free = solve(asked).theta, asked.moments.gamma.dense(), asked.restriction.free
    slope = (gamma + 0.3 * np.diag(gamma.diagonal() * free)) @ theta + asked.moments.g
    terms = np.abs(gamma) @ np.abs(theta) + np.abs(asked.moments.g)
    assert np.all(np.abs(slope / terms)[free] < 1e-12)


def test_no_matrix_over_all_parameters_is_formed(monkeypatch):
    def refuse(*_):
        raise AssertionError("a matrix was formed")

    asked = _objective()
    monkeypatch.setattr(ColumnBlocks, "dense", refuse)
    monkeypatch.setattr(Cholesky, "solve", refuse)
    assert np.isfinite(solve(asked).theta).all()


def test_one_factorisation_where_groups_meet_or_are_few():
    few = posed(GammaModel(["a", "b"]), zf.CoordinateWeight("x^2"), zf.Orthant(2), X[:, :2])
    assert isinstance(solver_for(objective(few)), Cholesky)
    names = [f"x{k}" for k in range(12)]
    meeting = objective(posed(PairwiseModel(names), zf.CoordinateWeight("x^2"), zf.Orthant(12), X[:, 14:26]))
    assert isinstance(meeting.moments.gamma, ColumnBlocks)
    assert meeting.n_free >= 64
    assert isinstance(solver_for(meeting), Cholesky)  # K_jk is in row j and in row k
    coupled = posed(GammaModel([f"x{k}" for k in range(D)]), zf.SectionDistance("x^2"), zf.Orthant(D), X)
    assert isinstance(solver_for(objective(coupled)), Groupwise)  # a section of an orthant is a coordinate
    simplex = np.random.default_rng(0).dirichlet(np.full(D + 1, 2.0), 300)[:, :D]
    rank_one = posed(GammaModel([f"x{k}" for k in range(D)]), zf.Barrier.log(), zf.SolidSimplex(D), simplex)
    assert isinstance(solver_for(objective(rank_one)), Cholesky)


def _pairs(blocks):
    """An objective of groups of two, in hand-made blocks, and the same as one matrix."""
    n = len(blocks)
    groups = Groups(np.arange(2 * n).reshape(n, 2), 2 * n)
    names, g = [f"p{k}" for k in range(2 * n)], np.ones(2 * n)
    quadratic = ColumnBlocks(groups, np.array(blocks, dtype=float))
    return given(quadratic, g, names), given(DenseQuadratic(quadratic.dense()), g, names)


def _good(n=40):
    return [np.array([[2.0, 0.5], [0.5, 1.0]]) * 10.0**k for k in np.linspace(-8, 8, n)]


def test_units_of_the_groups_do_not_count():
    apart, whole = _pairs(_good())
    assert isinstance(solver_for(apart), Groupwise)
    assert isinstance(solver_for(whole), Cholesky)
    assert np.allclose(solve(apart).theta, solve(whole).theta, rtol=1e-12)
    assert solve(apart).reciprocal_condition > 0.1


@pytest.mark.parametrize(
    ("block", "culprits"),
    [
        ([[1.0, 1.0], [1.0, 1.0]], ["p10", "p11"]),
        ([[0.0, 0.0], [0.0, 1.0]], ["p10"]),
        ([[1.0, 0.0], [0.0, -1.0]], ["p11"]),
    ],
)
def test_a_group_that_the_rows_do_not_determine_is_named(block, culprits):
    blocks = _good()
    blocks[5] = np.array(block)
    for asked in _pairs(blocks):
        with pytest.raises(SingularMomentsError, match="10 rows do not determine the 80 free parameters") as caught:
            solve(asked)
        named = str(caught.value).split("in particular ")[1].split(". ")[0].split(", ")
        assert sorted(named) == culprits
        assert "ridge" in str(caught.value)


def test_what_is_known_does_not_make_a_group_singular():
    blocks = _good()
    blocks[5] = np.array([[0.0, 0.0], [0.0, 1.0]])
    apart, _ = _pairs(blocks)
    held = Restriction.from_names({"p10": 4.0}, apart.names)
    asked = given(apart.moments.gamma, np.ones(80), apart.names, held)
    solution = solve(asked)
    assert solution.theta[10] == 4.0
    assert solution.theta[11] == -1.0
    assert solution.inverse.shape == (79, 79)


def test_a_group_that_is_ill_conditioned_warns_and_a_ridge_cures_it():
    blocks, near = _good(), 1.0 - 1e-11
    blocks[5] = 1e5 * np.array([[1.0, -near], [-near, 1.0]])
    apart, whole = _pairs(blocks)
    for asked in (apart, whole):
        with pytest.warns(IllConditionedWarning, match=r"least about p1[01], p1[01]\. .*ridge"):
            solve(asked)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            solve(asked, quiet=True)
    assert solve(apart, quiet=True).reciprocal_condition == pytest.approx(5e-12, rel=0.1)
    cured = [solve(asked.penalised(Ridge(0.1))) for asked in (apart, whole)]
    assert np.allclose(cured[0].theta, cured[1].theta, rtol=1e-9)


def test_sums_that_are_not_finite_are_refused():
    blocks = _good()
    blocks[5] = np.array([[np.inf, 0.0], [0.0, 1.0]])
    with np.errstate(invalid="ignore"), pytest.raises(SingularMomentsError, match="not finite"):  # as in a fit
        solve(_pairs(blocks)[0])


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_a_fit_is_the_same_both_ways(covariance, monkeypatch):
    def fit(kind):
        estimator = zf.Gamma(zf.CoordinateWeight("x^2"), standard_errors="sandwich", check=False)
        estimator.covariance = kind
        return estimator.fit(X, sample_weight=WEIGHT).result_

    apart = fit(covariance)
    assert apart.uncertainty.kind == covariance
    monkeypatch.setattr("zfree.solvers.groups.FEWEST", 10**6)
    whole = fit("full")
    assert np.allclose(apart.theta, whole.theta, rtol=1e-9)
    assert np.allclose(apart.standard_errors, whole.standard_errors, rtol=1e-8)
