"""What one tries first: a series, a fitted attribute before the fit, too many columns."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import zfree as zf
from tests.refusals import X
from zfree import memory
from zfree.errors import SpecificationError
from zfree.estimators import size

# Not drawn from the models that are fitted.
pytestmark = pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning")

LINE = zf.ExponentialFamily(
    lambda X: np.concatenate([X, -0.5 * X**2], axis=1),
    jacobian=lambda X: np.stack([np.ones_like(X), -X], axis=1),
    hessian=lambda X: np.stack([np.zeros_like(X), -np.ones_like(X)], axis=1)[..., None],
)
ONE_COLUMN = {
    "Gaussian": zf.Gaussian(),
    "TruncatedGaussian": zf.TruncatedGaussian(),
    "TruncatedGaussian-box": zf.TruncatedGaussian(zf.Box(0, 100)),
    "LogNormal": zf.LogNormal(),
    "PowerInteraction": zf.PowerInteraction(),
    "Exponential": zf.Exponential(),
    "Gamma": zf.Gamma(),
    "ExponentialFamily": LINE,
}


@pytest.mark.parametrize("name", ONE_COLUMN)
def test_a_column_may_be_a_vector_or_a_series(name):
    x = X[:, 0]
    table = clone(ONE_COLUMN[name]).fit(x[:, None])
    for vector in (x, x.tolist(), pd.Series(x), pl.Series(x)):
        est = clone(ONE_COLUMN[name]).fit(vector)
        assert np.allclose(est.result_.theta, table.result_.theta, rtol=1e-12)
        assert est.result_.names == table.result_.names
        assert est.score(vector) == pytest.approx(table.score(x[:, None]), rel=1e-9)


@pytest.mark.parametrize("read", [pd.Series, pl.Series])
def test_a_series_gives_its_name(read):
    series = read(X[:, 0], name="income") if read is pd.Series else read("income", X[:, 0])
    est = zf.LogNormal().fit(series)
    assert est.result_.parameters("mean").names == ("mean[income]",)
    assert np.isfinite(est.score(series))


ATTRIBUTES = {
    "TruncatedGaussian": (
        zf.TruncatedGaussian(),
        ["mean_", "mean_se_", "precision_", "precision_se_", "covariance_se_"],
    ),
    "Dirichlet": (zf.Dirichlet(), ["alpha_", "alpha_se_", "result_", "domain_", "generator_", "n_features_in_"]),
    "Gamma": (zf.Gamma(), ["shape_", "rate_se_", "feature_names_in_"]),
    "PowerInteraction": (zf.PowerInteraction(), ["eta_", "precision_se_"]),
    "ExponentialFamily": (LINE, ["theta_", "theta_se_"]),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_a_fitted_attribute_before_the_fit_says_so(name):
    est, attributes = ATTRIBUTES[name]
    for attribute in attributes:
        with pytest.raises(NotFittedError, match=rf"{name} is not fitted yet, so it has no {attribute}: call fit"):
            getattr(est, attribute)
        assert not hasattr(est, attribute)


def test_other_attributes_are_missing_as_everywhere():
    for est in (zf.Gamma(), zf.Gamma(zf.Barrier.log()).fit(X)):
        for attribute in ("colour", "_colour_", "__colour__"):
            with pytest.raises(AttributeError, match=f"'Gamma' object has no attribute '{attribute}'") as raised:
                getattr(est, attribute)
            assert not isinstance(raised.value, NotFittedError)
    with pytest.raises(AttributeError, match="no attribute 'colour_'"):
        zf.Gamma(zf.Barrier.log()).fit(X).colour_  # noqa: B018


def test_copies_and_pickles_do_not_ask_for_attributes():
    est = zf.TruncatedGaussian(generator=zf.Barrier())
    assert copy.deepcopy(est).get_params() == pickle.loads(pickle.dumps(est)).get_params()
    fitted = est.fit(X)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).mean_, copy.copy(fitted).mean_)


@pytest.mark.parametrize(
    "est",
    [zf.Gaussian(), zf.TruncatedGaussian(), zf.LogNormal(), zf.PowerInteraction()],
    ids=lambda e: type(e).__name__,
)
def test_a_gaussian_too_large_for_any_memory_is_refused_before_it_is_built(est):
    rows = 1.0 + np.random.default_rng(0).random((3000, 2900))
    with pytest.raises(SpecificationError) as raised:
        est.fit(rows)
    message = str(raised.value)
    assert "K over 2900 columns needs about" in message
    assert "4,209,350 × 4,209,350, takes 142 TB" in message
    assert 'structure="diagonal"' in message
    assert "mask=" in message
    assert "fewer columns" in message


@pytest.mark.filterwarnings("ignore::zfree.errors.NotPositiveDefiniteWarning")
def test_what_fits_into_memory_is_decided_by_the_entries_of_K_and_the_domain(monkeypatch):
    rows = np.random.default_rng(0).dirichlet(np.ones(31), size=800)[:, :30]
    polytope = zf.Polytope(*zf.SolidSimplex(30).inequalities)

    def fit(domain, **options):
        return zf.TruncatedGaussian(domain, zf.Barrier(), ridge=1e-3, **options).fit(rows).result_

    gamma = 8 * 495**2
    monkeypatch.setattr(size, "available_bytes", lambda: size.COPIES * gamma + 16 * 30**3)
    assert fit(zf.SolidSimplex(30)).theta.size == 495
    with pytest.raises(SpecificationError, match="K over 30 columns"):  # (d, d, d, d) sums
        fit(polytope)
    with pytest.raises(SpecificationError, match="K over 31 columns"):
        zf.Gaussian().fit(np.random.default_rng(0).normal(size=(800, 31)))
    monkeypatch.setattr(size, "available_bytes", lambda: gamma)
    with pytest.raises(SpecificationError, match=r"16\.1 MB of memory, and 1\.96 MB are available"):
        fit(zf.SolidSimplex(30), mask=np.ones((30, 30)))
    assert fit(zf.SolidSimplex(30), structure="diagonal").theta.size == 60
    assert fit(zf.SolidSimplex(30), mask=np.eye(30)).theta.size == 60


def test_an_allocation_that_fails_all_the_same_is_explained(monkeypatch):
    def fail(*_args, **_options):
        raise MemoryError("Unable to allocate 3 GiB")

    monkeypatch.setattr("zfree.models.pairwise.PairwiseModel.gram", fail)
    with pytest.raises(SpecificationError, match=r"60 rows and 3 columns \(Unable to allocate 3 GiB\).*structure="):
        zf.TruncatedGaussian(generator=zf.Barrier()).fit(X)


def test_memory_is_read_from_the_system_and_falls_back(monkeypatch, tmp_path):
    assert 2**20 < memory.available_bytes() < 2**60
    monkeypatch.setattr(memory, "_machine", lambda: 1000)
    monkeypatch.setattr(memory, "_process", lambda: [700])
    assert memory.available_bytes() == 700
    monkeypatch.setattr(memory, "_container", lambda: [-5])
    assert memory.available_bytes() == 0


@pytest.mark.parametrize(("n", "text"), [(1.5e12, "1.5 TB"), (2.04e9, "2.04 GB"), (3e6, "3 MB"), (10.0, "0.01 kB")])
def test_sizes_in_words(n, text):
    assert memory.in_words(n) == text
