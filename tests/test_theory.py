"""The formulas of docs/theory.md, by quadrature in one dimension and in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import polygamma, psi

import zfree as zf

x = np.linspace(0.05, 2.5, 12)


class Density:
    """A density on (lower, upper) from its logarithm, normalised by quadrature."""

    def __init__(self, log_density, score, lower, upper):
        self.log_density, self.score, self.lower, self.upper = log_density, score, lower, upper
        self.total = 1.0
        self.total = quad(self, lower, upper, epsabs=1e-13, epsrel=1e-13)[0]

    def __call__(self, y):
        return np.exp(self.log_density(y)) / self.total

    def mean(self, f):
        return quad(lambda y: f(y) * self(y), self.lower, self.upper, epsabs=1e-12, epsrel=1e-12, limit=400)[0]

    def field(self, t, points):
        """v = (1/p) ∫ₓ (t − E t) p: the velocity for the statistic t."""
        center = self.mean(t)
        tail = [
            quad(lambda y: (t(y) - center) * self(y), point, self.upper, epsabs=1e-13, epsrel=1e-13)[0]
            for point in points
        ]
        return np.array(tail) / self(points)


def gaussian(mu, sigma, lower, upper):
    return Density(lambda y: -((y - mu) ** 2) / (2 * sigma**2), lambda y: (mu - y) / sigma**2, lower, upper)


HALF_NORMAL = gaussian(0.0, 0.7, 0.0, 7.0)
CUT = gaussian(0.4, 0.7, 0.0, 7.4)
"""A Gaussian with μ = 0.4 and σ = 0.7 on the half-line."""
LINE = gaussian(0.0, 0.7, -7.0, 7.0)


def operator(density, v, points, h=1e-4):
    """A v = v' + v s, by differences."""
    return (v(points + h) - v(points - h)) / (2 * h) + v(points) * density.score(points)


class TestEstimatingFunction:
    @pytest.mark.parametrize(
        ("weight", "slope"),
        [(lambda y: y, lambda y: 1.0), (lambda y: y**1.5, lambda y: 1.5 * y**0.5), (np.expm1, np.exp)],
    )
    def test_it_has_mean_zero_for_every_weight_that_vanishes(self, weight, slope):
        linear = CUT.mean(lambda y: slope(y) + weight(y) * CUT.score(y))
        quadratic = CUT.mean(lambda y: slope(y) * 2 * y + weight(y) * (2 + 2 * y * CUT.score(y)))
        assert [linear, quadratic] == pytest.approx([0.0, 0.0], abs=1e-9)

    def test_it_has_not_for_one_that_does_not_vanish(self):
        """The flux: −p(0) for D = 1 and t = x."""
        assert CUT.mean(CUT.score) == pytest.approx(-CUT(0.0), rel=1e-8)

    def test_the_library_has_it(self):
        """Γ₁θ + g₁ of a row is A_D∇t: a Gaussian on the half-line with h(x) = x."""
        from tests.posed import posed, whole
        from zfree.models import PairwiseModel

        K, eta = 2.0, 0.8
        rows = x[:, None]
        problem = posed(PairwiseModel(["x"]), zf.CoordinateWeight("x"), zf.Orthant(1), rows)
        chunk = whole(problem)
        function = np.exp(chunk.log_scale) * chunk.influence(np.array([K, eta]), chunk.log_scale)
        s = eta - K * x
        assert np.allclose(function[0], -2 * x - x**2 * s)  # t = −x²/2, so D t' = −x²
        assert np.allclose(function[1], 1 + x * s)

    @pytest.mark.parametrize("t", [lambda y: y, lambda y: y**2, np.cos], ids=["x", "x²", "cos"])
    def test_the_field_of_any_statistic_solves_the_poisson_equation(self, t):
        function = operator(CUT, lambda y: CUT.field(t, y), x)
        assert np.allclose(function, -(t(x) - CUT.mean(t)), atol=1e-6)

    def test_the_field_is_the_velocity_of_a_quantile(self):
        """Gamma with shape α: ∂x/∂α at a fixed level is the field of t = log x."""
        alpha, h = 2.3, 1e-5
        density = Density(lambda y: (alpha - 1) * np.log(y) - y, lambda y: (alpha - 1) / y - 1, 0.0, 60.0)
        level = stats.gamma.cdf(x, alpha)
        velocity = (stats.gamma.ppf(level, alpha + h) - stats.gamma.ppf(level, alpha - h)) / (2 * h)
        assert np.allclose(density.field(np.log, x), velocity, rtol=1e-6)


class TestSteinKernels:
    @pytest.mark.parametrize(
        ("density", "kernel"),
        [
            (Density(lambda y: -2 * y, None, 0.0, 20.0), lambda y: y / 2),
            (LINE, lambda y: 0.49 + 0 * y),
            (Density(lambda y: 1.3 * np.log(y) - 2 * y, None, 0.0, 25.0), lambda y: y / 2),
            (Density(lambda y: 0 * y, None, 0.0, 3.0), lambda y: y * (3 - y) / 2),
            (Density(lambda y: 0.5 * np.log(y) + 2 * np.log(3 - y), None, 0.0, 3.0), lambda y: y * (3 - y) / 4.5),
        ],
        ids=["exponential", "Gaussian", "gamma", "uniform", "Beta"],
    )
    def test_the_table(self, density, kernel):
        assert np.allclose(density.field(lambda y: y, x), kernel(x), rtol=1e-7)
        assert density.mean(kernel) == pytest.approx(density.mean(lambda y: y**2) - density.mean(lambda y: y) ** 2)

    @pytest.mark.parametrize("a", [0.0, 0.5, 2.0])
    def test_next_to_a_facet_it_is_the_mean_slack_times_the_slack(self, a):
        density = Density(lambda y: a * np.log(y) - (y - 0.4) ** 2, None, 0.0, 6.0)
        near = np.array([1e-4])
        assert density.field(lambda y: y, near) / near == pytest.approx(density.mean(lambda y: y) / (1 + a), rel=1e-3)

    def test_the_power_of_the_exponential_is_four_thirds(self):
        """φ'' = τ^(−2/3) with γ = ½, 1/τ with γ = 0: both give τ, and the first is φ₁, the second the entropy."""
        rows = x[:, None]
        for barrier in (zf.Barrier(4 / 3, 0.5, scale="raw"), zf.Barrier.entropy(0.0, scale="raw")):
            value = barrier.evaluate(zf.Orthant(1), rows)
            assert np.allclose(np.exp(value.log_weight) * value.field.dense()[:, 0, 0], x)

    def test_the_dirichlet(self):
        """∇·D + D s = (α − α₀x)/α₀ for D = (diag(x) − xxᵀ)/α₀, through the library's entropy."""
        alpha = np.array([2.0, 1.5, 3.0])
        X = np.random.default_rng(0).dirichlet(alpha, 50)[:, :2]
        value = zf.Barrier.entropy(0.0, scale="raw").evaluate(zf.SolidSimplex(2), X)
        last = 1 - X.sum(axis=1, keepdims=True)
        score = (alpha[:2] - 1) / X - (alpha[2] - 1) / last
        function = np.exp(value.log_weight)[:, None] * (value.divergence + value.field.apply(score))
        assert np.allclose(function, alpha[:2] - alpha.sum() * X)

    @pytest.mark.parametrize("d", [2, 3, 5])
    def test_the_ball(self, d):
        """H₀⁻¹ = (I − xxᵀ/R²)/c, with divergence −(d + 1)x/(cR²); c ū = 2(d + 1)/(d + 2) for the uniform law."""
        R, c, h = 1.7, 0.6, 1e-6
        point = np.random.default_rng(0).normal(size=d) * 0.3

        def inverse(y):
            return np.linalg.inv(c * (np.eye(d) + np.outer(y, y) / (R**2 - y @ y)))

        assert np.allclose(inverse(point), (np.eye(d) - np.outer(point, point) / R**2) / c)
        divergence = sum(
            (inverse(point + h * e)[i] - inverse(point - h * e)[i]) / (2 * h) for i, e in enumerate(np.eye(d))
        )
        assert np.allclose(divergence, -(d + 1) * point / (c * R**2), atol=1e-7)
        mean_u = quad(lambda r: (R**2 - r**2) * d * r ** (d - 1) / R**d, 0, R)[0]
        assert (d + 1) / R**2 * mean_u == pytest.approx(2 * (d + 1) / (d + 2))


class TestStepsToMaximumLikelihood:
    def test_a_truncated_exponential(self):
        """τ = (m + 1/θ)(1 − e^{−θx})/θ − x/θ on (0, 1)."""
        points = np.linspace(0.05, 0.95, 9)
        for theta in (-2.0, 3.0):
            density = Density(lambda y, k=theta: k * y, None, 0.0, 1.0)
            m = density.mean(lambda y: y)
            assert m == pytest.approx(1 / -np.expm1(-theta) - 1 / theta)
            closed = (m + 1 / theta) * -np.expm1(-theta * points) / theta - points / theta
            assert np.allclose(density.field(lambda y: y, points), closed, rtol=1e-9)

    @pytest.mark.parametrize("pilot", [0.0, 0.7, 2.0, 30.0])
    def test_the_pilot_does_not_matter_to_first_order(self, pilot):
        """E A_D∇t = 0 for every K̂ ⪰ 0 in D = (ρK̂ + 1/(s̄s))⁻¹; here t = x and t = x²."""
        mean_slack = CUT.mean(lambda y: y)

        def weight(y):
            return 1 / (0.8 * pilot + 1 / (mean_slack * y))

        def slope(y):
            return weight(y) ** 2 / (mean_slack * y**2)

        assert CUT.mean(lambda y: slope(y) + weight(y) * CUT.score(y)) == pytest.approx(0.0, abs=1e-8)
        twice = CUT.mean(lambda y: 2 * y * slope(y) + weight(y) * (2 + 2 * y * CUT.score(y)))
        assert twice == pytest.approx(0.0, abs=1e-8)

    def test_the_barrier_interpolates(self):
        """Far out σ²/ρ, as K⁻¹ is σ²; next to the facet s̄ s."""
        mean_slack, precision = 0.7, 1 / 0.49
        weight = lambda s: 1 / (0.8 * precision + 1 / (mean_slack * s))  # noqa: E731
        assert weight(1e6) == pytest.approx(0.49 / 0.8, rel=1e-5)
        assert weight(1e-6) == pytest.approx(mean_slack * 1e-6, rel=1e-5)


class TestQuadraticStatistics:
    def kernels(self, density, points):
        """The weights that x and x² ask for."""
        return density.field(lambda y: y, points), density.field(lambda y: y**2, points) / (2 * points)

    def test_on_the_line_they_agree_up_to_a_factor(self):
        first, second = self.kernels(LINE, x)
        assert np.allclose(first, 0.49)
        assert np.allclose(second, 0.245)

    def test_on_the_half_line_they_do_not(self):
        near = np.array([0.001, 0.01, 0.5, 1.5])
        first, second = self.kernels(HALF_NORMAL, near)
        assert np.allclose(second, 0.245)
        assert first[0] / near[0] == pytest.approx(HALF_NORMAL.mean(lambda y: y), rel=1e-2)
        ratio = np.divide(*self.kernels(CUT, np.array([0.05, 0.5, 1.5])))
        assert ratio.max() > 2 * ratio.min()

    def test_only_a_constant_weight_recovers_both(self):
        """A_D∇x and A_D∇x² are quadratic for which polynomials D? The coefficients above x² as a matrix: its kernel is the constants."""
        from numpy.polynomial import polynomial as poly

        score, degree = np.array([0.4, -1.0]) / 0.49, 8
        columns = []
        for D in np.eye(degree + 1):
            q = poly.polyadd(poly.polyder(D), poly.polymul(D, score))
            second = poly.polyadd(2 * D, 2 * poly.polymulx(q))
            columns.append(np.concatenate([np.pad(c, (0, degree + 4 - len(c)))[3:] for c in (q, second)]))
        _, values, right = np.linalg.svd(np.stack(columns, axis=1))
        assert np.sum(values > 1e-9) == degree
        assert np.allclose(np.abs(right[-1]), np.eye(degree + 1)[0])

    @pytest.mark.parametrize("k", [(0, 0), (0, 1)])
    def test_the_equations_of_the_quadratic_ones_have_no_derivative_left(self, k):
        """A_D∇(x_i x_j) = 2D_ij + x_i q_j + x_j q_i with q = ∇·D + D s, for a D with everything in it."""
        i, j = k
        h, point = 1e-5, np.array([0.3, -0.4])
        K = np.array([[2.0, 0.5], [0.5, 1.0]])

        def D(y):
            return np.array([[1 + y[0] ** 2, y[0] * y[1]], [y[0] * y[1], 2 + np.sin(y[1])]])

        def flow(y):
            return D(y) @ (y[j] * np.eye(2)[i] + y[i] * np.eye(2)[j])

        def divergence(f):
            return sum((f(point + h * e)[n] - f(point - h * e)[n]) / (2 * h) for n, e in enumerate(np.eye(2)))

        s = -K @ point
        q = np.array([divergence(lambda y, m=m: D(y)[m]) for m in range(2)]) + D(point) @ s
        left = divergence(flow) + s @ flow(point)
        assert left == pytest.approx(2 * D(point)[i, j] + point[i] * q[j] + point[j] * q[i], abs=1e-8)


class TestFieldsBeyond:
    @pytest.mark.parametrize("alpha", [0.6, 2.0, 8.0])
    def test_gamma(self, alpha):
        beta = 1.5
        law = stats.gamma(alpha, scale=1 / beta)
        assert law.expect(lambda y: alpha - beta * y) == pytest.approx(0, abs=1e-7)
        assert law.expect(lambda y: 1 + (alpha - beta * y) * np.log(y)) == pytest.approx(0, abs=1e-6)

    @pytest.mark.parametrize(("alpha", "total"), [(0.7, 3.0), (2.0, 9.0), (5.0, 5.5)])
    def test_dirichlet(self, alpha, total):
        """The equation has only one part in it, whose law is Beta(α_l, α₀ − α_l)."""
        law = stats.beta(alpha, total - alpha)
        assert law.expect(lambda y: (1 - y) + (alpha - total * y) * np.log(y)) == pytest.approx(0, abs=1e-7)

    def test_dirichlet_is_the_operator_of_its_field(self):
        alpha, h = np.array([0.7, 2.0, 3.0]), 1e-6
        y = np.array([0.2, 0.35])

        def field(y):
            return (np.diag(y) - np.outer(y, y))[0] * np.log(y[0])

        s = (alpha[:2] - 1) / y - (alpha[2] - 1) / (1 - y.sum())
        divergence = sum((field(y + h * e)[i] - field(y - h * e)[i]) / (2 * h) for i, e in enumerate(np.eye(2)))
        expected = (1 - y[0]) + (alpha[0] - alpha.sum() * y[0]) * np.log(y[0])
        assert divergence + s @ field(y) == pytest.approx(expected, abs=1e-8)

    def test_the_closed_form_of_the_gamma_is_nearly_maximum_likelihood(self):
        """Ye and Chen: within a tenth of a standard error at 20,000 rows."""
        rows = np.random.default_rng(0).gamma(2.0, 1.0, 20_000)
        shape = rows.mean() / (np.mean(rows * np.log(rows)) - rows.mean() * np.log(rows).mean())
        gap = np.log(rows.mean()) - np.log(rows).mean()
        mle = shape
        for _ in range(50):
            mle = mle - (np.log(mle) - psi(mle) - gap) / (1 / mle - polygamma(1, mle))
        error = np.sqrt(1 / (polygamma(1, mle) - 1 / mle) / len(rows))
        assert abs(shape - mle) < 0.3 * error
