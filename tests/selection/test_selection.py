"""generator="search": the criterion, the search, the guards, and what a user is told; "auto" where theory names a weight."""

from __future__ import annotations

import warnings
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

import zfree as zf
from tests.posed import objective, posed
from tests.sampling import truncated_gaussian
from zfree.errors import SelectionWarning, SpecificationError, ZfreeWarning
from zfree.models import BoundaryOrder, ExponentialModel, PairwiseModel
from zfree.plotting import plot_selection
from zfree.selection import BarrierSearch, Search, prepare
from zfree.selection.barrier_search import DET_POWERS, POWERS, is_allowed, largest_power
from zfree.selection.criterion import information, weight_matrix
from zfree.solvers import Restriction

mpl.use("Agg")

GAUSS = truncated_gaussian(zf.Orthant(2), [0.5, 1.0], np.array([[2.0, 0.5], [0.5, 1.5]]), 1500)
PARTS = np.random.default_rng(1).dirichlet([1.5, 2.0, 3.0, 2.5], 1500)


def _search(target="information", X=GAUSS):
    model = PairwiseModel(("a", "b"), center=X.mean(axis=0))
    return prepare(objective(posed(model, zf.Identity(), zf.Orthant(2), X)), target)


def test_information_is_the_covariance_of_the_statistics():
    model = PairwiseModel(("a", "b"))
    w = np.random.default_rng(0).uniform(0.5, 2, len(GAUSS))
    problem = posed(model, zf.Identity(), zf.Orthant(2), GAUSS, w)
    assert np.allclose(information(problem), np.cov(model.statistics(GAUSS).T, aweights=w, bias=True))


def test_criterion_is_one_for_maximum_likelihood_and_its_reciprocal_an_efficiency():
    """Exponential, many rows: h = x reaches the bound, and φ₂ the share ¾·… that theory gives it."""
    x = np.random.default_rng(0).exponential(size=(400_000, 1))
    problem = posed(ExponentialModel(("x",)), zf.Identity(), zf.Orthant(1), x)
    search = prepare(objective(problem), "information")
    best = search.look(zf.Barrier(1.0, 0.0))
    assert best.criterion == pytest.approx(1.0, abs=0.02)
    # For D = x^q the asymptotic variance of the rate is q² Γ(2q−1)/Γ(q+1)²·… : check against q = 3/2 by moments
    q = 1.5
    psi_mean_square = np.mean((x**q - q * x ** (q - 1)) ** 2) / np.mean(x**q) ** 2
    entropy = search.look(zf.Barrier(1.0, 0.5))
    assert entropy.criterion == pytest.approx(psi_mean_square, rel=0.02)


def test_scale_free_criterion_does_not_depend_on_units_and_the_trace_does():
    plain, scaled = _search(), _search(X=1000 * GAUSS)
    g = zf.Barrier(1.2, 0.0)
    assert plain.look(g).criterion == pytest.approx(scaled.look(g).criterion, rel=1e-8)
    a, b = _search("natural").look(g).criterion, _search("natural", 1000 * GAUSS).look(g).criterion
    assert not np.isclose(a, b, rtol=0.5)
    one = zf.TruncatedGaussian(generator="search").fit(GAUSS).generator_
    other = zf.TruncatedGaussian(generator="search").fit(1000 * GAUSS).generator_
    assert one == other


def test_targets_are_the_traces_they_name():
    g = zf.Barrier(1.0, 0.0)
    result = zf.TruncatedGaussian(generator=g, standard_errors="sandwich").fit(GAUSS).result_
    n = result.n_observations
    assert _search("natural").look(g).criterion == pytest.approx(result.total_variance, rel=1e-8)
    precision = np.trace(result.parameters("precision").covariance) * n
    assert _search("precision").look(g).criterion == pytest.approx(precision, rel=1e-8)
    W = np.diag([1.0, 0, 0, 0, 0])
    assert _search(W).look(g).criterion == pytest.approx(result.covariance[0, 0] * n, rel=1e-8)
    with pytest.raises(SpecificationError, match="unknown target 'mode'"):
        _search("mode")
    with pytest.raises(SpecificationError, match="5 × 5"):
        _search(np.eye(3))
    assert weight_matrix("mean", _search().objective, result.working_theta).shape == (5, 5)
    for target in ("mean", "precision", W):
        zf.TruncatedGaussian(target=target).fit(GAUSS)


def test_the_region_of_finite_variance():
    smooth = [BoundaryOrder("the boundary", 0.0, 0.0)]
    assert largest_power(zf.Orthant(3), smooth, 0.0) == pytest.approx(1.5 - 0.08, abs=1e-6)
    assert largest_power(zf.Orthant(3), smooth, 0.5) == pytest.approx(2 - 0.58 / 1.5, abs=1e-6)
    dirichlet = [BoundaryOrder("x1 = 0", 0.2, 1.0)]  # α = 1.2: q > 1.4
    assert largest_power(zf.Simplex(3), dirichlet, 0.0) == pytest.approx(0.6 - 0.08, abs=1e-6)
    assert not is_allowed(zf.Orthant(3), smooth, (0.0, -0.3))  # D grows along the facet
    assert not is_allowed(zf.Orthant(3), smooth, (POWERS[0] - 0.1, 0.0))
    assert not is_allowed(zf.Orthant(3), smooth, (0.0, DET_POWERS[1] + 0.1))


def test_search_finds_the_minimum_of_a_grid():
    """Nothing on a fine grid of the allowed region is better than what the search found, by more than half a per cent."""
    search = _search()
    family = BarrierSearch(search)
    trials, best = family.run()
    assert len(trials) <= 18
    worst = np.inf
    for p in np.arange(0.6, 1.42, 0.08):
        for gamma in (-0.1, -0.05, 0.0, 0.05, 0.1, 0.2):
            if is_allowed(search.objective.problem.domain, search.orders, (p, gamma)):
                measured = search.look(zf.Barrier(p, gamma))
                penalised = np.log(measured.criterion) + 1 / np.sqrt(measured.effective_rows)
                worst = min(worst, penalised)
    found = np.log(best.criterion) + 1 / np.sqrt(best.effective_rows)
    assert found < worst + 0.01


def test_the_search_explains_itself():
    est = zf.TruncatedGaussian(generator="search").fit(GAUSS)
    s = est.result_.selection
    assert s.chosen == est.generator_ == est.result_.generator
    text = str(s)
    assert "chosen" in text
    assert "Barrier(power=" in text
    frame = s.to_frame()
    assert frame["chosen"].sum() == 1
    assert frame["criterion"].is_monotonic_increasing
    assert "chosen from the data" in str(est.result_.summary())
    again = zf.TruncatedGaussian(generator=est.generator_).fit(GAUSS).result_
    assert np.array_equal(again.theta, est.result_.theta)
    assert again.selection is None
    ax = plot_selection(s)
    assert ax.get_xlabel() == "power p"
    mpl.pyplot.close(ax.figure)


def test_auto_is_the_default_and_says_what_theory_named():
    est = zf.TruncatedGaussian().fit(GAUSS)
    assert est.generator == "auto"
    record = est.result_.selection
    assert record.chosen == est.generator_ == est.result_.generator
    assert isinstance(est.generator_, zf.SteinBarrier)
    assert "named by theory" in str(record)
    assert "pilot" in record.remark
    assert "rounds: 2" in record.remark
    assert "SteinBarrier(keep=0.8) (by theory)" in str(est.result_.summary())
    assert "by theory" not in str(zf.TruncatedGaussian(generator=zf.SteinBarrier()).fit(GAUSS).result_.summary())
    # Its criterion is what a search would have measured, and better than the best of the family.
    measured = _search().look(est.generator_)
    sandwich = zf.TruncatedGaussian(standard_errors="sandwich").fit(GAUSS).result_.selection
    assert sandwich.criterion == pytest.approx(measured.criterion, rel=1e-9)
    assert sandwich.criterion < zf.TruncatedGaussian(generator="search").fit(GAUSS).result_.selection.criterion
    with pytest.raises(SpecificationError, match="no Barrier"):
        plot_selection(record)
    again = zf.TruncatedGaussian(generator=est.generator_).fit(GAUSS).result_
    assert np.array_equal(again.theta, est.result_.theta)
    assert again.selection is None


def test_auto_knows_what_theory_knows():
    x = np.random.default_rng(0).exponential(0.5, 300)
    est = zf.Exponential().fit(x)
    assert est.rate_[0] == pytest.approx(1 / x.mean(), rel=1e-12)
    assert "maximum likelihood" in est.result_.selection.remark
    assert "chosen from the data" not in str(est.result_.summary())
    assert isinstance(zf.Gaussian(check=False).fit(GAUSS).generator_, zf.Identity)
    L = np.random.default_rng(1).standard_normal((500, 2))
    assert np.allclose(zf.LogNormal().fit(np.exp(L)).mean_, L.mean(axis=0))
    whole_space = zf.Gaussian(check=False).fit(GAUSS).result_.selection
    with pytest.raises(SpecificationError, match="no Barrier"):
        plot_selection(whole_space)


def test_a_list_is_chosen_from_and_refusals_are_explained():
    candidates = [zf.Barrier.log(), zf.CoordinateWeight("x"), zf.Identity(), zf.Barrier(1.9, 0.0)]
    est = zf.TruncatedGaussian(generator=candidates).fit(GAUSS)
    assert est.generator_ == zf.CoordinateWeight("x")
    refused = {repr(t.generator): t.refused for t in est.result_.selection.trials}
    assert "vanish" in refused["Identity()"]
    assert "finite variance" in refused["Barrier(power=1.9, det_power=0)"]
    with pytest.raises(SpecificationError, match="no candidate generator can be used"):
        zf.TruncatedGaussian(generator=[zf.Identity()]).fit(GAUSS)
    with pytest.raises(SpecificationError, match="no generator is called 'best'"):
        zf.TruncatedGaussian(generator="best").fit(GAUSS)
    for wrong in ([], [zf.Identity(), 3], None):
        with pytest.raises(SpecificationError, match="generator must be"):
            zf.TruncatedGaussian(generator=wrong).fit(GAUSS)


def test_a_criterion_that_rests_on_a_handful_of_rows_is_refused():
    X = np.abs(np.random.default_rng(0).standard_normal((2000, 12)))  # Π x_j with a large exponent: few rows count
    est = zf.TruncatedGaussian(generator=[zf.Barrier(-1.0, 1.0), zf.Barrier(1.2, 0.0)], structure="diagonal").fit(X)
    assert est.generator_ == zf.Barrier(1.2, 0.0)
    assert any("rests on" in t.refused for t in est.result_.selection.trials)


def test_small_alphas_move_the_search_to_fast_decay():
    spiky = np.random.default_rng(0).dirichlet([0.3, 0.4, 2.0], 4000)
    est = zf.Dirichlet("search").fit(spiky)
    assert 2 - est.generator_.power > 2 - 0.3 / 2
    assert np.all(np.abs(est.alpha_ - [0.3, 0.4, 2.0]) < 4 * est.alpha_se_)


def test_custom_families_are_probed_at_the_boundary():
    """An unknown model with the Dirichlet's singular score gets the Dirichlet's exponents, not a smooth model's."""
    import torch

    from zfree.inference import boundary_orders

    family = zf.ExponentialFamily(lambda X: torch.log(X), lambda X: -X.log().sum(1), domain=zf.Simplex(4))
    est = family.fit(PARTS)
    known = zf.Dirichlet(generator=est.generator_).fit(PARTS)
    assert np.allclose(est.theta_, known.alpha_)
    problem = posed(est.result_.model, est.generator_, zf.Simplex(4), PARTS)
    (order,) = boundary_orders(problem, est.theta_, Restriction.none(4))
    assert order.pole == pytest.approx(1.0, abs=0.02)
    assert order.density == pytest.approx(est.theta_.min() - 1, abs=0.3)


def test_auto_is_at_least_as_good_as_the_papers_candidates():
    """Mean squared error over 30 data sets, Dirichlet: strictly below φ₁, φ₂ and φ₃ (a fixed seed, a wide margin)."""
    alpha = np.array([1.5, 2.0, 3.0, 2.5])
    rng = np.random.default_rng(0)
    errors = {g: [] for g in ("auto", zf.Barrier.entropy(), zf.Barrier.log())}
    for _ in range(30):
        P = rng.dirichlet(alpha, 400)
        for g, out in errors.items():
            out.append(np.sum((zf.Dirichlet(generator=g).fit(P).alpha_ - alpha) ** 2))
    auto = np.mean(errors.pop("auto"))
    assert all(auto < 0.95 * np.mean(e) for e in errors.values())


def test_an_edge_of_the_family_is_reported(monkeypatch):
    monkeypatch.setattr("zfree.selection.barrier_search.POWERS", (-1.0, 0.6))
    with pytest.warns(SelectionWarning, match="edge of the family"):
        est = zf.TruncatedGaussian(generator="search").fit(GAUSS)
    assert "edge" in est.result_.selection.remark


@pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning", "ignore::zfree.errors.NotPositiveDefiniteWarning")
def test_nothing_stops_auto(monkeypatch):
    """Outliers, heavy tails, small shapes: where no candidate can be trusted, the log barrier is taken, and said so."""
    X = np.vstack([GAUSS, np.full((3, 2), 60.0) + np.arange(6).reshape(3, 2)])
    assert np.isfinite(zf.TruncatedGaussian().fit(X).result_.theta).all()
    for shape in (0.15, 0.3, 0.5, 1.0):
        for n in (100, 1000):
            for asked in ("auto", "search"):
                est = zf.Gamma(asked).fit(np.random.default_rng(n).gamma(shape, 1.0, size=n))
                assert np.all(np.abs(est.shape_ - shape) < 5 * est.shape_se_)
    for seed in range(8):  # a wrong model: its exponents at the boundary may make no sense at all
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ZfreeWarning)
            zf.Gamma("search").fit(np.exp(0.8 * np.random.default_rng(seed).standard_normal(800)))
    est = zf.Dirichlet("search").fit(np.random.default_rng(0).dirichlet([0.12, 0.3, 2.0], 800))
    assert len(est.result_.selection.trials) > 5
    monkeypatch.setattr("zfree.selection.search.FEW_ROWS", 1e9)
    est = zf.TruncatedGaussian(generator="search").fit(GAUSS)
    assert est.generator_ == zf.Barrier.log(0.0)
    assert "handful of rows" in est.result_.selection.remark


def test_nothing_is_chosen_when_everything_is_known():
    fixed = {f"alpha[x{j + 1}]": 2.0 for j in range(4)}
    est = zf.Dirichlet(fixed=fixed).fit(PARTS)
    assert np.array_equal(est.alpha_, np.full(4, 2.0))
    assert est.result_.selection is None


def test_one_model_written_two_ways_gets_one_generator():
    """A statistic whose parameter is known is part of the base measure, and the search must see it so."""
    import torch

    x = np.random.default_rng(0).gamma(3.0, 0.5, size=(1500, 1))
    fixed = zf.ExponentialFamily(
        lambda X: torch.cat([X.log(), -X], 1), domain=zf.Orthant(1), fixed={"theta[0]": 2.0}
    ).fit(x)
    base = zf.ExponentialFamily(lambda X: -X, lambda X: 2.0 * X.log()[:, 0], domain=zf.Orthant(1)).fit(x)
    assert fixed.generator_ == base.generator_
    assert fixed.theta_[1] == pytest.approx(base.theta_[0])


def test_what_theory_suggests_must_be_better_by_more_than_its_own_uncertainty(monkeypatch):
    """A criterion that is smaller, but rests on so few rows that it may be by chance, does not win."""
    look_at = Search.look_at

    def flattering(rows):
        def better(candidate):
            if not isinstance(candidate.generator, zf.SteinBarrier):
                return candidate
            return replace(candidate, criterion=0.9 * found.criterion, effective_rows=rows)

        return lambda search, generators, *leniency: [better(c) for c in look_at(search, generators, *leniency)]

    found = zf.TruncatedGaussian(generator="search", check=False).fit(GAUSS).result_.selection
    monkeypatch.setattr("zfree.selection.choice.by_theory", lambda objective: None)  # a model without a theory
    for rows, winner in ((3.1, zf.Barrier), (1e4, zf.SteinBarrier)):
        monkeypatch.setattr(Search, "look_at", flattering(rows))
        est = zf.TruncatedGaussian(check=False).fit(GAUSS)
        assert isinstance(est.generator_, winner)
