"""The generalizations of the paper's appendix to any convex f: Lemma G.1, and Theorems G.1 (soft) and G.2 (hard) taken literally."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import zfree as zf
from zfree.experiments.flow_limit import ball_nodes, cube_nodes, gaussian_nodes
from zfree.neighbourhoods import BregmanBall, Cube, Neighbours, SoftNeighbourhood, mixing_constant, radial_moment
from zfree.neural import KL, LOGISTIC, MPF, Contrast, WeightTensors, contrast_rule, gsm_rule, score_of

FUNCTIONS = {
    # f, f' and f''(1); the last three are nobody's but the user's
    "-√z": (lambda z: -np.sqrt(z), lambda z: -0.5 * z**-0.5, 0.25, MPF),
    "z log z": (lambda z: z * np.log(z), lambda z: np.log(z) + 1, 1.0, KL),
    "logistic": (
        lambda z: z * np.log(z) - (1 + z) * np.log1p(z),
        lambda z: np.log(z) - np.log1p(z),
        0.5,
        LOGISTIC,
    ),
    "z²": (lambda z: z**2, lambda z: 2 * z, 2.0, Contrast.from_function(lambda z: z**2)),
    "1/z": (lambda z: 1 / z, lambda z: -(z**-2), 2.0, Contrast.from_function(lambda z: 1 / z)),
    "e^z + z⁴": (
        lambda z: np.exp(z) + z**4,
        lambda z: np.exp(z) + 4 * z**3,
        np.e + 12,
        Contrast.from_function(lambda z: torch.exp(z) + z**4),
    ),
}
NAMES = list(FUNCTIONS)


def h_of(name, L):
    """−f'(1/ρ) + ρf'(ρ) − f(ρ) with ρ = e^L, as the paper has it."""
    f, slope, _, _ = FUNCTIONS[name]
    rho = np.exp(L)
    return -slope(1 / rho) + rho * slope(rho) - f(rho)


def energy(x):
    """exp(½x₁) + sin(2x₂) + x₁x₂² for NumPy and torch alike."""
    lib = torch if isinstance(x, torch.Tensor) else np
    return lib.exp(0.5 * x[..., 0]) + lib.sin(2 * x[..., 1]) + x[..., 0] * x[..., 1] ** 2


def slopes(x):
    """∇E and H_E."""
    a, b = x[..., 0], x[..., 1]
    gradient = np.stack([0.5 * np.exp(0.5 * a) + b**2, 2 * np.cos(2 * b) + 2 * a * b], axis=-1)
    hessian = np.stack(
        [
            np.stack([0.25 * np.exp(0.5 * a), 2 * b], axis=-1),
            np.stack([2 * b, -4 * np.sin(2 * b) + 2 * a], axis=-1),
        ],
        axis=-1,
    )
    return gradient, hessian


X = np.array([[0.5, 0.7], [1.2, 0.4], [0.9, 1.5]])


@pytest.mark.parametrize("name", NAMES)
def test_the_library_has_this_h_but_for_a_constant(name):
    f, _, curvature, contrast = FUNCTIONS[name]
    L = np.linspace(-1.5, 1.5, 31)
    found = contrast(torch.as_tensor(L)).detach().numpy()
    assert np.allclose(found, h_of(name, L) + f(1.0), rtol=1e-9, atol=1e-11)
    assert contrast.curvature == pytest.approx(curvature, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_lemma_g1(name):
    """h = −f(1) + f''(1)(½(∇E·δ)² − δᵀH_Eδ − 2∇E·δ) + O(‖δ‖³)."""
    f, _, curvature, _ = FUNCTIONS[name]
    gradient, hessian = slopes(X)
    directions = np.random.default_rng(0).normal(size=(40, 1, 2))
    sizes, errors = np.array([4e-2, 2e-2, 1e-2, 5e-3]), []
    for size in sizes:
        delta = size * directions
        along = np.sum(gradient * delta, axis=-1)
        curved = np.einsum(
            "kni,nij,knj->kn", np.broadcast_to(delta, (40, 3, 2)), hessian, np.broadcast_to(delta, (40, 3, 2))
        )
        expected = -f(1.0) + curvature * (0.5 * along**2 - curved - 2 * along)
        errors.append(np.abs(h_of(name, energy(X) - energy(X + delta)) - expected).max())
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(3.0, abs=0.15)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("where", ["orthant", "line"])
def test_theorem_g1(where, name):
    """(L_f + f(1))/(εf''(1)) tends to ½∇E·D∇E − tr(DH_E) − ∇E·(∇·D), at the rate ε, with D = diag(x^1.5) and D bent on ℝ²."""
    domain, generator = {
        "orthant": (zf.Orthant(2), zf.Barrier(0.5, 0.0, scale="raw")),
        "line": (zf.RealSpace(2), zf.CoordinateWeight("sigmoid")),
    }[where]
    f, _, curvature, contrast = FUNCTIONS[name]
    gradient, hessian = slopes(X)
    bell = 1 / (1 + np.exp(-X))
    D, divergence = {"orthant": (X**1.5, 1.5 * X**0.5), "line": (bell, bell * (1 - bell))}[where]
    limit = np.sum(D * (0.5 * gradient**2 - np.einsum("nii->ni", hessian)) - divergence * gradient, axis=1)
    nodes, weight = gaussian_nodes(2)
    sizes, errors = np.array([1e-3, 5e-4, 2.5e-4]), []
    for epsilon in sizes:
        soft = SoftNeighbourhood(generator, epsilon)
        points, coefficients = soft.place(domain, X, np.repeat(nodes[:, None, :], len(X), axis=1))
        own = weight @ h_of(name, energy(X) - energy(points))  # L_f of each row, from the definition
        found = (own + f(1.0)) / (epsilon * curvature)
        rule = contrast_rule(
            energy,
            torch.as_tensor(X),
            Neighbours(points, coefficients * weight[:, None] * len(weight)),
            contrast=contrast,
        )
        assert np.allclose(rule.detach().numpy(), found, rtol=1e-7, atol=1e-7)
        errors.append(np.abs(found - limit).max())
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_remark_g1_over_a_cube_the_limit_is_hyvarinens_rule(name):
    """12(L_f + f(1))/(ε²f''(1)) over the cube of side ε tends to ½‖∇E‖² − ΔE, at the rate ε²: D = I, whatever f."""
    f, _, curvature, contrast = FUNCTIONS[name]
    gradient, hessian = slopes(X)
    limit = 0.5 * np.sum(gradient**2, axis=1) - np.einsum("nii->n", hessian)
    nodes, weight = cube_nodes(2)
    sides, errors = np.array([0.08, 0.04, 0.02]), []
    for side in sides:
        points, coefficients = Cube(side).place(zf.RealSpace(2), X, np.repeat(nodes[:, None, :], len(X), axis=1))
        own = weight @ h_of(name, energy(X) - energy(points))
        found = 12 * (own + f(1.0)) / (side**2 * curvature)
        rule = contrast_rule(
            energy,
            torch.as_tensor(X),
            Neighbours(points, coefficients * weight[:, None] * len(weight)),
            contrast=contrast,
        )
        assert np.allclose(rule.detach().numpy(), found, rtol=1e-7, atol=1e-7)
        errors.append(np.abs(found - limit).max())
    assert np.polyfit(np.log(sides), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 0.02 * np.abs(limit).max()
    hyvarinen = gsm_rule(score_of(energy), torch.as_tensor(X), WeightTensors.at(zf.Identity(), zf.RealSpace(2), X))
    assert np.allclose(hyvarinen.detach().numpy(), limit, rtol=1e-12)


def power_hessian(x, p):
    """Of φ = Σ ψ(x_i) with ψ'' = x^(p−2), a diagonal."""
    return x ** (p - 2)


@pytest.mark.parametrize("p", [4 / 3, 1.0, 0.0])
@pytest.mark.parametrize("name", NAMES)
def test_theorem_g2_from_its_definition(name, p):
    """∫_{C_r} w h dy = −f(1)∫w + f''(1) r^(d+2)(½C₃∇E·G∇E − C₃ tr(GH_E) − C₆∇E·(∇·G)) + O(r^(d+4)), d = 2, with nothing of the library's.

    The theorem's weight: exp(−(y − x)ᵀH(x̄)(y − x)/(2r²)), x̄ halfway.
    """
    f, _, curvature, contrast = FUNCTIONS[name]
    t, w = np.polynomial.legendre.leggauss(20)
    angle = 2 * np.pi * np.arange(40) / 40
    u = (0.5 * (t + 1))[:, None, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    area = np.repeat(0.25 * w * (t + 1) * np.pi / 20, 40)  # r dr dφ
    u = u.reshape(-1, 1, 2)
    bell = np.exp(-0.5 * np.sum(u[:, 0] ** 2, axis=1))
    C3, C6 = area @ (bell * u[:, 0, 0] ** 2), area @ (bell * u[:, 0, 0] ** 4) / 3
    H = power_hessian(X, p)
    determinant = H.prod(axis=1)
    G = determinant[:, None] ** -0.5 / H
    divergence = 1.5 * (2 - p) / X * G  # of x^(1.5(2−p)) times the root of the other
    gradient, hessian = slopes(X)
    limit = C3 * np.sum(G * (0.5 * gradient**2 - np.einsum("nii->ni", hessian)), axis=1)
    limit = limit - C6 * np.sum(divergence * gradient, axis=1)
    sizes, errors = np.array([0.08, 0.04, 0.02]), []
    for share in sizes:
        r = share * np.minimum(1.0, X.min(axis=1) / np.sqrt(np.sum(1 / H, axis=1)))  # as the library measures
        delta = r[:, None] * u / np.sqrt(H)
        halfway = np.sum(delta**2 * power_hessian(X + 0.5 * delta, p), axis=2)
        mass = area[:, None] * np.exp(-0.5 * halfway / r**2) * r**2 / np.sqrt(determinant)  # w dy
        contrasted = np.sum(mass * (h_of(name, energy(X) - energy(X + delta)) + f(1.0)), axis=0)
        found = contrasted / (curvature * r**4)
        errors.append(np.abs(found - limit).max())
        # The library's neighbours are the same integral, in the units of its limit.
        moves, weight = np.repeat(u, len(X), axis=1), area * bell / radial_moment(2, 0)
        points, coefficients = BregmanBall(zf.Power(p), share, proper=False).place(zf.Orthant(2), X, moves)
        neighbours = Neighbours(points, coefficients * weight[:, None] * len(weight))
        rule = contrast_rule(energy, torch.as_tensor(X), neighbours, contrast=contrast)
        assert np.allclose(C3 * rule.detach().numpy(), found, rtol=1e-6, atol=1e-6)
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.15)
    assert C6 / C3 == pytest.approx(mixing_constant(2), rel=1e-12)


def bumpy(x):
    return torch.sin(3 * x).sum(dim=1) + (x**2).sum(dim=1) * x[:, 0]


@pytest.mark.parametrize("proper", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_theorem_g2_in_three_dimensions(name, proper):
    """On the solid simplex, whose H is not diagonal: the rule tends to that with λ = 1 or C₆/C₃, like r²."""
    domain, generator = zf.SolidSimplex(3), zf.Barrier(4 / 3, scale="raw")
    rows = zf.samplers.sample_gaussian(domain, np.full(3, 0.25), 10 * np.eye(3), 4, 0)
    x = torch.as_tensor(rows)
    weight = WeightTensors.at(generator, domain, rows)
    target = gsm_rule(score_of(bumpy), x, weight).detach()
    if not proper:
        target = target - (1 - mixing_constant(3)) * (score_of(bumpy)(x) * weight.divergence).sum(dim=1).detach()
    nodes, mass = ball_nodes()
    gaps = []
    for radius in (0.2, 0.1):
        ball = BregmanBall(zf.Power(4 / 3), radius, proper)
        y, c = ball.place(domain, rows, np.repeat(nodes[:, None, :], len(rows), axis=1))
        with torch.no_grad():
            found = contrast_rule(
                bumpy, x, Neighbours(y, c * mass[:, None] * len(mass)), contrast=FUNCTIONS[name][3], domain=domain
            )
        gaps.append(float((found - target).abs().max()))
    assert gaps[0] / gaps[1] == pytest.approx(4.0, abs=0.4)
    assert gaps[1] < 0.02 * float(target.abs().max())
