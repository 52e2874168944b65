"""zf.fit: a model without an estimator of its own."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import zfree as zf
from zfree.errors import DataError, DomainError, SpecificationError
from zfree.estimators import ModelEstimator
from zfree.models import (
    CustomModel,
    DirichletModel,
    ExponentialModel,
    GammaModel,
    GeneralizedGammaModel,
    LogNormalModel,
    Model,
    PairwiseModel,
    SeparableModel,
)

pytestmark = pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning")

RNG = np.random.default_rng(4)
NORMAL = RNG.normal([1.0, -0.5, 2.0], 1.0, size=(120, 3))
GAMMAS = RNG.gamma([1.5, 3.0], 0.5, size=(120, 2))
PARTS = RNG.dirichlet([2.0, 3.0, 4.0], size=120)
COLUMNS = ["dose", "weight", "age"]


class Quartic(SeparableModel):
    """log p = −a x⁴/4 − b x²/2 in every column."""

    kinds = ("a", "b")

    def statistics(self, X):
        return np.concatenate([-(X**4) / 4, -(X**2) / 2], axis=1)

    def first(self, X):
        return np.stack([-(X.T**3), -X.T])

    def second(self, X):
        return np.stack([-3 * X.T**2, -np.ones_like(X.T)])


def quartic_statistic(X):
    return np.concatenate([-(X**4) / 4, -(X**2) / 2], axis=1)


def quartic_jacobian(X):
    return np.stack([-(X**3), -X], axis=1)


def quartic_hessian(X):
    return np.stack([-3 * X**2, -np.ones_like(X)], axis=1)[..., None]


PAIRED = {
    "gaussian": (lambda c: PairwiseModel(c, center=NORMAL.mean(axis=0)), NORMAL, zf.RealSpace(3), zf.Gaussian()),
    "truncated": (PairwiseModel, np.abs(NORMAL), zf.Orthant(3), zf.TruncatedGaussian()),
    "truncated, simplex": (PairwiseModel, PARTS, zf.Simplex(3), zf.TruncatedGaussian(zf.Simplex(3))),
    "dirichlet": (DirichletModel, PARTS, zf.Simplex(3), zf.Dirichlet()),
    "gamma": (GammaModel, GAMMAS, zf.Orthant(2), zf.Gamma()),
    "gamma, instance": (GammaModel(("x1", "x2")), GAMMAS, zf.Orthant(2), zf.Gamma()),
    "generalized gamma": (lambda c: GeneralizedGammaModel(c, 1.5), GAMMAS, zf.Orthant(2), zf.GeneralizedGamma(1.5)),
}


@pytest.mark.parametrize("case", PAIRED)
def test_it_agrees_with_the_estimator(case):
    model, X, domain, estimator = PAIRED[case]
    given, own = zf.fit(model, X, domain=domain), estimator.fit(X)
    a, b = given.result_, own.result_
    assert a.names == b.names
    assert np.allclose(a.theta, b.theta, rtol=1e-7, atol=1e-9)
    assert np.allclose(given.theta_se_, b.standard_errors, rtol=1e-6, atol=1e-9)
    for which in b.model.reported:
        assert np.allclose(a.parameters(which).values, b.parameters(which).values, rtol=1e-7, atol=1e-9)
        assert np.allclose(a.parameters(which).conf_int(), b.parameters(which).conf_int(), rtol=1e-5, atol=1e-7)
    assert given.score(X) == pytest.approx(own.score(X), rel=1e-7)
    assert np.allclose(given.density_gradient(X), own.density_gradient(X), rtol=1e-6, atol=1e-7)
    assert given.sample(5, random_state=0).shape == (5, X.shape[1])
    assert given.check(X).verdict.split("(")[0] == own.check(X).verdict.split("(")[0]


def test_options_and_weights_are_those_of_every_estimator():
    weight = np.linspace(0.5, 2.0, len(GAMMAS))
    options = {"fixed": {"rate[x2]": 2.0}, "ridge": 0.01, "covariance": "diagonal", "standard_errors": "sandwich"}
    generator = zf.Barrier.log(det_power=0.0)
    given = zf.fit(GammaModel, GAMMAS, domain=zf.Orthant(2), generator=generator, sample_weight=weight, **options)
    own = zf.Gamma(generator, **options).fit(GAMMAS, sample_weight=weight)
    assert np.array_equal(given.theta_, own.result_.theta)
    assert np.array_equal(given.theta_se_, own.result_.standard_errors)
    assert given.generator_ == generator
    with pytest.raises(TypeError, match="structure"):
        zf.fit(GammaModel, GAMMAS, domain=zf.Orthant(2), structure="diagonal")


def test_a_model_of_ones_own():
    rng = np.random.default_rng(0)
    x = (rng.gamma(0.25, 4.0, size=(400, 1)) ** 0.25) * rng.choice([-1.0, 1.0], size=(400, 1))  # a = 1, b = 0
    found = zf.fit(Quartic, x, domain=zf.RealSpace(1), generator=zf.Identity())
    assert found.result_.names == ("a[x1]", "b[x1]")
    custom = CustomModel(1, ["a", "b"], quartic_statistic, quartic_jacobian, quartic_hessian)
    same = zf.fit(custom, x, domain=zf.RealSpace(1), generator=zf.Identity())
    assert np.allclose(same.theta_, found.theta_, rtol=1e-9)
    assert "Quartic: score-matching estimate" in str(found.result_.summary())
    assert np.allclose(found.density_gradient(x), -found.theta_[0] * x**3 - found.theta_[1] * x)
    draws = found.sample(200, random_state=0)
    assert draws.shape == (200, 1)
    assert draws.std() == pytest.approx(x.std(), rel=0.2)
    assert np.all(np.abs(found.theta_ - [1.0, 0.0]) < 4.0 * found.theta_se_)
    assert (
        len(zf.rank(ModelEstimator(Quartic, zf.RealSpace(1)), x, [zf.Identity(), zf.CoordinateWeight("exp(-x^2)")]))
        == 2
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_names_of_a_frame_become_the_columns_of_the_model(frame):
    table = frame(dict(zip(COLUMNS, np.abs(NORMAL).T, strict=True)))
    found = zf.fit(ExponentialModel, table, domain=zf.Orthant(3))
    assert found.result_.names == ("rate[dose]", "rate[weight]", "rate[age]")
    assert list(found.feature_names_in_) == COLUMNS
    ready = zf.fit(ExponentialModel(COLUMNS), table, domain=zf.Orthant(3))
    assert np.array_equal(ready.theta_, found.theta_)
    with pytest.raises(
        DataError, match=r"column 0 of X is 'dose', but the model was written for 'age' there\. Reorder or rename"
    ):
        zf.fit(ExponentialModel(COLUMNS[::-1]), table, domain=zf.Orthant(3))
    assert zf.fit(ExponentialModel(COLUMNS), np.abs(NORMAL), domain=zf.Orthant(3)).result_.names == found.result_.names


@pytest.mark.parametrize("model", [Quartic, Quartic(("x1", "x2")), GammaModel], ids=["class", "instance", "gamma"])
def test_it_can_be_cloned_and_pickled(model):
    found = zf.fit(model, GAMMAS, domain=zf.Box([0.0, 0.0], [9.0, 9.0]), check=False)
    copy = clone(found)
    assert copy.get_params()["check"] is False
    with pytest.raises(NotFittedError):
        _ = copy.theta_
    assert np.array_equal(copy.fit(GAMMAS).theta_, found.theta_)
    back = pickle.loads(pickle.dumps(found))
    assert np.array_equal(back.theta_, found.theta_)
    assert back.score(GAMMAS) == found.score(GAMMAS)
    assert str(back.result_.summary()) == str(found.result_.summary())
    assert clone(found).set_params(model=GammaModel).fit(GAMMAS).result_.names[0] == "shape[x1]"


def test_an_uncentred_gaussian_has_the_same_estimate():
    given, own = zf.fit(PairwiseModel, NORMAL, domain=zf.RealSpace(3)), zf.Gaussian().fit(NORMAL)
    for which in ("mean", "precision", "natural"):
        a, b = given.result_.parameters(which), own.result_.parameters(which)
        assert np.allclose(a.values, b.values, rtol=1e-9)
        assert np.allclose(a.sandwich_standard_errors, b.sandwich_standard_errors, rtol=1e-7)


def test_a_model_in_the_chart_of_a_simplex():
    """A model of one column less than a composition has parts is written in those that are kept."""
    kept = zf.Simplex(3).chart.domain
    inner = zf.fit(PairwiseModel(("x1", "x2")), PARTS, domain=zf.Simplex(3))
    assert inner.domain_ == kept
    assert np.allclose(inner.theta_, zf.fit(PairwiseModel, PARTS[:, :2], domain=kept).theta_)
    assert np.allclose(inner.sample(4, random_state=0).sum(axis=1), 1.0)


@pytest.mark.parametrize("model", [None, 3, "gamma", zf.Gamma(), np.eye(2), lambda columns: columns, dict])
def test_what_is_no_model_is_refused(model):
    with pytest.raises(SpecificationError, match=r"model must be a zfree\.models\.Model|makes no model of the names"):
        zf.fit(model, GAMMAS, domain=zf.Orthant(2))


def test_a_class_that_needs_more_says_so():
    with pytest.raises(
        SpecificationError,
        match=r"(?s)GeneralizedGammaModel.*makes no model of the names of the columns, \('x1', 'x2'\) \(TypeError: .*a function of these names alone",
    ):
        zf.fit(GeneralizedGammaModel, GAMMAS, domain=zf.Orthant(2))
    with pytest.raises(SpecificationError, match="makes no model"):
        zf.fit(Model, GAMMAS, domain=zf.Orthant(2))  # abstract


def test_columns_must_match():
    with pytest.raises(DataError, match=r"X has 2 columns but the model 'Gamma' has 3\. Select the columns"):
        zf.fit(GammaModel(COLUMNS), GAMMAS, domain=zf.Orthant(2))
    with pytest.raises(DataError, match=r"X has 2 columns but the domain Orthant\(3\) has 3"):
        zf.fit(GammaModel, GAMMAS, domain=zf.Orthant(3))


def test_the_domain_is_needed_and_holds_the_rows():
    with pytest.raises(TypeError, match="domain"):
        zf.fit(GammaModel, GAMMAS)
    with pytest.raises(SpecificationError, match=r"needs the domain that the data live in, such as zf\.RealSpace\(2\)"):
        zf.fit(GammaModel, GAMMAS, domain=None)
    with pytest.raises(SpecificationError, match="domain must be a domain"):
        zf.fit(GammaModel, GAMMAS, domain="orthant")
    with pytest.raises(DomainError, match="Row 0 breaks"):
        zf.fit(GammaModel, -GAMMAS, domain=zf.Orthant(2))


@pytest.mark.parametrize("domain", [zf.RealSpace(2), zf.Box([-1.0, 0.0], [50.0, 50.0])])
@pytest.mark.parametrize("model", [GammaModel, LogNormalModel, lambda columns: PairwiseModel(columns, a=0.5, b=0.5)])
def test_a_model_of_positive_columns_needs_a_domain_of_such(model, domain):
    X = np.random.default_rng(0).gamma(2.0, 1.0, (200, 2))
    with pytest.raises(SpecificationError, match=r"positive columns.*Orthant"):
        zf.fit(model, X, domain=domain, check=False)
    for home in (zf.Orthant(2), zf.Box([0.0, 0.0], [50.0, 50.0])):
        zf.fit(model, X, domain=home, generator=zf.Barrier.log(0.0), check=False)
