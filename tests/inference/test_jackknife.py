"""The estimate without a row or a group of rows, against refits without it, and what follows from it."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.contracts.test_model_contract import _SIZES, FIELDS, MODELS
from tests.posed import objective, posed
from tests.sampling import interior
from zfree.data import Table, deal
from zfree.inference.jackknife import GROUPS, Jackknife, leave_groups_out, leave_rows_out
from zfree.models import DirichletModel, GammaModel, PairwiseModel
from zfree.solvers import Restriction, solve

EXACT = 1e-13


def _rows(domain_name, n):
    if domain_name == "HalfSpace":
        return np.random.default_rng(2).uniform(0.1, 0.8, (n, 3))
    X = interior(_SIZES[domain_name], 3 * n, seed=4)
    return X[(X > 0.02).all(axis=1)][:n]


def _without(problem, restriction, ridge, kept):
    weight = None if problem.source.weight is None else problem.source.weight[kept]
    rest = problem.on(Table(problem.source.X[kept], weight))
    return solve(objective(rest, restriction, ridge), quiet=True).theta


def _assert_rows_are_exact(problem, restriction, ridge=0.0, which=range(0, 40, 6)):
    asked = objective(problem, restriction, ridge)
    solution = solve(asked, quiet=True)
    found = leave_rows_out(asked, solution, tolerance=EXACT)
    for i in which:
        kept = np.arange(problem.source.n_rows) != i
        change = _without(problem, restriction, ridge, kept) - solution.theta
        rounding = 1e-8 * np.abs(change).max() + 1e-12 * np.abs(solution.theta).max() + 1e-15
        assert np.allclose(found.changes[i], change, rtol=1e-6, atol=rounding)


FULL = [name for name, (place, _) in FIELDS.items() if _SIZES[place].chart is None]
"""On a flat domain Γ of most models is singular; what is theirs there is in their chart."""


@pytest.mark.parametrize("field", FULL)
@pytest.mark.parametrize("name", MODELS)
def test_without_each_row_for_every_model_and_structure(name, field):
    model, (domain_name, generator) = MODELS[name][0], FIELDS[field]
    X = _rows(domain_name, 40)
    _assert_rows_are_exact(posed(model, generator, _SIZES[domain_name], X), Restriction.none(model.n_parameters))


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_known_values_and_a_ridge(ridge, weighted):
    model = PairwiseModel(("a", "b", "c"), center=np.array([0.2, 0.3, 0.1]))
    restriction = Restriction.from_names({"K[a,b]": 0.2, "eta[c]": 1.0}, model.names)
    weight = np.random.default_rng(0).uniform(0.1, 3.0, 40) if weighted else None
    problem = posed(model, zf.Barrier(1.2, 0.3), zf.SolidSimplex(3), _rows("SolidSimplex", 40), weight)
    _assert_rows_are_exact(problem, restriction, ridge)
    P = np.random.default_rng(1).dirichlet([2.0, 3.0, 4.0], 40)
    simplex = posed(DirichletModel(("a", "b", "c")), zf.Barrier(0.4, 0.0), zf.Simplex(3), P, weight)
    _assert_rows_are_exact(simplex, Restriction.none(3), ridge)


def test_chunks_change_nothing(monkeypatch):
    x = np.random.default_rng(0).gamma(2.0, 1.0, (300, 2))
    problem = posed(GammaModel(("a", "b")), zf.Barrier(0.5, 0.2), zf.Orthant(2), x)
    solution = solve(objective(problem))
    for ridge in (0.0, 0.1):
        asked = objective(problem, ridge=ridge)
        whole = leave_rows_out(asked, solution, tolerance=EXACT)
        with monkeypatch.context() as small:
            small.setattr("zfree.data.chunks.CHUNK_DOUBLES", 1)
            pieces = leave_rows_out(asked, solution, tolerance=EXACT)
        assert np.allclose(whole.changes, pieces.changes, rtol=1e-8)
        assert np.allclose(whole.influences, pieces.influences, rtol=1e-10)


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_without_each_group(ridge, monkeypatch):
    X = np.abs(np.random.default_rng(0).standard_normal((1500, 3)))
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 1500)
    problem = posed(PairwiseModel(("a", "b", "c")), zf.Barrier(1.2, 0.0), zf.Orthant(3), X, weight)
    restriction = Restriction.from_names({"K[a,b]": 0.1}, problem.model.names)
    asked = objective(problem, restriction, ridge)
    solution = solve(asked)
    monkeypatch.setattr("zfree.data.chunks.CHUNK_DOUBLES", 1)  # a group is more than one chunk
    found = leave_groups_out(asked, solution, tolerance=EXACT)
    group = deal(X, weight, GROUPS)
    for k in (0, 7, 19):
        change = _without(problem, restriction, ridge, group != k) - solution.theta
        assert np.allclose(found.changes[k], change, rtol=1e-7, atol=1e-9 * np.abs(change).max())
    assert np.allclose(found.shares, 1 / GROUPS)


def test_the_default_tolerance_is_below_a_hundredth_of_a_standard_error():
    X = np.abs(np.random.default_rng(0).standard_normal((200, 6)))
    problem = posed(PairwiseModel("abcdef"), zf.Barrier(1.2, 0.3), zf.Orthant(6), X)
    asked = objective(problem)
    solution = solve(asked)
    fast = leave_rows_out(asked, solution).spread(None)
    exact = leave_rows_out(asked, solution, tolerance=EXACT).spread(None)
    se = np.sqrt(np.diagonal(exact.covariance))
    assert np.all(np.abs(fast.bias - exact.bias) < 0.01 * se)
    assert np.allclose(np.sqrt(np.diagonal(fast.covariance)), se, rtol=0.01)


def test_the_formulas_of_the_jackknife():
    rng = np.random.default_rng(0)
    delta, a = rng.standard_normal((30, 2)), rng.standard_normal((30, 2))
    found = Jackknife(delta, np.full(30, 1 / 30), a).spread(None)
    assert np.allclose(found.bias, 29 * delta.mean(axis=0))
    assert np.allclose(found.covariance, 29 / 30 * (delta - delta.mean(0)).T @ (delta - delta.mean(0)))
    square = a**2
    satterthwaite = 2 * square.sum(0) ** 2 / (30 * square.var(0, ddof=1))
    assert np.allclose(found.degrees_of_freedom, np.minimum(satterthwaite, 29))
    J = np.array([[1.0, -2.0]])
    assert np.allclose(Jackknife(delta, np.full(30, 1 / 30), a).spread(J).bias, found.bias @ J.T)
    # the mean of n numbers: no bias, and the usual standard error, also from groups of unequal size
    x = rng.standard_normal(40)
    for sizes in (np.full(40, 1), np.array([3, 4, 5, 6, 7, 8, 7])):
        ends = np.cumsum(sizes)
        pieces = [x[e - s : e] for e, s in zip(ends, sizes, strict=True)]
        without = np.array([[(x.sum() - p.sum()) / (40 - len(p)) - x.mean()] for p in pieces])
        spread = Jackknife(without, sizes / 40, None).spread(None)
        assert np.allclose(spread.bias, 0.0)
        if len(sizes) == 40:
            assert np.allclose(spread.covariance, x.var(ddof=1) / 40)


def test_an_inverse_mean_loses_its_bias():
    """Exponential: E[1/x̄] = λ n/(n − 1), and that is what the jackknife takes off up to order 1/n²."""
    bias = []
    for seed in range(300):
        x = np.random.default_rng(seed).exponential(1.0, 20)
        result = zf.Exponential(generator=zf.Barrier(1.0, 0.0)).fit(x).result_
        assert result.theta[0] == pytest.approx(1 / x.mean())
        bias.append(result.bias[0])
    assert np.mean(bias) == pytest.approx(1 / 19, rel=0.15)
