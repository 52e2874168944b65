"""How much of the covariance a fit computes, and that what it leaves out is refused with the remedy."""

from __future__ import annotations

import sys
import tracemalloc
import warnings
from contextlib import contextmanager

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import clone

import zfree as zf
from zfree.errors import NotPositiveDefiniteWarning, SpecificationError
from zfree.estimators import size
from zfree.estimators.checking import check_fit
from zfree.plotting import plot_intervals
from zfree.quadratic import Quadratic

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning")

RNG = np.random.default_rng(8)
POSITIVE = np.abs(RNG.normal(1.0, 0.8, size=(150, 3)))
GAMMAS = RNG.gamma([1.5, 3.0, 4.0], 0.5, size=(150, 3))
PARTS = RNG.dirichlet([2.0, 3.0, 4.0], size=150)
MANY = RNG.normal(size=(6000, 18)) @ RNG.normal(size=(18, 18))
WIDE = RNG.normal(1.0, 2.0, size=(200, 40))
WEIGHT = np.random.default_rng(2).uniform(0.5, 2.0, size=150)
NEIGHBOURS = np.abs(np.subtract.outer(np.arange(3), np.arange(3))) < 2
BARRIER = zf.Barrier(1.0, 0.0)

CASES = {
    "gaussian": (zf.Gaussian(), POSITIVE, None),
    "truncated": (zf.TruncatedGaussian(), POSITIVE, None),
    "sandwich": (zf.TruncatedGaussian(standard_errors="sandwich"), POSITIVE, None),
    "jackknife": (zf.TruncatedGaussian(standard_errors="jackknife"), POSITIVE, None),
    "groups": (zf.Gaussian(standard_errors="jackknife"), MANY, None),
    "groups, truncated": (zf.TruncatedGaussian(generator=BARRIER), np.abs(MANY), None),
    "weighted": (zf.TruncatedGaussian(), POSITIVE, WEIGHT),
    "ridge": (zf.TruncatedGaussian(ridge=0.05), POSITIVE, None),
    "fixed": (zf.TruncatedGaussian(fixed={"K[x1,x2]": 0.0, "eta[x3]": 1.0}), POSITIVE, None),
    "mask": (zf.TruncatedGaussian(mask=NEIGHBOURS), POSITIVE, WEIGHT),
    "known mean": (zf.TruncatedGaussian(mean=[1.0, 1.0, 1.0]), POSITIVE, None),
    "diagonal": (zf.TruncatedGaussian(structure="diagonal"), POSITIVE, None),
    "in groups": (zf.Gaussian(structure="diagonal"), WIDE, None),
    "in groups, sandwich": (zf.Gaussian(structure="diagonal", standard_errors="sandwich"), WIDE, None),
    "in groups, fixed, ridge": (zf.Gaussian(structure="diagonal", fixed={"eta[x3]": 0.1}, ridge=0.1), WIDE, None),
    "simplex": (zf.TruncatedGaussian(zf.Simplex(3)), PARTS, None),
    "log-normal": (zf.LogNormal(), POSITIVE, None),
    "powers": (zf.PowerInteraction(0.5, 0.0), GAMMAS, None),
    "dirichlet": (zf.Dirichlet(), PARTS, WEIGHT),
    "dirichlet, sandwich": (zf.Dirichlet(standard_errors="sandwich"), PARTS, None),
    "dirichlet, fixed": (zf.Dirichlet(fixed={"alpha[x1]": 2.0}), PARTS, None),
    "dirichlet, ridge": (zf.Dirichlet(BARRIER, ridge=0.01), PARTS, None),
    "gamma": (zf.Gamma(), GAMMAS, None),
    "gamma, sandwich": (zf.Gamma(standard_errors="sandwich", fixed={"rate[x2]": 2.0}), GAMMAS, WEIGHT),
    "exponential": (zf.Exponential(), GAMMAS, None),
}
every_case = pytest.mark.parametrize("case", CASES)


def _fit(case, covariance, **options):
    est, X, weight = CASES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPositiveDefiniteWarning)
        return clone(est).set_params(covariance=covariance, check=False, **options).fit(X, sample_weight=weight)


@every_case
def test_diagonal_has_the_standard_errors_of_the_whole(case):
    whole, some = _fit(case, "full").result_, _fit(case, "diagonal").result_
    assert np.array_equal(some.theta, whole.theta)
    for which in {"natural", *whole.model.reported}:
        a, b = some.parameters(which), whole.parameters(which)
        assert np.allclose(a.standard_errors, b.standard_errors, rtol=1e-7, atol=1e-13)
        assert np.allclose(a.sandwich_standard_errors, b.sandwich_standard_errors, rtol=1e-7, atol=1e-13)
        assert np.allclose(a.conf_int(), b.conf_int(), rtol=1e-6, atol=1e-9)
        assert (a.bias is None) == (b.bias is None)
    assert some.total_variance == pytest.approx(whole.total_variance)
    assert some.covariance_type == whole.covariance_type


def test_the_cases_are_what_they_are_called():
    kinds = {case: _fit(case, "full").result_ for case in ("groups", "groups, truncated", "jackknife", "sandwich")}
    assert [r.covariance_type for r in kinds.values()] == [
        "grouped jackknife",
        "grouped jackknife",
        "jackknife",
        "sandwich",
    ]
    assert not _fit("dirichlet", "full").result_.moments.symmetric
    assert not _fit("gamma", "full").result_.moments.symmetric


@every_case
def test_none_has_the_same_estimate_and_refuses_the_rest(case):
    whole, alone = _fit(case, "full"), _fit(case, None)
    result = alone.result_
    assert np.array_equal(result.theta, whole.result_.theta)
    for which in result.model.reported:
        assert np.allclose(result.parameters(which).values, whole.result_.parameters(which).values, rtol=1e-12)
    remedy = r'no standard errors were computed.*covariance=None.*pass covariance="diagonal" or "full"'
    asks = [
        lambda: result.standard_errors,
        lambda: result.bse,
        lambda: result.sandwich_standard_errors,
        lambda: result.covariance,
        lambda: result.z_values,
        lambda: result.p_values,
        lambda: result.conf_int(),
        lambda: result.conf_int(method="wald"),
        lambda: result.wald_test(),
        lambda: result.total_variance,
        lambda: plot_intervals(alone),
        *(lambda name=name: getattr(alone, name) for name in dir(type(alone)) if name.endswith("_se_")),
    ]
    for ask in asks:
        with pytest.raises(SpecificationError, match=remedy):
            ask()
    assert result.covariance_type == "none"


@every_case
def test_a_summary_says_what_there_is(case):
    alone, some = _fit(case, None).result_.summary(), _fit(case, "diagonal").result_.summary()
    assert "not computed (covariance=None)" in str(alone)
    assert "the covariance between parameters was not computed" in str(some)
    for text in (str(alone), alone._repr_html_(), str(some), some._repr_html_()):
        assert "nan" not in text.lower()
    estimates = some.to_frame()["estimate"]
    assert list(alone.to_frame().columns) == ["estimate"]
    assert np.allclose(alone.to_frame()["estimate"], estimates, rtol=1e-12)


def test_known_parameters_are_marked_without_standard_errors():
    lines = str(_fit("fixed", None).result_.summary("natural")).splitlines()
    (held,) = (line for line in lines if line.startswith("K[x1,x2]"))
    (free,) = (line for line in lines if line.startswith("K[x1,x1]"))
    assert held.split() == ["K[x1,x2]", "0", "fixed"]
    assert len(free.split()) == 2


def test_diagonal_refuses_what_needs_more():
    est = _fit("truncated", "diagonal")
    result = est.result_
    for ask in (lambda: result.covariance, result.wald_test, lambda: result.wald_test(np.eye(9)[:1])):
        with pytest.raises(SpecificationError, match=r'only standard errors were computed.*pass covariance="full"'):
            ask()
    message = r'standard errors of natural, mean, precision only, not of covariance: pass covariance="full"'
    with pytest.raises(SpecificationError, match=message):
        _ = est.covariance_se_
    assert np.allclose(result.parameters("covariance").values, np.linalg.inv(est.precision_)[np.triu_indices(3)])
    assert np.allclose(est.precision_se_, _fit("truncated", "full").precision_se_)
    assert plot_intervals(est) is not None


@pytest.mark.parametrize("asked", ["some", True, 1, np.array([1.0]), ["full"]])
def test_other_options_are_refused_before_anything_is_computed(asked, monkeypatch):
    monkeypatch.setattr("zfree.estimators.reading.keep_inside", None)  # what comes next
    with pytest.raises(SpecificationError, match='covariance must be "auto", "full", "diagonal" or None'):
        zf.Gaussian(covariance=asked).fit(POSITIVE)


@pytest.mark.parametrize("covariance", ["diagonal", None])
def test_a_combination_needs_all_of_it(covariance):
    with pytest.raises(
        SpecificationError, match=r'Combined weighs estimates by their covariance.*pass "full" or "auto"'
    ):
        zf.Gamma(zf.Combined(), covariance=covariance).fit(GAMMAS)
    assert zf.Gamma(zf.Combined(), covariance="full").fit(GAMMAS).result_.uncertainty.kind == "full"


@pytest.mark.parametrize("covariance", ["diagonal", None])
def test_the_fit_is_checked_all_the_same(covariance):
    found = zf.Gamma(covariance=covariance).fit(GAMMAS)
    whole = zf.Gamma().fit(GAMMAS).result_.fit_check
    assert found.result_.fit_check.p_value == whole.p_value
    assert found.check(GAMMAS).p_value > 0.001
    assert "share" not in " ".join(found.result_.notes)
    assert "–" in str(found.result_.selection)  # no criterion without all of the covariance


@pytest.mark.parametrize("covariance", ["diagonal", None])
def test_a_ranking_computes_what_it_needs(covariance):
    candidates = [zf.Barrier(1.0, 0.0), zf.Barrier.log()]
    found = zf.rank(zf.TruncatedGaussian(covariance=covariance), POSITIVE, candidates)
    whole = zf.rank(zf.TruncatedGaussian(), POSITIVE, candidates)
    assert [c.criterion for c in found] == [c.criterion for c in whole]
    assert str(found) == str(whole)


@pytest.mark.parametrize("covariance", ["full", "diagonal", None])
def test_a_constraint_that_binds_leaves_blanks(covariance):
    X = np.exp(1.5 * np.random.default_rng(0).standard_normal((80, 2)))
    est = zf.TruncatedGaussian(generator=BARRIER, positive_definite=True, covariance=covariance).fit(X)
    result = est.result_
    assert "standard errors  not " in str(result.summary())
    assert any("held at the edge" in note for note in result.notes)
    assert result.uncertainty.kind == covariance
    assert "nan" not in str(result.summary())
    if covariance is not None:
        assert np.isnan(result.standard_errors).all()
        assert np.isnan(est.precision_se_).all()
        held = clone(est).set_params(fixed={"K[x1,x2]": 0.0}).fit(X)
        assert list(np.isnan(held.result_.standard_errors)) == [name != "K[x1,x2]" for name in held.result_.names]


@pytest.mark.filterwarnings("ignore::zfree.errors.InfiniteVarianceWarning", "ignore::zfree.errors.BoundaryRowsWarning")
def test_rows_moved_inside_are_not_compared_without_standard_errors():
    X = GAMMAS.copy()
    X[::7, 0] = 0.0
    options = {"boundary": "clip", "boundary_eps": 1e-6, "check": False}
    notes = {c: zf.Gamma(BARRIER, covariance=c, **options).fit(X).result_.notes for c in ("full", "diagonal", None)}
    assert notes["diagonal"] == notes["full"]
    assert any("the estimate depends on boundary_eps: with 1e-07 instead of 1e-06" in note for note in notes["full"])
    (said,) = (note for note in notes[None] if "boundary_eps" in note and "moved inside" not in note)
    assert "was not checked, as there are no standard errors to compare with (covariance=None)" in said


def _peak(est, X):
    tracemalloc.start()
    try:
        est.fit(X)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_beyond_a_thousand_parameters_auto_is_diagonal():
    X = np.random.default_rng(0).normal(size=(300, 45))
    gamma = 8 * 1080**2
    est = zf.Gaussian(standard_errors="sandwich", check=False)
    peaks = {c: _peak(clone(est).set_params(covariance=c), X) for c in ("auto", "diagonal", "full", None)}
    assert est.fit(X).result_.uncertainty.kind == "diagonal"
    # The solver has Γ, its scaled copy and its factor; nothing of that size is added to them.
    assert peaks["auto"] < peaks[None] + 0.9 * gamma
    assert peaks["diagonal"] == pytest.approx(peaks["auto"], rel=0.05)
    assert peaks["full"] > peaks["auto"] + 0.9 * gamma
    assert zf.Gaussian(check=False).fit(X[:, :43]).result_.uncertainty.kind == "full"  # 989


@contextmanager
def _largest_step():
    """The most that one line of the library adds to the memory in use: an upper bound of what it allocates, if it frees nothing."""
    largest = [0]
    before = [0]

    def look():
        now, peak = tracemalloc.get_traced_memory()
        largest[0] = max(largest[0], peak - before[0])
        before[0] = now
        tracemalloc.reset_peak()

    def trace(frame, event, arg):
        if "zfree" not in frame.f_code.co_filename:
            return None
        look()
        return trace

    tracemalloc.start()
    before[0] = tracemalloc.get_traced_memory()[0]
    sys.settrace(trace)
    try:
        yield largest
    finally:
        sys.settrace(None)
        look()
        tracemalloc.stop()


@pytest.mark.parametrize("covariance", ["diagonal", "auto", None])
@pytest.mark.parametrize("generator", ["auto", zf.Identity(scale="natural")], ids=["theory", "identity"])
def test_columns_that_are_fitted_apart_never_see_a_matrix_over_all_parameters(covariance, generator, monkeypatch):
    def refuse(self):
        raise AssertionError("Γ was laid out")

    monkeypatch.setattr(Quadratic, "dense", refuse)
    d = 1500
    X = np.random.default_rng(0).normal(1.0, 2.0, size=(100, d))
    est = zf.Gaussian(generator, structure="diagonal", covariance=covariance)
    with _largest_step() as largest:
        est.fit(X)
        text = str(est.result_.summary())
        assert len(est.mean_) == d
    assert est.result_.theta.size == 2 * d
    assert "free parameters  3000" in text
    one = 8 * (2 * d) ** 2
    assert largest[0] < 0.6 * one  # K itself, over columns, is a quarter of it
    assert np.allclose(est.mean_, X.mean(axis=0))


def test_the_measure_sees_a_matrix():
    X = np.random.default_rng(0).normal(size=(300, 45))
    with _largest_step() as largest:
        zf.Gaussian(covariance="full", check=False).fit(X)
    assert largest[0] > 8 * 1080**2


def test_many_columns_fitted_apart_are_compared_with_draws_only_when_asked(monkeypatch):
    seen = []
    monkeypatch.setattr("zfree.estimators.checking.check_fit", lambda *a, **o: seen.append(a) or check_fit(*a, **o))
    X = np.random.default_rng(0).exponential(size=(1400, 1001))
    est = zf.Exponential(zf.Barrier(1.0, 0.0), covariance=None)
    assert "fit check" not in str(est.fit(X).result_.summary())
    est = zf.Exponential(covariance=None).fit(X)
    assert "run est.check(X)" in est.result_.fit_check.reason
    assert not seen


def test_memory_is_asked_for_what_is_computed(monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 40))
    gamma = 8 * 860**2

    def fits(copies, **options):
        monkeypatch.setattr(size, "available_bytes", lambda: copies * gamma + 16 * 40**3)
        try:
            zf.Gaussian(check=False, **options).fit(X)
        except SpecificationError:
            return False
        return True

    assert fits(size.COPIES)
    assert not fits(size.COPIES - 0.01)
    assert fits(size.WITHOUT_COVARIANCE, covariance="diagonal")
    assert not fits(size.WITHOUT_COVARIANCE - 0.01, covariance="diagonal")
    assert fits(size.ESTIMATE_ALONE, covariance=None)
    assert not fits(size.ESTIMATE_ALONE - 0.01, covariance=None)
    assert fits(0.05, covariance=None, structure="diagonal")


def test_the_memory_of_columns_fitted_apart_is_that_of_columns(monkeypatch):
    monkeypatch.setattr(size, "available_bytes", lambda: 2 * 10**8)
    X = np.random.default_rng(0).normal(1.0, 2.0, size=(30, 1500))
    options = {"structure": "diagonal", "check": False}
    assert zf.Gaussian(**options).fit(X).result_.theta.size == 3000  # eight matrices like Γ are 576 MB
    with pytest.raises(SpecificationError, match="576 MB"):
        zf.Gaussian(covariance="full", **options).fit(X)
