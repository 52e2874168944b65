r"""The paper's appendix "Treatment of Unbounded sets", by quadrature: its cut-off ρ_n, its integrals, and a flux that stays.

With ρ_n the appendix turns :math:`\int \rho_n p\, s\cdot(\nabla\cdot G)` into :math:`-\int \rho_n G : \partial(p s)` and a rest
:math:`-\int p\, s^\top G\,\nabla\rho_n`. The two sides agree in the limit if and only if the rest, which is the flux at infinity, vanishes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import gamma as gamma_function

import zfree as zf
from tests.heavy_tails import inverse_gamma, lomax
from tests.posed import posed
from zfree.data import Block
from zfree.inference import judge, tail_orders
from zfree.models import GammaModel, PairwiseModel
from zfree.moments import Rows
from zfree.solvers import Restriction


def cut_off(r, n):
    """ρ_n of the paper as a function of r = ‖x‖, and its derivative: one up to n, zero from n + 1 on, smooth in between."""
    x = np.clip(r - n + 1.0, 1.0 + 1e-12, 2.0 - 1e-12)  # the argument of the paper's f
    rising, falling = np.exp(-1.0 / (x - 1.0)), np.exp(-1.0 / (2.0 - x))
    inside = (r > n) & (r < n + 1)
    value = np.where(r <= n, 1.0, np.where(inside, falling / (rising + falling), 0.0))
    change = -value * (1.0 - value) * ((x - 1.0) ** -2.0 + (2.0 - x) ** -2.0)
    return value, np.where(inside, change, 0.0)


def test_the_cut_off_is_the_papers():
    r = np.array([0.0, 3.0, 3.25, 3.5, 3.75, 4.0, 9.0])
    value, _ = cut_off(r, 3)
    f = [1 - np.exp(-1 / a) / (np.exp(-1 / a) + np.exp(-1 / (1 - a))) for a in (0.25, 0.5, 0.75)]
    assert np.allclose(value, [1.0, 1.0, *f, 0.0, 0.0], atol=1e-15)
    step = 1e-6
    numerical = (cut_off(r + step, 3)[0] - cut_off(r - step, 3)[0]) / (2 * step)
    assert np.allclose(cut_off(r, 3)[1], numerical, atol=1e-8)


def nodes(d, n, pieces):
    """Points and weights on {x > 0 : ‖x‖ < n + 1} in one or two dimensions; they crowd at the facets, and r runs in pieces."""
    z, w = np.polynomial.legendre.leggauss(60)
    ends = np.r_[0.0, np.geomspace(1e-4, n, pieces), np.linspace(n, n + 1, 5)[1:]]
    half = 0.5 * np.diff(ends)[:, None]
    r, dr = (ends[:-1, None] + half * (z + 1.0)).ravel(), (half * w).ravel()
    if d == 1:
        return r[:, None], dr
    t, dt = 0.5 * (z + 1.0), 0.5 * w
    t, dt = (
        t**4 * (35 - 84 * t + 70 * t**2 - 20 * t**3),
        140 * (t * (1 - t)) ** 3 * dt,
    )  # smooth at both ends of the angle
    angle, da = 0.5 * np.pi * t, 0.5 * np.pi * dt
    X = np.stack([np.multiply.outer(r, np.cos(angle)), np.multiply.outer(r, np.sin(angle))], axis=-1)
    return X.reshape(-1, 2), np.multiply.outer(r * dr, da).ravel()


class Sides(NamedTuple):
    """Both sides of the integration by parts with ρ_n, the rest, and the paper's integrals 1, 3, 4 and 5 up to n + 1."""

    left: float
    right: float
    rest: float
    integrals: tuple[float, ...]


def sides(model, theta, generator, domain, log_constant, n, which=None, pieces=40):
    """For v = ∇ log p_θ, or for the gradient of statistic `which`, on which alone the estimate rests."""
    X, weight = nodes(domain.dimension, n, pieces)
    radius = np.linalg.norm(X, axis=1)
    rho, slope = cut_off(radius, n)
    rows = Rows(model, generator, domain, Block(X))
    D, divergence = rows.value.field, rows.value.divergence
    p = np.exp(model.log_density(X, theta) - log_constant + rows.value.log_weight) * weight  # with the factor of D
    s, outward = model.score(X, theta), X / radius[:, None]
    if which is None:
        v, bend, base = s, theta @ model.trace_hessian(X, D), model.base_trace(X, D)
        bend = bend if base is None else bend + base
    else:
        v, bend = model.statistic_gradient(X, np.eye(len(theta))[which]), model.trace_hessian(X, D)[which]
    first, third = np.einsum("nj,nj->n", v, divergence), np.einsum("nj,nj->n", s, D.apply(v))
    flux = np.einsum("nj,nj->n", D.apply(v), outward)
    left, right = float(np.sum(rho * p * first)), -float(np.sum(rho * p * (third + bend)))
    if which is not None:  # the equations of the estimate are the difference of the two sides
        psi = float(rows.equations(theta)[which] @ (rho * p))
        assert psi == pytest.approx(left - right, abs=1e-9 * max(abs(left), abs(right), abs(psi)))
    integrals = tuple(float(np.sum(p * np.abs(q))) for q in (first, third, bend, flux))
    return Sides(left, right, -float(np.sum(slope * p * flux)), integrals)


PHI1, PHI3 = zf.Barrier(4 / 3, scale="raw"), zf.Barrier.log(scale="raw")
GAMMA = np.array([2.5, 1.5])
GAUSS = PairwiseModel(["x1", "x2"])
HOLDS = {
    "gamma, φ₁": (GammaModel(["x"]), GAMMA, PHI1, zf.Orthant(1), np.log(gamma_function(2.5)) - 2.5 * np.log(1.5)),
    "gamma, φ₃": (GammaModel(["x"]), GAMMA, PHI3, zf.Orthant(1), np.log(gamma_function(2.5)) - 2.5 * np.log(1.5)),
    "half-normal, φ₁": (PairwiseModel(["x"]), np.array([1.0, 0.4]), PHI1, zf.Orthant(1), 0.0),
    "two gammas, φ₁": (GammaModel(["a", "b"]), np.array([2.5, 3.0, 1.5, 2.0]), PHI1, zf.Orthant(2), 0.0),
    "Gaussian, φ₁": (GAUSS, np.array([1.0, 0.3, 1.2, 0.5, 0.2]), PHI1, zf.Orthant(2), 0.0),
    "Gaussian, φ₃": (GAUSS, np.array([1.0, -0.4, 1.2, 0.5, 0.2]), PHI3, zf.Orthant(2), 0.0),
    "Lomax, α = 4, φ₃": (lomax(), np.array([5.0]), PHI3, zf.Orthant(1), -np.log(4.0)),
}


@pytest.mark.parametrize("name", HOLDS)
def test_integration_by_parts_with_the_cut_off_converges(name):
    """For every n the two sides differ by the rest, which is the flux; it vanishes, and ρ_n disappears from both sides."""
    heavy, (model, theta, *rest) = "Lomax" in name, HOLDS[name]
    for which in (None, *range(len(theta))):
        found = [sides(model, theta, *rest, n, which) for n in ((30, 300, 3000) if heavy else (4, 8, 16, 32))]
        size = max(found[-1].integrals)
        for here in found:
            assert here.left == pytest.approx(here.right + here.rest, abs=1e-7 * size)
        rests = np.array([abs(here.rest) for here in found])
        assert rests[0] > 1e-6 * size
        assert np.all(rests[1:] < 0.2 * rests[:-1] + 1e-12 * size)
        assert found[-1].left == pytest.approx(found[-1].right, abs=(1e-3 if heavy else 1e-7) * size)
        # The integrals of the paper are finite: nothing is added between the last two n.
        assert np.allclose(found[-1].integrals, found[-2].integrals, rtol=0.02 if heavy else 1e-4)


def test_the_flux_that_stays():
    """Inverse gamma with shape α = 1 and the log barrier with γ = 1, D = x⁴: β flows out at infinity, and E ψ is β instead of 0.

    ψ is bounded and p D t' = β e^(−β/x) tends to β: the two sides grow like log n together, β apart.
    """
    beta, generator, far = 2.0, zf.Barrier.log(1.0, scale="raw"), (50, 500, 5000)
    model, theta = inverse_gamma(1.0), np.array([beta])
    found = [sides(model, theta, generator, zf.Orthant(1), -np.log(beta), n, 0, pieces=80) for n in far]
    for n, here in zip(far, found, strict=True):
        assert here.left - here.right == pytest.approx(here.rest, rel=1e-6)
        assert here.rest == pytest.approx(beta, rel=3.0 / n)
    first = np.diff([here.integrals[0] for here in found])
    assert first == pytest.approx(first[1], rel=0.05)
    # The library says so, and the estimate is 0 on every data set, since g_i = 0.
    x = 1.0 / np.random.default_rng(0).gamma(1.0, 1.0 / beta, size=(500, 1))
    problem = posed(model, generator, zf.Orthant(1), x)
    assert judge(None, (), tail_orders(problem, theta, Restriction.none(1)))[:2] == (False, False)
    moments = problem.moments()
    assert abs(moments.g[0] / moments.gamma.dense()[0, 0]) < 1e-9


def test_the_fifth_integral_is_not_needed():
    """Lomax with α = 0.7 and D = x²: E|G s| is infinite, the others are finite, the flux vanishes, and the identity holds."""
    model, theta, far = lomax(), np.array([1.7]), (10**3, 10**5, 10**7)
    weight, domain = zf.CoordinateWeight("x^2"), zf.Orthant(1)
    found = [sides(model, theta, weight, domain, -np.log(0.7), n, 0, pieces=100) for n in far]
    values = np.array([here.integrals for here in found])
    assert np.log(values[2, 3] / values[1, 3]) / np.log(100.0) == pytest.approx(0.3, abs=0.02)  # q + m − (a − k)
    assert np.all(np.diff(values[:, :3], axis=0)[1] < 0.06 * np.diff(values[:, :3], axis=0)[0])  # like n^(−0.7): finite
    rests = np.array([abs(here.rest) for here in found])
    assert np.all(rests[1:] < 0.06 * rests[:-1])
    assert found[-1].left == pytest.approx(found[-1].right, rel=1e-4)
    x = np.random.default_rng(0).pareto(0.7, size=(500, 1))
    problem = posed(model, weight, domain, x)
    assert judge(None, (), tail_orders(problem, theta, Restriction.none(1))).finite_variance
