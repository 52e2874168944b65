"""f-CondNCE with a channel that is not symmetric (eq. 19): the ratio q(x | y)/q(y | x) makes the truth the minimum at every ε."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

import zfree as zf
from zfree.errors import SpecificationError
from zfree.experiments.flow_limit import gaussian_nodes
from zfree.neighbourhoods import BregmanBall, Cube, Neighbours, SoftNeighbourhood
from zfree.neural import KL, LOGISTIC, MPF, Contrast, Flow, WeightTensors, contrast_rule, gsm_rule, score_of
from zfree.neural.losses import Batch

OWN = Contrast.from_function(lambda z: -(z**0.3), "-z^0.3", -1.0)
"""A convex f of the user's own."""
CONTRASTS = {contrast.name: contrast for contrast in (MPF, KL, LOGISTIC, OWN)}
TRUTH = np.array([1.0, 0.7, -0.4])
EPSILON = 0.5
LINE, BENT = zf.RealSpace(1), zf.Custom(lambda X: 1 + 0.5 * np.sin(2 * X), divergence=lambda X: np.cos(2 * X))
"""D(x) = 1 + ½ sin 2x: far from constant, and bounded, so that a grid of moves catches the way back as well."""


def energy_of(theta):
    theta = torch.as_tensor(theta)
    return lambda x: 0.5 * theta[0] * x[:, 0] ** 2 + theta[1] * torch.cos(x[:, 0]) + theta[2] * x[:, 0]


def masses(X, w, theta):
    """p_θ dx on a rule."""
    with torch.no_grad():
        mass = w * np.exp(-energy_of(theta)(torch.as_tensor(X)).numpy())
    return mass / mass.sum()


def pairs(neighbourhood, reach=15.0):
    """Rows on a grid of the line, and neighbours on a grid of moves, with the weights of the normal density in the coefficients."""
    X = np.linspace(-14.0, 14.0, 501)[:, None]
    u = np.linspace(-reach, reach, 501)
    U = np.repeat(u[:, None, None], len(X), axis=1)
    points, coefficients = neighbourhood.place(LINE, X, U)
    weight = stats.norm.pdf(u) * (u[1] - u[0]) * len(u)
    return X, Neighbours(points, coefficients * weight[:, None])


def objective(theta, contrast, neighbourhood, *, ratio):
    """E_p of the rule, the truth being p, as a function of θ that torch differentiates."""
    X, neighbours = pairs(neighbourhood)
    log_ratio = neighbourhood.log_ratio(LINE, X, neighbours.points) if ratio else None
    rule = contrast_rule(
        energy_of(theta), torch.as_tensor(X), neighbours, contrast=contrast, domain=LINE, log_ratio=log_ratio
    )
    return torch.as_tensor(masses(X, 1.0, TRUTH)) @ rule


@pytest.mark.parametrize("name", CONTRASTS)
def test_the_truth_is_stationary_at_every_epsilon_only_with_the_ratio(name):
    for epsilon in (0.1, EPSILON):
        soft = SoftNeighbourhood(BENT, epsilon)
        gradients = {}
        for ratio in (True, False):
            theta = torch.tensor(TRUTH, requires_grad=True)
            (gradients[ratio],) = torch.autograd.grad(objective(theta, CONTRASTS[name], soft, ratio=ratio), theta)
        assert gradients[True].abs().max() < 1e-9
        assert gradients[False].abs().max() > 0.02 * epsilon


@pytest.mark.parametrize("name", CONTRASTS)
def test_the_truth_is_the_minimum(name):
    soft = SoftNeighbourhood(BENT, EPSILON)
    with torch.no_grad():
        least = float(objective(TRUTH, CONTRASTS[name], soft, ratio=True))
        for step in 0.1 * np.vstack([np.eye(3), -np.eye(3), [[3.0, -3.0, 2.0]]]):
            assert float(objective(TRUTH + step, CONTRASTS[name], soft, ratio=True)) > least + 1e-5


def test_the_bias_without_the_ratio_is_of_order_epsilon():
    """Newton's step from the truth, to first order where the minimum without the ratio is."""

    def step(epsilon):
        theta = torch.tensor(TRUTH)
        loss = lambda t: objective(t, MPF, SoftNeighbourhood(BENT, epsilon), ratio=False)  # noqa: E731
        gradient = torch.autograd.functional.jacobian(loss, theta)
        return torch.linalg.solve(torch.autograd.functional.hessian(loss, theta), -gradient).norm()

    sizes = [float(step(epsilon)) for epsilon in (0.04, 0.02)]
    assert sizes[0] / sizes[1] == pytest.approx(2.0, abs=0.1)
    assert sizes[1] > 1e-3


@pytest.mark.parametrize("theta", [TRUTH, [1.3, -0.2, 0.1]], ids=["truth", "elsewhere"])
@pytest.mark.parametrize("name", CONTRASTS)
def test_both_lines_of_equation_19_agree(name, theta):
    """E[D_f(ρ*, ρ_θ)] − E[f(ρ*)] on a grid of (x, y), with densities written out, against the rule with the ratio."""
    f, slope = {
        "mpf": (lambda z: -np.sqrt(z), lambda z: -0.5 / np.sqrt(z)),
        "kl": (lambda z: z * np.log(z), lambda z: np.log(z) + 1),
        "logistic": (lambda z: z * np.log(z) - (1 + z) * np.log1p(z), lambda z: np.log(z) - np.log1p(z)),
        "-z^0.3": (lambda z: -(z**0.3), lambda z: -0.3 * z**-0.7),
    }[name]
    x = np.linspace(-14.0, 14.0, 701)
    channel = stats.norm(x + 0.5 * EPSILON * np.cos(2 * x), np.sqrt(EPSILON * (1 + 0.5 * np.sin(2 * x))))
    log_q = np.array([channel.logpdf(y) for y in x]).T  # log q(y | x) at [x, y]
    log_p = np.log(masses(x[:, None], 1.0, TRUTH))
    log_model = np.log(masses(x[:, None], 1.0, theta))
    log_true = (log_p[:, None] + log_q) - (log_p[None, :] + log_q.T)  # ρ*(x, y) at [x, y]
    log_rho = (log_model[:, None] + log_q) - (log_model[None, :] + log_q.T)
    joint = np.exp(log_p[:, None] + log_q) * (x[1] - x[0])  # p(x) q(y | x) at [x, y]
    counts = joint + joint.T > 1e-70
    a, b = np.exp(np.where(counts, log_true, 0.0)), np.exp(np.where(counts, log_rho, 0.0))
    bregman = np.where(counts, f(a) - f(b) - slope(b) * (a - b), 0.0)
    first = np.sum(joint.T * bregman) - np.sum(joint * np.where(counts, f(1 / a), 0.0))
    contrast = CONTRASTS[name]
    with torch.no_grad():
        rule = float(objective(theta, contrast, SoftNeighbourhood(BENT, EPSILON), ratio=True))
    assert first == pytest.approx(EPSILON * contrast.curvature * rule - f(1.0), rel=1e-9)


@pytest.mark.parametrize("q", [SoftNeighbourhood(zf.Identity(), 0.2), Cube(0.5)], ids=repr)
def test_a_symmetric_channel_needs_no_ratio(q):
    X = np.random.default_rng(0).normal(size=(30, 1))
    neighbours = q.draw(LINE, X, np.random.default_rng(1), count=4)
    ratio = q.log_ratio(LINE, X, neighbours.points)
    plain, with_ratio = (
        contrast_rule(energy_of(TRUTH), torch.as_tensor(X), neighbours, log_ratio=r) for r in (None, ratio)
    )
    assert torch.allclose(plain, with_ratio, rtol=1e-10, atol=1e-10)


def third_order(domain, generator, X, h=1e-4):
    """−¾‖T‖²_D with T the symmetric part of ∂_k D⁻¹_ij, by differences: the limit's term without θ."""

    def matrices(points):
        value = generator.evaluate(domain, points)
        return np.exp(value.log_weight)[:, None, None] * value.field.dense()

    steps = h * np.eye(X.shape[1])
    T = np.stack([np.linalg.inv(matrices(X + e)) - np.linalg.inv(matrices(X - e)) for e in steps], axis=-1) / (2 * h)
    T = (
        sum(np.transpose(T, (0, *order)) for order in ((1, 2, 3), (1, 3, 2), (3, 2, 1))) / 3
    )  # symmetric in i, j already
    D = matrices(X)
    return -0.75 * np.einsum("nijk,nabc,nia,njb,nkc->n", T, T, D, D, D)


def bumpy(x):
    return torch.sin(3 * x).sum(dim=1) + (x**2).sum(dim=1) * x[:, 0]


@pytest.mark.parametrize("name", CONTRASTS)
@pytest.mark.parametrize("where", ["line", "triangle", "disc"])
def test_the_limit_is_the_same_apart_from_a_term_without_the_model(where, name):
    """(1/ε f'') E[h] → S(x; θ) − ¾‖T‖²_D, with an error of order ε."""
    domain, generator, X = {
        "line": (LINE, BENT, np.linspace(-2.0, 2.0, 7)[:, None]),
        "triangle": (
            zf.SolidSimplex(2),
            zf.Barrier(4 / 3, scale="raw"),
            np.array([[0.3, 0.3], [0.5, 0.2], [0.25, 0.6]]),
        ),
        "disc": (zf.Ball(1.0, d=2), zf.Barrier(1.0, 0.0, scale="raw"), np.array([[0.1, 0.2], [-0.5, 0.3]])),
    }[where]
    rows, (nodes, weight) = torch.as_tensor(X), gaussian_nodes(domain.dimension, 24)
    target = gsm_rule(score_of(bumpy), rows, WeightTensors.at(generator, domain, X)).detach().numpy()
    term, gaps = third_order(domain, generator, X), []
    assert np.abs(term).min() > 0.01
    for epsilon in (1e-4, 5e-5):
        soft = SoftNeighbourhood(generator, epsilon)
        y, c = soft.place(domain, X, np.repeat(nodes[:, None, :], len(X), axis=1))
        neighbours = Neighbours(y, c * weight[:, None] * len(weight))
        with torch.no_grad():
            found = contrast_rule(
                bumpy,
                rows,
                neighbours,
                contrast=CONTRASTS[name],
                domain=domain,
                log_ratio=soft.log_ratio(domain, X, y),
            )
        gaps.append(np.abs(found.numpy() - (target + term)).max())
    assert gaps[1] < 0.02 * np.abs(target).max()
    assert gaps[0] / gaps[1] == pytest.approx(2.0, abs=0.2)


class TestBoundary:
    """An exponential density on a half-line: what is outside has ρ = 0, and the truth stays the minimum."""

    t, w = np.polynomial.legendre.leggauss(120)
    x, w = 20.0 * (0.5 * (t + 1)) ** 4, 20.0 * 2.0 * w * (0.5 * (t + 1)) ** 3
    rate = 1.3
    domain = zf.Orthant(1)

    def gradient(self, q, ends, density, contrast=MPF, *, log_ratio=False):
        """dE_p[rule]/dθ of E = θx at the truth, with ends y (k, N) on a rule: what is outside has no θ."""
        X = self.x[:, None]
        _, c = q.place(self.domain, X, np.zeros((len(ends), *X.shape)))
        neighbours = Neighbours(ends[:, :, None], c * density * len(ends))
        theta = torch.tensor(self.rate, dtype=torch.float64, requires_grad=True)
        rule = contrast_rule(
            lambda x: theta * x[:, 0],
            torch.as_tensor(X),
            neighbours,
            contrast=contrast,
            domain=self.domain,
            log_ratio=q.log_ratio(self.domain, X, neighbours.points) if log_ratio else None,
        )
        (slope,) = torch.autograd.grad(torch.as_tensor(self.w * np.exp(-self.rate * self.x)) @ rule, theta)
        return float(slope)

    @pytest.mark.parametrize("contrast", [MPF, LOGISTIC, OWN], ids=lambda contrast: contrast.name)
    def test_neighbours_outside_do_not_move_the_minimum(self, contrast):
        """D = 1 does not vanish, so score matching with it is wrong; the flow with a symmetric channel is right."""
        q = SoftNeighbourhood(zf.Identity(), 0.4)
        ends = np.repeat(self.x[:, None], len(self.x), axis=1)
        density = self.w[:, None] * stats.norm(self.x, np.sqrt(0.4)).pdf(ends)
        assert abs(self.gradient(q, ends, density, contrast)) < 1e-9
        assert (
            abs(self.gradient(q, ends, density * (1 + 0.1 * (ends > self.x)), contrast)) > 1e-3
        )  # not for any weights

    @pytest.mark.parametrize("side", [0.6, 0.06])
    def test_a_cube_at_the_boundary(self, side):
        """Half a cube next to it. Score matching with D = 1 has the slope θ of its ½θ² there."""
        half, grid = 0.5 * side, TestBoundary()
        grid.x = np.concatenate([half * self.x / 20.0, half + self.x])  # both the rows and the ends have a kink there
        grid.w = np.concatenate([half * self.w / 20.0, self.w])
        t, w = np.polynomial.legendre.leggauss(40)
        low, high = np.maximum(grid.x - half, 0.0), grid.x + half
        ends = low + (high - low) * 0.5 * (t[:, None] + 1)
        slope = grid.gradient(Cube(side), ends, 0.5 * (high - low) * w[:, None] / side)
        assert abs(slope) < 1e-7

    @pytest.mark.parametrize("contrast", [MPF, LOGISTIC, OWN], ids=lambda contrast: contrast.name)
    def test_a_bent_channel_at_the_boundary(self, contrast):
        """D = x, whose soft neighbours may be outside too."""
        epsilon = 0.2
        q = SoftNeighbourhood(zf.CoordinateWeight("x"), epsilon)
        ends = np.repeat(self.x[:, None], len(self.x), axis=1)
        channel = stats.norm(self.x + 0.5 * epsilon, np.sqrt(epsilon * self.x))
        density = self.w[:, None] * channel.pdf(ends)
        never = density < 1e-90  # and the way back may be so likely that their product is not a number
        ends, density = np.where(never, self.x, ends), np.where(never, 0.0, density)
        assert abs(self.gradient(q, ends, density, contrast, log_ratio=True)) < 1e-8
        assert abs(self.gradient(q, ends, density, contrast)) > 0.005


def test_an_energy_that_is_not_finite_outside():
    """Its gradient is: neighbours outside are never asked about."""
    domain, X = zf.Orthant(1), np.full((50, 1), 0.1)
    soft = SoftNeighbourhood(zf.Identity(), 0.04)
    neighbours = soft.draw(domain, X, np.random.default_rng(0), count=4)
    assert not domain.contains(neighbours.points.reshape(-1, 1)).all()
    shape = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    loss = contrast_rule(
        lambda x: x[:, 0] - (shape - 1) * torch.log(x[:, 0]), torch.as_tensor(X), neighbours, domain=domain
    )
    (slope,) = torch.autograd.grad(loss.mean(), shape)
    assert torch.isfinite(slope)


class TestFlow:
    X = zf.samplers.sample_gaussian(zf.Orthant(2), np.full(2, 0.4), 3 * np.eye(2), 40, 0)

    def batch(self, seed=0):
        generator, rows = zf.Barrier(1.0, 0.0, scale="raw"), torch.as_tensor(self.X)
        weight = WeightTensors.at(generator, zf.Orthant(2), rows, log_scale=0.3)
        rng = np.random.default_rng(seed)
        return Batch(rows, weight, zf.Orthant(2), generator, torch.Generator(), rng, log_scale=0.3)

    def test_uses_the_ratio(self):
        """The rule of the soft neighbourhood with D divided by e^0.3, in its own unit."""
        found = Flow(0.05, channel_ratio=True).of(bumpy, self.batch(), energy=True)
        unit = np.exp(-0.3)
        soft = SoftNeighbourhood(zf.Barrier(1.0, 0.0, scale="raw"), unit * 0.05)
        neighbours = soft.draw(zf.Orthant(2), self.X, np.random.default_rng(0), antithetic=True)
        ratio = soft.log_ratio(zf.Orthant(2), self.X, neighbours.points)
        expected = contrast_rule(bumpy, torch.as_tensor(self.X), neighbours, domain=zf.Orthant(2), log_ratio=ratio)
        assert torch.allclose(found, unit * expected)
        assert not torch.allclose(found, Flow(0.05).of(bumpy, self.batch(), energy=True), rtol=1e-3)

    def test_takes_a_cube(self):
        found = Flow(neighbourhood=Cube(0.2), channel_ratio=True).of(bumpy, self.batch(), energy=True)
        assert torch.equal(found, Flow(neighbourhood=Cube(0.2)).of(bumpy, self.batch(), energy=True))
        assert torch.isfinite(found).all()

    def test_refuses_a_bregman_ball(self):
        with pytest.raises(SpecificationError, match="no channel"):
            Flow(neighbourhood=BregmanBall(), channel_ratio=True).of(bumpy, self.batch(), energy=True)
