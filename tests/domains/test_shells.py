"""Concentric shells against brute force: membership, distances, sections, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import KDTree

import zfree as zf
from tests.sampling import interior, near_boundary
from zfree.errors import InvalidDomainError, SpecificationError

CENTER = np.array([0.3, -0.2, 0.1])
SHELLS = {
    "annulus": zf.Shells([0.5, 1.0], center=CENTER),
    "ball and shell": zf.Shells([0.2, 0.5, 1.0], center=CENTER),
    "two shells": zf.Shells([0.2, 0.5, 0.6, 1.0], center=CENTER),
    "plane": zf.Shells([0.2, 0.5, 1.0], d=2),
    "line": zf.Shells([0.2, 0.5, 1.0], d=1),
    "shifted line": zf.Shells([0.3, 0.7], center=[5.0]),
}


def _everywhere(domain, n=2000, seed=0):
    """Points of the cube around the domain: in its layers, its gaps and outside."""
    rng = np.random.default_rng(seed)
    return domain.center + 1.2 * domain.radii[-1] * rng.uniform(-1, 1, (n, domain.dimension))


def _inside(domain, X):
    """Membership as one would write it: an odd number of spheres lies outside the point."""
    r = np.linalg.norm(X - domain.center, axis=1)
    return (r[:, None] < domain.radii).sum(axis=1) % 2 == 1


def _spheres(domain, n=4000):
    """Points on every sphere, close together."""
    d = domain.dimension
    if d == 1:
        directions = np.array([[1.0], [-1.0]])
    elif d == 2:
        angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
        directions = np.column_stack([np.cos(angle), np.sin(angle)])
    else:
        directions = np.random.default_rng(1).standard_normal((10 * n, d))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return np.concatenate([domain.center + r * directions for r in domain.radii])


def test_the_paper_s_domain():
    """{‖x‖ < a} ∪ {b < ‖x‖ < c}, and an annulus."""
    r = np.array([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.1])
    X = np.column_stack([np.zeros(8), r, np.zeros(8)])
    assert zf.Shells([0.2, 0.5, 1.0], d=3).contains(X).tolist() == [True, True, False, False, False, True, False, False]
    assert zf.Shells([0.5, 1.0], d=3).contains(X).tolist() == [False] * 5 + [True, False, False]


@pytest.mark.parametrize("name", SHELLS)
def test_membership_and_margins(name):
    """The sign of the margin is membership, its size the distance to points spread over the spheres."""
    domain = SHELLS[name]
    X = _everywhere(domain, 300)
    margins = domain.margins(X)
    inside = _inside(domain, X)
    assert inside.any()
    assert not inside.all()
    assert margins.shape == (300, 1)
    assert np.array_equal(domain.contains(X), inside)
    assert np.array_equal(margins[:, 0] > 0, inside)
    nearest = KDTree(_spheres(domain)).query(X)[0]
    assert np.all(nearest >= np.abs(margins[:, 0]) - 1e-12)
    assert np.allclose(nearest, np.abs(margins[:, 0]), atol=2e-2 if domain.dimension == 3 else 1e-3)
    assert domain.contains(domain.interior_point()[None]).all()
    assert domain.margins(domain.interior_point()[None])[0, 0] == pytest.approx(np.diff(domain.radii)[-1] / 2)


@pytest.mark.parametrize("name", SHELLS)
def test_boundary_distance_and_its_gradient(name):
    """Against the nearest of all spheres, and central differences."""
    domain = SHELLS[name]
    X = _everywhere(domain, 500)
    distance, gradient = domain.boundary_distance(X)
    r = np.linalg.norm(X - domain.center, axis=1)
    assert np.allclose(np.abs(distance), np.abs(r[:, None] - domain.radii).min(axis=1), atol=1e-14)
    assert np.array_equal(distance > 0, _inside(domain, X))
    step = 1e-6
    for j, e in enumerate(np.eye(domain.dimension)):
        difference = domain.boundary_distance(X + step * e)[0] - domain.boundary_distance(X - step * e)[0]
        assert np.allclose(difference / (2 * step), gradient[:, j], atol=1e-5)
    at_center = domain.boundary_distance(domain.center[None])
    assert np.isfinite(at_center[0]).all()
    assert not at_center[1].any()


@pytest.mark.parametrize("name", SHELLS)
def test_sections_against_a_fine_scan(name):
    """Walk along each coordinate in small steps until membership ends, both ways."""
    domain = SHELLS[name]
    X = interior(domain, 40, seed=3)
    below, above = domain.sections(X)
    step = 1e-4
    walk = np.arange(0, 2.1 * domain.radii[-1], step)
    for i, x in enumerate(X):
        for j, e in enumerate(np.eye(domain.dimension)):
            for sign, found in ((-1.0, below[i, j]), (1.0, above[i, j])):
                inside = _inside(domain, x + sign * walk[:, None] * e)
                assert found == pytest.approx(walk[np.argmin(inside)], abs=1.01 * step)


def test_sections_on_lines_that_miss_the_inner_spheres():
    domain = zf.Shells([0.2, 0.5, 1.0], d=2)
    X = np.array([[0.0, 0.6], [0.6, 0.0], [-0.6, 0.0], [0.1, 0.0], [0.3, 0.6]])
    below, above = domain.sections(X)
    assert np.allclose(below[:, 0], [0.8, 0.1, 0.4, 0.3, 1.1])
    assert np.allclose(above[:, 0], [0.8, 0.4, 0.1, 0.1, 0.5])


@pytest.mark.parametrize("name", SHELLS)
def test_sections_keep_their_digits_next_to_a_sphere(name):
    """They stay positive, and the shorter one is about the distance over the slope, at any distance."""
    domain = SHELLS[name]
    X = near_boundary(domain, 200, 1e-9, seed=2)
    below, above = domain.sections(X)
    assert (below > 0).all()
    assert (above > 0).all()
    distance, gradient = domain.boundary_distance(X)
    steep = np.abs(gradient) > 0.1
    expected = distance[:, None] / np.where(steep, np.abs(gradient), 1.0)
    assert np.allclose(np.minimum(below, above)[steep], expected[steep], rtol=1e-5)


@pytest.mark.parametrize("name", SHELLS)
def test_clip_moves_rows_into_the_nearest_layer(name):
    domain = SHELLS[name]
    X = np.concatenate([_everywhere(domain, 500), domain.center[None]])
    epsilon = 1e-3
    clipped = domain.clip(X, epsilon)
    margins = domain.margins(X)[:, 0]
    deep = margins >= epsilon
    assert np.array_equal(clipped[deep], X[deep])
    assert domain.margins(clipped).min() >= epsilon * (1 - 1e-9)
    moved = np.linalg.norm(clipped - X, axis=1)
    assert np.allclose(moved[~deep], epsilon - margins[~deep])  # straight across the nearest sphere, and no further
    assert domain.contains(domain.clip(X, 10.0)).all()  # wider than a layer: to the middle of it


def test_rows_outside_are_explained():
    domain = zf.Shells([0.2, 0.5, 1.0], d=2)
    found = domain.explain(np.array([[0.1, 0.0], [0.3, 0.0], [0.5, 0.0], [0.0, 2.0]]))
    assert found.rows.tolist() == [1, 2, 3]
    assert found.on_boundary.tolist() == [False, True, False]
    assert np.allclose(found.amounts, [0.1, 0.0, 1.0])
    assert set(found.constraints) == {"distance from the center < 0.2 or between 0.5 and 1"}
    assert zf.Shells([1, 2], d=2).constraint_names() == ["distance from the center between 1 and 2"]
    assert zf.Shells([1, 2, 3, 4], d=2).constraint_names() == [
        "distance from the center between 1 and 2 or between 3 and 4"
    ]


def test_image_under_a_similarity():
    domain = zf.Shells([0.2, 0.5, 1.0], center=[1.0, 0.0])
    Q, c = np.array([[0.0, -3.0], [3.0, 0.0]]), np.array([1.0, 1.0])
    image = domain.affine_image(Q, c)
    assert np.allclose(image.radii, [0.6, 1.5, 3.0])
    assert image.center.tolist() == [1.0, 4.0]
    X = _everywhere(domain)
    assert np.array_equal(image.contains(X @ Q.T + c), domain.contains(X))
    with pytest.raises(SpecificationError, match="ellipsoid"):
        domain.affine_image(np.diag([1.0, 2.0]), np.zeros(2))


def test_facets_on_a_line():
    assert zf.Shells([1.0, 2.0], center=[0.5]).coordinate_facets() == {0: [-1.5, -0.5, 1.5, 2.5]}
    assert zf.Shells([1.0, 2.0], d=2).coordinate_facets() is None


def test_the_dimension_may_be_left_open():
    domain = zf.Shells([0.5, 1.0])
    assert repr(domain) == "Shells(radii=[0.5, 1.0])"
    assert domain.for_columns(3) == zf.Shells([0.5, 1.0], d=3)
    assert domain.hull == zf.Ball(1.0)
    with pytest.raises(SpecificationError, match="dimension"):
        domain.contains(np.zeros((1, 2)))


def test_equality():
    assert zf.Shells([1, 2], d=2) == zf.Shells([1.0, 2.0], center=[0.0, 0.0])
    assert zf.Shells([1, 2], d=2) != zf.Shells([1, 2], d=3)
    assert zf.Shells([1, 2], d=2) != zf.Ball(2.0, d=2)
    assert hash(zf.Shells([1, 2], d=2)) == hash(zf.Shells([1.0, 2.0], d=2))
    domain = zf.Shells([0.1, 0.7], center=[0.1, 0.3])
    assert eval(repr(domain), {"Shells": zf.Shells}) == domain


def test_hulls():
    assert zf.Shells([0.2, 0.5, 1.0], center=[1.0, 2.0]).hull == zf.Ball(1.0, center=[1.0, 2.0])
    product = zf.Product([zf.Orthant(1), zf.Shells([0.5, 1.0], d=2)])
    assert product.hull == zf.Product([zf.Orthant(1), zf.Ball(1.0, d=2)])


@pytest.mark.parametrize(
    ("radii", "message"),
    [
        ([1.0], "use Ball"),
        (1.0, "use Ball"),
        ([], "non-empty"),
        ([1.0, 0.5], "increasing"),
        ([0.5, 0.5], "increasing"),
        ([0.0, 1.0], "positive"),
        ([-1.0, 1.0], "positive"),
        ([0.5, np.inf], "finite"),
        (["a", "b"], "numbers"),
    ],
)
def test_radii_that_bound_nothing_are_refused(radii, message):
    with pytest.raises(InvalidDomainError, match=message):
        zf.Shells(radii, d=2)


def test_a_centre_and_a_dimension_that_contradict_each_other():
    with pytest.raises(InvalidDomainError, match="contradicts"):
        zf.Shells([0.5, 1.0], center=[0.0, 0.0], d=3)


def test_there_is_no_barrier():
    domain = zf.Shells([0.2, 0.5, 1.0], d=2)
    for where in (domain, zf.Product([zf.Orthant(1), domain])):
        with pytest.raises(SpecificationError, match=r"convex.*BoundaryDistance\(\).*hull"):
            zf.Barrier(1.2, 0.0, scale="raw").evaluate(where, interior(where, 3))
        assert zf.Barrier(scale="raw").check(where) == (False, "a barrier needs a convex domain")
    assert zf.Barrier(scale="raw").decay(domain) is None
    assert zf.BoundaryDistance().check(domain).holds
    assert zf.SectionDistance().check(domain).holds
