"""Moment maps against known kernels, Stein's identity by other means, and maximum likelihood; a broken D does not pass for one."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import zfree as zf
from zfree.errors import SpecificationError
from zfree.experiments import EXPERIMENTS
from zfree.experiments.disc_maps import END
from zfree.experiments.laws import DiscLaw, SimplexLaw
from zfree.experiments.moment_maps import PolynomialMap, RadialMap, TiltedMap, moment_map
from zfree.experiments.recover_mle import BARRIERS, LAWS, MAP, RecoverMLE, barriers, estimate
from zfree.experiments.runner import run_trial
from zfree.experiments.stein_kernels import field_at, interval_kernel, known_kernel, share_of_bound, stein_gap

UNIFORM = SimplexLaw((0.0, 0.0), powers=(0.0, 0.0, 0.0))
BENT = SimplexLaw((4.0, -1.0), powers=(0.5, 0.0, 1.0), precision=5.0)
"""A law on the triangle with everything in it."""
X = np.random.default_rng(0).dirichlet([1.5, 1.5, 1.5], 60)[:, :2]


class TestKernelsOfOneDimension:
    x = np.linspace(0.02, 0.98, 25)

    def test_exponential(self):
        """τ = x/λ, so with γ = ½ φ'' = τ^(−2/3) is proportional to x^(p−2) with p = 4/3: the paper's φ₁."""
        tau = interval_kernel(lambda y: -30.0 * y, 0.0, 3.0, self.x)
        assert np.allclose(tau, self.x / 30.0, rtol=1e-12)
        phi1 = zf.Barrier(4 / 3, scale="raw").evaluate(zf.Orthant(1), self.x[:, None])
        D = np.exp(phi1.log_weight) * phi1.field.dense()[:, 0, 0]
        assert np.ptp(np.log(D / tau)) < 1e-10

    def test_uniform(self):
        assert np.allclose(interval_kernel(np.zeros_like, 0.0, 1.0, self.x), self.x * (1 - self.x) / 2, rtol=1e-12)

    def test_gaussian(self):
        tau = interval_kernel(lambda y: -((y - 0.3) ** 2) / 0.02, -1.0, 1.6, self.x)
        assert np.allclose(tau, 0.01, rtol=1e-10)

    def test_beta(self):
        tau = interval_kernel(lambda y: np.log(y) + 2 * np.log1p(-y), 0.0, 1.0, self.x)
        assert np.allclose(tau, self.x * (1 - self.x) / 5, rtol=1e-12)

    @pytest.mark.parametrize("law", [SimplexLaw((-2.0,), (0.0, 0.0)), SimplexLaw((3.0,), (1.0, 2.0), precision=6.0)])
    def test_the_moment_map_is_the_kernel(self, law):
        D, _ = field_at(law, moment_map(law, 20).barrier(), self.x[:, None])
        other, _ = field_at(law, moment_map(law, 20).paper_barrier(), self.x[:, None])
        assert np.allclose(D, known_kernel(law, self.x[:, None]), rtol=1e-10)
        assert np.allclose(D, other, rtol=1e-12)


class TestTriangle:
    @pytest.mark.parametrize("powers", [(0.0, 0.0, 0.0), (1.0, 0.5, 2.0), (-0.5, 3.0, 0.0)])
    def test_a_dirichlet_has_the_entropy(self, powers):
        """φ = α₀ Σ x log x and D = (diag(x) − xxᵀ)/α₀; the polynomial has nothing to add."""
        law = SimplexLaw((0.0, 0.0), powers)
        found = PolynomialMap(law, 6)
        kernel = (np.einsum("ni,ij->nij", X, np.eye(2)) - np.einsum("ni,nj->nij", X, X)) / (sum(powers) + 3)
        assert np.allclose(field_at(law, found.barrier(), X)[0], kernel, atol=1e-12)
        assert np.allclose(field_at(law, zf.Barrier.entropy(0.0, scale="raw"), X)[0], kernel * (sum(powers) + 3))
        assert share_of_bound(law, zf.Barrier.entropy(0.0, scale="raw")) == pytest.approx(1.0, abs=1e-10)

    def test_the_derivatives_are_those_of_one_function(self):
        found = PolynomialMap(BENT, 10)
        h = 1e-5
        numeric = np.stack(
            [(found.hessian(X + h * e) - found.hessian(X - h * e)) / (2 * h) for e in np.eye(2)], axis=-1
        )
        third = found.third(X)
        assert np.allclose(numeric, third, rtol=1e-4, atol=1e-4 * np.abs(third).max(axis=(1, 2, 3), keepdims=True))
        for order in ((0, 2, 1, 3), (0, 3, 2, 1)):
            assert np.allclose(third, np.transpose(third, order))

    def test_steins_identity_in_the_mean(self):
        """E[(x − E x) f] = E[D ∇f], which needs no divergence, for f = x₁² x₂ and f = cos(3x₁ + x₂)."""
        nodes, p = BENT.nodes(80)
        mean, _ = BENT.moments()
        D, _ = field_at(BENT, PolynomialMap(BENT, 20).barrier(), nodes)
        a, b = nodes.T
        wave = 3 * a + b
        tests = [
            (a**2 * b, np.stack([2 * a * b, a**2], axis=1)),
            (np.cos(wave), -np.sin(wave)[:, None] * np.array([3.0, 1.0])),
        ]
        for f, slope in tests:
            assert np.allclose((p * f) @ (nodes - mean), p @ np.einsum("nij,nj->ni", D, slope), atol=1e-8)

    def test_the_gap_falls_with_the_degree(self):
        gaps = [stein_gap(BENT, PolynomialMap(BENT, degree).barrier()) for degree in (4, 8, 12, 16)]
        assert all(b < 0.2 * a for a, b in pairwise(gaps))
        assert gaps[-1] < 1e-6


class TestDisc:
    def test_steins_identity_along_the_radius_by_differences(self):
        law = DiscLaw((0.0, 0.0), precision=3.0)
        barrier = moment_map(law, 16).barrier()
        h, r = 1e-5, np.linspace(0.05, 0.97, 30)

        def eigenvalues(r):
            D, _ = field_at(law, barrier, np.stack([r, 0 * r], axis=1))
            assert np.allclose(D[:, 0, 1], 0, atol=1e-12)
            return D[:, 0, 0], D[:, 1, 1]

        along, across = eigenvalues(r)
        slope = (eigenvalues(r + h)[0] - eigenvalues(r - h)[0]) / (2 * h)
        assert np.allclose(slope + (along - across) / r - 3.0 * r * along, -r, atol=1e-6)

    def test_the_map_carries_the_measure(self):
        """Mass of e^{−Ψ} within t is that of the law within Ψ'(t), for the uniform law."""
        found = moment_map(DiscLaw((0.0, 0.0)), 16)
        r = np.array([0.3, 0.6, 0.9])
        mass = [
            quad(lambda s: s * np.exp(-float(found.derivative(np.array([s]), 0)[0])), 0, end, epsabs=1e-12)[0]
            for end in (*found.at_radius(r), END)
        ]
        assert np.allclose(np.array(mass[:3]) / mass[3], r**2, rtol=1e-8)

    def test_two_kernels_of_the_uniform_law(self):
        """(I − xxᵀ)/3 is a Stein kernel too, though no inverse Hessian: in the plane there is more than one."""
        law = DiscLaw((0.0, 0.0))
        nodes, p = law.nodes()
        walls = barriers(law, zf.Units.of(law.domain, nodes, p))["Stein barrier"]
        factor = 2.0  # of D = (I − xxᵀ)/c with c = 3/E u = 6
        D, function = field_at(law, walls, nodes)
        assert np.allclose(factor * D, (np.eye(2) - nodes[:, :, None] * nodes[:, None]) / 3)
        assert np.allclose(factor * function, -nodes)
        moment, other = field_at(law, moment_map(law, 12).barrier(), nodes)
        assert np.allclose(other, -nodes, atol=1e-6)
        assert np.abs(moment - factor * D).max() > 0.05

    def test_the_tilted_map_without_a_tilt_is_the_radial_one(self):
        law = DiscLaw((0.0, 0.0), precision=2.0)
        rows = law.draw(40, np.random.default_rng(0))
        waves, radial = TiltedMap(law, 48, 8).barrier(), RadialMap(law, 72).barrier()
        for one, other in zip(field_at(law, waves, rows), field_at(law, radial, rows), strict=True):
            assert np.allclose(one, other, atol=1e-5)

    def test_a_tilted_disc(self):
        """Stein's identity at points and, without a divergence, in the mean; and the same from another side."""
        law, turned = DiscLaw((0.6, 0.3), precision=1.0), DiscLaw((0.3, -0.6), precision=1.0)
        nodes, p = law.nodes(16)
        D, function = field_at(law, TiltedMap(law, 48, 10).barrier(), nodes)
        mean, _ = law.moments()
        assert np.abs(function + nodes - mean).max() < 1e-4
        f, slope = nodes[:, 0] ** 2 * nodes[:, 1], np.stack([2 * nodes[:, 0] * nodes[:, 1], nodes[:, 0] ** 2], axis=1)
        assert np.allclose((p * f) @ (nodes - mean), p @ np.einsum("nij,nj->ni", D, slope), atol=1e-6)
        R = np.array([[0.0, 1.0], [-1.0, 0.0]])
        other, _ = field_at(turned, TiltedMap(turned, 48, 10).barrier(), nodes @ R.T)
        assert np.allclose(other, R @ D @ R.T, atol=1e-8)

    def test_the_tilted_divergence_by_differences(self):
        law = DiscLaw((0.6, 0.3))
        found, h = TiltedMap(law, 40, 8), 1e-5
        rows = law.draw(20, np.random.default_rng(1)) * 0.9
        numeric = sum(
            (found._field(rows + h * e)[0][:, i] - found._field(rows - h * e)[0][:, i]) / (2 * h)
            for i, e in enumerate(np.eye(2))
        )
        assert np.allclose(found._field(rows)[1], numeric, atol=1e-5)


@pytest.mark.parametrize(
    ("law", "degree"),
    [(SimplexLaw((-2.0,), (0.0, 0.0)), 16), (BENT, 16), (DiscLaw((0.0, 0.0)), 12)],
    ids=["interval", "triangle", "disc"],
)
def test_the_fixed_point_is_maximum_likelihood(law, degree):
    rows = law.draw(150, np.random.default_rng(3))
    theta = np.array(law.theta)
    for _ in range(12):
        theta = estimate(law, moment_map(law.at(theta), degree).barrier(), rows)
    mean, _ = law.at(theta).moments()
    assert np.allclose(mean, rows.mean(axis=0), atol=1e-7)  # the likelihood equation


def test_maximum_likelihood_by_a_root_of_its_own():
    law = SimplexLaw((-2.0,), (0.0, 0.0))
    rows = law.draw(100, np.random.default_rng(1))
    mean = lambda rate: 1 / rate - 1 / np.expm1(rate)  # noqa: E731  (of an exponential cut at one)
    assert -law.likelihood(rows.mean(axis=0))[0] == pytest.approx(
        brentq(lambda k: mean(k) - rows.mean(), 0.1, 9), rel=1e-9
    )


def test_a_broken_map_does_not_recover_it():
    """D of another θ misses at first order of the tilt; one with a part left out misses at once."""
    law = LAWS["triangle, Gaussian"]
    rows = law.draw(300, np.random.default_rng(2))
    mle = law.likelihood(rows.mean(axis=0))
    right = moment_map(law.at(mle), 16)
    assert np.allclose(estimate(law, right.barrier(), rows), mle, atol=1e-6)
    elsewhere = estimate(law, moment_map(law.at(mle + 2.0), 16).barrier(), rows)
    assert np.abs(elsewhere - mle).max() > 1e-2
    flat = replace(right)
    object.__setattr__(flat, "coefficients", 0 * right.coefficients)
    assert np.abs(estimate(law, flat.barrier(), rows) - mle).max() > 1e-2
    assert stein_gap(law.at(mle), flat.barrier()) > 0.1
    bent = zf.Barrier(det_power=0.1, potential=right.barrier().potential)
    assert np.abs(estimate(law, bent, rows) - mle).max() > 1e-3


@pytest.mark.parametrize("name", LAWS)
def test_draws_follow_their_law(name):
    law = LAWS[name]
    rows = law.draw(20_000, np.random.default_rng(0))
    mean, covariance = law.moments()
    assert law.domain.contains(rows).all()
    assert np.all(np.abs(rows.mean(axis=0) - mean) < 4 * np.sqrt(np.diag(covariance) / len(rows)))
    assert np.allclose(np.cov(rows.T), covariance, atol=0.06 * np.trace(covariance))


def test_the_score_is_the_slope_of_the_log_density():
    nodes, p = BENT.nodes(40)
    for j in range(2):  # ∫ ∂_j(f p) = 0 for f that vanishes at the boundary
        slacks = BENT.domain.slacks(nodes)
        f = np.prod(slacks**2, axis=1)
        slope = 2 * f * (1 / slacks[:, j] - 1 / slacks[:, 2])
        assert p @ (slope + f * BENT.score(nodes)[:, j]) == pytest.approx(0, abs=1e-12)


@pytest.fixture(scope="module")
def records():
    experiment = RecoverMLE(rows=60, degrees=(4, 14), rounds=8)
    return experiment, [run_trial(experiment, key, Path("unused")) for key in experiment.plan()]


def test_every_finding_holds(records):
    experiment, found = records
    report = experiment.report(found)
    assert all(finding.holds for finding in report.findings), [str(f) for f in report.findings]
    table = next(rows for title, rows in report.tables().items() if title.startswith("Share"))
    assert [row[0] for row in table[1:]] == [MAP, "moment map, γ = ½", *BARRIERS]


def test_findings_say_no(records):
    experiment, found = records
    spoiled = [
        (
            key,
            {
                **r,
                "distances": {n: None if v is None else (0.5 if n == MAP else 0.0) for n, v in r["distances"].items()},
                "residuals": [1.0, 1.0],
                "gap": 1e-12,
                "path": [0.1] * len(r["path"]),
                "kernel": None if r["kernel"] is None else 0.1,
                "shares": {n: None if v is None else 0.99 for n, v in r["shares"].items()},
            },
        )
        for key, r in found
    ]
    assert not any(finding.holds for finding in experiment.report(spoiled).findings)


@pytest.mark.parametrize(
    "settings",
    [{"rows": 5}, {"degrees": (8,)}, {"degrees": (12, 8)}, {"degrees": (2, 8)}, {"degrees": (8, 40)}, {"rounds": 500}],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(SpecificationError):
        replace(EXPERIMENTS["recover-mle"](), **settings).check()
