"""Truths by name: what they are, that they stay so, and the search by which they were found."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from benchmarks import readings
from benchmarks import truths as search
from benchmarks.records import Records
from scipy.optimize import minimize
from scipy.stats import norm, truncnorm

from zfree.errors import SpecificationError
from zfree.experiments import EXPERIMENTS, settings
from zfree.experiments.candidate_ranking import SETTINGS
from zfree.experiments.truths import CoupledPrecision, DiagonalPrecision, DirichletRecipe, GaussianRecipe, GramPrecision

FIXED = ["gaussian-simplex", "gaussian-orthant", "exponent"]
RANDOM = ["robustness-gaussian-simplex", "robustness-gaussian-orthant"]


@pytest.mark.parametrize(("name", "mean"), [("gaussian-simplex", 1 / 11), ("gaussian-orthant", 0.1), ("exponent", 0.1)])
def test_the_plain_gaussians_are_those_of_the_first_version(name, mean):
    setting = EXPERIMENTS[name](truth="plain").setting()
    assert np.array_equal(setting.precision, 100.0 * np.eye(10))
    assert np.array_equal(setting.mean, np.full(10, mean))


@pytest.mark.parametrize(
    ("name", "scales", "means"), [(RANDOM[0], (100.0, 200.0), (0.05, 0.2)), (RANDOM[1], (30.0, 110.0), (0.0, 0.2))]
)
def test_the_plain_random_gaussians_are_those_of_the_first_version(name, scales, means):
    experiment = EXPERIMENTS[name](truth="plain")
    rng = experiment.stream(3)
    A = rng.standard_normal((10, 10))
    A = A + A.T
    K = rng.uniform(*scales) * (np.eye(10) + 0.5 * A / np.linalg.norm(A, 2))
    found = experiment.truth_of(experiment.stream(3))
    assert np.array_equal(found.precision, 0.5 * (K + K.T))
    assert np.array_equal(found.mean, rng.uniform(*means, 10))
    same = EXPERIMENTS[name](scales=scales, coupling=0.5, means=means).truth_of(experiment.stream(3))
    assert np.array_equal(same.precision, found.precision)


def test_the_plain_dirichlets_are_those_of_the_first_version():
    assert EXPERIMENTS["dirichlet"](truth="plain").concentrations == (1, 2, 4, 5, 6, 7, 8, 9, 10, 3)
    experiment = EXPERIMENTS["robustness-dirichlet"](truth="plain")
    alpha = experiment.truth_of(experiment.stream(7)).alpha
    assert np.array_equal(alpha, experiment.stream(7).uniform(0.5, 5.0, 10))


@pytest.mark.parametrize("name", [*FIXED, *RANDOM, "dirichlet", "robustness-dirichlet"])
def test_a_truth_that_has_no_name_is_refused_with_those_there_are(name):
    with pytest.raises(SpecificationError, match=r"truth must be one of adopted, plain; got 'papers'"):
        EXPERIMENTS[name]().with_settings({"truth": "papers"}).check()


@pytest.mark.parametrize("name", [*FIXED[:2], *RANDOM, "robustness-dirichlet"])
def test_a_table_says_what_its_truth_is(name):
    experiment = EXPERIMENTS[name]()
    what = experiment.truths[experiment.truth] if name in FIXED else experiment.recipe()
    assert f": {what}." in experiment.remarks()[0]


def test_what_the_words_of_a_recipe_say():
    rng, again = np.random.default_rng(4), np.random.default_rng(4)
    A = again.standard_normal((6, 6))
    recipe = GaussianRecipe(GramPrecision(5.0, 10.0), 0.0, 0.15)
    mean, K = recipe.draw(6, rng)
    assert str(recipe) == "K = 5 (A Aᵀ + 10 I), μ = U(0, 0.15)"
    assert np.allclose(K, 5 * (A @ A.T + 10 * np.eye(6)), rtol=1e-14)
    assert np.array_equal(mean, again.uniform(0, 0.15, 6))
    recipe = GaussianRecipe(DiagonalPrecision(50.0, 150.0), 0.1, 0.1)
    mean, K = recipe.draw(6, rng)
    assert str(recipe) == "K = diag(U(50, 150)), μ = 0.1"
    assert np.array_equal(K, np.diag(again.uniform(50, 150, 6)))
    assert np.array_equal(mean, np.full(6, 0.1))
    assert str(CoupledPrecision(30.0, 110.0, 0.5)) == "U(30, 110) (I + 0.5 A/‖A‖)"
    again.uniform(0.1, 0.1, 6)
    for kind, expected in (
        ("uniform", again.uniform(1, 10, 5)),
        ("integers", again.integers(1, 10, 5, endpoint=True)),
        ("permutation", again.permutation(np.arange(1.0, 6.0))),
    ):
        assert np.array_equal(DirichletRecipe(kind, 1, 10).draw(5, rng), expected)


@pytest.mark.parametrize("name", FIXED[:2])
def test_parts_of_a_truth_can_be_replaced(name):
    adopted = EXPERIMENTS[name]().setting()
    assert np.array_equal(adopted.mean, EXPERIMENTS[name]().setting().mean)
    changed = EXPERIMENTS[name]().with_settings({"mean": "0.2"})
    assert np.array_equal(changed.setting().mean, np.full(10, 0.2))
    assert np.array_equal(changed.setting().precision, adopted.precision)
    assert ", with another mean." in changed.remarks()[0]
    changed = EXPERIMENTS[name]().with_settings({"precision": "50"})
    assert np.array_equal(changed.setting().precision, 50 * np.eye(10))
    assert np.array_equal(changed.setting().mean, adopted.mean)


def test_parts_of_a_recipe_can_be_replaced():
    experiment = EXPERIMENTS["robustness-gaussian-orthant"]()
    plain = EXPERIMENTS["robustness-gaussian-orthant"](truth="plain").recipe()
    assert experiment.with_settings({"coupling": "0.2"}).recipe().precision == CoupledPrecision(30.0, 110.0, 0.2)
    assert experiment.with_settings({"scales": "[1, 2]"}).recipe().precision == CoupledPrecision(1.0, 2.0, 0.5)
    changed = experiment.with_settings({"means": "[0.3, 0.4]"}).recipe()
    assert (changed.low, changed.high, changed.precision) == (0.3, 0.4, experiment.recipe().precision)
    assert plain.precision == CoupledPrecision(30.0, 110.0, 0.5)
    assert str(EXPERIMENTS["robustness-dirichlet"](alphas=(1.0, 2.0)).recipe()) == "α = U(1, 2)"


def test_the_ablations_have_the_truths_of_the_tables():
    orthant = EXPERIMENTS["gaussian-orthant"]().setting()
    assert np.array_equal(EXPERIMENTS["exponent"]().setting().precision, orthant.precision)
    assert np.array_equal(EXPERIMENTS["exponent"]().setting().mean, orthant.mean)
    assert {kind.name for kind in SETTINGS.values()} == {"gaussian-simplex", "gaussian-orthant", "dirichlet"}
    assert all(kind().truth == "adopted" for kind in SETTINGS.values())


def test_the_score_of_a_truth_by_hand():
    papers = {"μ": {"a": 1.0, "b": 2.0}, "K": {"a": 10.0, "b": 30.0, "c": 20.0}}
    same = search.score(papers, papers)
    assert (same.rms, same.worst, same.ordered) == (0.0, 1.0, True)
    ours = {"μ": {"a": 2.0, "b": 2.0}, "K": {"a": 10.0, "b": 7.5, "c": 20.0}}
    found = search.score(ours, papers)
    assert found.rms == pytest.approx(np.sqrt((np.log(2) ** 2 + np.log(4) ** 2) / 5))
    assert found.worst == pytest.approx(4.0)
    assert not found.ordered
    found = search.score(ours, papers, apart=("b",))
    assert found.rms == pytest.approx(np.sqrt(np.log(2) ** 2 / 3))
    assert not found.ordered  # in the order every estimator counts
    assert search.score(ours, papers, decides="μ").ordered is False


def test_the_search_finds_the_better_truth_and_goes_on_where_it_stopped(tmp_path, capsys, monkeypatch):
    near, far = DirichletRecipe("uniform", 2.0, 9.0), DirichletRecipe("uniform", 1.0, 2.0)
    table = next(t for t in search.TABLES if t.name == "dirichlet")
    small = replace(table, recipes=(far, near), seeds=1)
    measured = small.medians
    monkeypatch.setattr(search.Table, "medians", lambda self, recipe, seed, effort: measured(recipe, seed, 1))
    search.search(small, Records(tmp_path / "kept.jsonl"), 1)
    told = capsys.readouterr().out
    assert f"{near}" in told.split("the best again")[1]
    assert f"{far}" not in told.split("the best again")[1]
    assert (tmp_path / "kept.jsonl").read_text().count("\n") == 3
    monkeypatch.setattr(search.Table, "medians", None)
    search.search(small, Records(tmp_path / "kept.jsonl"), 1)
    assert capsys.readouterr().out == told


def test_every_table_of_the_search_is_an_experiment_with_these_rows():
    for table in search.TABLES:
        experiment = EXPERIMENTS[table.name]
        assert table.printed is experiment.printed
        assert table.apart == getattr(experiment, "apart", ())
        texts = [str(recipe) for recipe in table.recipes]
        assert len(set(texts)) == len(texts)  # records are kept by them


def test_an_adopted_truth_is_one_that_the_search_tries():
    tried = {t.name: t.recipes for t in search.TABLES}
    for name in FIXED[:2]:
        truth = EXPERIMENTS[name].truths["adopted"]
        assert truth.recipe in tried[name]
        assert truth.seed < next(t.seeds for t in search.TABLES if t.name == name)
    permutation = next(recipe for recipe in tried["dirichlet"] if recipe.kind == "permutation")
    alphas = [permutation.draw(10, np.random.default_rng(seed)) for seed in range(60)]
    assert any(alpha[-1] == EXPERIMENTS["dirichlet"]().concentrations[-1] for alpha in alphas)
    assert sorted(EXPERIMENTS["dirichlet"]().concentrations) == sorted(alphas[0])
    for name in [*RANDOM, "robustness-dirichlet"]:
        assert EXPERIMENTS[name]().recipe() in tried[name]


@pytest.mark.parametrize("baseline", ["truncated SM", "GSM CD", "h₁"])
@pytest.mark.filterwarnings("ignore::zfree.errors.ZfreeWarning")
def test_the_cited_readings_are_the_baselines_of_the_library(baseline):
    setting = EXPERIMENTS["dirichlet"]().setting()
    X = setting.draw(300, np.random.default_rng(0))
    alpha = next(r.alpha for r in readings.READINGS if r.baseline == baseline and r.cited)(X)
    assert np.sum((alpha - setting.alpha) ** 2) == pytest.approx(setting.errors([baseline], X)[baseline]["α"], rel=1e-6)


@pytest.mark.parametrize("reading", [r for r in readings.READINGS if r.baseline != "h₁"], ids=lambda r: r.text)
def test_readings_that_vanish_on_the_boundary_are_consistent(reading):
    """Concentrations of seven and more: even a weight that vanishes on a part of the boundary only loses nothing there."""
    alpha = np.array([7.0, 9.0, 8.0])
    X = np.random.default_rng(0).dirichlet(alpha, 100_000)
    assert np.allclose(reading.alpha(X), alpha, rtol=0.05)


def test_without_a_chart_h1_says_one_whatever_the_data():
    def flat(X):
        return np.einsum("nj,jk->njk", X, np.eye(X.shape[1])), np.ones_like(X)

    X = np.random.default_rng(0).dirichlet([2.0, 5.0, 3.0], 50)
    assert np.allclose(readings.estimate(flat, X), 1.0)


def test_the_moments_of_the_yardstick(monkeypatch):
    monkeypatch.setattr(settings, "BATCH", 20_000)
    setting = EXPERIMENTS["gaussian-orthant"](dimension=2, mean=0.1, precision=(100.0, 50.0)).setting()
    mean, covariance = settings._moments.__wrapped__(setting)
    x = truncnorm(-0.1 * np.sqrt([100, 50]), np.inf, loc=0.1, scale=1 / np.sqrt([100, 50]))
    first, second, fourth = x.mean(), x.moment(2), x.moment(4)
    exact = [-0.5 * second[0], -first[0] * first[1], -0.5 * second[1], *first]
    spread = np.sqrt(np.diagonal(covariance) / settings.MOMENTS)
    assert np.all(np.abs(mean - exact) < 5 * spread)
    assert covariance[0, 0] == pytest.approx(0.25 * (fourth[0] - second[0] ** 2), rel=0.01)
    assert covariance[3, 4] == pytest.approx(0.0, abs=5 * np.sqrt(x.var().prod() / settings.MOMENTS))


def test_the_yardstick_is_maximum_likelihood():
    """In one dimension, where that can be computed: the draws move it by √(N/M) = 0.02 of its own error, or so."""
    setting = EXPERIMENTS["gaussian-orthant"](dimension=1, mean=0.1, precision=100.0).setting()
    for k in range(3):
        x = setting.draw(800, np.random.default_rng([1, k]))[:, 0]

        def loss(theta, x=x):  # the density is exp(−½Kx² + ηx) over its integral
            mu, sd = theta[1] / theta[0], 1 / np.sqrt(theta[0])
            return -np.mean(norm.logpdf(x, mu, sd)) + norm.logsf(0, mu, sd)

        exact = minimize(loss, [100.0, 10.0], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-14}).x
        found = settings.monte_carlo_mle(
            settings.PairwiseModel(["x1"]),
            x[:, None],
            setting.draw(settings.POOL, np.random.default_rng([2, k])),
            [100.0, 10.0],
            settings._moments(setting),
        )
        assert np.all(np.abs(found - exact) < 0.05 * np.array([11.0, 1.7]))  # their standard errors at N = 800
        error = setting.errors(["MLE"], x[:, None], np.random.default_rng([2, k]))["MLE"]["K"]
        assert error == pytest.approx((found[0] - 100.0) ** 2)
        other = setting.errors(["MLE"], x[:, None], np.random.default_rng([3, k]))["MLE"]["K"]
        assert 0 < abs(np.sqrt(other) - np.sqrt(error)) < 0.55  # other draws: 0.05 of that standard error at most


def test_more_draws_for_the_moments_cost_less_of_the_error(monkeypatch):
    """The remark under a table tells the share N/M."""
    told = EXPERIMENTS["gaussian-simplex"]().remarks()[1]
    assert f"those of {settings.MOMENTS:,} draws" in told
    assert "0.04% at N = 800" in told
    shares = [
        float(EXPERIMENTS["gaussian-simplex"](sizes=(n,)).remarks()[1].split("errors, ")[1].split("%")[0])
        for n in (200, 800)
    ]
    assert all(b == pytest.approx(4 * a) for a, b in pairwise(shares))
