"""Draws from densities without a sampler of their own: poles at facets, curved domains, several modes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import zfree as zf
from zfree.errors import ImproperDensityError, SpecificationError
from zfree.models import CustomModel, PairwiseModel
from zfree.samplers import sample_model


def family(d, statistic, r, base=None):
    """An exponential family that is only ever evaluated."""

    def never(X):
        raise AssertionError("no derivative is needed to draw")

    more = {} if base is None else {"base": base, "base_gradient": never, "base_hessian": never}
    return CustomModel(d, [f"t{k}" for k in range(r)], statistic, never, never, **more)


@pytest.fixture(autouse=True)
def chains_in_one_column_too(monkeypatch):
    """Densities of one variable are drawn by inversion; here the chains are looked at."""
    monkeypatch.setattr("zfree.samplers.model.inversion_draws", lambda *_: None)


def trusted(*args, **kwargs):
    found = sample_model(*args, **{"random_state": 0, **kwargs})
    assert not found.exact
    assert not found.doubt
    return found.draws


@pytest.mark.parametrize("shape", [0.05, 0.114, 0.2, 3.0])
@pytest.mark.parametrize("written", ["power interaction", "family"])
def test_gamma_with_small_shapes(shape, written):
    law = stats.gamma(shape)
    if written == "family":
        model = family(1, lambda X: np.column_stack([np.log(X[:, 0]), -X[:, 0]]), 2)
        X = trusted(model, zf.Orthant(1), [shape - 1, 1.0], 5000)
    else:
        X = trusted(PairwiseModel(["x1"], a=0.5, b=0.0), zf.Orthant(1), [1.0, shape - 1], 5000)
    assert stats.kstest(X[:, 0], law.cdf).pvalue > 0.001
    share = law.cdf(1e-3)
    assert np.mean(X < 1e-3) == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 5000) + 1e-3)


def test_interacting_columns_with_poles():
    """x₁^(η₁) x₂^(η₂) exp(−½ uᵀKu / a) with u = √x, against a sum over a logarithmic grid."""
    model = PairwiseModel(["x1", "x2"], a=0.5, b=0.0)
    K, eta = np.array([[1.0, 0.8], [0.8, 2.0]]), np.array([-0.9, -0.5])
    X = trusted(model, zf.Orthant(2), np.r_[K[model.rows, model.cols], eta], 8000)
    y = np.linspace(-250, 5, 3000)
    a, b = np.meshgrid(y, y, indexing="ij")
    P = np.exp(np.column_stack([a.ravel(), b.ravel()]))
    weight = np.exp(
        -np.einsum("ni,ij,nj->n", np.sqrt(P), K, np.sqrt(P)) + (a * (eta[0] + 1) + b * (eta[1] + 1)).ravel()
    )
    weight /= weight.sum()
    for event in (
        lambda Z: Z[:, 0] < 1e-3,
        lambda Z: Z[:, 1] < 1e-3,
        lambda Z: (Z < 1e-2).all(axis=1),
        lambda Z: Z[:, 0] * Z[:, 1] > 0.1,
    ):
        share = weight @ event(P)
        assert np.mean(event(X)) == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 8000))


@pytest.mark.parametrize(
    ("domain", "theta", "law"),
    [
        (zf.Box([0, 0], [1, 2]), [-0.9, -0.5], stats.beta(0.1, 1)),
        (zf.SolidSimplex(2), [-0.9, 2.0], stats.beta(0.1, 4)),
        (zf.Polytope.from_inequalities("x1 > 0, x2 > 0, x1 + x2 < 1"), [-0.5, 2.0], stats.beta(0.5, 4)),
    ],
    ids=["box", "solid simplex", "polytope"],
)
def test_powers_on_bounded_domains(domain, theta, law):
    X = trusted(family(2, np.log, 2), domain, theta, 4000)
    assert domain.contains(X).all()
    assert stats.kstest(X[:, 0], law.cdf).pvalue > 0.001


def test_compositions_are_drawn_in_all_parts():
    X = trusted(family(3, np.log, 3), zf.Simplex(3, drop=0), [-0.9, 2.0, -0.5], 4000)
    assert np.allclose(X.sum(axis=1), 1.0)
    for j, (a, rest) in enumerate([(0.1, 3.5), (3.0, 0.6), (0.5, 3.1)]):
        assert stats.kstest(X[:, j], stats.beta(a, rest).cdf).pvalue > 0.001


def test_products_mix_kinds():
    domain = zf.Product([zf.Simplex(2), zf.Ball(1.0, d=1), zf.Orthant(1)])
    model = family(4, lambda X: np.column_stack([np.log(X[:, :2]), X[:, 2], -X[:, 3]]), 4)
    X = trusted(model, domain, [1.0, 0.5, 1.0, 2.0], 4000)
    assert stats.kstest(X[:, 0], stats.beta(2.0, 1.5).cdf).pvalue > 0.001
    assert stats.kstest(X[:, 2], lambda t: (np.exp(t) - np.exp(-1)) / (np.exp(1) - np.exp(-1))).pvalue > 0.001
    assert stats.kstest(X[:, 3], stats.expon(scale=0.5).cdf).pvalue > 0.001


def test_scales_are_learnt():
    model = family(2, lambda X: -0.5 * X**2, 2)
    X = trusted(model, zf.RealSpace(2), [1e-12, 1e12], 4000)
    assert stats.kstest(X[:, 0] / 1e6, "norm").pvalue > 0.001
    assert stats.kstest(X[:, 1] * 1e6, "norm").pvalue > 0.001


def test_heavy_tails():
    X = trusted(family(1, lambda X: -np.log1p(X**2), 1), zf.RealSpace(1), [1.5], 2000)
    assert stats.kstest(X[:, 0] * np.sqrt(2), stats.t(2).cdf).pvalue > 0.001


def test_shells_are_all_reached():
    domain = zf.Shells([0.2, 0.5, 1.0], d=2)
    X = trusted(family(2, lambda X: -0.5 * X**2, 2), domain, [1.0, 1.0], 6000)
    assert domain.contains(X).all()
    middle, ring = 1 - np.exp(-0.02), np.exp(-0.125) - np.exp(-0.5)
    share = middle / (middle + ring)
    assert np.mean(np.linalg.norm(X, axis=1) < 0.2) == pytest.approx(share, abs=5 * np.sqrt(share / 6000))


def test_distant_modes_are_told():
    """Two bumps a hundred deviations apart, one of which holds nearly everything: nobody can know their shares."""

    def base(X):
        return np.logaddexp(-0.5 * (X[:, 0] + 50) ** 2, -0.5 * (X[:, 0] - 50) ** 2 - 3.0)

    model = family(1, lambda X: 0 * X, 1, base)
    found = sample_model(
        model, zf.RealSpace(1), [1.0], 500, random_state=0, start=np.array([[-50.0], [50.0]]), patience=0.1
    )
    assert "split-R̂" in found.doubt


def test_a_pole_that_doubles_cannot_resolve_is_told():
    polytope = zf.Polytope.from_inequalities("x1 > 0, x2 > 0, x1 + x2 < 1")
    found = sample_model(family(2, np.log, 2), polytope, [-0.95, 2.0], 1000, random_state=0)
    assert "within rounding of the boundary" in found.doubt
    upper = family(1, lambda X: np.log(1 - X), 1)
    found = sample_model(upper, zf.Box([0.0], [1.0]), [-0.95], 1000, random_state=0)
    assert "within rounding of the boundary" in found.doubt


def test_statistics_that_overflow_far_out_are_no_obstacle():
    model = family(1, lambda X: np.column_stack([X[:, 0], -np.exp(X[:, 0])]), 2)  # a logarithm of a gamma
    X = trusted(model, zf.RealSpace(1), [2.0, 1.0], 3000)
    assert stats.kstest(np.exp(X[:, 0]), stats.gamma(2.0).cdf).pvalue > 0.001


def test_a_density_that_is_not_a_number_is_an_error():
    def broken(X):
        return np.where(X[:, 0] > 1.0, np.nan, 0.0)

    with pytest.raises(SpecificationError, match=r"nan at x = .* inside the domain"):
        sample_model(family(1, lambda X: -X, 1, broken), zf.Orthant(1), [1.0], 100, random_state=0)


def test_no_distribution_no_draws():
    model = family(1, lambda X: np.column_stack([np.log(X[:, 0]), 1 / X[:, 0], X[:, 0]]), 3)
    with pytest.raises(ImproperDensityError, match="x1 → ∞"):
        sample_model(model, zf.Orthant(1), [-2.0, -1.0, 1e-3], 10)
    with pytest.raises(ImproperDensityError, match="close to x1 = 0"):
        sample_model(model, zf.Orthant(1), [-2.0, 0.01, -1.0], 10)
    assert not sample_model(model, zf.Orthant(1), [-2.0, -1.0, -1e-3], 100, random_state=0).doubt


def test_a_ridge_is_found_by_the_chains():
    """Growing along x₁ = x₂ only, in a cone one degree wide."""
    model = family(2, lambda X: np.column_stack([-0.5 * X**2, X[:, 0] * X[:, 1]]), 3)
    assert model.normalisable(np.array([1.0, 1.0, 1.0001]), zf.RealSpace(2)).holds is not False
    with pytest.raises(ImproperDensityError, match="far out along"):
        sample_model(model, zf.RealSpace(2), [1.0, 1.0, 1.0001], 500, random_state=0)
    assert not sample_model(model, zf.RealSpace(2), [1.0, 1.0, 0.99], 500, random_state=0).doubt
