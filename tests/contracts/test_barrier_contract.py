"""Every convex domain × Barrier(p, γ): structured fields against the derivatives of the potential in 60 digits."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import zfree as zf
from tests.contracts.tables import CONVEX, DET_POWERS, DOMAINS, POWERS, ROWS
from tests.reference import RAW, Differences, check_field, exact
from tests.sampling import interior, near_boundary
from zfree.roots import apply_parts, root


def _some_units(domain):
    """Units as far apart as a user may write them."""
    rng = np.random.default_rng(11)
    return zf.Units(10.0 ** rng.uniform(-3, 3, domain.n_slacks), 10.0 ** rng.uniform(-3, 3, domain.dimension))


@lru_cache(maxsize=8)  # the same for every γ
def _reference(name, p, where, scale):
    """Points, units, the coordinates x = C y + c to differentiate in, and the derivatives of φ there."""
    domain, potential = ROWS[name]
    X = interior(domain, 2) if where == "inside" else near_boundary(domain, 2, 1e-3)
    units = RAW if scale == "raw" else _some_units(domain)
    chart = domain.chart
    if chart is None:
        return X, units, np.eye(X.shape[1]), [Differences(lambda y: potential(y, p, units), x) for x in X]
    C, c = np.array([exact(row) for row in chart.matrix]), exact(chart.offset)
    Y = chart.pull(X)
    return X, units, chart.matrix, [Differences(lambda y: potential(C @ y + c, p, units), y) for y in Y]


def _close(found, expected, noise=0.0):
    """To six digits; `noise` is what differences leave of zeros."""
    expected = expected.astype(float)
    return np.allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max() + noise)


@pytest.mark.parametrize("gamma", DET_POWERS)
@pytest.mark.parametrize("scale", ["raw", "natural"])
@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("name", CONVEX)
@pytest.mark.parametrize("where", ["inside", "within 1e-3 of the boundary"])
def test_field_and_divergence_match_those_of_the_potential(name, p, gamma, where, scale):
    """In the coordinates y of x = C y + c on a flat domain, where D_x = C D_y Cᵀ and ∇·D_x = C ∇·D_y."""
    X, units, C, known = _reference(name, p, where, scale)
    value = zf.Barrier(p, gamma, scale="raw" if units is RAW else units).evaluate(DOMAINS[name], X)
    weight = np.exp(value.log_weight)
    field, divergence = weight[:, None, None] * value.field.dense(), weight[:, None] * value.divergence
    for D, div, reference in zip(field, divergence, known, strict=True):
        assert _close(D, C @ reference.generator(gamma) @ C.T)
        assert _close(div, C @ reference.divergence(gamma), 1e-15 * np.abs(D).max())


@pytest.mark.parametrize("scale", ["raw", "natural"])
@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("name", CONVEX)
def test_log_determinants_match_those_of_the_potential(name, p, scale):
    """In x itself; on a flat domain, where det H is that of a chart, up to the constant between charts."""
    X, units, C, known = _reference(name, p, "inside", scale)
    found = DOMAINS[name].barrier(zf.Power(p), X, units)
    logs = found.logdet() - np.array([float(reference.logdet) for reference in known])
    assert np.allclose(logs, logs[0] if DOMAINS[name].chart is not None else 0.0, atol=1e-8)
    for gradient, reference in zip(found.grad_logdet, known, strict=True):
        assert _close(gradient @ C, reference.grad_logdet, 1e-15)


@pytest.mark.parametrize("name", CONVEX)
def test_field_methods_agree_with_the_dense_matrices(name):
    domain = DOMAINS[name]
    X = interior(domain, 5)
    field = zf.Barrier(0.7, 0.5, scale="raw").evaluate(domain, X).field
    check_field(field, field.dense())


def test_structure_is_used_where_there_is_one():
    from zfree.fields import BlockDiagonal, Dense, Diagonal, DiagonalPlusRankOne, Scalar

    expected = {
        "RealSpace": Scalar,
        "Orthant": Diagonal,
        "Box": Diagonal,
        "HalfSpace": DiagonalPlusRankOne,
        "Polytope": Dense,
        "SolidSimplex": DiagonalPlusRankOne,
        "Simplex": DiagonalPlusRankOne,
        "Ball": DiagonalPlusRankOne,
        "Ellipsoid": Dense,
        "Ellipsoid-diagonal": DiagonalPlusRankOne,
        "Product": BlockDiagonal,
    }
    for name, kind in expected.items():
        field = zf.Barrier(scale="raw").evaluate(DOMAINS[name], interior(DOMAINS[name], 2)).field
        assert type(field) is kind, name


def test_polytope_keeps_small_directions_very_close_to_a_facet():
    """H is graded there; inverting it by Cholesky would lose the direction along the facet."""
    A = np.array([[-1.0, 0.2], [0.3, -1.0], [1.0, 1.0]])
    domain = zf.Polytope(A, [0.0, 0.0, 1.0])
    x = domain.interior_point()
    x = x - A[0] * (A[0] @ x - (-1e-9)) / (A[0] @ A[0])
    value = zf.Barrier(0.0, 0.0, scale="raw").evaluate(domain, x[None])
    s = np.array([float(v) for v in domain.slacks(x[None])[0]])
    along = np.array([0.2, 1.0]) / np.hypot(0.2, 1.0)
    exact = 1.0 / (along @ sum(np.outer(a, a) / t**2 for a, t in zip(A[1:], s[1:], strict=True)) @ along)
    assert along @ value.field.dense()[0] @ along == pytest.approx(exact, rel=1e-6)


def test_log_weights_survive_ten_thousand_dimensions():
    domain = zf.Orthant(10_000)
    X = np.random.default_rng(0).exponential(0.1, (3, 10_000))
    value = zf.Barrier(0.0, 0.5, scale="raw").evaluate(domain, X)
    assert np.isfinite(value.log_weight).all()
    assert np.exp(value.log_weight).max() == 0.0  # the plain weight is not representable
    est = zf.Exponential(generator=zf.Barrier(0.0, 0.5)).fit(
        np.random.default_rng(1).exponential(0.1, (50, 10_000))[:, :300]
    )
    assert np.isfinite(est.rate_).all()


def _directions(domain, X):
    """Directions inside the domain's own plane."""
    v = np.random.default_rng(2).standard_normal(X.shape)
    return v if domain.chart is None else v[:, domain.chart.kept] @ domain.chart.matrix.T


@pytest.mark.parametrize("p", [0.0, 1.0, 4 / 3])
@pytest.mark.parametrize("name", CONVEX)
def test_curvature_along_a_line_is_that_of_the_hessian(name, p):
    """vᵀHv against the inverse of the inverse Hessian, and its own derivative along v by differences."""
    domain = DOMAINS[name]
    X = interior(domain, 4)
    v = _directions(domain, X)
    potential = zf.Power(p)
    second, third = domain.curvature_along(potential, X, v)
    field = domain.barrier(potential, X).inverse.dense()
    assert np.allclose(second, np.einsum("nj,njk,nk->n", v, np.linalg.pinv(field, rcond=1e-12), v), rtol=1e-8)
    h = 1e-5 * np.min(domain.boundary_distance(X)[0]) if domain.has_boundary else 1e-3
    h = min(h, 1e-3) / np.abs(v).max()
    ahead, behind = (domain.curvature_along(potential, X + t * v, v)[0] for t in (h, -h))
    assert np.allclose(third, (ahead - behind) / (2 * h), rtol=1e-4, atol=1e-6 * np.abs(second).max())


@pytest.mark.parametrize("generator", [zf.Barrier(0.7, 0.5, scale="raw"), zf.Identity()], ids=repr)
@pytest.mark.parametrize("name", CONVEX)
def test_roots_are_square_roots(name, generator):
    """L Lᵀ = D, L⁻¹L = 1 and log det D, in the structure of the field."""
    domain = DOMAINS[name]
    X = interior(domain, 5)
    if domain.chart is not None:
        domain, X = domain.chart.domain, domain.chart.pull(X)
    field = generator.on_domain(domain, X).field
    L = root(field.parts)
    columns = np.stack([L.apply(np.tile(e, (len(X), 1))) for e in np.eye(X.shape[1])], axis=2)
    assert np.allclose(columns @ np.swapaxes(columns, 1, 2), field.dense(), rtol=1e-10, atol=1e-13)
    v = np.random.default_rng(3).standard_normal(X.shape)
    assert np.allclose(L.solve(L.apply(v)), v)
    assert np.allclose(L.logdet(), np.linalg.slogdet(field.dense())[1])
    assert np.allclose(apply_parts(field.parts, v), field.apply(v))


def test_the_root_of_a_flat_field_stays_in_its_plane():
    X = interior(zf.Simplex(4), 5)
    field = zf.Barrier(1.0, 0.0, scale="raw").evaluate(zf.Simplex(4), X).field
    L = root(field.parts)
    columns = np.stack([L.apply(np.tile(e, (len(X), 1))) for e in np.eye(4)], axis=2)
    assert np.allclose(columns @ np.swapaxes(columns, 1, 2), field.dense(), atol=1e-14)
    assert np.allclose(columns.sum(axis=1), 0.0, atol=1e-8)
