"""Energy discrepancy with its contrastive potential, the paper's surrogate, and how far apart they are."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

import zfree as zf
from zfree.errors import SpecificationError
from zfree.experiments.flow_limit import gaussian_nodes
from zfree.neighbourhoods import BregmanBall, Cube, Neighbours, Origins, SoftNeighbourhood
from zfree.neural import (
    MPF,
    WeightTensors,
    contrast_rule,
    contrastive_potential,
    energy_discrepancy,
    gsm_rule,
    score_of,
)

LINE, BENT = zf.RealSpace(1), zf.Custom(lambda X: 1 + 0.5 * np.sin(2 * X), divergence=lambda X: np.cos(2 * X))
TRUTH = np.array([1.0, 0.7, -0.4])


def energy_of(theta):
    theta = torch.as_tensor(theta)
    return lambda x: 0.5 * theta[0] * x[:, 0] ** 2 + theta[1] * torch.cos(x[:, 0]) + theta[2] * x[:, 0]


def nodal(q, domain, X, n):
    """Neighbours and their origins at quadrature nodes; the weights are where a mean over them becomes the integral."""
    nodes, weight = gaussian_nodes(q.dimension(domain), n)
    m = len(weight)
    U = np.repeat(nodes[:, None, :], len(X), axis=1)
    points, _ = q.place(domain, X, U)
    neighbours = Neighbours(points, np.repeat(weight[:, None] * m, len(X), axis=1))
    moves = np.broadcast_to(nodes[:, None, None, :], (m, m, len(X), nodes.shape[1]))
    origins = q.origins(domain, X, points, moves)
    return neighbours, Origins(origins.points, origins.log_weight + np.log(weight * m)[:, None, None]), weight


def gaussian_potential(K, D, epsilon, Y):
    """½ log det(I + εKD) + ½ yᵀK(I + εDK)⁻¹y of E = ½xᵀKx and q = N(x, εD)."""
    d = len(K)
    A = K @ np.linalg.inv(np.eye(d) + epsilon * D @ K)
    return 0.5 * np.linalg.slogdet(np.eye(d) + epsilon * K @ D)[1] + 0.5 * np.einsum("...i,ij,...j->...", Y, A, Y)


def constant(D):
    return zf.Custom(lambda X: np.broadcast_to(D, (len(X), *D.shape)), divergence=np.zeros_like)


class TestClosedForm:
    """Gaussian energies and a Gaussian channel."""

    K, D = np.array([[2.0, 0.6], [0.6, 1.0]]), np.array([[1.0, -0.3], [-0.3, 0.5]])
    epsilon = 0.3

    def energy(self, x):
        return 0.5 * torch.einsum("ni,ij,nj->n", x, torch.as_tensor(self.K), x)

    def test_potential_and_discrepancy_by_quadrature(self):
        """With p = N(m, S): ED = ¼(tr KS' − tr A(S' + εD)) − ¼ log det(I + εKD), S' = S + mmᵀ."""
        mean, S = np.array([0.4, -0.2]), np.array([[0.5, 0.1], [0.1, 0.3]])
        nodes, mass = gaussian_nodes(2, 6)
        X = mean + nodes @ np.linalg.cholesky(S).T
        q = SoftNeighbourhood(constant(self.D), self.epsilon)
        neighbours, origins, weight = nodal(q, zf.RealSpace(2), X, 14)
        rows = torch.as_tensor(X)
        potential = contrastive_potential(self.energy, origins, rows)
        expected = gaussian_potential(self.K, self.D, self.epsilon, neighbours.points)
        assert np.allclose(potential.numpy(), expected, rtol=1e-5)  # far out, where the weights are tiny
        assert np.allclose(potential.numpy()[weight > 1e-6], expected[weight > 1e-6], rtol=1e-8)
        # A mean over neighbours with equal weights is not the integral here: the weights go into the potential.
        values = energy_discrepancy(
            self.energy, rows, neighbours, potential=potential * torch.as_tensor(weight * len(weight))[:, None]
        )
        A = self.K @ np.linalg.inv(np.eye(2) + self.epsilon * self.D @ self.K)
        second = S + np.outer(mean, mean)
        closed = 0.25 * (np.trace(self.K @ second) - np.trace(A @ (second + self.epsilon * self.D)))
        closed -= 0.25 * np.linalg.slogdet(np.eye(2) + self.epsilon * self.K @ self.D)[1]
        assert mass @ values.numpy() == pytest.approx(closed, rel=1e-8)

    @pytest.mark.parametrize("d", [1, 2, 20])
    def test_by_draws_in_any_dimension(self, d):
        rng = np.random.default_rng(d)
        root = rng.normal(size=(d, d)) / np.sqrt(d)
        K, variances = np.eye(d) + root @ root.T, rng.uniform(0.5, 1.5, d)
        epsilon, count, D = 0.5 / d, 4000, np.diag(variances)
        q, X = SoftNeighbourhood(constant(variances), epsilon), rng.normal(size=(30, d))
        points = q.draw(zf.RealSpace(d), X, rng, count=2).points
        origins = q.draw_origins(zf.RealSpace(d), X, points, rng, count=count)
        energy = lambda x: 0.5 * torch.einsum("ni,ij,nj->n", x, torch.as_tensor(K), x)  # noqa: E731
        found = contrastive_potential(energy, origins, torch.as_tensor(X)).numpy()
        terms = np.exp(-0.5 * np.einsum("mkni,ij,mknj->mkn", origins.points, K, origins.points))
        error = terms.std(axis=0) / terms.mean(axis=0) / np.sqrt(count)
        scaled = (found - gaussian_potential(K, D, epsilon, points)) / error
        assert np.abs(scaled).max() < 4.5
        assert np.mean(scaled**2) == pytest.approx(1.0, abs=0.6)


def test_draws_agree_with_quadrature_where_the_channel_is_not_symmetric():
    """∫ q(y | x) exp(−E(x)) dx on a grid, with q written out."""
    epsilon, count = 0.1, 20_000
    q, X = SoftNeighbourhood(BENT, epsilon), np.linspace(-1.5, 1.5, 9)[:, None]
    points = q.draw(LINE, X, np.random.default_rng(0), count=3).points
    origins = q.draw_origins(LINE, X, points, np.random.default_rng(1), count=count)
    assert np.abs(origins.log_weight).max() > 0.1
    found = contrastive_potential(energy_of(TRUTH), origins, torch.as_tensor(X)).numpy()
    x = np.linspace(-9.0, 9.0, 2001)
    channel = stats.norm(x + 0.5 * epsilon * np.cos(2 * x), np.sqrt(epsilon * (1 + 0.5 * np.sin(2 * x))))
    factor = np.exp(-energy_of(TRUTH)(torch.as_tensor(x[:, None])).numpy()) * (x[1] - x[0])
    expected = np.array([[-np.log(channel.pdf(y[0]) @ factor) for y in Y] for Y in points])
    terms = np.exp(
        origins.log_weight
        - energy_of(TRUTH)(torch.as_tensor(origins.points.reshape(-1, 1))).numpy().reshape(count, 3, 9)
    )
    error = terms.std(axis=0) / terms.mean(axis=0) / np.sqrt(count)
    assert np.abs((found - expected) / error).max() < 4.5
    # The nodes of a quadrature give the same.
    neighbours, nodes, _ = nodal(q, LINE, X, 40)
    exact = contrastive_potential(energy_of(TRUTH), nodes, torch.as_tensor(X)).numpy()
    there = np.array([[-np.log(channel.pdf(y[0]) @ factor) for y in Y] for Y in neighbours.points])
    reached = np.abs(neighbours.points[:, :, 0]) < 6
    assert np.allclose(exact[reached], there[reached], atol=1e-5)


def test_the_logarithm_of_a_mean_is_biased_upwards():
    """By Var(v)/(2m): with few draws the potential is too large, the discrepancy too small."""
    q, X, m = SoftNeighbourhood(zf.Identity(), 0.3), np.full((1, 1), 0.8), 5
    energy, k = (lambda x: x[:, 0] ** 2), 2.0
    Y = np.full((20_000, 1, 1), 0.8)
    origins = q.draw_origins(LINE, X, Y, np.random.default_rng(2), count=m)
    bias = contrastive_potential(energy, origins, torch.as_tensor(X)).numpy().ravel()
    bias -= gaussian_potential(np.array([[k]]), np.eye(1), 0.3, Y[0]).item()
    v = np.exp(-(origins.points[..., 0] ** 2)).ravel()
    expected = v.var() / v.mean() ** 2 / (2 * m)
    assert bias.mean() > 5 * bias.std() / np.sqrt(len(bias))
    assert bias.mean() == pytest.approx(expected, rel=0.25)  # the next term is of order 1/m²


def expected_values(theta, epsilon, n=31):
    """ED, its surrogate and minimum probability flow for x from the truth, by quadrature."""
    X = np.linspace(-9.0, 9.0, 181)[:, None]
    rows, energy = torch.as_tensor(X), energy_of(theta)
    mass = torch.exp(-energy_of(TRUTH)(rows))
    mass = mass / mass.sum()
    neighbours, origins, weight = nodal(SoftNeighbourhood(BENT, epsilon), LINE, X, n)
    scale = torch.as_tensor(weight * len(weight))[:, None]
    potential = contrastive_potential(energy, origins, rows)
    true = mass @ energy_discrepancy(energy, rows, neighbours, potential=potential * scale)
    plain = energy(torch.as_tensor(neighbours.points.reshape(-1, 1))).reshape(potential.shape)
    surrogate = mass @ energy_discrepancy(energy, rows, neighbours, potential=plain * scale)
    flow = 1 + MPF.curvature * (mass @ contrast_rule(energy, rows, neighbours))
    return true, surrogate, flow


def limits(theta):
    """E_p of the scoring rule, and of ∇·(D∇E)."""
    X = np.linspace(-9.0, 9.0, 181)[:, None]
    rows, energy = torch.as_tensor(X), energy_of(theta)
    mass = torch.exp(-energy_of(TRUTH)(rows)).numpy()
    rule = gsm_rule(score_of(energy), rows, WeightTensors.at(BENT, LINE, X)).detach().numpy()
    slope = theta[0] * X[:, 0] - theta[1] * np.sin(X[:, 0]) + theta[2]
    quadratic = 0.5 * (1 + 0.5 * np.sin(2 * X[:, 0])) * slope**2
    mass = mass / mass.sum()
    return mass @ rule, mass @ (quadratic - rule)


@pytest.mark.parametrize("theta", [TRUTH, np.array([1.4, 0.1, 0.3])], ids=["truth", "elsewhere"])
def test_the_limits_of_the_discrepancy_of_its_surrogate_and_of_the_flow(theta):
    """ED = ½εL + O(ε²), the surrogate −¼εE[∇·(D∇E)] + O(ε²), and 𝒦 = 1 + ½ED + O(ε²): the surrogate misses a term of order ε."""
    loss, divergence = limits(theta)
    sizes = np.array([0.04, 0.02, 0.01])
    found = np.array([[float(v) for v in expected_values(theta, epsilon)] for epsilon in sizes])
    gaps = {
        "discrepancy": found[:, 0] - 0.5 * sizes * loss,
        "surrogate": found[:, 1] + 0.25 * sizes * divergence,
        "flow": found[:, 2] - 1 - 0.5 * found[:, 0],
    }
    for name, gap in gaps.items():
        assert np.polyfit(np.log(sizes), np.log(np.abs(gap)), 1)[0] == pytest.approx(2.0, abs=0.15), name
    # The error is ¼εE[∇E·D∇E − ∇·(D∇E)] in general. At the truth that expectation is zero, but not its slope in θ: see below.
    error, missing = (found[:, 0] - found[:, 1]) / sizes, 0.25 * (2 * loss + divergence)
    assert error[-1] == pytest.approx(missing, abs=0.02 * max(1.0, abs(missing)))
    assert abs(missing) < 1e-9 if theta is TRUTH else abs(missing) > 0.05


def test_the_surrogate_has_no_minimum_at_the_truth_and_the_discrepancy_has():
    """At a fixed ε. The discrepancy is the difference of two divergences from the truth, of which smoothing makes one smaller."""
    theta = torch.tensor(TRUTH, requires_grad=True)
    true, surrogate, _ = expected_values(theta, 0.05)
    (slope,) = torch.autograd.grad(true, theta, retain_graph=True)
    (other,) = torch.autograd.grad(surrogate, theta)
    assert slope.abs().max() < 1e-8
    assert other.abs().max() > 0.005
    with torch.no_grad():
        for step in 0.2 * np.vstack([np.eye(3), -np.eye(3)]):
            assert float(expected_values(TRUTH + step, 0.05)[0]) > float(true) + 1e-5


@pytest.mark.parametrize("epsilon", [0.01, 0.3])
def test_the_signs_of_both_gaps_of_jensen(epsilon):
    """exp(surrogate) < 𝒦, and E_q(y) < the mean energy of the origins where the channel is symmetric."""
    _, surrogate, flow = (float(v) for v in expected_values(np.array([1.4, 0.1, 0.3]), epsilon))
    assert np.exp(surrogate) < flow
    assert flow - np.exp(surrogate) == pytest.approx(0, abs=epsilon)
    X = np.linspace(-2.0, 2.0, 9)[:, None]
    for q in (SoftNeighbourhood(zf.Identity(), epsilon), Cube(epsilon)):
        points = q.draw(LINE, X, np.random.default_rng(3), count=4).points
        origins = q.draw_origins(LINE, X, points, np.random.default_rng(4), count=200)
        potential = contrastive_potential(energy_of(TRUTH), origins, torch.as_tensor(X))
        mean = energy_of(TRUTH)(torch.as_tensor(origins.points.reshape(-1, 1))).reshape(200, 4, 9).mean(dim=0)
        assert torch.all(potential < mean)


def test_on_a_domain_neighbours_may_be_outside_and_origins_may_not():
    """E_q of a gamma energy on the half-line, not finite outside, for y on both sides; its gradient is finite."""
    domain, epsilon = zf.Orthant(1), 0.05
    q = SoftNeighbourhood(zf.Identity(), epsilon)
    X, Y = np.array([[0.3], [0.2]]), np.array([[[0.5], [-0.1]]])
    shape = torch.tensor(2.5, dtype=torch.float64, requires_grad=True)
    energy = lambda x: x[:, 0] - (shape - 1) * torch.log(x[:, 0])  # noqa: E731
    origins = q.draw_origins(domain, X, Y, np.random.default_rng(5), count=200_000)
    found = contrastive_potential(energy, origins, torch.as_tensor(X))
    x = (np.arange(20_000) + 0.5) * 2e-4
    expected = [
        -np.log(np.sum(stats.norm(y, np.sqrt(epsilon)).pdf(x) * x**1.5 * np.exp(-x)) * 2e-4) for y in Y[0, :, 0]
    ]
    assert np.allclose(found.detach().numpy()[0], expected, atol=0.02)
    (slope,) = torch.autograd.grad(found.sum(), shape)
    assert torch.isfinite(slope)


def test_refusals():
    domain, X = zf.Orthant(1), np.full((2, 1), 0.1)
    q = SoftNeighbourhood(zf.Identity(), 1e-4)
    neighbours = q.draw(domain, X, np.random.default_rng(6), count=3)
    rows, energy = torch.as_tensor(X), lambda x: x[:, 0]
    with pytest.raises(SpecificationError, match=r"shape \(3, 2\); got \(2,\)"):
        energy_discrepancy(energy, rows, neighbours, potential=torch.zeros(2))
    far = q.draw_origins(domain, X, np.full((1, 2, 1), -1.0), np.random.default_rng(7), count=5)
    with pytest.raises(SpecificationError, match="2 of 2 neighbours have no origin inside the domain among 5"):
        contrastive_potential(energy, far, rows)
    with pytest.raises(SpecificationError, match="no channel"):
        BregmanBall().draw_origins(domain, X, neighbours.points, np.random.default_rng(8))
