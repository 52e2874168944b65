"""Minimum probability flow and its relatives against closed forms, and their limit."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import zfree as zf
from zfree.errors import SpecificationError
from zfree.experiments.flow_limit import ball_nodes, gaussian_nodes
from zfree.neighbourhoods import BregmanBall, Neighbours, SoftNeighbourhood
from zfree.neural import (
    KL,
    LOGISTIC,
    MPF,
    Contrast,
    WeightTensors,
    contrast_rule,
    energy_discrepancy,
    gsm_rule,
    score_of,
)

L = torch.linspace(-3, 3, 25, dtype=torch.float64)
FUNCTIONS = {
    "mpf": (MPF, lambda z: -torch.sqrt(z)),
    "kl": (KL, lambda z: z * torch.log(z)),
    "logistic": (LOGISTIC, lambda z: z * torch.log(z) - (1 + z) * torch.log1p(z)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_built_in_contrasts_are_those_of_their_f(name):
    contrast, f = FUNCTIONS[name]
    own = Contrast.from_function(f, at_zero=contrast.at_zero)
    assert own.at_zero == contrast.at_zero
    assert own.curvature == pytest.approx(contrast.curvature)
    assert torch.allclose(own(L), contrast(L), rtol=1e-10, atol=1e-12)
    rho = torch.tensor(1e-14, dtype=torch.float64)
    if np.isfinite(contrast.at_zero):
        assert float(contrast(torch.log(rho))) == pytest.approx(contrast.at_zero, abs=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_contrast_starts_with_the_same_two_terms(name):
    """h_f(L) = f''(1)(2L + ½L²) + O(L³): the lemma of the appendix on generalizations."""
    contrast, _ = FUNCTIONS[name]
    small = torch.tensor([1e-3, -1e-3], dtype=torch.float64)
    expected = contrast.curvature * (2 * small + 0.5 * small**2)
    assert torch.allclose(contrast(small), expected, rtol=0, atol=1e-9)


def weighted(neighbourhood, domain, X, nodes):
    """Neighbours at quadrature nodes, their weights in the coefficients, so that a mean over them is the integral."""
    points, weight = nodes
    U = np.repeat(points[:, None, :], len(X), axis=1)
    y, c = neighbourhood.place(domain, X, U)
    return Neighbours(y, c * weight[:, None] * len(weight))


def test_flow_of_a_gaussian_on_the_line_in_closed_form():
    """E = ½kx², y ~ N(x, ε): E[exp(½(E(x) − E(y)))] = (1 + kε/2)^(−½) exp(½·½kx²(1 − 1/(1 + kε/2)))."""
    k, epsilon = 2.0, 0.3
    X = np.linspace(-1.5, 1.5, 7)[:, None]
    nodes = gaussian_nodes(1, 60)
    neighbours = weighted(SoftNeighbourhood(zf.Identity(), epsilon), zf.RealSpace(1), X, nodes)
    energy = lambda x: 0.5 * k * x[:, 0] ** 2  # noqa: E731
    found = contrast_rule(energy, torch.as_tensor(X), neighbours).numpy()
    grown = 1 + k * epsilon / 2
    flow = np.exp(0.25 * k * X[:, 0] ** 2 * (1 - 1 / grown)) / np.sqrt(grown)
    assert np.allclose(found, 4 / epsilon * (flow - 1), rtol=1e-10)


def bumpy(x):
    return torch.sin(3 * x).sum(dim=1) + (x**2).sum(dim=1) * x[:, 0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_contrast_tends_to_score_matching(name):
    """The value itself, not only the gradient, for a soft neighbourhood and a Bregman ball; the gap shrinks as promised."""
    contrast, _ = FUNCTIONS[name]
    domain = zf.SolidSimplex(3)
    X = zf.samplers.sample_gaussian(domain, np.full(3, 0.25), 10 * np.eye(3), 5, 0)
    target = gsm_rule(
        score_of(bumpy), torch.as_tensor(X), WeightTensors.at(zf.Barrier(4 / 3, scale="raw"), domain, X)
    ).detach()

    def gap(neighbourhood, nodes):
        with torch.no_grad():
            value = contrast_rule(
                bumpy, torch.as_tensor(X), weighted(neighbourhood, domain, X, nodes), contrast=contrast
            )
        return float((value - target).abs().max() / target.abs().max())

    soft = [gap(SoftNeighbourhood(zf.Barrier(4 / 3, scale="raw"), e), gaussian_nodes(3)) for e in (0.02, 0.01)]
    assert soft[1] < 0.02
    assert soft[0] / soft[1] == pytest.approx(2.0, abs=0.2)
    # A Bregman ball's third-order term is odd for the weight 1 − …: the remainder is O(r²).
    hard = [gap(BregmanBall(zf.Power(4 / 3), r), ball_nodes()) for r in (0.2, 0.1)]
    assert hard[1] < 0.02
    assert hard[0] / hard[1] == pytest.approx(4.0, abs=0.4)


def test_antithetic_pairs_remove_the_noise_of_order_one_over_root_epsilon():
    domain, X = zf.Orthant(2), np.repeat([[0.7, 0.4]], 4000, axis=0)

    def noise(epsilon, **how):
        neighbours = SoftNeighbourhood(zf.Barrier(1.0, 0.0, scale="raw"), epsilon).draw(
            domain, X, np.random.default_rng(0), **how
        )
        with torch.no_grad():
            return float(contrast_rule(bumpy, torch.as_tensor(X), neighbours).std())

    single = [noise(epsilon, count=2) for epsilon in (1e-2, 1e-4)]
    paired = [noise(epsilon, count=1, antithetic=True) for epsilon in (1e-2, 1e-4)]
    assert single[1] / single[0] == pytest.approx(10.0, rel=0.1)
    assert paired[1] / paired[0] == pytest.approx(1.0, rel=0.1)
    assert paired[1] < 0.1 * single[1]


def test_the_exponential_of_energy_discrepancy_is_below_the_flow():
    """Jensen's inequality of the appendix on energy discrepancy, for every row."""
    domain = zf.Ball(1.0, d=2)
    X = zf.samplers.sample_gaussian(domain, np.zeros(2), 2 * np.eye(2), 50, 0)
    epsilon = 0.2
    neighbours = SoftNeighbourhood(zf.Identity(), epsilon).draw(domain, X, np.random.default_rng(1), count=64)
    with torch.no_grad():
        flow = 1 + epsilon * MPF.curvature * contrast_rule(bumpy, torch.as_tensor(X), neighbours)
        discrepancy = energy_discrepancy(bumpy, torch.as_tensor(X), neighbours)
    assert torch.all(torch.exp(discrepancy) < flow)


def test_neighbours_outside_have_no_density():
    domain = zf.Orthant(1)
    X = np.array([[0.01], [5.0]])
    neighbours = SoftNeighbourhood(zf.Identity(), 1.0).draw(domain, X, np.random.default_rng(0), count=500)
    inside = domain.contains(neighbours.points.reshape(-1, 1)).reshape(500, 2)
    assert 0.3 < inside[:, 0].mean() < 0.7
    flat = lambda x: torch.zeros(len(x), dtype=x.dtype)  # noqa: E731
    for contrast in (MPF, LOGISTIC):
        found = contrast_rule(flat, torch.as_tensor(X), neighbours, contrast=contrast, domain=domain).numpy()
        assert np.allclose(found, contrast.at_zero * (1 - inside.mean(axis=0)) / contrast.curvature)
    with pytest.raises(SpecificationError, match=r"outside.*'kl' is infinite"):
        contrast_rule(flat, torch.as_tensor(X), neighbours, contrast=KL, domain=domain)


def test_a_concave_f_is_refused():
    with pytest.raises(SpecificationError, match="strictly convex"):
        Contrast.from_function(torch.sqrt)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["mpf", "logistic"])
def test_a_contrast_of_your_own_has_a_slope_where_the_neighbour_is_impossible(name, dtype):
    """E(y) − E(x) beyond the range of exp: h is that of ρ = 0, and its slope is zero, not NaN; also without gradients."""
    contrast, f = FUNCTIONS[name]
    far = torch.tensor([-60.0, -300.0, -1e4, 0.5], dtype=dtype, requires_grad=True)
    own = Contrast.from_function(f)
    values = own(far)
    (slope,) = torch.autograd.grad(values.sum(), far)
    (expected,) = torch.autograd.grad(contrast(far).sum(), far)
    assert torch.allclose(values, contrast(far), rtol=1e-3)
    assert torch.allclose(slope, expected, rtol=1e-3, atol=1e-4)
    with torch.no_grad():
        assert torch.allclose(own(far), contrast(far), rtol=1e-3)
