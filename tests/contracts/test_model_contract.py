"""Every model: score, Jacobian products, traces and Γ against automatic differentiation of its log-density."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import zfree as zf
from tests.contracts.tables import DOMAINS
from tests.sampling import interior
from zfree.data import Block
from zfree.fields import Dense
from zfree.generators import Generator, GeneratorValue, Vanishing
from zfree.models import (
    CustomModel,
    DirichletModel,
    ExponentialModel,
    GammaModel,
    GeneralizedGammaModel,
    LogNormalModel,
    PairwiseModel,
    cache_blocks,
)
from zfree.models.stein import SteinFunctions
from zfree.moments import Rows

NAMES = ("u", "v", "w")
PAIRS = (np.array([0, 0, 1, 2]), np.array([0, 2, 1, 2]))
CENTER = np.array([0.2, -0.1, 0.4])


def _pairwise(a, b, center=None, pairs=None, linear=True):
    """log p of the a–b family in torch, written from its definition."""
    rows, cols = np.triu_indices(3) if pairs is None else pairs

    def t(X):
        c = torch.zeros(3, dtype=X.dtype) if center is None else torch.tensor(center)
        u = (X.log() if a == 0 else X**a) - c
        scale = 1.0 if a == 0 else a
        out = [-(0.5 if j == k else 1.0) / scale * u[:, j] * u[:, k] for j, k in zip(rows, cols, strict=True)]
        if linear:
            power = X.log() if b == 0 else X**b / b
            out += [power[:, j] for j in range(3)]
        return torch.stack(out, dim=1)

    return t


P = np.random.default_rng(4).standard_normal((2, 4, 3))


def _stein_functions(X, a=1.0):
    """Integrals of 1, log u, u and u log u over x, u = x^a, divided by a."""
    log, up = X.log(), X ** (a + 1)
    terms = (X / a, X * log - X, up / (a + 1) / a, up * log / (a + 1) - up / (a + 1) ** 2)
    return torch.cat([sum(torch.tensor(p) * t for p, t in zip(w, terms, strict=True)) for w in P], dim=1)


LOG_BASE = lambda X: -X.log().sum(dim=1)  # noqa: E731

MODELS = {
    "gaussian": (PairwiseModel(NAMES), _pairwise(1, 1), None),
    "gaussian-centred": (PairwiseModel(NAMES, center=CENTER), _pairwise(1, 1, CENTER), None),
    "gaussian-masked": (PairwiseModel(NAMES, pairs=PAIRS), _pairwise(1, 1, pairs=PAIRS), None),
    "gaussian-known-mean": (
        PairwiseModel(NAMES, linear=False, center=CENTER),
        _pairwise(1, 1, CENTER, linear=False),
        None,
    ),
    "square-root": (PairwiseModel(NAMES, 0.5, 0.5, center=CENTER), _pairwise(0.5, 0.5, CENTER), None),
    "a=1.5,b=0.5": (PairwiseModel(NAMES, 1.5, 0.5), _pairwise(1.5, 0.5), None),
    "a=0.5,b=0": (PairwiseModel(NAMES, 0.5, 0.0), _pairwise(0.5, 0.0), None),
    "a=0,b=1": (PairwiseModel(NAMES, 0.0, 1.0, pairs=PAIRS), _pairwise(0.0, 1.0, pairs=PAIRS), None),
    "log-normal": (LogNormalModel(NAMES, center=CENTER), _pairwise(0, 0, CENTER), LOG_BASE),
    "dirichlet": (DirichletModel(NAMES), lambda X: X.log(), LOG_BASE),
    "exponential": (ExponentialModel(NAMES), lambda X: -X, None),
    "gamma": (GammaModel(NAMES), lambda X: torch.cat([X.log(), -X], dim=1), LOG_BASE),
    "generalized-gamma": (
        GeneralizedGammaModel(NAMES, 1.7),
        lambda X: torch.cat([X.log(), -(X**1.7)], dim=1),
        LOG_BASE,
    ),
    "generalized-gamma, a < 1": (
        GeneralizedGammaModel(NAMES, 0.4),
        lambda X: torch.cat([X.log(), -(X**0.4)], dim=1),
        LOG_BASE,
    ),
    "stein-functions-of-powers": (
        SteinFunctions(NAMES, ("shape", "rate"), P, whole=False, exponent=1.7),
        lambda X: _stein_functions(X, 1.7),
        None,
    ),
    "stein-functions": (SteinFunctions(NAMES, ("shape", "rate"), P, whole=False), _stein_functions, None),
    "custom-derivatives-given": (
        CustomModel(
            3,
            ["s", "q"],
            lambda X: np.stack([np.sin(X).sum(1), (X**2).sum(1)], 1),
            jacobian=lambda X: np.stack([np.cos(X), 2 * X], 1),
            hessian=lambda X: np.stack(
                [-np.sin(X)[:, :, None] * np.eye(3), np.ones_like(X)[:, :, None] * 2 * np.eye(3)], 1
            ),
            base=lambda X: -(X[:, 0] ** 3),
            base_gradient=lambda X: np.stack([-3 * X[:, 0] ** 2, 0 * X[:, 0], 0 * X[:, 0]], 1),
            base_hessian=lambda X: -6 * X[:, :1, None] * np.diag([1.0, 0.0, 0.0]),
        ),
        lambda X: torch.stack([X.sin().sum(1), (X**2).sum(1)], 1),
        lambda X: -(X[:, 0] ** 3),
    ),
}

FIELDS = {
    "scalar": ("Orthant", zf.BoundaryDistance()),
    "diagonal": ("Orthant", zf.Barrier(0.5, 0.3, scale="raw")),
    "rank one": ("SolidSimplex", zf.Barrier(1.2, 0.5, scale="raw")),
    "rank one, mixed sign": ("HalfSpace", zf.Barrier(1.0, 0.5, scale="raw")),
    "dense": ("Polytope", zf.Barrier(1.0, 0.5, scale="raw")),
    "block": ("Product", zf.Barrier(0.8, 0.2, scale="raw")),
}
FLAT = {
    "carried scalar": ("Simplex", zf.BoundaryDistance()),
    "carried diagonal": ("Simplex-drop-first", zf.SectionDistance("x")),
    "carried dense": ("Simplex", zf.Custom(lambda Y: np.eye(2) + Y[:, :, None] * Y[:, None, :], lambda Y: 3.0 * Y)),
}
"""Fields of a flat domain, where most of these families have a parameter too many for a fit."""
_SIZES = {
    "Orthant": zf.Orthant(3),
    "SolidSimplex": zf.SolidSimplex(3),
    "HalfSpace": zf.HalfSpace([1.0, 2.0, -0.5], 3.0),
    "Simplex": zf.Simplex(3),
    "Simplex-drop-first": zf.Simplex(3, drop=0),
}
_SIZES["Product"] = zf.Product([zf.Orthant(1), zf.SolidSimplex(2)])
_SIZES["Polytope"] = zf.Polytope.from_inequalities("x1 > 0, x2 > 0, x3 > 0, x1 + 2*x2 + x3 < 4, x1 - x2 < 1")


def _points(domain_name):
    if domain_name == "HalfSpace":
        return np.random.default_rng(2).uniform(0.1, 0.8, (7, 3))
    X = interior(_SIZES[domain_name], 40, seed=4)
    return X[(X > 0.02).all(axis=1)][:7]


class Written(Generator):
    """A value of a generator with its field written out."""

    intrinsic = True

    def __init__(self, value):
        weight = np.exp(value.log_weight)
        field = Dense(weight[:, None, None] * value.field.dense())
        self.value = GeneratorValue(np.zeros_like(weight), field, weight[:, None] * value.divergence)

    def on_domain(self, domain, X):
        return self.value

    def vanishing(self, domain):
        return Vanishing(True)

    def decay(self, domain):
        return None


def _torch_model(model, t, b):
    return CustomModel(3, model.names, t, base=b)


@pytest.mark.parametrize("name", MODELS)
def test_density_and_score_match_automatic_differentiation(name):
    model, t, b = MODELS[name]
    X, theta = _points("SolidSimplex"), np.random.default_rng(0).standard_normal(model.n_parameters)
    auto = _torch_model(model, t, b)
    assert np.allclose(model.statistics(X), auto.statistics(X))
    assert np.allclose(model.log_density(X, theta), auto.log_density(X, theta))
    assert np.allclose(model.score(X, theta), auto.score(X, theta))


@pytest.mark.parametrize("field", FIELDS | FLAT)
@pytest.mark.parametrize("name", MODELS)
def test_moments_influence_and_scores_match_automatic_differentiation(name, field):
    """Γ, g, ψ_i and S(x_i) with structure equal those of t and b differentiated by torch and dense products."""
    model, t, b = MODELS[name]
    domain_name, generator = (FIELDS | FLAT)[field]
    domain, X = _SIZES[domain_name], _points(domain_name)
    weight = np.random.default_rng(3).uniform(0.5, 2.0, len(X))
    theta = np.random.default_rng(5).standard_normal(model.n_parameters)
    rows = Rows(model, generator, domain, Block(X, weight))
    dense = Written(generator.evaluate(domain, X))
    auto = Rows(_torch_model(model, t, b), dense, domain, Block(X, weight))
    ours, theirs = rows.moments(), auto.moments()
    scale = np.exp(ours.log_scale)
    assert np.allclose(scale * ours.gamma.dense(), theirs.gamma.dense(), rtol=1e-9, atol=1e-11)
    assert np.allclose(scale * ours.g, theirs.g, rtol=1e-9, atol=1e-11)
    assert np.allclose(rows.influence(theta, 0.0), auto.influence(theta, 0.0), rtol=1e-9, atol=1e-11)
    assert np.allclose(rows.scores(theta, 0.0), auto.scores(theta, 0.0), rtol=1e-9, atol=1e-11)
    # ψ_i = w_i (Γ_i θ + g_i) sums to the moments' own gradient
    assert np.allclose(rows.influence(theta, ours.log_scale).sum(axis=1), ours.gamma_sum.dense() @ theta + ours.g_sum)


def _many_points(domain_name):
    """More rows than a block holds where blocks are as small as they get."""
    if domain_name == "HalfSpace":
        return np.random.default_rng(2).uniform(0.1, 0.8, (600, 3))
    return interior(_SIZES[domain_name], 600, seed=4)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("blocks", ["one block", "many blocks"])
def test_rows_and_sums_of_equations_are_a_jacobian_and_a_trace(name, field, blocks, monkeypatch):
    """ψ_i = J v_i + tr(D ∇²t), Σ w ψ and Σ w² ψ ψᵀ, with the columns of X in either memory order."""
    if blocks == "many blocks":
        monkeypatch.setattr(cache_blocks, "BLOCK_DOUBLES", 1)
    model = MODELS[name][0]
    domain_name, generator = FIELDS[field]
    X, rng = _many_points(domain_name), np.random.default_rng(6)
    D, V, weight = generator.evaluate(_SIZES[domain_name], X).field, rng.standard_normal(X.shape), rng.random(len(X))
    expected = model.apply_jacobian(X, V) + model.trace_hessian(X, D)
    for order in "CF":
        X_, V_ = np.array(X, order=order), np.array(V, order=order)
        prepared = model.at(X_)
        # rows next to the boundary are large, and sums lose what is small beside them
        assert np.allclose(prepared.stein(X_, V_, D), expected, rtol=1e-11, atol=1e-13 * np.abs(expected).max())
        total, size = prepared.stein_total(X_, V_, D, weight), np.abs(expected) @ weight
        assert np.all(np.abs(total - expected @ weight) <= 1e-12 * size)
        psi = expected * weight
        root = np.sqrt((psi**2).sum(axis=1))
        gram = prepared.stein_gram(X_, V_, D, weight)
        assert np.all(np.abs(gram - psi @ psi.T) <= 1e-12 * np.multiply.outer(root, root))
        assert np.array_equal(X_, X)
        assert np.array_equal(V_, V)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("blocks", ["one block", "many blocks"])
def test_sums_of_products_are_those_of_jacobians(name, field, blocks, monkeypatch):
    """Σ w J D Jᵀ with the structure of D against dense products, with more rows than parameters."""
    if blocks == "many blocks":
        monkeypatch.setattr(cache_blocks, "BLOCK_DOUBLES", 1)
    model = MODELS[name][0]
    domain_name, generator = FIELDS[field]
    X, rng = _many_points(domain_name), np.random.default_rng(6)
    D, weight = generator.evaluate(_SIZES[domain_name], X).field, rng.random(len(X))
    J = np.stack([model.apply_jacobian(X, np.tile(unit, (len(X), 1))) for unit in np.eye(3)])
    expected = np.einsum("n,jrn,njk,ksn->rs", weight, J, D.dense(), J, optimize=True)
    root = np.sqrt(np.diagonal(np.einsum("n,jrn,njk,ksn->rs", weight, np.abs(J), np.abs(D.dense()), np.abs(J))))
    for order in "CF":
        gram = model.gram(np.array(X, order=order), D, weight).dense()
        assert np.all(np.abs(gram - expected) <= 1e-12 * np.multiply.outer(root, root))


@pytest.mark.parametrize("name", ["gaussian-centred", "square-root", "log-normal"])
def test_natural_parameters_describe_the_same_density(name):
    model, _, b = MODELS[name]
    X, theta = _points("SolidSimplex"), np.random.default_rng(0).standard_normal(model.n_parameters)
    natural = model.natural_map() @ theta
    a = {"gaussian-centred": 1.0, "square-root": 0.5, "log-normal": 0.0}[name]
    plain = PairwiseModel(NAMES, a, a)
    base = 0.0 if b is None else model.base(X)
    # η x^b / b against η (x^a − c): the two differ by a constant only
    gap = model.log_density(X, theta) - plain.log_density(X, natural) - base
    assert np.allclose(gap, gap[0])


@pytest.mark.parametrize("which", ["mean", "precision", "covariance"])
@pytest.mark.parametrize(
    "name", ["gaussian", "gaussian-centred", "gaussian-masked", "gaussian-known-mean", "log-normal"]
)
def test_jacobians_of_other_parametrisations(name, which):
    model = MODELS[name][0]
    theta = np.random.default_rng(8).uniform(0.1, 0.3, model.n_parameters)
    theta[: model.n_pairs][model.rows == model.cols] = [2.0, 3.0, 2.5]
    names, values, jacobian = model.derived(theta)[which]()
    assert len(names) == len(values) == len(jacobian)
    numeric = np.empty_like(jacobian)
    for i, e in enumerate(np.eye(theta.size) * 1e-6):
        numeric[:, i] = (model.derived(theta + e)[which]().values - model.derived(theta - e)[which]().values) / 2e-6
    assert np.allclose(jacobian, numeric, atol=1e-7)


def test_every_domain_of_the_table_fits_a_gaussian():
    for name, domain in DOMAINS.items():
        X = interior(domain, 400, seed=11)
        generator = zf.Barrier(1.0) if domain.is_convex else zf.BoundaryDistance()
        est = zf.TruncatedGaussian(domain=domain, structure="diagonal", generator=generator)
        assert np.isfinite(est.fit(X).result_.theta).all(), name


def test_a_custom_model_never_answers_for_rows_that_have_changed():
    x = np.random.default_rng(0).gamma(3.0, 1.0, size=(50, 1))
    est = zf.ExponentialFamily(
        lambda X: torch.cat([X.log(), -X], dim=1), domain=zf.Orthant(1), generator=zf.Barrier.entropy(scale="raw")
    ).fit(x)
    new = x.copy()
    before = est.density_gradient(new)
    new *= 3.0
    assert not np.allclose(est.density_gradient(new), before)
