"""Test functions of shape families: their weights against quadrature, their equations against dense products and published forms."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
import torch

import zfree as zf
from tests.contracts.test_model_contract import _SIZES, FIELDS, Written, _points
from tests.posed import posed, whole
from zfree.data import Block
from zfree.models import CustomModel, DirichletModel, GammaModel, GeneralizedGammaModel
from zfree.models.stein import SteinFunctions, best_functions, first_functions
from zfree.moments import Rows

NAMES = ("u", "v", "w")
ALPHA = np.array([0.4, 2.0, 5.0])
LOG_BASE = lambda X: -X.log().sum(dim=1)  # noqa: E731
TORCH = {
    "dirichlet": (DirichletModel(NAMES), lambda X: X.log(), lambda a: a),
    "gamma": (GammaModel(NAMES), lambda X: torch.cat([X.log(), -X], dim=1), lambda a: np.concatenate([a, 1 / a])),
    "generalized gamma": (
        GeneralizedGammaModel(NAMES, 1.7),
        lambda X: torch.cat([X.log(), -(X**1.7)], dim=1),
        lambda a: np.concatenate([a, 1 / a]),
    ),
}
HOME = {"dirichlet": zf.Simplex(3), "gamma": zf.Orthant(3), "generalized gamma": zf.Orthant(3)}


def _integrals(weights):
    """h in torch, from its definition: the integrals of 1, log x, x and x log x."""

    def h(X):
        log = X.log()
        terms = (X, X * log - X, X**2 / 2, X**2 * log / 2 - X**2 / 4)
        return torch.cat([sum(torch.tensor(p) * t for p, t in zip(w, terms, strict=True)) for w in weights], dim=1)

    return h


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", TORCH)
def test_equations_match_automatic_differentiation(name, field):
    """Γ = Σ J_h D J_tᵀ, g and ψ_i, for every structure of D."""
    model, t, _ = TORCH[name]
    domain_name, generator = FIELDS[field]
    domain, X = _SIZES[domain_name], _points(domain_name)
    rng = np.random.default_rng(3)
    weight, theta = rng.uniform(0.5, 2.0, len(X)), rng.standard_normal(model.n_parameters)
    weights = rng.standard_normal((len(model.kinds), 4, 3))
    tests = SteinFunctions(NAMES, model.kinds, weights, whole=name == "dirichlet")
    rows = Rows(model, generator, domain, Block(X, weight), tests)
    dense = Written(generator.evaluate(domain, X))
    auto = Rows(
        CustomModel(3, model.names, t, base=LOG_BASE),
        dense,
        domain,
        Block(X, weight),
        CustomModel(3, model.names, _integrals(weights)),
    )
    ours, theirs = rows.moments(), auto.moments()
    scale = np.exp(ours.log_scale)
    assert not ours.symmetric
    assert not theirs.symmetric
    assert np.allclose(scale * ours.gamma.dense(), theirs.gamma.dense(), rtol=1e-9, atol=1e-10)
    assert np.allclose(scale * ours.g, theirs.g, rtol=1e-9, atol=1e-10)
    assert np.allclose(rows.influence(theta, 0.0), auto.influence(theta, 0.0), rtol=1e-9, atol=1e-10)
    assert np.allclose(rows.influence(theta, ours.log_scale).sum(axis=1), ours.gamma_sum.dense() @ theta + ours.g_sum)


def _rows(name, n=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(ALPHA, n) if name == "dirichlet" else rng.gamma(ALPHA, [1.0, 1e6, 1e-6], (n, 3))


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", TORCH)
def test_the_short_way_to_the_equations_is_the_long_one(name, weighted, settled):
    """Six sums per column give what products with D and the Jacobians do."""
    model, _, theta = TORCH[name]
    X = _rows(name)
    weight = np.random.default_rng(1).uniform(0.1, 2.0, len(X)) if weighted else None
    generator = zf.SteinMoments(pilot=theta(ALPHA) if settled else None)
    short = posed(model, generator, HOME[name], X, weight)
    tests, rows = short.tests, whole(short)
    assert rows.short is not None
    ones = zf.Units(np.ones(3), np.ones(3))
    long = Rows(model, zf.Barrier(1.0, 0.0, scale=ones), HOME[name], Block(X, weight), tests)
    assert long.short is None
    field = long.value.field
    a, b = short.moments(), long.moments()
    gamma = tests.cross_gram(X, field, long.row_weight, model).dense()
    size = np.abs(tests.cross_gram(X, field, long.row_weight, model).dense()).max(axis=1, keepdims=True)
    assert np.allclose(a.gamma_sum.dense() / size, gamma / size, rtol=1e-11, atol=1e-12)
    assert np.allclose(a.gamma_sum.dense() / size, b.gamma_sum.dense() / size, rtol=1e-11, atol=1e-12)
    assert np.allclose(a.g_sum, b.g_sum, rtol=1e-10, atol=1e-12 * np.abs(a.g_sum).max())
    psi = rows.influence(theta(ALPHA), a.log_scale).sum(axis=1)
    total = a.gamma_sum.dense() @ theta(ALPHA) + a.g_sum
    assert np.allclose(psi, total, rtol=1e-8, atol=1e-9 * np.abs(a.g_sum).max())


@pytest.mark.parametrize("domain", [zf.Simplex(4), zf.Orthant(4)], ids=repr)
def test_the_weight_is_that_of_the_entropy_barrier(domain):
    X = np.random.default_rng(0).dirichlet(np.ones(4), 30)
    ours, barrier = (g.evaluate(domain, X) for g in (zf.SteinMoments(), zf.Barrier(1.0, 0.0, scale="raw")))
    assert np.allclose(ours.field.dense(), barrier.field.dense(), atol=1e-15)
    assert np.allclose(ours.divergence, barrier.divergence, atol=1e-13)
    assert not ours.log_weight.any()
    assert zf.SteinMoments().check(domain).holds


def _operator(f, slope, a, s, whole):
    return lambda x: (x - whole * x * x) * slope(x) + (a - s * x) * f(x)


BASIS = [
    (lambda x: mp.mpf(1), lambda x: mp.mpf(0)),
    (mp.log, lambda x: 1 / x),
    (lambda x: x, lambda x: mp.mpf(1)),
    (lambda x: x * mp.log(x), lambda x: 1 + mp.log(x)),
]


@pytest.mark.parametrize(
    ("a", "total", "rate"), [(0.3, 4.0, None), (2.0, 9.0, None), (0.6, None, 3.0), (5.0, None, 0.1)]
)
def test_weights_solve_the_projection_by_quadrature(a, total, rate):
    """The f with the smallest E[(A f + log x − E log x)²] in the span, by integrals in 30 digits."""
    with mp.workdps(30):
        s, whole, end = (total, 1, 1) if rate is None else (rate, 0, mp.inf)

        def density(x):
            return x ** (a - 1) * ((1 - x) ** (total - a - 1) if whole else mp.exp(-rate * x))

        points = [0, 0.01, 0.5, 1] if whole else [0, 0.01 / rate, a / rate, 10 * (1 + a) / rate, end]
        Z = mp.quad(density, points)

        def mean(g):
            return mp.quad(lambda x: g(x) * density(x), points) / Z

        A = [_operator(f, slope, a, s, whole) for f, slope in BASIS]
        S = mp.matrix(4, 4)
        for m in range(4):
            for n in range(4):
                S[m, n] = mean(lambda x, m=m, n=n: A[m](x) * A[n](x))
        right = mp.matrix([-mean(lambda x, m=m: A[m](x) * mp.log(x)) for m in range(4)])
        expected = np.array([float(v) for v in mp.lu_solve(S, right)])
    scale = None if rate is None else np.array([1.0 / rate])
    found = best_functions(np.array([a]), total, scale)[:, 0]
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("shape", [1e-3, 0.05, 1.0, 30.0, 1e3, 1e6])
@pytest.mark.parametrize("whole", [False, True])
def test_equations_are_nearly_the_likelihoods_for_small_and_large_parameters(shape, whole):
    """Squared correlation of A f with log x: the share of the information that one equation keeps."""
    rng = np.random.default_rng(0)
    x = np.maximum(rng.beta(shape, 3 * shape, 100_000) if whole else rng.gamma(shape, 1.0, 100_000), 1e-300)
    p = best_functions(np.array([shape]), 4 * shape if whole else None)[:, 0]
    log = np.log(x)
    f, slope = p[0] + p[1] * log + x * (p[2] + p[3] * log), p[1] / x + p[2] + p[3] * (1 + log)
    psi = (x - whole * x * x) * slope + shape * (1 - (4 if whole else 1 / shape) * x) * f
    assert np.corrcoef(psi, log)[0, 1] ** 2 > 0.99
    assert np.mean(f > 0) > 0.999  # draws grow with the parameter, so the field has one sign


def test_the_first_estimate_of_a_gamma_is_that_of_ye_and_chen():
    x = _rows("gamma")
    problem = posed(GammaModel(NAMES), zf.SteinMoments(), zf.Orthant(3), x)
    moments = problem.moments()
    k, rate = -np.linalg.solve(moments.gamma.dense(), moments.g).reshape(2, 3)
    n, log = len(x), np.log(x)
    inverse = (n * (x * log).sum(0) - log.sum(0) * x.sum(0)) / n**2  # the scale, as published
    assert np.allclose(rate, 1.0 / inverse, rtol=1e-9)
    assert np.allclose(k, x.mean(0) / inverse, rtol=1e-9)


def test_the_first_estimate_of_a_dirichlet_solves_its_equations():
    P = _rows("dirichlet")
    problem = posed(DirichletModel(NAMES), zf.SteinMoments(), zf.Simplex(3), P)
    moments = problem.moments()
    alpha = -np.linalg.solve(moments.gamma.dense(), moments.g)
    assert np.allclose(np.mean((1 - P) + (alpha - alpha.sum() * P) * np.log(P), axis=0), 0.0, atol=1e-12)
    assert np.allclose(first_functions(np.ones(3)), [[0] * 3, [1] * 3, [0] * 3, [0] * 3])


def test_prepared_functions_never_answer_for_other_rows():
    X, other = _rows("dirichlet", 20), _rows("dirichlet", 20, seed=1)
    weights = np.random.default_rng(0).standard_normal((1, 4, 3))
    plain = SteinFunctions(NAMES, ("alpha",), weights, whole=True)
    prepared = plain.at(X)
    prepared.first(X)
    for twin in (prepared, prepared.at(other)):
        assert np.array_equal(twin.first(other), plain.first(other))
        assert np.array_equal(twin.second(other), plain.second(other))
        assert np.array_equal(twin.first(X), plain.first(X))
