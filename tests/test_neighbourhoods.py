"""Neighbours of the data: where they are, how likely, and the moments whose limits the theorems of section 3 need."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

import zfree as zf
from tests.contracts.tables import CONVEX, DOMAINS
from tests.sampling import interior, near_boundary
from zfree.errors import SpecificationError
from zfree.experiments.flow_limit import ball_nodes, gaussian_nodes
from zfree.neighbourhoods import BregmanBall, SoftNeighbourhood, mixing_constant, radial_moment
from zfree.potentials import Power

FULL = [name for name in CONVEX if DOMAINS[name].chart is None]
FLAT = ["Simplex", "Simplex-drop-first", "Product-with-simplex"]


def weighted(generator, domain, X):
    """D and ∇·D written out."""
    value = generator.evaluate(domain, X)
    scale = np.exp(value.log_weight)
    return scale[:, None, None] * value.field.dense(), scale[:, None] * value.divergence


def everywhere(moves, X):
    """The same moves (k, d) for every row."""
    return np.repeat(moves[:, None, :], len(X), axis=1)


def soft_moments(domain, generator, epsilon, X):
    """Mean and covariance of y − x by a quadrature that is exact for them."""
    neighbourhood = SoftNeighbourhood(generator, epsilon)
    nodes, weight = gaussian_nodes(neighbourhood.dimension(domain), 3)
    points, coefficients = neighbourhood.place(domain, X, everywhere(nodes, X))
    assert np.all(coefficients == 1.0 / epsilon)
    delta = points - X
    mean = np.einsum("k,kni->ni", weight, delta)
    centred = delta - mean
    return mean, np.einsum("k,kni,knj->nij", weight, centred, centred)


@pytest.mark.parametrize("generator", [zf.Barrier(4 / 3, scale="raw"), zf.BoundaryDistance()], ids=repr)
@pytest.mark.parametrize("name", ["Orthant", "Box", "Polytope", "SolidSimplex", "Ball", "Product", "Annulus", *FLAT])
def test_soft_neighbours_have_their_mean_and_covariance(name, generator):
    domain, epsilon = DOMAINS[name], 0.07
    if isinstance(generator, zf.Barrier) and not domain.is_convex:
        generator = zf.Identity()
    X = interior(domain, 5)
    D, divergence = weighted(generator, domain, X)
    mean, covariance = soft_moments(domain, generator, epsilon, X)
    assert np.allclose(mean, 0.5 * epsilon * divergence, rtol=1e-9, atol=1e-13 * np.abs(divergence).max() + 1e-14)
    assert np.allclose(covariance, epsilon * D, rtol=1e-9, atol=1e-10 * epsilon * np.abs(D).max())


@pytest.mark.parametrize("generator", [zf.Barrier.log(scale="raw"), zf.BoundaryDistance()], ids=repr)
@pytest.mark.parametrize("name", FLAT)
def test_soft_neighbours_of_compositions_are_compositions(name, generator):
    """In their plane, that is: like all soft neighbours they may cross the boundary."""
    domain = DOMAINS[name]
    X = interior(domain, 50)
    points = SoftNeighbourhood(generator, 0.5).draw(domain, X, np.random.default_rng(0), count=3).points
    parts = points[..., : domain.factors[0].d if isinstance(domain, zf.Product) else domain.d]
    assert np.allclose(parts.sum(axis=-1), 1.0, rtol=0, atol=1e-13)
    assert np.abs(points - X).max() > 1e-3


def test_soft_neighbours_are_normal():
    domain, generator, epsilon = zf.SolidSimplex(2), zf.Barrier(1.0, 0.0, scale="raw"), 0.02
    x = np.array([[0.2, 0.5]])
    points = SoftNeighbourhood(generator, epsilon).draw(domain, x, np.random.default_rng(1), count=20_000).points[:, 0]
    D, divergence = weighted(generator, domain, x)
    for direction in (np.array([1.0, 0.0]), np.array([1.0, -2.0])):
        sd = np.sqrt(epsilon * direction @ D[0] @ direction)
        mean = direction @ (x[0] + 0.5 * epsilon * divergence[0])
        assert stats.kstest(points @ direction, stats.norm(mean, sd).cdf).pvalue > 0.001


@pytest.mark.parametrize("p", [4 / 3, 1.0, 0.0])
@pytest.mark.parametrize("where", ["inside", "within 1e-9 of the boundary"])
@pytest.mark.parametrize("name", FULL)
def test_bregman_balls_stay_inside(name, where, p):
    """(y − x)ᵀH(x)(y − x) ≤ r² and y in the domain, also for the largest radius and moves close to the sphere."""
    domain = DOMAINS[name]
    X = interior(domain, 20) if where == "inside" else near_boundary(domain, 20, 1e-9)
    rng = np.random.default_rng(2)
    ball = BregmanBall(Power(p), 1.0)
    U = ball.moves((50, len(X), domain.dimension), rng)
    U[::2] *= 0.999 / np.linalg.norm(U[::2], axis=-1, keepdims=True)
    points, coefficients = ball.place(domain, X, U)
    assert domain.contains(points.reshape(-1, domain.dimension)).all()
    assert np.all(np.isfinite(coefficients))
    if where == "inside":  # elsewhere y − x has too few digits
        length = np.stack([domain.curvature_along(Power(p), X, y - X)[0] for y in points])
        assert np.all(length <= 1.0 + 1e-9)
        moved = length / np.sum(U**2, axis=-1)  # r(x)² ≤ 1, the same for all moves
        assert np.allclose(moved, moved[0], rtol=1e-6)


@pytest.mark.parametrize("radius", [1.0, 0.7, 0.1, 1e-3, 1e-8])
@pytest.mark.parametrize("name", FULL)
def test_a_smaller_radius_shrinks_the_ball_and_keeps_it_inside(name, radius):
    """Remark D.2: r = min(r', B) is bounded, and C_r ⊂ C_r' ⊂ Ω. Moves to just inside the edge: a closed ball may touch the boundary."""
    domain = DOMAINS[name]
    X = np.concatenate([interior(domain, 10), near_boundary(domain, 10, 1e-3)])
    U = BregmanBall().moves((40, len(X), domain.dimension), np.random.default_rng(3))
    U *= (1.0 - 1e-9) / np.linalg.norm(U, axis=-1, keepdims=True)
    largest, _ = BregmanBall(radius=1.0).place(domain, X, U)
    points, coefficients = BregmanBall(radius=radius).place(domain, X, U)
    assert domain.contains(points.reshape(-1, domain.dimension)).all()
    assert np.all(np.isfinite(coefficients))
    assert np.allclose(points - X, radius * (largest - X), rtol=1e-7, atol=1e-14 * np.abs(X).max())
    length = np.stack([domain.curvature_along(Power(4 / 3), X, y - X)[0] for y in largest])
    assert np.all(length <= 1.0 + 1e-9)  # B = 1


def test_the_radius_is_a_share_of_the_room():
    """1 where there is room for it, and otherwise what keeps a ball around the ellipsoid inside."""
    domain = zf.SolidSimplex(3)
    X = np.array([[0.25, 0.25, 0.25], [0.001, 0.3, 0.3]])
    inverse = np.linalg.inv([np.diag(x ** (-2 / 3)) + (1 - x.sum()) ** (-2 / 3) for x in X])
    distance = np.minimum(X.min(axis=1), (1 - X.sum(axis=1)) / np.sqrt(3))
    room = distance / np.sqrt(np.trace(inverse, axis1=1, axis2=2))
    unit = np.array([0.0, 0.0, 1.0])
    for radius in (1.0, 0.1):
        points, _ = BregmanBall(Power(4 / 3), radius).place(domain, X, everywhere(unit[None], X))
        square = domain.curvature_along(Power(4 / 3), X, points[0] - X)[0]
        assert np.allclose(np.sqrt(square), radius * np.minimum(1.0, room), rtol=1e-9)
    free, _ = BregmanBall(radius=0.3).place(zf.RealSpace(3), X, everywhere(unit[None], X))
    assert np.allclose(free[0], X + 0.3 * unit)


@pytest.mark.parametrize("name", FLAT)
def test_a_flat_domain_is_refused(name):
    domain = DOMAINS[name]
    X = interior(domain, 3)
    with pytest.raises(SpecificationError, match="full-dimensional"):
        BregmanBall().draw(domain, X, np.random.default_rng(0))
    with pytest.raises(SpecificationError, match="full-dimensional"):
        BregmanBall().place(domain, X, np.zeros((1, *X.shape)))
    BregmanBall().draw(domain.chart.domain, domain.chart.pull(X), np.random.default_rng(0))


def test_other_refusals():
    for epsilon in (0.0, -1.0, np.nan):
        with pytest.raises(SpecificationError, match="epsilon"):
            SoftNeighbourhood(zf.Barrier(scale="raw"), epsilon)
    for radius in (0.0, -0.1, 1.1, np.nan):
        with pytest.raises(SpecificationError, match="radius"):
            BregmanBall(radius=radius)
    with pytest.raises(SpecificationError, match="convex"):
        BregmanBall().draw(DOMAINS["Annulus"], interior(DOMAINS["Annulus"], 3), np.random.default_rng(0))
    for d in (0, -1):
        with pytest.raises(SpecificationError, match="at least 1"):
            mixing_constant(d)


@pytest.mark.parametrize("d", [1, 2, 3, 7, 50, 1000])
def test_moves_have_a_truncated_normal_density(d):
    """∝ exp(−½‖u‖²) on the unit ball: the length by its distribution function, the direction uniform on the sphere."""
    n = 20_000 if d <= 50 else 2000
    U = BregmanBall().moves((n, 1, d), np.random.default_rng(d))[:, 0]
    length = np.linalg.norm(U, axis=1)
    assert length.max() <= 1.0
    if d < 100:
        chi = stats.chi(d)
        assert stats.kstest(length, lambda r: chi.cdf(r) / chi.cdf(1.0)).pvalue > 0.001
    else:  # the length is 1 minus an exponential variable over d, nearly
        assert stats.kstest(d * (1.0 - length), stats.expon.cdf).pvalue > 0.001
    direction = U / length[:, None]
    along = direction @ np.linspace(-1.0, 2.0, d) / np.linalg.norm(np.linspace(-1.0, 2.0, d))
    if d == 1:
        assert np.mean(along > 0) == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(n))
    else:  # (1 + t)/2 of a coordinate t on the sphere is Beta((d − 1)/2, (d − 1)/2)
        assert stats.kstest(0.5 * (1 + along), stats.beta((d - 1) / 2, (d - 1) / 2).cdf).pvalue > 0.001
    assert abs(stats.spearmanr(along, length).statistic) < 4.5 / np.sqrt(n)


def test_moves_in_the_plane_have_uniform_angles():
    U = BregmanBall().moves((20_000, 1, 2), np.random.default_rng(4))[:, 0]
    angle = np.arctan2(U[:, 1], U[:, 0])
    assert stats.kstest(angle, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 0.001


@pytest.mark.parametrize(
    "neighbourhood", [SoftNeighbourhood(zf.Barrier(scale="raw"), 0.1), BregmanBall(radius=0.8)], ids=repr
)
def test_antithetic_pairs_mirror_each_other(neighbourhood):
    domain = zf.SolidSimplex(3)
    X = interior(domain, 6)
    points, coefficients = neighbourhood.draw(domain, X, np.random.default_rng(5), count=4, antithetic=True)
    assert points.shape == (8, 6, 3)
    assert coefficients.shape == (8, 6)
    centre = 0.5 * (points[:4] + points[4:])
    drift = (
        0.05 * weighted(zf.Barrier(scale="raw"), domain, X)[1] if isinstance(neighbourhood, SoftNeighbourhood) else 0.0
    )
    assert np.allclose(centre, X + drift, atol=1e-14)
    assert np.ptp(points[:4], axis=0).min() > 1e-4  # pairs of their own
    plain = neighbourhood.draw(domain, X, np.random.default_rng(5), count=4)
    assert np.array_equal(plain.points, points[:4])
    assert neighbourhood.draw(domain, X, np.random.default_rng(5)).points.shape == (1, 6, 3)


@pytest.mark.parametrize("power", [0, 2, 4])
def test_radial_moments_by_quadrature(power):
    """Over the segment, the disc and the ball, in polar coordinates."""
    for d, sphere in ((1, 2.0), (2, 2 * np.pi), (3, 4 * np.pi), (4, 2 * np.pi**2)):
        radial, _ = integrate.quad(lambda r, k=d + power - 1: r**k * np.exp(-0.5 * r * r), 0.0, 1.0, epsabs=1e-14)
        assert radial_moment(d, power) == pytest.approx(sphere * radial, rel=1e-12)


def test_the_mixing_constant_by_its_defining_integrals():
    """λ = C₆/C₃ with C₃ = ∫u₁² and C₆ = ⅓∫u₁⁴ against exp(−½‖u‖²), in one, two and three dimensions."""

    def bell(*u):
        return np.exp(-0.5 * sum(x * x for x in u))

    def half(*u):
        return np.sqrt(max(0.0, 1.0 - sum(x * x for x in u)))

    def on_segment(k):
        return integrate.quad(lambda u: u**k * bell(u), -1.0, 1.0)[0]

    def on_disc(k):
        inner = lambda v, u: u**k * bell(u, v)  # noqa: E731
        return integrate.dblquad(inner, -1.0, 1.0, lambda u: -half(u), half, epsabs=1e-10)[0]

    def on_ball(k):
        nodes, weight = ball_nodes(16)
        return radial_moment(3, 0) * weight @ nodes[:, 0] ** k

    for d, integral in ((1, on_segment), (2, on_disc), (3, on_ball)):
        c3, c6 = integral(2), integral(4) / 3
        assert c3 == pytest.approx(radial_moment(d, 2) / d, rel=1e-8)
        assert mixing_constant(d) == pytest.approx(c6 / c3, rel=1e-8)


def test_the_mixing_constant_falls_like_one_over_d():
    """λ(d)(d + 4) = 1 − O(1/d²), also where the volume of the ball is no longer a floating-point number."""
    d = np.array([10, 100, 1000, 10_000])
    gap = 1.0 - np.array([mixing_constant(int(k)) for k in d]) * (d + 4)
    assert np.all(gap > 0)
    assert np.allclose(gap * d**2, 2.0, rtol=0.6)
    assert gap[-1] < 1e-7


@pytest.mark.parametrize("proper", [True, False])
def test_weights_in_a_thousand_dimensions(proper):
    """Wherever the volume underflows the weights do not: (E[c·‖δ‖²] = tr G) on ℝᵈ, where H = I."""
    d = 1000
    X = np.zeros((1, d))
    points, coefficients = BregmanBall(radius=0.5, proper=proper).draw(
        zf.RealSpace(d), X, np.random.default_rng(6), count=200
    )
    square = np.sum(points**2, axis=-1)
    assert np.mean(coefficients * square) == pytest.approx(d, rel=1e-3)


MEASURED = {"S³": zf.SolidSimplex(3), "R₊³": zf.Orthant(3)}


def ball_moments(domain, X, p, radius, proper):
    """E[c δ] and E[c δδᵀ] by quadrature over the neighbours."""
    nodes, weight = ball_nodes(7)
    points, coefficients = BregmanBall(Power(p), radius, proper).place(domain, X, everywhere(nodes, X))
    delta, mass = points - X, weight[:, None] * coefficients
    return np.einsum("kn,kni->ni", mass, delta), np.einsum("kn,kni,knj->nij", mass, delta, delta)


@pytest.mark.parametrize("p", [4 / 3, 1.0, 0.0])
@pytest.mark.parametrize("name", MEASURED)
def test_the_proper_weight_has_its_moments_at_every_radius(name, p):
    """It is a polynomial: E[c δδᵀ] = G and E[c δ] = ½∇·G hold without a limit."""
    domain = MEASURED[name]
    X = interior(domain, 6)
    G, divergence = weighted(zf.Barrier(p, scale="raw"), domain, X)
    for radius in (1.0, 0.1):
        first, second = ball_moments(domain, X, p, radius, proper=True)
        assert np.allclose(first, 0.5 * divergence, rtol=1e-9, atol=1e-10 * np.abs(divergence).max())
        assert np.allclose(second, G, rtol=1e-9, atol=1e-10 * np.abs(G).max())


def slope(sizes, errors):
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


@pytest.mark.parametrize("p", [4 / 3, 1.0, 0.0])
@pytest.mark.parametrize("name", MEASURED)
def test_the_theorems_weight_tends_to_its_moments(name, p):
    """E[c δδᵀ] → G and E[c δ] → λ½∇·G, both with an error of order r²: the constant in front of ∇·G is not 1."""
    domain = MEASURED[name]
    X = interior(domain, 6)
    G, divergence = weighted(zf.Barrier(p, scale="raw"), domain, X)
    radii, errors = np.array([0.4, 0.2, 0.1, 0.05]), []
    for radius in radii:
        first, second = ball_moments(domain, X, p, radius, proper=False)
        limit = 0.5 * mixing_constant(3) * divergence
        errors.append(
            (
                np.linalg.norm(first - limit) / np.linalg.norm(limit),
                np.linalg.norm(second - G) / np.linalg.norm(G),
            )
        )
    for column in np.transpose(errors):
        assert slope(radii, column) == pytest.approx(2.0, abs=0.1)
        assert column[-1] < 2e-3


def curved(X):
    """f(x) = exp(a·x) + cos(b·x), its gradient and Hessian."""
    a, b = np.array([1.0, -0.5, 0.8]), np.array([2.0, 1.0, -1.5])
    e, c, s = np.exp(X @ a), np.cos(X @ b), np.sin(X @ b)
    hessian = e[..., None, None] * np.outer(a, a) - c[..., None, None] * np.outer(b, b)
    return e + c, e[..., None] * a - s[..., None] * b, hessian


@pytest.mark.parametrize("kind", ["soft", "hard, λ = 1", "hard, λ = C₆/C₃"])
@pytest.mark.parametrize("name", MEASURED)
def test_differences_tend_to_the_operator(name, kind):
    """E[c (f(y) − f(x))] → ½(tr(D∇²f) + λ∇·D·∇f) for a function that is no polynomial, like ε and like r²."""
    domain, generator = MEASURED[name], zf.Barrier(4 / 3, scale="raw")
    X = interior(domain, 6)
    D, divergence = weighted(generator, domain, X)
    value, gradient, hessian = curved(X)
    constant = mixing_constant(3) if kind.endswith("C₃") else 1.0
    limit = 0.5 * (np.einsum("nij,nij->n", D, hessian) + constant * np.einsum("ni,ni->n", divergence, gradient))
    soft = kind == "soft"
    sizes, errors = np.array([0.1, 0.05, 0.025, 0.0125]) if soft else np.array([0.4, 0.2, 0.1, 0.05]), []
    nodes, weight = gaussian_nodes(3) if soft else ball_nodes(7)
    for size in sizes:
        near = SoftNeighbourhood(generator, size) if soft else BregmanBall(Power(4 / 3), size, constant == 1.0)
        points, coefficients = near.place(domain, X, everywhere(nodes, X))
        found = np.einsum("k,kn,kn->n", weight, coefficients, curved(points)[0] - value)
        errors.append(np.linalg.norm(found - limit) / np.linalg.norm(limit))
    assert slope(sizes, errors) == pytest.approx(1.0 if soft else 2.0, abs=0.15)
    assert errors[-1] < 0.03
