"""Membership, explanations, distances, sections, images: every domain against brute force."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.contracts.tables import CONVEX, DOMAINS
from tests.sampling import interior, near_boundary
from zfree.errors import InvalidDomainError, SpecificationError

FULL = [name for name in DOMAINS if DOMAINS[name].chart is None and DOMAINS[name].has_boundary]
SEEN = [name for name in FULL if name in CONVEX]  # the others have tests of their own


@pytest.mark.parametrize("name", DOMAINS)
def test_points_inside_are_inside(name):
    domain = DOMAINS[name]
    X = interior(domain, 50)
    assert domain.contains(X).all()
    assert domain.contains(domain.interior_point()[None]).all()
    assert len(domain.explain(X)) == 0
    assert "all 50 rows are inside" in str(domain.explain(X))


@pytest.mark.parametrize("name", SEEN)
def test_points_outside_are_explained(name):
    domain = DOMAINS[name]
    inside, edge = interior(domain, 3), near_boundary(domain, 4, 1e-9)
    centre = domain.interior_point()
    outside = centre + (edge - centre) * 1.5
    found = domain.explain(np.concatenate([inside, outside]))
    assert found.rows.tolist() == [3, 4, 5, 6]
    assert not found.on_boundary.any()
    assert (found.amounts > 0).all()
    assert all(name in domain.constraint_names() for name in found.constraints)
    assert "missed by" in str(found)


@pytest.mark.parametrize("name", FULL)
def test_boundary_distance_is_the_largest_ball_that_fits(name):
    domain = DOMAINS[name]
    X = interior(domain, 5, seed=2)
    distance, gradient = domain.boundary_distance(X)
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((4000, domain.dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for x, r, g in zip(X, distance, gradient, strict=True):
        assert domain.contains(x + 0.999999 * r * directions).all()
        assert not domain.contains((x - 1.000001 * r * g / np.linalg.norm(g))[None])[0]
        for e in np.eye(domain.dimension):
            step = 1e-6
            up = domain.boundary_distance((x + step * e)[None])[0][0]
            down = domain.boundary_distance((x - step * e)[None])[0][0]
            assert (up - down) / (2 * step) == pytest.approx(g @ e, abs=1e-6)


def _walk(domain, x, direction):
    """Distance along a line until the domain ends, by bisection on membership alone."""
    high = 1e6
    if domain.contains((x + high * direction)[None])[0]:
        return np.inf
    low = 0.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if domain.contains((x + middle * direction)[None])[0] else (low, middle)
    return low


@pytest.mark.parametrize("name", SEEN)
def test_sections_are_where_a_coordinate_leaves_the_domain(name):
    """By brute force along each coordinate line; the table's polytopes have coefficients of both signs."""
    domain = DOMAINS[name]
    X = interior(domain, 4, seed=3)
    below, above = domain.sections(X)
    for i, x in enumerate(X):
        for j, e in enumerate(np.eye(domain.dimension)):
            assert below[i, j] == pytest.approx(_walk(domain, x, -e), rel=1e-9)
            assert above[i, j] == pytest.approx(_walk(domain, x, e), rel=1e-9)


def test_sections_with_only_negative_coefficients():
    """x1 + x2 > 1 limits both coordinates from below, not from above."""
    domain = zf.Polytope.from_inequalities("x1 + x2 > 1, x1 < 5")
    below, above = domain.sections(np.array([[2.0, 3.0]]))
    assert np.allclose(below, [[4.0, 4.0]])
    assert np.allclose(above, [[3.0, np.inf]])
    value = zf.SectionDistance("x").evaluate(domain, np.array([[2.0, 3.0]]))
    assert np.allclose(value.field.diagonal(), [[3.0, 4.0]])
    assert np.allclose(value.divergence, [[-1.0, 1.0]])


@pytest.mark.parametrize("name", FULL)
def test_clip_moves_only_what_touches_the_boundary(name):
    domain = DOMAINS[name]
    inside = interior(domain, 5, seed=4)
    edge = near_boundary(domain, 5, 0.0, seed=4)
    clipped = domain.clip(np.concatenate([inside, edge]), 1e-5)
    assert np.array_equal(clipped[:5], inside)
    assert domain.contains(clipped).all()
    assert domain.margins(clipped).min() >= 1e-5 * (1 - 1e-9)
    assert np.abs(clipped[5:] - edge).max() < 1e-3


def test_simplex_clip_is_multiplicative_replacement():
    domain = zf.Simplex(4)
    X = np.array([[0.0, 0.2, 0.3, 0.5], [0.25, 0.25, 0.25, 0.25], [0.0, 0.0, 0.4, 0.6]])
    Y = domain.clip(X, 0.01)
    assert np.allclose(Y.sum(axis=1), 1.0)
    assert Y[0, 0] == 0.01
    assert Y[0, 1] / Y[0, 2] == pytest.approx(2 / 3)
    assert np.array_equal(Y[1], X[1])
    assert (Y >= 0.01 - 1e-15).all()


@pytest.mark.parametrize("name", [n for n in SEEN if not n.startswith("Product")])
def test_affine_images_contain_the_images(name):
    domain = DOMAINS[name]
    rng = np.random.default_rng(5)
    d = domain.dimension
    B, c = rng.standard_normal((d, d)) + 2 * np.eye(d), rng.standard_normal(d)
    image = domain.affine_image(B, c)
    X = interior(domain, 30)
    edge = near_boundary(domain, 30, 1e-9)
    outside = domain.interior_point() + 1.1 * (edge - domain.interior_point())
    assert image.contains(X @ B.T + c).all()
    assert not image.contains(outside @ B.T + c).any()


def test_the_image_of_a_ball_is_a_ball_or_an_ellipsoid():
    ball = zf.Ball(2.0, center=[1.0, 0.0])
    Q = np.array([[0.0, -3.0], [3.0, 0.0]])
    assert ball.affine_image(Q, np.array([1.0, 1.0])) == zf.Ball(6.0, center=[1.0, 4.0])
    stretched = ball.affine_image(np.diag([1.0, 4.0]), np.array([0.0, 3.0]))
    assert stretched == zf.Ellipsoid.from_axes([2.0, 8.0], center=[1.0, 3.0])
    with pytest.raises(SpecificationError, match="ellipsoid"):
        zf.Shells([1.0, 2.0], d=2).affine_image(np.diag([1.0, 2.0]), np.zeros(2))
    with pytest.raises(SpecificationError, match="invertible"):
        ball.affine_image(np.ones((2, 2)), np.zeros(2))


def test_product_image_keeps_its_factors_apart():
    domain = zf.Product([zf.Orthant(1), zf.Ball(1.0, d=2)])
    B = np.diag([2.0, 3.0, 3.0])
    assert domain.affine_image(B, np.zeros(3)).contains(np.array([[1.0, 2.9, 0.0]])).all()
    B[0, 1] = 1.0
    with pytest.raises(SpecificationError, match="mix"):
        domain.affine_image(B, np.zeros(3))


@pytest.mark.parametrize("name", DOMAINS)
def test_boundedness_and_recession_cone(name):
    """A direction of the recession cone can be followed for ever; a bounded domain has none."""
    domain = DOMAINS[name]
    rows = domain.recession()
    assert (rows is None) == domain.is_bounded
    x = domain.interior_point()
    rng = np.random.default_rng(0)
    for v in rng.standard_normal((300, domain.dimension)):
        endless = domain.contains((x + 1e7 * v)[None])[0]
        if domain.is_bounded:
            assert not endless
        else:
            assert endless == bool(np.all(rows @ v <= 0))


@pytest.mark.parametrize("name", DOMAINS)
def test_a_convex_domain_is_its_own_hull(name):
    """Middles of points inside are inside if the domain says it is convex, and always inside the hull."""
    domain = DOMAINS[name]
    middles = (interior(domain, 200, seed=6) + interior(domain, 200, seed=7)) / 2
    assert domain.contains(middles).all() == domain.is_convex
    assert (domain.hull is domain) == domain.is_convex
    assert domain.hull.is_convex
    assert domain.hull.contains(middles).all()


def test_repr_and_equality():
    for domain in DOMAINS.values():
        text = repr(domain)
        assert text.startswith(type(domain).__name__)
        assert "object at" not in text
        assert domain == domain
        assert hash(domain) == hash(domain)
    assert zf.Orthant(2) != zf.Orthant(3)
    assert zf.Box([0], [1]) == zf.Box([0.0], [1.0])
    assert repr(zf.SolidSimplex(10)) == "SolidSimplex(10)"
    assert repr(zf.Simplex(3, drop=0)) == "Simplex(3, drop=0)"
    assert eval(repr(zf.Box([0.0], [2.0])), {"Box": zf.Box}) == zf.Box([0.0], [2.0])


def test_a_ball_may_leave_its_dimension_open():
    ball = zf.Ball(1.0)
    assert repr(ball) == "Ball(radius=1.0)"
    with pytest.raises(SpecificationError, match="dimension"):
        ball.contains(np.zeros((1, 2)))
    X = interior(zf.Ball(1.0, d=2), 300)
    a = zf.TruncatedGaussian(domain=ball, check=False).fit(X).result_.theta
    b = zf.TruncatedGaussian(domain=zf.Ball(1.0, center=[0.0, 0.0]), check=False).fit(X).result_.theta
    assert np.array_equal(a, b)


def test_simplex_chart_and_sums():
    domain = zf.Simplex(3, drop=1)
    X = np.array([[0.2, 0.3, 0.5]])
    chart = domain.chart
    assert np.allclose(chart.pull(X), [[0.2, 0.5]])
    assert np.allclose(chart.push(chart.pull(X)), X)
    assert domain.contains(X * (1 + 5e-7)).all()
    found = domain.explain(np.array([[0.2, 0.3, 0.6], [0.5, 0.5, 0.0]]))
    assert "sum to 1" in found.constraints[0]
    assert found.constraints[1] == "x3 > 0"
    assert found.on_boundary.tolist() == [False, True]
    assert np.allclose(domain.normalise(X * (1 + 5e-7)).sum(axis=1), 1.0, atol=1e-15)
    assert np.allclose(zf.Simplex.closure([[1, 1, 2]]), [[0.25, 0.25, 0.5]])


@pytest.mark.parametrize("d", [0, -1, 2.5, True, "3"])
def test_dimensions_are_positive_whole_numbers(d):
    for kind in (zf.RealSpace, zf.Orthant, zf.SolidSimplex):
        with pytest.raises(InvalidDomainError, match="dimension"):
            kind(d)


def test_the_chart_keeps_the_digits_of_small_parts():
    X = np.array([[1e-30, 0.3, 0.7 - 1e-30]])
    assert zf.Simplex(3).chart.pull(X)[0, 0] == 1e-30
    product = zf.Product([zf.Orthant(1), zf.Simplex(3, drop=0)])
    Z = np.array([[5.0, 0.7, 1e-30, 0.3]])
    assert product.chart.pull(Z).tolist() == [[5.0, 1e-30, 0.3]]
    assert np.allclose(product.chart.push(product.chart.pull(Z)), Z)
