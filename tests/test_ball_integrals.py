"""Integrals over the unit ball against exp(−½‖u‖²): the lemmas of the proof of Theorem 3.2, and its constant λ in fifty dimensions."""

from __future__ import annotations

from itertools import product

import mpmath as mp
import numpy as np
import pytest

from zfree.neighbourhoods import mixing_constant, radial_moment


def ball(d, n=24):
    """Nodes and weights of ∫_B f(u) exp(−½‖u‖²) du: Gauss in the length and the height, equal steps in the angle."""
    t, w = np.polynomial.legendre.leggauss(n)
    r, radial = 0.5 * (t + 1), 0.5 * w * np.exp(-0.125 * (t + 1) ** 2)
    angle = (
        2 * np.pi * (np.arange(2 * n) + 0.3) / (2 * n)
    )  # 0.3: no node is the mirror image of another by construction
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    if d == 1:
        sphere, area = np.array([[1.0], [-1.0]]), np.ones(2)
    elif d == 2:
        sphere, area = circle, np.full(2 * n, np.pi / n)
    else:
        ring = np.sqrt(1 - t**2)[:, None, None] * circle
        sphere = np.concatenate([ring, np.broadcast_to(t[:, None, None], (n, 2 * n, 1))], axis=2).reshape(-1, 3)
        area = np.repeat(w * np.pi / n, 2 * n)
    nodes = (r[:, None, None] * sphere).reshape(-1, d)
    return nodes, ((radial * r ** (d - 1))[:, None] * area).ravel()


def test_the_rule_integrates_the_density_itself():
    for d in (1, 2, 3):
        assert ball(d)[1].sum() == pytest.approx(radial_moment(d, 0), rel=1e-13)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_lemma_d1_linear_terms_vanish(d):
    u, w = ball(d)
    assert np.abs(w @ u).max() < 1e-14


@pytest.mark.parametrize("d", [2, 3])
def test_lemma_d2_and_remark_d1_the_outer_product_is_a_multiple_of_the_identity(d):
    """∫ u uᵀ = C₃ I: off-diagonal entries vanish, and C₃ does not depend on i."""
    u, w = ball(d)
    second = np.einsum("n,ni,nj->ij", w, u, u)
    C3 = radial_moment(d, 2) / d
    assert np.allclose(second, C3 * np.eye(d), rtol=0, atol=1e-14)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_lemma_d3_cubic_terms_vanish(d):
    u, w = ball(d)
    assert np.abs(np.einsum("n,ni,nj,nk->ijk", w, u, u, u)).max() < 1e-14
    # and of order five, which the proof needs for its terms 7 and 8
    assert np.abs(np.einsum("n,ni,nj,nk,nl,nm->ijklm", w, u, u, u, u, u)).max() < 1e-14


@pytest.mark.parametrize("d", [2, 3])
def test_lemma_d4_a_fourth_power_is_three_products_of_squares(d):
    u, w = ball(d)
    for i, j in product(range(d), repeat=2):
        if i != j:
            assert w @ u[:, i] ** 4 == pytest.approx(3 * (w @ (u[:, i] ** 2 * u[:, j] ** 2)), rel=1e-13)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_lemma_d5_quartic_terms(d):
    """∫ u_i u_j u_k u_l = C₆(δ_ij δ_kl + δ_ik δ_jl + δ_il δ_jk)."""
    u, w = ball(d)
    fourth = np.einsum("n,ni,nj,nk,nl->ijkl", w, u, u, u, u)
    C6 = (w @ u[:, 0] ** 4) / 3
    one = np.eye(d)
    pairs = sum(np.einsum(s, one, one) for s in ("ij,kl->ijkl", "ik,jl->ijkl", "il,jk->ijkl"))
    assert np.allclose(fourth, C6 * pairs, rtol=0, atol=1e-14)
    assert C6 == pytest.approx(radial_moment(d, 4) / (d * (d + 2)), rel=1e-13)


def defining_constant(d):
    """C₆/C₃ from ∫u₁² and ⅓∫u₁⁴ themselves, u₁ = r cos φ, each integral in 30 digits."""

    def moment(k):
        if d == 1:
            return mp.quad(lambda u: u**k * mp.exp(-u * u / 2), [-1, 0, 1])
        radial = mp.quad(lambda r: r ** (d - 1 + k) * mp.exp(-r * r / 2), [0, 1])
        return radial * mp.quad(lambda a: mp.cos(a) ** k * mp.sin(a) ** (d - 2), [0, mp.pi / 2, mp.pi])

    return moment(4) / 3 / moment(2)  # the area of the sphere of the other coordinates cancels


def test_the_mixing_constant_in_fifty_dimensions():
    with mp.workdps(30):
        exact = np.array([float(defining_constant(d)) for d in range(1, 51)])
    found = np.array([mixing_constant(d) for d in range(1, 51)])
    assert np.allclose(found, exact, rtol=1e-14, atol=0)
    # It falls like 1/(d + 4), from below: (1 − λ(d + 4))(d + 4)² grows towards 2.
    d = np.arange(1, 51)
    gap = (1 - found * (d + 4)) * (d + 4) ** 2
    assert np.all(np.diff(gap) > 0)
    assert 1.4 < gap[0] < gap[-1] < 2
