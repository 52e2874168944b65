"""Every experiment runs from trials to figure; its arithmetic is checked on cases done by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import zfree as zf
from tests.posed import posed
from zfree.errors import ZfreeError
from zfree.experiments import EXPERIMENTS
from zfree.experiments.boundary_term import boundary_term
from zfree.experiments.candidate_ranking import agreement
from zfree.experiments.comparison import Comparison, same_order, within_factor
from zfree.experiments.exponent import GAMMAS
from zfree.experiments.exponential import ORDERS, _spread
from zfree.experiments.nonconvex import NonConvex, smooth_weight
from zfree.experiments.robustness import Robustness, win_rates
from zfree.experiments.runner import run_trial

TINY = {
    "exponential": {"sizes": (30, 60), "trials": 3},
    "gaussian-simplex": {"sizes": (150,), "trials": 2},
    "gaussian-orthant": {"sizes": (150,), "trials": 2},
    "dirichlet": {"sizes": (150,), "trials": 2},
    "robustness-gaussian-simplex": {"truths": 2, "trials": 2, "size": 150},
    "robustness-gaussian-orthant": {"truths": 2, "trials": 2, "size": 150},
    "robustness-dirichlet": {"truths": 2, "trials": 2, "size": 150},
    "exponent": {"trials": 2, "size": 150},
    "nonconvex": {"trials": 3},
    "ranking": {"trials": 2, "size": 200},
    "limit": {"rows": 4, "soft": (0.03, 0.01, 0.003)},
    "recover-mle": {"rows": 40, "degrees": (4, 8), "rounds": 3},
}


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """The yardstick takes its draws from what there is; nothing here asks how good it is."""
    monkeypatch.setattr("zfree.experiments.settings.MOMENTS", 100_000)


def finished(experiment):
    return [(key, json.loads(json.dumps(run_trial(experiment, key, Path("unused"))[1]))) for key in experiment.plan()]


QUICK = [name for name, experiment in EXPERIMENTS.items() if not experiment.by_itself]


@pytest.mark.parametrize("name", QUICK)
def test_from_trials_to_figure(name):
    experiment = replace(EXPERIMENTS[name](), **TINY[name])
    report = experiment.report(finished(experiment))
    assert report.findings
    assert all(np.isfinite(n.ours) for n in report.numbers)
    assert all(len(row) == len(rows[0]) for rows in report.tables().values() for row in rows)
    if name == "limit":
        assert all(finding.holds for finding in report.findings)  # slopes, by quadrature
    figure = report.draw()
    assert figure.axes
    assert all(ax.lines or ax.patches for ax in figure.axes)


@pytest.mark.parametrize("name", QUICK)
def test_a_quick_version_is_smaller_or_shorter(name):
    experiment = EXPERIMENTS[name]()
    quick = experiment.quick()
    assert len(quick.plan()) < len(experiment.plan()) or quick.rows < experiment.rows
    quick.check()
    assert quick.like_the_paper
    assert len(set(experiment.plan())) == len(experiment.plan())
    assert json.loads(json.dumps(experiment.config()))["experiment"] == name


@pytest.mark.parametrize("name", [n for n, e in EXPERIMENTS.items() if issubclass(e, Comparison | Robustness)])
def test_the_papers_rows_are_those_of_the_experiment(name):
    experiment = EXPERIMENTS[name]
    for rows in experiment.printed.values():
        assert set(rows) == set(experiment.candidates)


def test_a_failed_fit_is_infinitely_wrong_and_the_report_survives():
    experiment = replace(EXPERIMENTS["gaussian-orthant"](), sizes=(150,), trials=3)
    records = finished(experiment)
    records[0][1]["errors"]["φ₃"] = {"μ": None, "K": None}
    report = experiment.report(records)
    mean = next(n for n in report.numbers if n.row == "φ₃" and n.column == "mean")
    assert mean.ours == np.inf
    assert report.draw().axes


@pytest.mark.filterwarnings("ignore::zfree.errors.ZfreeWarning")
def test_errors_are_sums_over_entries():
    setting = EXPERIMENTS["gaussian-orthant"]().with_settings({"dimension": "2", "truth": "plain"}).setting()
    X = setting.draw(500, np.random.default_rng(0))
    est = zf.TruncatedGaussian(zf.Orthant(2), "h1").fit(X)
    gap = est.precision_ - 100 * np.eye(2)
    errors = setting.errors(["h₁"], X)["h₁"]
    assert errors["K"] == pytest.approx(gap[0, 0] ** 2 + gap[1, 1] ** 2 + 2 * gap[0, 1] ** 2)
    assert errors["μ"] == pytest.approx(np.sum((est.mean_ - 0.1) ** 2))


def test_the_limit_has_neighbourhoods_of_three_kinds_where_they_belong():
    """The cube on the whole space only, with sizes of its own."""
    experiment = replace(EXPERIMENTS["limit"](), rows=3, soft=(0.02, 0.01), hard=(0.1, 0.05), cube=(0.3, 0.15, 0.05))
    tables = experiment.report(finished(experiment)).tables()
    cube = tables["Relative gap of the gradients, cube"]
    assert [row[0] for row in cube] == ["", "ε = 0.3", "ε = 0.15", "ε = 0.05"]
    assert cube[0] == ["", "R³"]
    assert tables["Relative gap of the gradients, soft"][0] == ["", "S³", "R₊³"]
    assert len(tables) == 4


def test_what_the_paper_says_of_every_sample_size_is_held_against_every_sample_size():
    experiment = replace(EXPERIMENTS["dirichlet"](), trials=1, sizes=(200, 800))
    good = {
        "φ₁": 3.0,
        "φ₂": 1.0,
        "φ₃": 2.0,
        "truncated SM": 5.0,
        "GSM CD": 4.0,
        "h₁": 7.0,
        "auto": 0.5,
        "combined": 0.5,
        "MLE": 0.5,
    }

    def told(small):
        records = [
            ((n, 0), {"errors": {name: {"α": v} for name, v in (small if n == 200 else good).items()}})
            for n in (200, 800)
        ]
        return [
            f
            for f in experiment.report(records).findings
            if f.statement.startswith("at every N") and " below that " in f.statement
        ]

    assert [f.holds for f in told(good)] == [True] * 3
    findings = told({**good, "φ₃": 4.5})
    assert [f.holds for f in findings] == [True, False, True]
    assert str(findings[1]) == (
        "NO: at every N the median error of α with φ₁, φ₂ and φ₃ is below that with truncated SM, GSM CD or h₁, as in the paper "
        "(N = 200: φ₃ 4.5, GSM CD 4; N = 800: φ₁ 3, GSM CD 4)"
    )
    assert [f.holds for f in told({**good, "φ₁": 1.0, "GSM CD": np.inf})] == [
        False,
        True,
        False,
    ]  # a tie; a fit that failed


def test_ties_and_failures_are_no_order():
    printed = {"a": (0.0, 1.0, 0.0), "b": (0.0, 2.0, 0.0)}
    assert not same_order({"a": np.inf, "b": np.inf}, printed, "").holds
    assert not same_order({"a": 1.0, "b": 1.0}, printed, "").holds
    assert np.array_equal(win_rates(np.array([[np.inf, np.inf], [1.0, 1.0], [1.0, 2.0]])), [1 / 3, 0.0])


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gaussian-orthant", {"dimension": 2}),
        ("dirichlet", {"alpha": (1.0, 2.0)}),
        ("robustness-dirichlet", {"dimension": 3}),
        ("exponent", {"dimension": 2, "exponents": (1.0, 1.5)}),
        ("nonconvex", {"radii": (0.5, 1.0)}),
    ],
)
def test_the_papers_numbers_are_left_out_of_other_experiments(name, settings):
    experiment = replace(EXPERIMENTS[name](), **{**TINY[name], **settings})
    report = experiment.report(finished(experiment))
    assert all(n.paper is None for n in report.numbers)
    assert not any("paper's, " in f.statement or f.statement.endswith("is the paper's") for f in report.findings)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gaussian-simplex", {"precision": -1.0}),
        ("gaussian-simplex", {"precision": ((1.0, 2.0), (3.0,))}),
        ("gaussian-orthant", {"mean": ("a",)}),
        ("dirichlet", {"alpha": (-1.0, 2.0)}),
        ("robustness-dirichlet", {"alphas": (5.0, 1.0)}),
        ("robustness-dirichlet", {"alphas": (5.0,)}),
        ("robustness-gaussian-orthant", {"coupling": 3.0}),
        ("exponential", {"rate": 0.0}),
        ("exponent", {"exponents": (1.0, 2.5)}),
        ("exponent", {"exponents": (1.5, 1.0)}),
        ("nonconvex", {"radii": (1.0, 0.5)}),
        ("limit", {"hard": (2.0,)}),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_runs(name, settings):
    with pytest.raises(ZfreeError):
        replace(EXPERIMENTS[name](), **settings).check()


def test_findings_say_no():
    """Numbers that contradict the paper, in every experiment that has findings of its own."""
    exponent = replace(EXPERIMENTS["exponent"](), exponents=(1.0, 1.5), trials=1)
    falling = {"sweep": {label: [{"μ": 2.0, "K": 2.0}, {"μ": 1.0, "K": 1.0}] for label in GAMMAS.values()}}
    record = {**falling, "errors": {name: {"μ": 1.0, "K": 1.0} for name in ("h₁", "auto")}}
    assert not any(f.holds for f in exponent.report([((800, 0), record)]).findings)

    nonconvex = replace(NonConvex(), sizes=(50, 100), trials=1)
    errors = {name: {"μ": 1.0, "K": 1.0} for name in (*nonconvex.contenders(), "MLE")}
    worse = {name: {"μ": 2.0, "K": 9.0} for name in errors}
    findings = nonconvex.report([((50, 0), {"errors": errors}), ((100, 0), {"errors": worse})]).findings
    assert [f.holds for f in findings[:4]] == [False, False, False, False]

    rate = replace(EXPERIMENTS["exponential"](), sizes=(50,), trials=2)
    rates = [{"MLE": 2.0, "φ₁": 2.1, "φ₂": x, "φ₃": 2.0, "h₁": 2.0, "h₂ (NSM)": 2.0, "auto": 2.0} for x in (1.0, 3.0)]
    assert not any(f.holds for f in rate.report([((50, k), {"rates": r}) for k, r in enumerate(rates)]).findings)


def test_what_the_text_says_of_every_size():
    experiment = replace(EXPERIMENTS["dirichlet"](), sizes=(200, 800), trials=1)

    def finding(*medians):
        records = [
            ((n, 0), {"errors": {name: {"α": m} for name in experiment.contenders}})
            for n, m in zip(experiment.sizes, medians, strict=True)
        ]
        (found,) = [
            f
            for f in experiment.report(records).findings
            if "at every N the median error of α with h₁ is between" in f.statement
        ]
        return found

    assert finding(7.0, 8.5).holds
    assert finding(7.0, 8.5).statement.endswith("with h₁ is between 6.8 and 8.6, as in the paper")
    assert not finding(7.0, 8.7).holds
    assert not finding(6.7, 8.5).holds
    exponent = replace(EXPERIMENTS["exponent"](), exponents=(0.2, 0.5), trials=1)
    sweep = {label: [{"μ": 1.0, "K": 2e5}, {"μ": 1.0, "K": 9e4}] for label in GAMMAS.values()}
    record = {"sweep": sweep, "errors": {name: {"μ": 1.0, "K": 1.0} for name in ("h₁", "auto")}}
    told = {f.statement: f.holds for f in exponent.report([((800, 0), record)]).findings}
    assert told["the median error of K at p = 0.2 is above 1.00e5, as in the paper"]
    assert not told["the median error of K at p = 0.5 is above 1.00e5, as in the paper"]


def test_order_and_factor():
    printed = {"a": (0.0, 1.0, 0.0), "b": (0.0, 2.0, 0.0), "c": (0.0, 3.0, 0.0)}
    assert same_order({"a": 1.0, "b": 1.5, "c": 9.0, "auto": 0.1}, printed, "").holds
    assert not same_order({"a": 1.0, "b": 3.0, "c": 2.0}, printed, "").holds
    assert within_factor({"a": 1.9, "b": 1.1, "c": 3.0}, printed, "").holds
    assert not within_factor({"a": 1.0, "b": 2.0, "c": 6.1}, printed, "").holds
    assert within_factor({"a": 1.0, "b": 2.0, "c": 6.1}, printed, "", without=("c",)).holds


def test_win_rates_and_ranks_by_hand():
    experiment = replace(EXPERIMENTS["robustness-dirichlet"](), truths=2, trials=3)
    rows = (*experiment.candidates, *experiment.extra)

    def record(truth, trial):
        # Truth 0: the k-th row has median error k + 1, except that auto is best. Truth 1: the other way round.
        order = rows if truth == 0 else rows[::-1]
        errors = {name: {"α": float(k + 1 + 10 * (trial - 1))} for k, name in enumerate(order)}
        if truth == 0:
            errors["auto"] = {"α": 0.5 + 10 * (trial - 1)}
        return {"errors": errors}

    report = experiment.report([(key, record(*key)) for key in experiment.plan()])
    found = {(n.table, n.row, n.column): n.ours for n in report.numbers}
    among = "α: the paper's candidates among themselves"
    assert found[among, "φ₁", "win rate"] == 0.5
    assert found[among, "h₁", "win rate"] == 0.5
    assert found[among, "φ₂", "win rate"] == 0.0
    assert found[among, "φ₁", "average rank"] == (1 + 6) / 2
    assert found[among, "φ₁", "median error"] == (1 + 9) / 2
    assert found["α: with auto in the field", "auto", "win rate"] == 1.0
    assert report.findings[-1].holds


def test_agreement_by_hand():
    scores = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    errors = np.array([[1.0, 2.0, 3.0], [4.0, 2.0, 5.0]])
    top, worst, mean, rho, tau = agreement(scores, errors)
    assert (top, worst, mean) == (0.5, 1.0, 0.5)
    assert rho == pytest.approx((1.0 + 0.5) / 2)
    assert tau == pytest.approx((1.0 + 1 / 3) / 2)


@pytest.mark.parametrize("order", sorted(set(ORDERS.values())))
def test_the_spread_of_the_exponential_estimators_is_the_theory(order):
    """4000 data sets of 2000: √N std / θ within four per cent, more for the heavy tail of k = 3."""
    x = np.random.default_rng(0).exponential(size=(4000, 2000))
    estimates = order * (x ** (order - 1)).mean(axis=1) / (x**order).mean(axis=1)
    assert np.sqrt(2000) * estimates.std() == pytest.approx(_spread(order), rel=0.04 if order < 3 else 0.12)


def test_the_boundary_term_by_volume_surface_and_simulation():
    experiment = NonConvex()
    domain, K = experiment.domain(), np.diag([1.0, 1.5, 0.5])
    mean = np.array([0.2, -0.1, 0.3])
    term = boundary_term(domain, zf.Barrier.log(scale="raw"), mean, K)
    assert np.allclose(term.volume, term.surface, rtol=1e-9, atol=1e-12)
    X = zf.samplers.sample_gaussian(domain, mean, K, 400_000, 0)
    theta = np.concatenate([K[term.model.rows, term.model.cols], K @ mean])
    problem = posed(term.model, zf.Barrier.log(scale="raw"), domain.hull, X)
    moments = problem.moments()
    seen = np.exp(moments.log_scale) * (moments.gamma.dense() @ theta + moments.g)
    spread = np.exp(moments.log_scale) * np.sqrt(np.diagonal(problem.influence_gram(theta, moments.log_scale))) / len(X)
    assert np.all(np.abs(seen - term.surface) < 4 * spread)
    assert np.abs(term.surface / spread).max() > 50  # the simulation would notice a wrong sign or factor


@pytest.mark.filterwarnings("ignore::zfree.errors.ZfreeWarning")
def test_the_hull_estimate_tends_to_the_predicted_limit():
    setting = NonConvex().setting()
    term = boundary_term(setting.domain, zf.Barrier.log(scale="raw"), setting.mean, setting.precision)
    X = setting.draw(200_000, np.random.default_rng(1))
    est = zf.TruncatedGaussian(setting.domain.hull, zf.Barrier.log(scale="raw")).fit(X)
    assert np.all(np.abs(est.precision_ - term.limiting_precision) < 4 * est.precision_se_)
    assert np.all(np.abs(est.precision_ - setting.precision).diagonal() > 20 * est.precision_se_.diagonal())


def test_the_smooth_weight_has_its_divergence():
    domain = NonConvex().domain()
    X = zf.samplers.sample_gaussian(domain, np.zeros(3), np.eye(3), 50, 0)
    weight = smooth_weight(domain)
    h = 1e-6
    numeric = np.stack([(weight.D(X + h * e) - weight.D(X - h * e)) / (2 * h) for e in np.eye(3)], axis=1)
    assert np.allclose(weight.divergence(X), numeric, rtol=1e-6, atol=1e-8)
