"""Questions to a result that have no answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import zfree as zf
from tests.refusals import P, X, check_refusal, hidden, put
from zfree.errors import DataError, DomainError, SpecificationError

EST = zf.TruncatedGaussian(generator=zf.Barrier()).fit(X)
RESULT = EST.result_
EDGE = zf.TruncatedGaussian(generator=zf.Barrier(), fixed={"K[x1,x2]": 0.0}).fit(X).result_

# name: what is done, the class of the error, regular expressions that the message must contain
MALFORMED = {
    "scores outside the domain": (
        lambda: RESULT.scores(put(X, (4, 1, -1.0))),
        DomainError,
        [r"1 of 60 rows are not inside Orthant\(3\)", r"row 4 \(x2 > 0, missed by 1\)", "estimator's own score"],
    ),
    "a score on the boundary": (lambda: RESULT.score(put(X, (4, 1, 0.0))), DomainError, [r"row 4 \(x2 > 0, equality"]),
    "a score of nothing": (lambda: RESULT.score(X[:0]), DataError, ["no rows", "filter"]),
    "a score of fewer columns": (lambda: RESULT.score(X[:, :2]), DataError, [r"\(rows, 3\)", r"\(60, 2\)"]),
    "a score of a vector": (lambda: RESULT.score(X[0]), DataError, [r"\(rows, 3\)", r"\(3,\)"]),
    "a score of NaN": (lambda: RESULT.score(put(X, (4, 1, np.nan))), DataError, ["nan in row 4, column 1", "impute"]),
    "a score of text": (lambda: RESULT.score([["a"] * 3]), DataError, ["X must be numbers", "'a'"]),
    "a score of masked rows": (lambda: RESULT.score(hidden(X, 4, 1)), DataError, [r"X\[4, 1\] is masked"]),
    "a level of zero": (lambda: RESULT.conf_int(0), SpecificationError, ["level", "between 0 and 1", " 0"]),
    "a level of 95": (lambda: RESULT.conf_int(95), SpecificationError, ["level", "such as 0.95", "95"]),
    "a level of NaN": (lambda: RESULT.conf_int(np.nan), SpecificationError, ["level", "nan"]),
    "a level that is text": (lambda: RESULT.conf_int("95%"), SpecificationError, ["level", "'95%'"]),
    "a score with no generator": (lambda: RESULT.score(X[:3], generator=5), SpecificationError, ["generator", "5"]),
    "a seed of a check": (lambda: EST.check(X, random_state="a"), SpecificationError, ["random_state", "'a'"]),
    "two levels": (lambda: RESULT.conf_int(0.9, alpha=0.1), SpecificationError, ["level", "alpha", "not both"]),
    "an alpha of 5": (lambda: RESULT.conf_int(alpha=5), SpecificationError, ["alpha", "between 0 and 1", "5"]),
    "an alpha that is text": (lambda: RESULT.conf_int(alpha="a"), SpecificationError, ["alpha", "'a'"]),
    "an unknown interval": (lambda: RESULT.conf_int(method=["wald"]), SpecificationError, ["method", "wald"]),
    "a level of a summary": (lambda: RESULT.summary(level=2), SpecificationError, ["level", "2"]),
    "rows of a summary": (lambda: RESULT.summary(rows=1.5), SpecificationError, ["rows", "whole number", "1.5"]),
    "a summary of a number": (lambda: RESULT.summary(5), SpecificationError, ["which", "5"]),
    "an unknown parametrisation": (lambda: RESULT.parameters("mu"), SpecificationError, ["'mu'", "natural", "mean"]),
    "a list of parametrisations": (lambda: RESULT.parameters(["mean"]), SpecificationError, ["no parametrisation"]),
    "a hypothesis of NaN": (lambda: RESULT.wald_test(np.full(9, np.nan)), SpecificationError, ["finite", "NaN"]),
    "a hypothesis about NaN": (lambda: RESULT.wald_test(value=np.nan), SpecificationError, ["finite", "NaN"]),
    "a hypothesis of another width": (
        lambda: RESULT.wald_test(np.ones(3)),
        SpecificationError,
        ["9 columns", r"\(1, 3\)"],
    ),
    "a hypothesis without rows": (lambda: RESULT.wald_test(np.ones((0, 9))), SpecificationError, [r"\(0, 9\)"]),
    "a hypothesis of three dimensions": (lambda: RESULT.wald_test(np.ones((1, 1, 9))), SpecificationError, ["shape"]),
    "a hypothesis twice": (lambda: RESULT.wald_test(np.ones((2, 9))), SpecificationError, ["not independent"]),
    "a hypothesis of text": (lambda: RESULT.wald_test("K = 0"), SpecificationError, ["R must be numbers", "K = 0"]),
    "a complex hypothesis": (lambda: RESULT.wald_test(1j * np.ones(9)), SpecificationError, ["R must be real"]),
    "more values than hypotheses": (
        lambda: RESULT.wald_test(np.eye(9)[:2], [1.0, 2.0, 3.0]),
        SpecificationError,
        ["value", "2, one per row", r"\(3,\)"],
    ),
    "a hypothesis about what is known": (lambda: EDGE.wald_test(np.eye(9)[1]), SpecificationError, ["not independent"]),
    "half a draw": (lambda: EST.sample(1.5), SpecificationError, ["draws n", "whole number", "1.5"]),
    "draws as text": (lambda: EST.sample("a"), SpecificationError, ["draws n", "'a'"]),
    "no number of draws": (lambda: zf.Gamma(zf.Barrier()).fit(X).sample(None), SpecificationError, ["draws n", "None"]),
    "no draws": (lambda: zf.Exponential().fit(X).sample(0), SpecificationError, ["draws n", "≥ 1", " 0"]),
    "negative draws": (lambda: zf.Dirichlet(zf.Barrier.log()).fit(P).sample(-1), SpecificationError, ["draws n", "-1"]),
    "draws of a power model": (
        lambda: zf.PowerInteraction(generator=zf.Barrier()).fit(X).sample(2.0),
        SpecificationError,
        ["draws n", "2.0"],
    ),
    "names for two of three columns": (
        lambda: RESULT.with_columns(["a", "b"]),
        SpecificationError,
        ["2 names", "3 columns"],
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_refusal(name):
    check_refusal(MALFORMED[name])


@pytest.mark.parametrize("read", [pd.DataFrame, pl.DataFrame, np.ma.masked_array, np.ndarray.tolist])
def test_scores_take_every_table(read):
    assert np.array_equal(RESULT.scores(read(X)), RESULT.scores(X))


def test_shares_with_four_decimals_are_scored_as_they_are_fitted():
    est = zf.Dirichlet(zf.Barrier.log(det_power=0.0)).fit(P)
    rounded = P.round(4)
    assert np.abs(rounded.sum(axis=1) - 1.0).max() > 5e-5
    closed = zf.Simplex.closure(rounded)
    assert est.result_.score(rounded) == pytest.approx(est.result_.score(closed), rel=1e-12)
    assert est.score(rounded) == pytest.approx(est.score(closed), rel=1e-12)


def test_a_long_summary_shows_its_beginning_and_says_how_to_get_the_rest():
    result = zf.Gaussian().fit(np.random.default_rng(0).normal(size=(700, 12))).result_
    text, everything = str(result.summary()), str(result.summary(rows=None))
    assert "… 48 more: summary(rows=None) shows all" in text
    assert "K[x12,x12]" not in text
    assert "K[x12,x12]" in everything
    assert "more:" not in everything
    assert len(everything.splitlines()) == len(text.splitlines()) + 48 - 1
    assert "48 more" in result.summary()._repr_html_()
    assert len(result.summary().to_frame()) == 12 + 78
    assert len(str(result.summary("mean", rows=3)).splitlines()) == len(str(result.summary("mean")).splitlines()) - 8


def test_a_large_condition_number_is_said_with_what_the_units_have_no_part_in():
    rows = np.random.default_rng(1).normal(size=(400, 2))
    plain, units = (zf.Gaussian().fit(rows * scale).result_ for scale in ([1.0, 1.0], [1e9, 1e-3]))
    assert units.scaled_condition_number == pytest.approx(plain.scaled_condition_number, rel=1e-6)
    assert f"{units.scaled_condition_number:.4g} without units" in str(units.summary())
    assert "without units" not in str(plain.summary())
    assert plain.scaled_condition_number < 3.0


def test_names_of_columns_can_come_after_the_fit():
    named = RESULT.with_columns(["a", "b", "c"])
    assert (
        named.names
        == zf.TruncatedGaussian(generator=zf.Barrier()).fit(pd.DataFrame(X, columns=list("abc"))).result_.names
    )
    assert named.parameters("mean").names == ("mean[a]", "mean[b]", "mean[c]")
    assert RESULT.names[0] == "K[x1,x1]"
    family = zf.ExponentialFamily(
        lambda X: -X,
        jacobian=lambda X: -np.ones((len(X), 1, 1)),
        hessian=lambda X: np.zeros((len(X), 1, 1, 1)),
        domain=zf.Orthant(1),
        generator=zf.Barrier(),
    ).fit(X[:, :1])
    with pytest.raises(SpecificationError, match="names="):
        family.result_.with_columns(["a"])
