"""Equations with test functions through the whole of inference: leave-one-out, intervals, choices, refusals."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import zfree as zf
from tests.inference.test_jackknife import EXACT, _assert_rows_are_exact, _without
from tests.posed import objective, posed, whole
from zfree.data import Table, deal
from zfree.errors import SingularMomentsError, SpecificationError
from zfree.inference.jackknife import GROUPS, leave_groups_out, leave_rows_out
from zfree.inference.leaving_out import Pieces
from zfree.models import DirichletModel, GammaModel
from zfree.penalties import NO_PENALTY
from zfree.selection import leave_out_criteria, settled, stack
from zfree.selection.criterion import measure
from zfree.solvers import Restriction, solve

ALPHA = np.array([0.3, 1.0, 2.5, 4.0])
P = np.random.default_rng(0).dirichlet(ALPHA, 400)
X = np.random.default_rng(1).gamma([0.6, 2.0, 8.0], [1.0, 1e3, 1e-3], (400, 3))
NAMES = ("a", "b", "c", "d")


def _problem(kind, n=40, weighted=False, fixed=None):
    model, domain, data = (
        (DirichletModel(NAMES), zf.Simplex(4), P) if kind == "dirichlet" else (GammaModel("abc"), zf.Orthant(3), X)
    )
    weight = np.random.default_rng(2).uniform(0.1, 3.0, n) if weighted else None
    restriction = Restriction.from_names(fixed or {}, model.names)
    problem = posed(model, zf.SteinMoments(), domain, data[:n], weight)
    return problem.with_generator(settled(zf.SteinMoments(), objective(problem, restriction))), restriction


FIXED = {"dirichlet": {"alpha[b]": 1.0}, "gamma": {"shape[b]": 2.0, "rate[c]": 900.0}}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("kind", ["dirichlet", "gamma"])
def test_without_each_row(kind, held, weighted):
    _assert_rows_are_exact(*_problem(kind, weighted=weighted, fixed=FIXED[kind] if held else None))


@pytest.mark.parametrize("kind", ["dirichlet", "gamma"])
def test_without_each_group(kind, monkeypatch):
    problem, restriction = _problem(kind, 300, weighted=True, fixed=FIXED[kind])
    asked = objective(problem, restriction)
    solution = solve(asked)
    monkeypatch.setattr("zfree.data.chunks.CHUNK_DOUBLES", 1)  # a group is more than one chunk
    found = leave_groups_out(asked, solution, tolerance=EXACT)
    group = deal(problem.source.X, problem.source.weight, GROUPS)
    for k in (0, 7, 19):
        change = _without(problem, restriction, 0.0, group != k) - solution.theta
        assert np.allclose(found.changes[k], change, rtol=1e-7, atol=1e-9 * np.abs(solution.theta))


@pytest.mark.parametrize("kind", ["dirichlet", "gamma"])
def test_chunks_change_nothing(kind, monkeypatch):
    problem, restriction = _problem(kind, 300, weighted=True)
    asked = objective(problem, restriction)
    solution = solve(asked)
    rows = leave_rows_out(asked, solution, tolerance=EXACT)
    monkeypatch.setattr("zfree.data.chunks.CHUNK_DOUBLES", 1)
    again = objective(problem, restriction)
    assert not again.moments.symmetric
    assert np.allclose(solve(again).theta, solution.theta, rtol=1e-10)
    parts = leave_rows_out(asked, solution, tolerance=EXACT)
    assert np.allclose(parts.changes, rows.changes, rtol=1e-7, atol=1e-9 * np.abs(solution.theta))


def test_a_row_that_outweighs_the_others_gets_a_solution_of_its_own():
    """The iteration converges too slowly for it."""
    problem, restriction = _problem("gamma", 12)
    weight = np.ones(12)
    weight[4] = 400.0
    problem = problem.on(Table(problem.source.X, weight))
    asked = objective(problem, restriction)
    moments, solution = asked.moments, solve(asked)
    A, pieces = solution.inverse / moments.weight, Pieces([whole(problem)], moments.log_scale, NO_PENALTY, each=True)
    leverage = max(abs(np.linalg.eigvals(A @ pieces.only(4).matrix())))
    assert leverage > 0.9  # twelve steps leave 0.3 of the error
    _assert_rows_are_exact(problem, restriction, which=range(12))


def test_without_one_of_two_rows_there_is_no_gamma():
    result = (
        zf.Gamma(zf.SteinMoments(), standard_errors="jackknife").fit(X[:3, :1], sample_weight=[1, 1, 1e-13]).result_
    )
    assert result.jackknife is None
    assert any("do not determine" in note for note in result.notes)


def test_the_default_tolerance_is_below_a_hundredth_of_a_standard_error():
    for kind in ("dirichlet", "gamma"):
        problem, restriction = _problem(kind, 100)
        asked = objective(problem, restriction)
        solution = solve(asked)
        fast = leave_rows_out(asked, solution).spread(None)
        exact = leave_rows_out(asked, solution, tolerance=EXACT).spread(None)
        se = np.sqrt(np.diagonal(exact.covariance))
        assert np.all(np.abs(fast.bias - exact.bias) < 0.01 * se)
        assert np.allclose(np.sqrt(np.diagonal(fast.covariance)), se, rtol=0.01)


@pytest.mark.parametrize("kind", ["dirichlet", "gamma"])
def test_the_sandwich_is_that_of_a_loop_over_rows(kind):
    problem, _ = _problem(kind, 60, weighted=True)
    est = zf.Dirichlet if kind == "dirichlet" else zf.Gamma
    data, weight = problem.source.X, problem.source.weight
    result = est(problem.generator, standard_errors="sandwich").fit(data, sample_weight=weight).result_
    G, S = np.zeros_like(result.moments.gamma.dense()), np.zeros_like(result.moments.gamma.dense())
    for i in range(60):
        m = problem.on(Table(data[i : i + 1])).moments()
        psi = weight[i] * (m.gamma.dense() @ result.theta + m.g)
        G, S = G + weight[i] * m.gamma.dense(), S + np.outer(psi, psi)
    inverse = np.linalg.inv(G)
    expected = inverse @ S @ inverse.T
    size = np.sqrt(np.diagonal(expected))
    assert np.allclose(result.covariance / np.outer(size, size), expected / np.outer(size, size), atol=1e-9)


def test_the_default_is_close_to_maximum_likelihood():
    """Mean squared errors over 60 data sets, where the search for a barrier keeps about nine tenths or less."""
    rng = np.random.default_rng(3)
    ours, theirs, searched = [], [], []
    for _ in range(60):
        parts = rng.dirichlet(ALPHA, 300)
        est = zf.Dirichlet(check=False).fit(parts)
        assert isinstance(est.generator_, zf.SteinMoments)
        ours.append(np.sum((est.alpha_ / ALPHA - 1) ** 2))
        theirs.append(np.sum((zf.likelihood.dirichlet_mle(parts) / ALPHA - 1) ** 2))
        searched.append(np.sum((zf.Dirichlet(zf.Barrier.log(det_power=0)).fit(parts).alpha_ / ALPHA - 1) ** 2))
    assert np.mean(theirs) / np.mean(ours) > 0.98
    assert np.mean(theirs) / np.mean(searched) < 0.9


def test_the_choice_by_theory_is_on_record():
    est = zf.Dirichlet().fit(P)
    selection = est.result_.selection
    assert selection.by_theory
    assert selection.chosen == est.generator_ == selection.trials[0].generator
    assert len(selection.trials) == 1
    assert "likelihood" in selection.remark
    assert selection.criterion == pytest.approx(1.0, abs=0.25)  # of the Cramér–Rao bound, estimated
    assert "chosen" in str(selection)
    assert "SteinMoments" in str(est.result_.summary())
    assert "chosen from the data" not in str(est.result_.summary())
    assert est.result_.fit_check is not None
    searched = zf.Dirichlet("search").fit(P)
    assert isinstance(searched.generator_, zf.Barrier)
    assert len(searched.result_.selection.trials) > 5
    assert isinstance(zf.Gamma(ridge=0.01).fit(X).generator_, zf.Barrier)
    assert len(zf.Exponential("search", check=False).fit(X).result_.selection.trials) > 5


def test_invariances():
    est = zf.Dirichlet(check=False).fit(P)
    order, parts = np.random.default_rng(0).permutation(400), [2, 0, 3, 1]
    assert np.allclose(zf.Dirichlet(check=False).fit(P[order]).alpha_, est.alpha_, rtol=1e-11)
    assert np.allclose(zf.Dirichlet(check=False).fit(P[:, parts]).alpha_, est.alpha_[parts], rtol=1e-11)
    assert np.allclose(zf.Dirichlet(check=False).fit(np.repeat(P, 2, axis=0)).alpha_, est.alpha_, rtol=1e-11)
    doubled = zf.Dirichlet(check=False).fit(P, sample_weight=np.r_[np.full(100, 2.0), np.ones(300)])
    assert np.allclose(zf.Dirichlet(check=False).fit(np.r_[P[:100], P]).alpha_, doubled.alpha_, rtol=1e-11)
    gamma = zf.Gamma(check=False).fit(X)
    units = np.array([1e8, 1e-8, 3.0])
    other = zf.Gamma(check=False).fit(X * units)
    assert np.allclose(other.shape_, gamma.shape_, rtol=1e-9)
    assert np.allclose(other.rate_ * units, gamma.rate_, rtol=1e-9)
    assert np.allclose(other.shape_se_, gamma.shape_se_, rtol=1e-6)
    assert np.allclose(other.rate_se_ * units, gamma.rate_se_, rtol=1e-6)
    powers = zf.Gamma(check=False).fit(X * 2.0**20)
    assert np.allclose(powers.shape_, gamma.shape_, rtol=1e-12)
    single = zf.Gamma(check=False).fit(X[:, :1])
    assert np.allclose(single.shape_, gamma.shape_[:1], rtol=1e-12)


def test_two_parts_are_a_beta_and_a_thousand_parts_are_fitted():
    beta = np.random.default_rng(0).beta(0.7, 2.0, 2000)
    est = zf.Dirichlet(check=False).fit(np.column_stack([beta, 1 - beta]))
    assert np.allclose(est.alpha_, zf.likelihood.dirichlet_mle(np.column_stack([beta, 1 - beta])), rtol=0.02)
    many = np.random.default_rng(0).dirichlet(np.linspace(0.5, 3.0, 1000), 300)
    est = zf.Dirichlet(check=False).fit(many)
    assert np.corrcoef(est.alpha_, np.linspace(0.5, 3.0, 1000))[0, 1] > 0.97
    assert np.isfinite(est.alpha_se_).all()


def test_parts_next_to_zero_and_few_rows_are_fitted_without_a_word(recwarn):
    alpha = np.array([0.005, 0.3, 2.0])
    parts = np.maximum(np.random.default_rng(0).dirichlet(alpha, 500), 1e-300)
    assert parts.min() == 1e-300
    est = zf.Dirichlet(check=False).fit(parts)
    low, high = est.result_.conf_int().T
    assert np.all((low[1:] < alpha[1:]) & (alpha[1:] < high[1:]))
    assert est.alpha_[0] == pytest.approx(0.005, rel=0.5)  # a quarter of its draws are below 1e-300
    x = np.maximum(np.random.default_rng(0).gamma(0.02, 1.0, (500, 1)), 1e-300)
    low, high = zf.Gamma(check=False).fit(x).result_.conf_int().T
    assert low[0] < 0.02 < high[0]
    few = zf.Dirichlet(check=False).fit(P[:10])
    assert np.isfinite(few.result_.conf_int()).all()
    assert np.isfinite(zf.Gamma(check=False).fit(X[:10]).result_.conf_int()).all()
    assert not [w for w in recwarn if "ImproperDensity" not in w.category.__name__]


def test_everything_around_a_fit():
    est = zf.Dirichlet().fit(P)
    result = est.result_
    again = pickle.loads(pickle.dumps(est))
    assert np.array_equal(again.alpha_, est.alpha_)
    assert again.generator_ == est.generator_
    assert clone(zf.Dirichlet(zf.SteinMoments())).fit(P).alpha_ == pytest.approx(est.alpha_)
    assert zf.Dirichlet(est.generator_).fit(P).alpha_ == pytest.approx(est.alpha_)
    assert result.with_columns(["p", "q", "r", "s"]).names[0] == "alpha[p]"
    assert result.score(P) == pytest.approx(-est.score(P))  # the log barrier's rule: the equations have none
    assert result.condition_number >= 1.0
    assert 1.0 <= result.scaled_condition_number < 1e6
    assert 1e-4 < est.j_test(P).p_value <= 1.0
    assert est.check(P).p_value > 1e-3
    table = zf.rank(zf.Dirichlet(), P, [zf.Barrier.log(det_power=0), zf.SteinMoments()], target="information")
    assert table.best.generator == zf.SteinMoments()
    assert np.isfinite([c.excess_se for c in table]).all()
    chosen = zf.Dirichlet([zf.Barrier.log(det_power=0), zf.SteinMoments()]).fit(P)
    assert chosen.generator_ == est.generator_
    together = zf.Dirichlet(zf.Combined([zf.SteinMoments(), zf.Barrier.log(det_power=0)])).fit(P)
    assert together.result_.j_test.p_value > 1e-4
    combination = together.result_.combination
    assert combination.generators == (est.generator_, zf.Barrier.log(det_power=0))  # each once, with its pilot
    assert np.allclose(combination.estimates[0], est.alpha_)
    assert np.all(np.abs(together.alpha_ - est.alpha_) < 2 * est.alpha_se_)
    assert zf.Gamma(zf.Combined()).fit(X).result_.combination is not None
    alone = zf.Dirichlet(fixed={"alpha[x1]": 0.3}).fit(P)
    assert alone.alpha_[0] == 0.3
    assert alone.alpha_se_[0] == 0.0
    assert np.all(np.abs(alone.alpha_ - est.alpha_) < 2 * est.alpha_se_)
    known = zf.Gamma(fixed={"rate[x1]": 1.0, "shape[x2]": 2.0}).fit(X)
    assert np.all(np.abs(known.shape_ - [0.6, 2.0, 8.0]) < 4 * np.maximum(known.shape_se_, 1e-12))


def test_generators_are_settled_before_they_are_stacked():
    problem, restriction = _problem("dirichlet", 200)
    stacked = stack(objective(problem, restriction), [zf.Barrier.log(det_power=0), zf.SteinMoments()])
    assert stacked.generators[1] == problem.generator
    assert np.allclose(stacked.solutions[1].theta, solve(objective(problem, restriction)).theta)


def test_a_ranking_compares_fits_with_their_pilots():
    pilot = zf.Dirichlet(zf.SteinMoments()).fit(P).generator_
    first, second, last = zf.rank(zf.Dirichlet(), P, [zf.SteinMoments(), pilot, zf.Barrier.log(det_power=0)])
    assert first.criterion == pytest.approx(second.criterion)
    assert second.excess_se < 1e-6 < last.excess_se


@pytest.mark.parametrize("kind", ["dirichlet", "gamma"])
def test_the_criterion_and_its_jackknife(kind):
    """Tr(W Γ⁻¹ΣΓ⁻ᵀ), the rows behind it, and its values without each group, from influences row by row."""
    problem, restriction = _problem(kind, 100)
    asked = objective(problem, restriction)
    solution = solve(asked)
    r = problem.model.n_parameters
    root = np.random.default_rng(0).standard_normal((r, r)) * np.abs(solution.theta) ** -1.0
    W = root.T @ root
    rows = [problem.on(Table(problem.source.X[i : i + 1])).moments() for i in range(100)]
    psi = np.array([m.gamma.dense() @ solution.theta + m.g for m in rows])
    a = psi @ np.linalg.inv(sum(m.gamma.dense() for m in rows)).T
    (found,) = measure([(asked, solution)], W)
    shares = np.einsum("ij,jk,ik->i", a, W, a)
    assert found.criterion == pytest.approx(100 * shares.sum(), rel=1e-8)
    assert found.effective_rows == pytest.approx(shares.sum() ** 2 / np.sum(shares**2), rel=1e-8)
    group = deal(problem.source.X, None, GROUPS)
    for k, value in enumerate(leave_out_criteria(asked, solution.theta, W)):
        kept = np.flatnonzero(group != k)
        influences = psi[kept] @ np.linalg.inv(sum(rows[i].gamma.dense() for i in kept)).T
        assert value == pytest.approx(len(kept) * np.einsum("ij,jk,ik->", influences, W, influences), rel=1e-7)


def test_refusals():
    with pytest.raises(SpecificationError, match="leave out ridge"):
        zf.Gamma(zf.SteinMoments(), ridge=0.1).fit(X)
    with pytest.raises(SpecificationError, match="test functions of its own"):
        zf.Exponential(zf.SteinMoments()).fit(X)
    with pytest.raises(SpecificationError, match="must have the 4 parameters"):
        zf.Dirichlet(zf.SteinMoments(pilot=[1.0, 2.0])).fit(P)
    for bad in ("x", [[1.0]], [np.nan], 3.0, None.__class__):
        with pytest.raises(SpecificationError, match="pilot must be a list"):
            zf.SteinMoments(pilot=bad)
    for value in [2.0, 1.0, 0.1, 1.0000001, *np.random.default_rng(0).uniform(1.0, 1e6, 60)]:
        with pytest.raises(SingularMomentsError, match="dependent columns, or leave parameters out"):  # no ridge
            zf.Gamma().fit(np.column_stack([X[:40, 1], np.full(40, value)]))
    with pytest.raises(SingularMomentsError, match="dependent columns, or leave parameters out"):  # no ridge
        zf.Dirichlet().fit(np.tile(P[0], (20, 1)))
    assert repr(zf.SteinMoments()) == repr(zf.SteinMoments([1, 2, 3, 4])) == "SteinMoments()"


@pytest.mark.parametrize("size", [1e4, 1e5, 5e5, 1e6, 1e7])
def test_large_concentrations_keep_their_precision(size):
    """Where x hardly varies, every D gives maximum likelihood, and the test functions must not be rounding."""
    X = np.random.default_rng(5).dirichlet(size * np.array([1.0, 10.0, 100.0]), size=1000)
    ours, plain = (zf.Dirichlet(g, check=False).fit(X) for g in (zf.SteinMoments(), zf.Barrier(1.0, 0.0)))
    np.testing.assert_allclose(ours.alpha_, plain.alpha_, rtol=1e-3)
    np.testing.assert_allclose(ours.result_.standard_errors, plain.result_.standard_errors, rtol=0.01)
