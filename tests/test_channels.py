"""Neighbourhoods that are channels q(y | x): the cube, densities, the ratio of the way back to the way there, and origins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import zfree as zf
from tests.contracts.tables import DOMAINS
from tests.sampling import interior
from zfree.errors import SpecificationError
from zfree.experiments.flow_limit import cube_nodes
from zfree.neighbourhoods import BregmanBall, Cube, SoftNeighbourhood

FLAT = ["Simplex", "Simplex-drop-first", "Product-with-simplex"]
WHERE = ["RealSpace", "Orthant", "Box-half-infinite", "Polytope", "SolidSimplex", "Ball", "Product", "Annulus", *FLAT]


def generator_on(domain):
    return zf.Barrier(4 / 3, scale="raw") if domain.is_convex else zf.BoundaryDistance()


def everywhere(moves, X):
    return np.repeat(moves[:, None, :], len(X), axis=1)


class TestCube:
    def test_neighbours_fill_the_cube(self):
        X = np.array([[1.0, -2.0, 0.5], [0.0, 0.0, 0.0]])
        points, coefficients = Cube(0.3).draw(zf.RealSpace(3), X, np.random.default_rng(0), count=5000)
        assert np.all(coefficients == 12 / 0.3**2)
        for j in range(3):
            for n in range(2):
                uniform = stats.uniform(X[n, j] - 0.15, 0.3)
                assert stats.kstest(points[:, n, j], uniform.cdf).pvalue > 0.001
        delta = (points - X).reshape(-1, 3)
        assert np.abs(np.corrcoef(delta.T) - np.eye(3)).max() < 4.5 / np.sqrt(len(delta))

    @pytest.mark.parametrize("d", [1, 2, 3])
    def test_its_moments_hold_at_every_side(self, d):
        """E[c δ] = 0 and E[c δδᵀ] = I, so that D = I."""
        nodes, weight = cube_nodes(d, 4)
        X = np.random.default_rng(1).normal(size=(3, d))
        for side in (2.0, 0.01):
            points, coefficients = Cube(side).place(zf.RealSpace(d), X, everywhere(nodes, X))
            mass = weight[:, None] * coefficients
            assert np.allclose(np.einsum("kn,kni->ni", mass, points - X), 0.0, atol=1e-11 / side)
            second = np.einsum("kn,kni,knj->nij", mass, points - X, points - X)
            assert np.allclose(second, np.eye(d), rtol=1e-9, atol=1e-10)

    def test_it_is_a_symmetric_channel(self):
        domain, X = zf.RealSpace(4), 1e3 * np.random.default_rng(2).normal(size=(50, 4))
        U = np.random.default_rng(3).choice([-1.0, 1.0, 0.3], size=(20, 50, 4))  # corners among them
        points, _ = Cube(0.1).place(domain, X, U)
        assert np.array_equal(Cube(0.1).log_ratio(domain, X, points), np.zeros((20, 50)))
        assert np.all(Cube(0.1).log_density(domain, X, points + 0.2) == -np.inf)

    @pytest.mark.parametrize("side", [0.0, -1.0, np.nan, np.inf])
    def test_a_side_that_is_none_is_refused(self, side):
        with pytest.raises(SpecificationError, match="side must be positive"):
            Cube(side)

    @pytest.mark.parametrize("name", FLAT)
    def test_a_flat_domain_is_refused(self, name):
        X = interior(DOMAINS[name], 3)
        with pytest.raises(SpecificationError, match=r"cube needs a full-dimensional domain.*chart"):
            Cube(0.1).draw(DOMAINS[name], X, np.random.default_rng(0))
        with pytest.raises(SpecificationError, match="full-dimensional"):
            Cube(0.1).place(DOMAINS[name], X, np.zeros((1, *X.shape)))


def dense_log_density(generator, domain, epsilon, x, y):
    """log N(y; x + ½ε∇·D, εD) of one pair with full matrices, in the chart of a flat domain."""
    value = generator.evaluate(domain, x[None])
    D, divergence = (np.exp(value.log_weight[0]) * part[0] for part in (value.field.dense(), value.divergence))
    kept = slice(None) if domain.chart is None else domain.chart.kept
    D = D[kept][:, kept]
    return stats.multivariate_normal((x + 0.5 * epsilon * divergence)[kept], epsilon * D).logpdf(y[kept])


@pytest.mark.parametrize("name", WHERE)
def test_the_density_of_a_soft_channel(name):
    """Differences of log q against full matrices, for rows and for neighbours: the constant has no say."""
    domain, epsilon = DOMAINS[name], 0.02
    generator = generator_on(domain)
    soft, X = SoftNeighbourhood(generator, epsilon), interior(domain, 6)
    points = soft.draw(domain, X, np.random.default_rng(0), count=3).points
    found = soft.log_density(domain, X, points)
    expected = np.array([[dense_log_density(generator, domain, epsilon, x, y) for x, y in zip(X, Y)] for Y in points])  # noqa: B905
    assert np.allclose(found - found[0, 0], expected - expected[0, 0], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", WHERE)
def test_the_ratio_of_the_way_back_to_the_way_there(name):
    """log q(x | y) − log q(y | x) against full matrices; zero for neighbours outside."""
    domain, epsilon = DOMAINS[name], 0.05
    generator = generator_on(domain)
    soft, X = SoftNeighbourhood(generator, epsilon), interior(domain, 8)
    points = soft.draw(domain, X, np.random.default_rng(1), count=12).points
    found = soft.log_ratio(domain, X, points)
    for k, Y in enumerate(points):
        inside = domain.contains(Y)
        for n, (x, y) in enumerate(zip(X, Y, strict=True)):
            if inside[n]:
                back = dense_log_density(generator, domain, epsilon, y, x)
                there = dense_log_density(generator, domain, epsilon, x, y)
                assert found[k, n] == pytest.approx(back - there, rel=1e-6, abs=1e-7)
            else:
                assert found[k, n] == 0.0
    if name != "RealSpace":
        assert np.abs(found).max() > 0.01


def test_neighbours_outside_are_looked_at_in_that_ratio():
    domain, X = zf.Orthant(2), np.full((40, 2), 0.05)
    soft = SoftNeighbourhood(zf.Identity(), 0.01)
    points = soft.draw(domain, X, np.random.default_rng(2), count=5).points
    outside = ~domain.contains(points.reshape(-1, 2)).reshape(5, 40)
    assert 0.2 < outside.mean() < 0.8
    assert np.all(soft.log_ratio(domain, X, points)[outside] == 0.0)


@pytest.mark.parametrize("name", ["RealSpace", "Orthant", "Simplex"])
def test_a_channel_with_constant_D_is_symmetric(name):
    domain = DOMAINS[name]
    X = interior(domain, 20)
    soft = SoftNeighbourhood(zf.Identity(), 0.3)
    points = soft.draw(domain, X, np.random.default_rng(3), count=4).points
    assert np.allclose(soft.log_ratio(domain, X, points), 0.0, atol=1e-12)


def test_the_ratio_of_a_bregman_ball_is_refused():
    domain, X = zf.Orthant(2), np.ones((3, 2))
    points = BregmanBall().draw(domain, X, np.random.default_rng(0)).points
    for ask in (BregmanBall().log_ratio, BregmanBall().log_density):
        with pytest.raises(SpecificationError, match=r"no channel.*SoftNeighbourhood or Cube"):
            ask(domain, X, points)


def test_to_leading_order_the_ratio_is_a_hermite_polynomial():
    """In one dimension √ε D'/(2√D) (z³ − 3z) with z = δ/√(εD); the next term is of order ε."""
    generator, domain = zf.CoordinateWeight("sigmoid"), zf.RealSpace(1)
    X = np.linspace(-2.0, 2.0, 5)[:, None]
    D = 1 / (1 + np.exp(-X[:, 0]))
    slope = D * (1 - D)
    z = np.linspace(-2.5, 2.5, 11)
    gaps = []
    for epsilon in (1e-4, 1e-6):
        Y = X + np.sqrt(epsilon * D)[:, None] * z[:, None, None]
        found = SoftNeighbourhood(generator, epsilon).log_ratio(domain, X, Y)
        expected = np.sqrt(epsilon / D) * slope / 2 * (z**3 - 3 * z)[:, None]
        gaps.append(np.abs(found - expected).max() / epsilon)
    assert gaps[1] == pytest.approx(gaps[0], rel=0.1)
    assert gaps[1] < 2.0


class TestOrigins:
    def test_of_a_symmetric_channel_have_equal_weights(self):
        domain, X = zf.RealSpace(3), np.random.default_rng(4).normal(size=(6, 3))
        for q in (SoftNeighbourhood(zf.Identity(), 0.4), Cube(0.4)):
            Y = q.draw(domain, X, np.random.default_rng(5), count=2).points
            origins = q.draw_origins(domain, X, Y, np.random.default_rng(6), count=500)
            assert origins.points.shape == (500, 2, 6, 3)
            assert np.allclose(origins.log_weight, 0.0, atol=1e-12)
            away = np.abs(origins.points - Y)
            assert away.max() > 0.15
            if isinstance(q, Cube):
                assert away.max() <= 0.2 * (1 + 1e-9)

    @pytest.mark.parametrize("name", ["SolidSimplex", "Simplex"])
    def test_have_the_weights_of_their_densities(self, name):
        """q(y | x') over the density of y − x' among the moves z − x of the row; minus infinity outside."""
        domain, epsilon = DOMAINS[name], 0.5
        generator = generator_on(domain)
        q, X = SoftNeighbourhood(generator, epsilon), interior(domain, 4)
        Y = q.draw(domain, X, np.random.default_rng(7), count=3).points
        points, log_weight = q.draw_origins(domain, X, Y, np.random.default_rng(8), count=5)
        assert domain.contains(points.reshape(-1, X.shape[1])).all()
        for (m, k, n), found in np.ndenumerate(log_weight):
            if np.isneginf(found):
                assert np.array_equal(points[m, k, n], X[n])
                continue
            arrive = dense_log_density(generator, domain, epsilon, points[m, k, n], Y[k, n])
            drawn = dense_log_density(generator, domain, epsilon, X[n], X[n] + Y[k, n] - points[m, k, n])
            assert found == pytest.approx(arrive - drawn, rel=1e-6, abs=1e-6)
        assert 0 < np.isneginf(log_weight).mean() < 0.9

    def test_weigh_what_the_integral_weighs(self):
        """The mean of w g(x') is ∫ q(y | x) g(x) dx, also for a y outside the domain: by quadrature on a half-line."""
        domain, epsilon, cap = zf.Orthant(1), 0.05, 0.2
        q = SoftNeighbourhood(zf.CoordinateWeight("x", cap=cap), epsilon)
        X, Y = np.array([[0.15], [0.12]]), np.array([[[0.25], [-0.03]]])
        t, w = np.polynomial.legendre.leggauss(200)
        x = np.concatenate([cap * (0.5 * (t + 1)) ** 3, cap + 0.5 * (t + 1)])  # the kink of D is an end
        w = np.concatenate([1.5 * cap * w * (0.5 * (t + 1)) ** 2, 0.5 * w])
        D, slope = np.minimum(x, cap), x < cap
        draws = q.draw_origins(domain, X, Y, np.random.default_rng(9), count=100_000)
        for n in range(2):
            density = stats.norm(x + 0.5 * epsilon * slope, np.sqrt(epsilon * D)).pdf(Y[0, n, 0])
            expected = w @ (density * np.cos(3 * x))
            terms = np.exp(draws.log_weight[:, 0, n]) * np.cos(3 * draws.points[:, 0, n, 0])
            error = terms.std() / np.sqrt(len(terms))
            assert terms.mean() == pytest.approx(expected, abs=4.5 * error)
            assert error < 0.03 * expected
        assert 0.05 < np.isneginf(draws.log_weight[:, 0, 1]).mean() < 0.9
