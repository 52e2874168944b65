"""The operator 𝓛g = G^½∇g is complete (Proposition 3.3): 𝓛p/p determines p. What that means in numbers, and what fails without a connected support."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.test_proper_scoring_rule import WAVY, Density, gaussian, graded, triangle

K = [[3.0, 1.0], [1.0, 2.0]]
GENERATORS = {
    "φ₁": zf.Barrier(4 / 3, scale="raw"),
    "φ₂": zf.Barrier.entropy(scale="raw"),
    "φ₃": zf.Barrier.log(scale="raw"),
    "p = 0.5": zf.Barrier(0.5, scale="raw"),
}


def disc(n=40):
    """Polar coordinates, with radii that crowd at the edge."""
    r, w = graded(n, ends=1)
    r = 1 - r
    angle = 2 * np.pi * (np.arange(2 * n) + 0.5) / (2 * n)
    X = (r[:, None, None] * np.column_stack([np.cos(angle), np.sin(angle)])).reshape(-1, 2)
    mass = np.repeat(w * r * np.pi / n, 2 * n)
    inside = np.sum(X**2, axis=1) < 1 - 1e-14
    return X[inside], mass[inside]


def quadrant(n=40):
    """(0, 8)², where the densities below have all the mass that counts."""
    x, w = graded(n, ends=1)
    a, b = np.meshgrid(8 * x, 8 * x, indexing="ij")
    return np.column_stack([a.ravel(), b.ravel()]), 64 * np.outer(w, w).ravel()


CASES = {
    "S²": (zf.SolidSimplex(2), triangle, gaussian([0.3, 0.5], K)),
    "R₊²": (zf.Orthant(2), quadrant, gaussian([0.4, 0.2], K)),
    "disc": (zf.Ball(1.0, d=2), disc, gaussian([0.2, -0.3], K)),
    "S², wave": (zf.SolidSimplex(2), triangle, WAVY),
}


def matrices(generator, domain, X):
    """G written out."""
    value = generator.evaluate(domain, X)
    return np.exp(value.log_weight)[:, None, None] * value.field.dense()


def roots(G):
    """G^½ and G^−½, symmetric."""
    values, vectors = np.linalg.eigh(G)
    assert np.all(values > 0)
    return tuple(np.einsum("nij,nj,nkj->nik", vectors, values**power, vectors) for power in (0.5, -0.5))


def gsm_loss(q, p, generator, domain, rule):
    """Eq. (14): ½E_p‖∇log q − ∇log p‖²_G."""
    X, w = rule
    mass = w * np.exp(p.log(X))
    gap = q.score(X)[0] - p.score(X)[0]
    return 0.5 * (mass / mass.sum()) @ np.einsum("ni,nij,nj->n", gap, matrices(generator, domain, X), gap)


def statistics_gradients(X):
    """∇t of x₁, x₂, x₁², x₁x₂, x₂², cos(3x₁ − 2x₂ + ½): a family in which every density of this file is."""
    a, b = X.T
    o, z, s = np.ones(len(X)), np.zeros(len(X)), -np.sin(3 * a - 2 * b + 0.5)
    return np.stack([[o, z], [z, o], [2 * a, z], [b, a], [z, 2 * b], [3 * s, -2 * s]]).transpose(2, 0, 1)


class TestTheLossIsZeroAtTheTruthOnly:
    @pytest.mark.parametrize("generator", GENERATORS)
    @pytest.mark.parametrize("name", CASES)
    def test_at_others_it_is_positive(self, name, generator):
        domain, rule, truth = CASES[name]
        rule, weight = rule(), GENERATORS[generator]
        size = gsm_loss(Density(), truth, weight, domain, rule)
        assert gsm_loss(truth, truth, weight, domain, rule) == 0.0
        for other in (
            Density(),
            gaussian([0.3, 0.5], [[3.01, 1.0], [1.0, 2.0]]),
            gaussian([0.41, 0.2], K),
            Density(linear=(0.5, -0.3), wave=(0.79, (3.0, -2.0))),
        ):
            assert gsm_loss(other, truth, weight, domain, rule) > 1e-7 * size

    @pytest.mark.parametrize("generator", GENERATORS)
    @pytest.mark.parametrize("name", CASES)
    def test_in_every_direction(self, name, generator):
        """In an exponential family the loss is ½ΔᵀΓΔ with Δ = θ − θ*: Γ is positive definite, so no direction is missed."""
        domain, rule, truth = CASES[name]
        X, w = rule()
        mass = w * np.exp(truth.log(X))
        J, G = statistics_gradients(X), matrices(GENERATORS[generator], domain, X)
        gamma = np.einsum("n,nri,nij,nsj->rs", mass / mass.sum(), J, G, J)
        scale = np.sqrt(np.diag(gamma))
        assert np.linalg.eigvalsh(gamma / np.outer(scale, scale)).min() > 1e-5
        step = np.array([0.2, -0.1, 0.3, 0.1, -0.2, 0.4])
        a, b, c = truth.linear or (0.0, 0.0), truth.precision, truth.wave
        Kt = np.array(b) if b else np.zeros((2, 2))
        other = Density(
            linear=(a[0] + step[0], a[1] + step[1]),
            precision=tuple(
                map(tuple, Kt - [[2 * step[2], step[3]], [step[3], 2 * step[4]]])
            ),  # −½xᵀKx, so x₁² has −½K₁₁
            wave=((c[0] if c else 0.0) + step[5], (3.0, -2.0)),
        )
        loss = gsm_loss(other, truth, GENERATORS[generator], domain, (X, w))
        assert loss == pytest.approx(0.5 * step @ gamma @ step, rel=1e-9)


def operator(density, generator, domain, X):
    """(𝓛p)(x)/p(x), the gradient of p by differences."""
    step = 1e-5 * domain.boundary_distance(X)[0]
    p = np.exp(density.log(X))
    gradient = np.column_stack(
        [
            (np.exp(density.log(X + step[:, None] * e)) - np.exp(density.log(X - step[:, None] * e))) / (2 * step)
            for e in np.eye(X.shape[1])
        ]
    )
    half, _ = roots(matrices(generator, domain, X))
    return np.einsum("nij,nj->ni", half, gradient) / p[:, None]


def recovered(values, generator, domain, start, X, nodes=24):
    """log p(x) − log p(start) from x ↦ (𝓛p)(x)/p(x) alone: G^−½ of it, integrated along segments, which a convex set contains."""
    t, w = np.polynomial.legendre.leggauss(nodes)
    total = np.zeros(len(X))
    for share, weight in zip(0.5 * (t + 1), 0.5 * w, strict=True):
        points = start + share * (X - start)
        _, inverse = roots(matrices(generator, domain, points))
        slope = np.einsum("nij,nj->ni", inverse, values(points))
        total += weight * np.einsum("ni,ni->n", slope, X - start)
    return total


class TestTheDensityComesBack:
    @pytest.mark.parametrize("generator", GENERATORS)
    @pytest.mark.parametrize("name", CASES)
    def test_from_the_operator_alone(self, name, generator):
        domain, rule, truth = CASES[name]
        X, w = rule(12)
        weight = GENERATORS[generator]
        start = domain.interior_point() if name != "R₊²" else np.array([0.5, 0.5])
        values = lambda points: operator(truth, weight, domain, points)  # noqa: E731
        log_p = recovered(values, weight, domain, start, X)
        found = np.exp(log_p) / (w @ np.exp(log_p))
        expected = np.exp(truth.log(X)) / (w @ np.exp(truth.log(X)))
        assert np.allclose(found, expected, rtol=1e-5, atol=1e-9 * expected.max())

    def test_two_densities_differ_in_it_somewhere(self):
        domain, weight = zf.SolidSimplex(2), GENERATORS["φ₁"]
        X, w = triangle(12)
        p1, p2 = gaussian([0.3, 0.5], K), gaussian([0.3, 0.5], [[3.0, 0.9], [0.9, 2.0]])
        gap = operator(p1, weight, domain, X) - operator(p2, weight, domain, X)
        assert np.sqrt(w @ np.sum(gap**2, axis=1)) > 1e-3
        differ = recovered(lambda x: operator(p2, weight, domain, x), weight, domain, domain.interior_point(), X)
        start = domain.interior_point()[None]
        assert np.abs(differ - (p1.log(X) - p1.log(start))).max() > 0.01


class Pieces:
    """exp(−½‖x‖² + c_k) on the k-th piece of shells: one score, whatever the masses c of the pieces."""

    def __init__(self, radii, shifts):
        self.radii, self.shifts = np.array(radii), np.array(shifts)

    def log(self, X):
        piece = np.searchsorted(self.radii, np.linalg.norm(X, axis=1)) // 2
        return -0.5 * np.sum(X**2, axis=1) + self.shifts[piece]


class TestWithoutAConnectedSupport:
    """The hypothesis that fails: Ω is not connected, and log p₁ − log p₂ may be another constant on each piece."""

    radii = (0.5, 1.0, 2.0)

    def rule(self, d):
        """Equal parts on the line, or rings of the plane: the ball and the shell."""
        t, w = np.polynomial.legendre.leggauss(30)
        r = np.concatenate([0.25 * (t + 1), 1.0 + 0.5 * (t + 1)])
        w = np.concatenate([0.25 * w, 0.5 * w])
        if d == 1:
            return np.concatenate([r, -r])[:, None], np.concatenate([w, w])
        angle = 2 * np.pi * np.arange(16) / 16
        X = (r[:, None, None] * np.column_stack([np.cos(angle), np.sin(angle)])).reshape(-1, 2)
        return X, np.repeat(w * r * np.pi / 8, 16)

    @pytest.mark.parametrize("generator", [zf.BoundaryDistance(), zf.SectionDistance("x"), zf.Identity()], ids=repr)
    @pytest.mark.parametrize("d", [1, 2])
    def test_two_densities_have_the_same_operator(self, d, generator):
        domain = zf.Shells(list(self.radii), d=d)
        X, w = self.rule(d)
        assert domain.contains(X).all()
        p1, p2 = Pieces(self.radii, [0.0, 0.0]), Pieces(self.radii, [0.0, 1.5])
        mass1, mass2 = (w * np.exp(p.log(X)) for p in (p1, p2))
        mass1, mass2 = mass1 / mass1.sum(), mass2 / mass2.sum()
        assert np.abs(mass1 - mass2).sum() > 0.2  # they are far apart
        v1, v2 = (operator(p, generator, domain, X) for p in (p1, p2))
        assert np.allclose(v1, v2, rtol=1e-6, atol=1e-9)
        assert np.abs(v1).max() > 0.1
        # so eq. (14) is zero at the wrong density, and the scoring rule prefers neither
        G = matrices(generator, domain, X)
        _, inverse = roots(G)
        gap = np.einsum("nij,nj->ni", inverse, v1 - v2)
        assert mass1 @ np.einsum("ni,nij,nj->n", gap, G, gap) < 1e-12

    def test_within_a_piece_the_density_comes_back(self):
        """Up to the mass of the piece: segments inside the ball, and inside the right part of the shell on the line."""
        domain, generator = zf.Shells(list(self.radii), d=1), zf.BoundaryDistance()
        p = Pieces(self.radii, [0.0, 1.5])
        values = lambda points: operator(p, generator, domain, points)  # noqa: E731
        for start, X in ((0.1, np.linspace(-0.45, 0.45, 9)), (1.5, np.linspace(1.05, 1.95, 9))):
            found = recovered(values, generator, domain, np.array([start]), X[:, None])
            assert np.allclose(found, -0.5 * (X**2 - start**2), atol=1e-6)
            assert np.allclose(found, p.log(X[:, None]) - p.log(np.array([[start]])), atol=1e-6)

    def test_a_fit_cannot_tell_the_masses_either(self):
        """The closed form takes averages of scores over rows: moving mass between pieces moves them, but its estimand stays.

        Both samples are fitted by the same Gaussian, of precision 1, although neither is that Gaussian on this domain alone.
        """
        domain, rng = zf.Shells(list(self.radii), d=2), np.random.default_rng(0)
        pool = rng.normal(size=(400_000, 2))
        pool = pool[domain.contains(pool)]
        inner = np.linalg.norm(pool, axis=1) < 0.75
        for keep in (1.0, 0.25):
            rows = pool[~inner | (rng.uniform(size=len(pool)) < keep)][:60_000]
            est = zf.TruncatedGaussian(domain=domain, generator=zf.BoundaryDistance(), check=False).fit(rows)
            assert np.allclose(est.precision_, np.eye(2), atol=4.5 * est.precision_se_.max())
