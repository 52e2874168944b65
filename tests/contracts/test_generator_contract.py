"""Every generator: divergence against finite differences, and the word it gives about the boundary."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.contracts.tables import CONVEX, DOMAINS, GENERATORS
from tests.reference import check_field, column_divergence
from tests.sampling import interior, near_boundary

_OWN = {type(domain): name for name, domain in reversed(DOMAINS.items()) if not isinstance(domain, zf.Product)}
"""The first row of every class in the table."""
BOUNDED = [n for n in _OWN.values() if n in CONVEX and DOMAINS[n].has_boundary and DOMAINS[n].chart is None]
NOT_CONVEX = [
    n for n in DOMAINS if n not in CONVEX and not isinstance(DOMAINS[n], zf.Product) and DOMAINS[n].dimension > 1
]
ALL_POSITIVE = ["Orthant", "SolidSimplex"]
POSITIVE_ONLY = ["x", "log(1+x)", "min(x, 0.2)", "function"]
"""Weights that are positive on the first domains only."""
OWN_WORD = ["Custom", "Custom-automatic"]
"""What the user says about the boundary, nobody can check."""


def _applies(name, domain_name):
    if name in ("Barrier", "SteinMoments"):
        return domain_name not in NOT_CONVEX
    return name not in POSITIVE_ONLY or domain_name in ALL_POSITIVE


PAIRS = [(g, d) for g in GENERATORS for d in BOUNDED + NOT_CONVEX if _applies(g, d)]


@pytest.mark.parametrize(("name", "domain_name"), PAIRS)
def test_divergence_matches_finite_differences(name, domain_name):
    generator, domain = GENERATORS[name], DOMAINS[domain_name]
    X = interior(domain, 4, seed=3)

    def matrix(y):
        value = generator.evaluate(domain, y[None])
        return np.exp(value.log_weight[0]) * value.field.dense()[0]

    value = generator.evaluate(domain, X)
    divergence = np.exp(value.log_weight)[:, None] * value.divergence
    for x, div in zip(X, divergence, strict=True):
        by_differences = column_divergence(matrix, x, step=1e-6)
        assert np.allclose(div, by_differences, rtol=1e-6, atol=1e-7)


NATURAL = [
    zf.Barrier(0.8, 0.3),
    zf.Identity(scale="natural"),
    zf.CoordinateWeight("x^2", scale="natural"),
    zf.SectionDistance("x", scale="natural"),
    zf.BoundaryDistance(scale="natural"),
]


@pytest.mark.parametrize("domain_name", [*BOUNDED, "Box-half-infinite", "Product", "Simplex"])
@pytest.mark.parametrize("generator", NATURAL, ids=repr)
def test_divergence_in_the_units_of_the_data(generator, domain_name):
    domain = DOMAINS[domain_name]
    X = interior(domain, 60, seed=3)
    measuring = generator.in_units(zf.Units.of(domain, X))
    chart = None if generator.intrinsic else domain.chart
    if domain.chart is not None:  # differences are taken in the chart, where every coordinate can move
        measuring = measuring if chart is None else measuring._for_columns(chart.kept)
        if chart is None:
            return _check_along_the_plane(measuring, domain, X[:4])
        domain, X = chart.domain, chart.pull(X)
    value = measuring.on_domain(domain, X[:4])
    for x, div, weight in zip(X, value.divergence, value.log_weight, strict=False):
        by_differences = column_divergence(lambda y: _matrix(measuring, domain, y), x, step=1e-6)
        assert np.allclose(np.exp(weight) * div, by_differences, rtol=1e-6, atol=1e-7)
    return None


def _matrix(generator, domain, y):
    value = generator.on_domain(domain, y[None])
    return np.exp(value.log_weight[0]) * value.field.dense()[0]


def _check_along_the_plane(generator, domain, X):
    """On a flat domain x = C y + c the divergence is that of C⁺ D C⁺ᵀ in y, carried back."""
    C, pull = domain.chart.matrix, np.linalg.pinv(domain.chart.matrix)
    value = generator.on_domain(domain, X)
    for x, div, weight in zip(X, value.divergence, value.log_weight, strict=True):

        def inner(y):
            return pull @ _matrix(generator, domain, domain.chart.push(y[None])[0]) @ pull.T

        by_differences = column_divergence(inner, domain.chart.pull(x[None])[0], step=1e-6)
        assert np.allclose(np.exp(weight) * div, C @ by_differences, rtol=1e-6, atol=1e-7)


FLAT = [n for n, domain in DOMAINS.items() if domain.chart is not None]


@pytest.mark.parametrize("domain_name", FLAT)
@pytest.mark.parametrize("name", [n for n, g in GENERATORS.items() if not g.intrinsic])
def test_the_field_of_a_chart_is_carried_over_in_its_structure(name, domain_name):
    generator, domain = GENERATORS[name], DOMAINS[domain_name]
    X, chart = interior(domain, 5), domain.chart
    inner, carried = generator.on_domain(chart.domain, chart.pull(X)), generator.evaluate(domain, X)
    check_field(carried.field, chart.matrix @ inner.field.dense() @ chart.matrix.T)
    assert np.allclose(carried.divergence, inner.divergence @ chart.matrix.T)
    structured = inner.field.parts.dense is None
    assert (carried.field.parts.dense is None) == (carried.field.along().dense is None) == structured


@pytest.mark.parametrize("name", POSITIVE_ONLY)
@pytest.mark.parametrize("domain_name", [d for d in BOUNDED + NOT_CONVEX if d not in ALL_POSITIVE])
def test_a_weight_that_is_not_positive_is_refused(name, domain_name):
    domain = DOMAINS[domain_name]
    X = interior(domain, 200, seed=3)
    assert np.any(X <= 0)
    with np.errstate(invalid="ignore"), pytest.raises(zf.errors.SpecificationError, match="must be positive"):
        GENERATORS[name].evaluate(domain, X)


@pytest.mark.parametrize(("name", "domain_name"), [pair for pair in PAIRS if pair[0] not in OWN_WORD])
def test_the_word_about_the_boundary_is_true(name, domain_name):
    """n·D n, measured on the way to the boundary, vanishes exactly when the generator says so."""
    generator, domain = GENERATORS[name], DOMAINS[domain_name]
    said = generator.check(domain).holds
    flux = []
    for distance in (1e-2, 1e-6):
        X = near_boundary(domain, 400, distance, seed=5)
        X = X[np.abs(X).max(axis=1) < 5]  # far out, a weight may vanish for another reason
        _, gradient = domain.boundary_distance(X)
        n = gradient / np.linalg.norm(gradient, axis=1, keepdims=True)
        value = generator.evaluate(domain, X)
        flux.append(np.einsum("nj,nj->n", n, value.field.apply(n)) * np.exp(value.log_weight))
    assert (flux[1].max() < 0.05 * flux[0].max()) == said


def test_members_of_the_family():
    """h(x) = x is (p=1, γ=0) and h(x) = x² is (p=0, γ=0) on the orthant; ℝᵈ with any power is the identity."""
    X = interior(DOMAINS["Orthant"], 6)
    for h, p in (("x", 1.0), ("x^2", 0.0)):
        weight = zf.CoordinateWeight(h).evaluate(DOMAINS["Orthant"], X)
        barrier = zf.Barrier(p, 0.0, scale="raw").evaluate(DOMAINS["Orthant"], X)
        assert np.allclose(weight.field.dense(), barrier.field.dense(), rtol=1e-12)
        assert np.allclose(weight.divergence, barrier.divergence, rtol=1e-12)
    Y = interior(DOMAINS["RealSpace"], 6)
    value = zf.Barrier(0.3, 0.5, scale="raw").evaluate(DOMAINS["RealSpace"], Y)
    assert np.array_equal(value.field.dense(), np.broadcast_to(np.eye(3), (6, 3, 3)))
    assert not value.divergence.any()


def test_paper_potentials_by_automatic_differentiation():
    """φ₁, φ₂, φ₃ typed as the paper writes them give the Barrier's field, weight and divergence."""
    domain = zf.SolidSimplex(3)
    X = interior(domain, 5)
    papers = {
        4 / 3: lambda x: 9 / 4 * ((x ** (4 / 3)).sum() + (1 - x.sum()) ** (4 / 3)),
        1.0: lambda x: (x * x.log()).sum() + (1 - x.sum()) * (1 - x.sum()).log(),
        0.0: lambda x: -x.log().sum() - (1 - x.sum()).log(),
    }
    for p, phi in papers.items():
        ours = zf.Barrier(p, scale="raw").evaluate(domain, X)
        theirs = zf.Barrier(potential=zf.ConvexFunction(phi, vanishing=True), scale="raw").evaluate(domain, X)
        assert np.allclose(ours.field.dense(), theirs.field.dense(), rtol=1e-9, atol=1e-12)
        assert np.allclose(ours.log_weight, theirs.log_weight, atol=1e-9)
        assert np.allclose(ours.divergence, theirs.divergence, rtol=1e-9, atol=1e-11)


def test_custom_potential_on_the_simplex_is_taken_along_it():
    domain = zf.Simplex(4, drop=1)
    X = interior(domain, 5)
    theirs = zf.Barrier(
        potential=zf.ConvexFunction(lambda x: (x * x.log()).sum(), vanishing=True), scale="raw"
    ).evaluate(domain, X)
    ours = zf.Barrier.entropy(scale="raw").evaluate(domain, X)
    assert np.allclose(ours.field.dense(), theirs.field.dense(), atol=1e-12)
    assert np.allclose(ours.log_weight, theirs.log_weight, atol=1e-9)
    assert np.allclose(ours.divergence, theirs.divergence, atol=1e-9)


def test_custom_slack_potential():
    """ψ'' = s^(p−2) by hand is Power(p), on flat and on curved boundaries."""
    by_hand = zf.SlackFunction(lambda s: s**-2.0, lambda s: -2.0 * s**-3.0, slope=lambda s: -1 / s, decay=2.0)
    for name in ("Orthant", "Polytope", "Ball"):
        domain, X = DOMAINS[name], interior(DOMAINS[name], 4)
        a = zf.Barrier(potential=by_hand, scale="raw").evaluate(domain, X)
        b = zf.Barrier.log(scale="raw").evaluate(domain, X)
        assert np.allclose(a.field.dense(), b.field.dense())
        assert np.allclose(a.divergence, b.divergence)
    assert zf.Barrier(potential=by_hand, scale="raw").check(zf.Orthant(1)).holds


@pytest.mark.parametrize(
    ("potential", "domain"),
    [
        (zf.SlackFunction(lambda s: -s, lambda s: -np.ones_like(s)), zf.Orthant(2)),
        (zf.ConvexFunction(lambda x: -(x**2).sum()), zf.Orthant(2)),
        (zf.SlackFunction(lambda s: 1 + 0 * s, lambda s: 0 * s, slope=lambda s: s), zf.Ball(1.0, d=2)),
    ],
)
def test_a_potential_that_is_not_convex_is_refused(potential, domain):
    from zfree.errors import NotConvexError

    with pytest.raises(NotConvexError, match="convex"):
        zf.Barrier(potential=potential, scale="raw").evaluate(domain, np.full((2, 2), 0.3))
