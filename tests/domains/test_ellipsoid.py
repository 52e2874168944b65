"""Ellipsoids: a ball under another name, images of balls, the distance to the surface, draws."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.sampling import interior, truncated_gaussian
from zfree.samplers.starts import first_root

RADIUS, CENTER = 1.7, [0.3, -0.2, 0.1]
K = np.array([[2.0, 0.5, 0.0], [0.5, 1.5, -0.3], [0.0, -0.3, 1.0]])
ROWS = truncated_gaussian(zf.Ball(RADIUS, CENTER), np.array([0.4, 0.0, 0.2]), K, 400)
B = np.array([[2.0, 0.3, 0.0], [-0.5, 0.7, 0.2], [0.1, 0.0, 5.0]])
SHIFT = np.array([1.0, -2.0, 30.0])


@pytest.mark.parametrize(
    "generator",
    [
        "auto",
        "phi1",
        "phi2",
        "phi3",
        "truncated-sm",
        zf.Barrier(4 / 3),
        zf.Barrier(0.7, 0.2),
        zf.SteinBarrier(),
        zf.SectionDistance("x"),
    ],
    ids=repr,
)
def test_a_ball_written_as_an_ellipsoid_is_the_same_domain(generator):
    names = zf.Ball(RADIUS, CENTER), zf.Ellipsoid(np.eye(3) / RADIUS**2, CENTER)
    ball, ellipsoid = (zf.TruncatedGaussian(n, generator, check=False).fit(ROWS).result_ for n in names)
    size = np.abs(ball.theta) + ball.standard_errors
    assert np.all(np.abs(ellipsoid.theta - ball.theta) < 1e-10 * size)
    assert np.allclose(ellipsoid.standard_errors, ball.standard_errors, rtol=1e-10, atol=0.0)


@pytest.mark.parametrize("scale", ["raw", "natural"])
@pytest.mark.parametrize("p", [0.0, 1.0, 4 / 3])
def test_the_estimate_of_the_image_is_the_image_of_the_estimate(p, scale):
    """x = B y + c: μ ↦ B μ + c and K ↦ B⁻ᵀ K B⁻¹. The slack does not know of coordinates, so that units change nothing."""
    generator = zf.Barrier(p, scale=scale)
    ball = zf.Ball(RADIUS, CENTER)
    image = zf.TruncatedGaussian(ball.affine_image(B, SHIFT), generator, check=False).fit(ROWS @ B.T + SHIFT)
    plain = zf.TruncatedGaussian(ball, generator, check=False).fit(ROWS)
    assert isinstance(image.domain_, zf.Ellipsoid)
    back = np.linalg.inv(B)
    assert np.allclose(image.precision_, back.T @ plain.precision_ @ back, rtol=1e-8)
    assert np.allclose(image.mean_, B @ plain.mean_ + SHIFT, rtol=1e-8)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize("generator", ["auto", "phi1", zf.BoundaryDistance(scale="natural")], ids=repr)
def test_units_of_a_column_change_nothing(generator, factor):
    domain = zf.Ellipsoid([[1.0, 0.4], [0.4, 0.5]], [0.1, 0.2])
    X = interior(domain, 300)
    scale = np.array([1.0, factor])
    plain = zf.TruncatedGaussian(domain, generator, check=False).fit(X)
    other = zf.TruncatedGaussian(domain.affine_image(np.diag(scale), np.zeros(2)), generator, check=False).fit(
        X * scale
    )
    assert np.allclose(other.precision_ * np.outer(scale, scale), plain.precision_, rtol=1e-7)


def _by_brute_force(axes, z, n=4001):
    """The smallest distance to points of an ellipse: the best of many angles, looked at again more closely."""
    low, high = 0.0, 2 * np.pi
    for _ in range(6):
        angle = np.linspace(low, high, n)
        square = (axes[0] * np.cos(angle) - z[0]) ** 2 + (axes[1] * np.sin(angle) - z[1]) ** 2
        best, step = angle[np.argmin(square)], (high - low) / (n - 1)
        low, high = best - step, best + step
    return np.sqrt(square.min())


@pytest.mark.parametrize("axes", [(1.0, 1.0), (3.0, 1.0), (1.0, 3.0), (1.0, 1e-3), (1.0 + 1e-9, 1.0)])
def test_distances_in_the_middle_and_next_to_the_surface(axes):
    """Also where two points are nearest, between the centres of curvature of the long ends."""
    domain, axes = zf.Ellipsoid.from_axes(axes), np.array(axes)
    shares = np.array(
        [[0.0, 0.0], [0.5, 0.0], [0.0, 0.5], [0.95, 0.0], [0.0, 1 - 1e-9], [0.5, 1e-12], [0.6, 0.79], [1e-300, 0.2]]
    )
    distance, gradient = domain.boundary_distance(shares * axes)
    expected = [_by_brute_force(axes, z) for z in shares * axes]
    assert np.allclose(distance, expected, rtol=1e-6, atol=1e-9 * axes.max())
    assert np.allclose(np.linalg.norm(gradient, axis=1), 1.0)
    nearest = shares * axes - distance[:, None] * gradient
    assert np.allclose(domain.margins(nearest), 0.0, atol=1e-7)


def test_distances_do_not_depend_on_rotation_or_dimension():
    rng = np.random.default_rng(3)
    axes, Q = np.exp(rng.uniform(-2, 2, 20)), np.linalg.qr(rng.standard_normal((20, 20)))[0]
    plain, turned = zf.Ellipsoid.from_axes(axes), zf.Ellipsoid.from_axes(axes, rotation=Q)
    X = interior(plain, 50)
    distance, gradient = plain.boundary_distance(X)
    other, turned_gradient = turned.boundary_distance(X @ Q.T)
    assert np.allclose(other, distance, rtol=1e-9)
    assert np.allclose(turned_gradient, gradient @ Q.T, atol=1e-7)
    # On the way to the nearest point the distance falls as fast as a distance can.
    assert np.allclose(plain.boundary_distance(X - 0.5 * distance[:, None] * gradient)[0], 0.5 * distance, rtol=1e-9)


def test_with_a_spread_the_distance_is_that_of_the_divided_columns():
    domain, spread = zf.Ellipsoid([[1.0, 0.4], [0.4, 0.5]], [0.1, 0.2]), np.array([3.0, 0.1])
    X = interior(domain, 20)
    distance, gradient = domain.boundary_distance(X, spread)
    divided, slope = domain.affine_image(np.diag(1 / spread), np.zeros(2)).boundary_distance(X / spread)
    assert np.allclose(distance, divided, rtol=1e-12)
    assert np.allclose(gradient, slope / spread, rtol=1e-9)


@pytest.mark.parametrize("shape", [[[2.0, 0.6], [0.6, 0.5]], [[1e4, 0.0], [0.0, 1.0]]], ids=["oblique", "narrow"])
def test_draws_have_the_moments_of_rejection(shape):
    domain, mean, precision = zf.Ellipsoid(shape, [0.2, 0.1]), np.array([0.3, 0.4]), np.array([[3.0, 1.0], [1.0, 2.0]])
    draws = zf.samplers.sample_gaussian(domain, mean, precision, 4000, random_state=1)
    assert domain.contains(draws).all()
    rng, width = np.random.default_rng(0), 1 / np.sqrt(np.linalg.eigvalsh(shape))
    turned = np.linalg.eigh(shape)[1]
    pool = (rng.uniform(-1, 1, (200_000, 2)) * width) @ turned.T + domain.center
    pool = pool[domain.contains(pool)]
    offset = pool - mean
    weight = np.exp(-0.5 * np.einsum("nj,jk,nk->n", offset, precision, offset))
    expected = weight @ pool / weight.sum()
    spread = np.sqrt(weight @ (pool - expected) ** 2 / weight.sum())
    assert np.all(np.abs(draws.mean(axis=0) - expected) < 5 * spread / np.sqrt(2000))
    assert np.allclose(draws.std(axis=0), spread, rtol=0.1)


@pytest.mark.parametrize("generator", ["auto", "phi1", "truncated-sm"])
def test_a_truncated_gaussian_is_recovered(generator):
    domain = zf.Ellipsoid([[1.0, 0.6], [0.6, 1.5]], [0.5, 0.0])
    mean, precision = np.array([0.6, 0.3]), np.array([[4.0, 1.0], [1.0, 3.0]])
    X = truncated_gaussian(domain, mean, precision, 20_000, seed=2)
    est = zf.TruncatedGaussian(domain, generator, check=False).fit(X)
    assert np.all(np.abs(est.precision_ - precision) < 4.5 * est.precision_se_)
    assert np.all(np.abs(est.mean_ - mean) < 4.5 * est.mean_se_)


def test_a_row_outside_is_named():
    found = zf.Ellipsoid(np.eye(2)).explain(np.array([[0.1, 0.2], [0.9, 0.9], [0.6, 0.8]]))
    assert found.rows.tolist() == [1, 2]
    assert found.on_boundary.tolist() == [False, True]
    assert "shape" in found.constraints[0]


def test_it_keeps_its_own_numbers_and_takes_a_diagonal():
    shape = np.array([1.0, 4.0])
    domain = zf.Ellipsoid(shape)
    shape += 1.0
    assert domain == zf.Ellipsoid(np.diag([1.0, 4.0])) == zf.Ellipsoid.from_axes([1.0, 0.5])
    assert eval(repr(domain), {"Ellipsoid": zf.Ellipsoid}) == domain
    with pytest.raises(ValueError, match="read-only"):
        domain.shape[0, 0] = 2.0


def test_chains_start_in_the_frame_of_a_narrow_ellipsoid():
    """One length for all directions would be 10⁴ times too short along the long axis."""
    Q = np.array([[0.6, -0.8], [0.8, 0.6]])
    domain = zf.Ellipsoid.from_axes([1.0, 1e-4], rotation=Q)
    root = first_root(domain, domain.center, np.zeros((2, 2)))
    assert np.allclose(np.linalg.inv(root @ root.T), 2 * domain.shape, rtol=1e-6)
