"""The expected score is least at the truth (section 4), by how much (Proposition 3.2), and not so without a weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special

import zfree as zf
from zfree.neighbourhoods import mixing_constant

GENERATORS = {
    "φ₁": zf.Barrier(4 / 3, scale="raw"),
    "φ₂": zf.Barrier.entropy(scale="raw"),
    "φ₃": zf.Barrier.log(scale="raw"),
    "h₁": zf.Barrier(1.0, 0.0, scale="raw"),
}


@dataclass(frozen=True)
class Density:
    """log q(x) = Σ a log(b + c·x) + η·x − ½ xᵀKx + w cos(v·x + ½), up to a constant.

    Gamma, Pareto, beta, Dirichlet and Gaussian densities on a part of the space, and others that are none of these.
    """

    logs: tuple[tuple[float, float, tuple[float, ...]], ...] = ()
    linear: tuple[float, ...] = ()
    precision: tuple[tuple[float, ...], ...] = ()
    wave: tuple[float, tuple[float, ...]] | None = None

    def log(self, X):
        out = sum(a * np.log(b + X @ np.array(c)) for a, b, c in self.logs) + np.zeros(len(X))
        if self.linear:
            out += X @ np.array(self.linear)
        if self.precision:
            out -= 0.5 * np.einsum("ni,ij,nj->n", X, np.array(self.precision), X)
        if self.wave:
            out += self.wave[0] * np.cos(X @ np.array(self.wave[1]) + 0.5)
        return out

    def score(self, X):
        """∇log q and its Jacobian."""
        n, d = X.shape
        s, J = np.zeros((n, d)), np.zeros((n, d, d))
        for a, b, c in self.logs:
            slack = b + X @ np.array(c)
            s += (a / slack)[:, None] * np.array(c)
            J -= (a / slack**2)[:, None, None] * np.outer(c, c)
        if self.linear:
            s += np.array(self.linear)
        if self.precision:
            s -= X @ np.array(self.precision)
            J -= np.array(self.precision)
        if self.wave:
            w, v = self.wave[0], np.array(self.wave[1])
            angle = X @ v + 0.5
            s -= (w * np.sin(angle))[:, None] * v
            J -= (w * np.cos(angle))[:, None, None] * np.outer(v, v)
        return s, J


def legendre(low, high, n):
    z, w = np.polynomial.legendre.leggauss(n)
    return low + 0.5 * (high - low) * (z + 1.0), 0.5 * (high - low) * w


def graded(n, ends=2):
    """Nodes on (0, 1) that crowd at 0, and at 1 with `ends` = 2: fractional powers of the distance become smooth."""
    t, w = legendre(0.0, 1.0, n)
    if ends == 1:
        return t**6, 6 * t**5 * w
    x = t**4 * (35 - 84 * t + 70 * t**2 - 20 * t**3)
    inside = x < 1.0 - 1e-14  # the rest is rounding, with weights of 1e-12 and less
    return x[inside], (140 * (t * (1 - t)) ** 3 * w)[inside]


def half_line(n=200):
    """(0, 40), beyond which the densities below have no mass left that counts."""
    x, w = graded(n, ends=1)
    return 40 * x[:, None], 40 * w


def segment(n=120):
    x, w = graded(n)
    return 2 * x[:, None] - 1, 2 * w


def square(n=60):
    x, w = graded(n)
    a, b = np.meshgrid(x, x, indexing="ij")
    return np.column_stack([a.ravel(), b.ravel()]), np.outer(w, w).ravel()


def triangle(n=60):
    """The square folded onto x₁, x₂ > 0, x₁ + x₂ < 1."""
    X, w = square(n)
    X, w = np.column_stack([X[:, 0], X[:, 1] * (1 - X[:, 0])]), w * (1 - X[:, 0])
    inside = X.sum(axis=1) < 1.0 - 1e-14
    return X[inside], w[inside]


def gamma(shape, rate):
    return Density(logs=((shape - 1.0, 0.0, (1.0,)),), linear=(-rate,))


def beta(a, b, c, d):
    return Density(logs=((a, 0.0, (1.0, 0.0)), (b, 1.0, (-1.0, 0.0)), (c, 0.0, (0.0, 1.0)), (d, 1.0, (0.0, -1.0))))


def dirichlet(a, b, c):
    return Density(logs=((a, 0.0, (1.0, 0.0)), (b, 0.0, (0.0, 1.0)), (c, 1.0, (-1.0, -1.0))))


def gaussian(mean, precision):
    K = np.atleast_2d(precision)
    return Density(linear=tuple(K @ np.atleast_1d(mean)), precision=tuple(map(tuple, K.tolist())))


def arcs(left, right):
    """(1 + x)^left (1 − x)^right on (−1, 1)."""
    return Density(logs=((left, 1.0, (1.0,)), (right, 1.0, (-1.0,))))


K = [[3.0, 1.0], [1.0, 2.0]]
WAVY = Density(linear=(0.5, -0.3), wave=(0.8, (3.0, -2.0)))
CASES = {
    # Scores of the alternatives are bounded where the truth does not vanish on the boundary; D takes care of the rest.
    "exponential": (
        zf.Orthant(1),
        half_line(),
        gamma(1.0, 1.5),
        [
            gamma(1.0, 1.0),
            gamma(1.0, 1.49),
            gamma(1.0, 3.0),
            gaussian(0.0, 1.0),
            gaussian(1.0, 2.0),
            Density(logs=((-3.0, 1.0, (1.0,)),)),
            Density(linear=(-1.5,), wave=(0.3, (2.0,))),
        ],
    ),
    "gamma": (
        zf.Orthant(1),
        half_line(),
        gamma(3.5, 2.0),
        [gamma(3.5, 1.8), gamma(2.0, 2.0), gamma(3.4, 1.95), gamma(1.0, 0.5), gaussian(1.5, 1.2)],
    ),
    "Gaussian on the box": (
        zf.Box([0.0, 0.0], [1.0, 1.0]),
        square(),
        gaussian([0.3, 0.5], K),
        [
            gaussian([0.4, 0.5], K),
            gaussian([0.3, 0.5], [[3.0, 0.0], [0.0, 2.0]]),
            gaussian([0.3, 0.5], [[2.9, 1.0], [1.0, 2.0]]),
            Density(linear=(-0.5, 0.2)),
            Density(),
            WAVY,
        ],
    ),
    "wave on the box": (
        zf.Box([0.0, 0.0], [1.0, 1.0]),
        square(),
        WAVY,
        [gaussian([0.3, 0.5], K), Density(linear=(0.5, -0.3)), Density(linear=(0.5, -0.3), wave=(0.7, (3.0, -2.0)))],
    ),
    "beta": (
        zf.Box([0.0, 0.0], [1.0, 1.0]),
        square(),
        beta(1.5, 2.0, 3.0, 1.2),
        [beta(1.4, 2.0, 3.0, 1.2), beta(2.0, 2.0, 2.0, 2.0), Density(), gaussian([0.5, 0.6], K)],
    ),
    "Dirichlet": (
        zf.SolidSimplex(2),
        triangle(),
        dirichlet(1.5, 2.0, 1.2),
        [dirichlet(1.5, 2.0, 1.3), dirichlet(0.0, 0.0, 0.0), dirichlet(3.0, 1.1, 1.2), gaussian([0.3, 0.4], K), WAVY],
    ),
    "Gaussian on the triangle": (
        zf.SolidSimplex(2),
        triangle(),
        gaussian([0.3, 0.5], K),
        [gaussian([0.3, 0.45], K), gaussian([0.3, 0.5], [[3.0, 0.8], [0.8, 2.0]]), Density(), WAVY],
    ),
    "Gaussian on the segment": (
        zf.Ball(1.0, d=1),
        segment(),
        gaussian(0.4, 3.0),
        [gaussian(0.3, 3.0), gaussian(0.4, 3.2), Density(), Density(wave=(1.0, (4.0,))), Density(linear=(1.0,))],
    ),
    "arcs": (
        zf.Ball(1.0, d=1),
        segment(),
        arcs(1.5, 2.5),
        [arcs(1.5, 2.4), arcs(1.2, 1.2), Density(), gaussian(-0.2, 4.0)],
    ),
}


def weight_of(generator, domain, X):
    """D and ∇·D written out."""
    value = generator.evaluate(domain, X)
    scale = np.exp(value.log_weight)
    return scale[:, None, None] * value.field.dense(), scale[:, None] * value.divergence


class Expectation:
    """E_p on a quadrature rule, with D and ∇·D at its nodes."""

    def __init__(self, domain, rule, truth, generator):
        X, w = rule
        assert domain.contains(X).all()
        self.X, mass = X, w * np.exp(truth.log(X))
        self.p = mass / mass.sum()
        self.D, self.divergence = weight_of(generator, domain, self.X)

    def score(self, q):
        """E_p[½ sᵀDs + ∇·(Ds)] with s = ∇log q."""
        s, J = q.score(self.X)
        quadratic = 0.5 * np.einsum("ni,nij,nj->n", s, self.D, s)
        divergence = np.einsum("nij,nji->n", self.D, J) + np.einsum("ni,ni->n", self.divergence, s)
        return self.p @ (quadratic + divergence)

    def distance(self, q, truth):
        """½ E_p‖s_q − s_p‖²_D."""
        gap = q.score(self.X)[0] - truth.score(self.X)[0]
        return 0.5 * self.p @ np.einsum("ni,nij,nj->n", gap, self.D, gap)


def test_the_quadrature_is_good_to_ten_digits():
    """Known integrals, of fractional powers among them."""
    X, w = half_line()
    assert w @ (X[:, 0] ** 0.5 * np.exp(-1.5 * X[:, 0])) == pytest.approx(special.gamma(1.5) / 1.5**1.5, rel=1e-11)
    X, w = segment()
    assert w @ ((1 + X[:, 0]) ** 0.5 * (1 - X[:, 0]) ** 1.2) == pytest.approx(
        2**2.7 * special.beta(1.5, 2.2), rel=1e-11
    )
    X, w = square()
    assert w @ (X[:, 0] ** 0.5 * (1 - X[:, 1]) ** 0.2) == pytest.approx(1 / 1.5 / 1.2, rel=1e-11)
    X, w = triangle()
    expected = special.gamma(1.5) * special.gamma(3.0) * special.gamma(2.2) / special.gamma(6.7)
    assert w @ np.exp(dirichlet(0.5, 2.0, 1.2).log(X)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_the_densities_have_their_scores(name):
    domain, (X, _), truth, others = CASES[name]
    X = X[domain.boundary_distance(X)[0] > 0.03][::7]
    h = 1e-5
    for q in (truth, *others):
        s, J = q.score(X)
        for i, e in enumerate(np.eye(X.shape[1])):
            assert np.allclose(s[:, i], (q.log(X + h * e) - q.log(X - h * e)) / (2 * h), rtol=1e-4, atol=1e-6)
            assert np.allclose(J[:, i], (q.score(X + h * e)[0] - q.score(X - h * e)[0]) / (2 * h), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("name", CASES)
def test_the_truth_has_the_least_expected_score(name, generator):
    """S(p) < S(q) for every q ≠ p, and S(q) − S(p) = ½ E_p‖s_q − s_p‖²_D; S(p) itself is −½ E_p‖s_p‖²_D."""
    domain, rule, truth, others = CASES[name]
    expected = Expectation(domain, rule, truth, GENERATORS[generator])
    least = expected.score(truth)
    size = expected.distance(Density(), truth)
    assert least == pytest.approx(-size, rel=1e-10)
    for q in others:
        excess = expected.score(q) - least
        assert excess > 0, q
        assert excess == pytest.approx(expected.distance(q, truth), rel=1e-9, abs=1e-11 * size), q


@pytest.mark.parametrize("generator", ["φ₂", "φ₃"])
def test_a_weight_that_vanishes_faster_takes_on_scores_that_do_not(generator):
    """A gamma density against an exponential truth: s is 1/x at the boundary, p is not 0 there, D is x^1.5 or x³."""
    domain, rule, truth, _ = CASES["exponential"]
    expected = Expectation(domain, rule, truth, GENERATORS[generator])
    for q in (gamma(1.7, 1.5), gamma(1.02, 1.5), gamma(0.8, 1.2)):
        excess = expected.score(q) - expected.score(truth)
        assert excess > 0
        assert excess == pytest.approx(expected.distance(q, truth), rel=1e-9)


def plane(n=60):
    """Nodes for densities with Gaussian tails on the whole plane."""
    x, w = legendre(-9.0, 9.0, 4 * n)
    a, b = np.meshgrid(x, x, indexing="ij")
    return np.column_stack([a.ravel(), b.ravel()]), np.outer(w, w).ravel()


ON_THE_PLANE = {
    "I": zf.Identity(),
    "σ(x)": zf.CoordinateWeight("sigmoid"),
    "exp(−x²)": zf.CoordinateWeight("exp(-x^2)"),
    "full": zf.Custom(
        lambda X: np.eye(2) + np.sin(X)[:, :, None] * np.sin(X)[:, None, :],
        divergence=lambda X: np.sin(X) * np.cos(X).sum(axis=1, keepdims=True) + np.sin(X) * np.cos(X),
    ),
}


@pytest.mark.parametrize("generator", ON_THE_PLANE)
def test_on_the_whole_space_any_positive_definite_weight_will_do(generator):
    """Proposition 3.1: L − L_GSM does not depend on θ, whatever D, on densities that vanish far out."""
    truth = Density(linear=(0.4, -0.2), precision=((2.0, 0.5), (0.5, 1.0)), wave=(0.8, (2.0, -1.0)))
    expected = Expectation(zf.RealSpace(2), plane(), truth, ON_THE_PLANE[generator])
    least = expected.score(truth)
    for q in (Density(), gaussian([0.3, 0.5], K), Density(wave=(1.0, (1.0, 2.0))), Density(linear=(1.0, 1.0))):
        assert expected.score(q) - least == pytest.approx(expected.distance(q, truth), rel=1e-9), q


@pytest.mark.parametrize("generator", GENERATORS)
def test_it_is_the_rule_of_parry_dawid_and_lauritzen(generator):
    """Equation (16), in derivatives of q itself, not of its logarithm: the proof of Proposition 4.1."""
    domain, (X, _), _, others = CASES["Gaussian on the triangle"]
    D, divergence = weight_of(GENERATORS[generator], domain, X)
    for density in others:
        s, J = density.score(X)
        q = np.exp(density.log(X))
        first = q[:, None] * s
        second = q[:, None, None] * (J + s[:, :, None] * s[:, None, :])
        ratio = first / q[:, None]
        parry = np.einsum("nij,nij->n", D, second / q[:, None, None] - 0.5 * ratio[:, :, None] * ratio[:, None, :])
        parry += np.einsum("nj,nj->n", divergence, ratio)
        ours = 0.5 * np.einsum("ni,nij,nj->n", s, D, s) + np.einsum("nij,nij->n", D, J)
        ours += np.einsum("nj,nj->n", divergence, s)
        assert np.allclose(ours, parry, rtol=1e-10, atol=1e-10 * np.abs(ours).max())


def test_a_wrong_constant_in_front_of_the_divergence_is_not_proper():
    """With λ = C₆/C₃ of Theorem 3.2 instead of 1 the truth is not even a stationary point."""
    domain, rule, truth, _ = CASES["exponential"]
    expected = Expectation(domain, rule, truth, zf.Barrier(4 / 3, scale="raw"))
    expected.divergence *= mixing_constant(1)
    rates = np.linspace(0.05, 2.0, 40)
    scores = [expected.score(gamma(1.0, rate)) for rate in rates]
    # D = x: ½θ² E[x] − λθ is least at θ = λ/E[x] = 1.5 λ.
    assert rates[np.argmin(scores)] == pytest.approx(1.5 * mixing_constant(1), abs=0.05)


def test_without_a_weight_the_exponential_truth_is_not_found():
    """D = I: the expected score of Exp(θ) is ½θ² whatever the truth, least at θ = 0; a boundary term is missing."""
    domain, rule, truth, _ = CASES["exponential"]
    expected = Expectation(domain, rule, truth, zf.Identity())
    rates = np.array([3.0, 2.0, 1.5, 1.0, 0.5, 0.1, 0.0])
    scores = np.array([expected.score(gamma(1.0, rate)) for rate in rates])
    assert np.allclose(scores, 0.5 * rates**2, rtol=1e-10, atol=1e-12)
    assert np.all(np.diff(scores) < 0)
    for rate, score in zip(rates, scores, strict=True):
        # ½E‖s_q − s_p‖² lacks p(0)(s_p(0) − s_q(0)), which D = 0 at the boundary would remove.
        missing = 1.5 * (-1.5 + rate)
        assert score - expected.score(truth) == pytest.approx(
            expected.distance(gamma(1.0, rate), truth) + missing, abs=1e-10
        )
