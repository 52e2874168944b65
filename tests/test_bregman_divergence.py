"""Equation (6): the local Bregman ball is where twice the Bregman divergence of φ is below r², to leading order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import zfree as zf

A = np.array([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]])
B = np.array([0.0, 0.0, 1.0])
FAMILY = {  # p → φ = Σ ψ(s) as the paper writes it, and ψ'
    4 / 3: (lambda s: 2.25 * s ** (4 / 3), lambda s: 3.0 * s ** (1 / 3)),
    1.0: (lambda s: s * np.log(s), lambda s: np.log(s) + 1.0),
    0.0: (lambda s: -np.log(s), lambda s: -1.0 / s),
}
X = np.random.default_rng(0).dirichlet([2.0, 2.0, 2.0], size=20)[:, :2]


def divergence(p, y, x):
    """φ(y) − φ(x) − ⟨∇φ(x), y − x⟩ on the triangle."""
    psi, slope = FAMILY[p]
    there, here = B - y @ A.T, B - x @ A.T
    gradient = -slope(here) @ A
    return (psi(there) - psi(here)).sum(axis=1) - np.einsum("ni,ni->n", gradient, y - x)


@pytest.mark.parametrize("p", FAMILY)
def test_it_is_a_divergence(p):
    Y = np.random.default_rng(1).dirichlet([2.0, 2.0, 2.0], size=20)[:, :2]
    assert np.all(divergence(p, Y, X) > 0)
    assert np.allclose(divergence(p, X, X), 0.0)


@pytest.mark.parametrize("p", FAMILY)
def test_the_ball_is_where_it_is_small(p):
    """(y − x)ᵀH(x)(y − x) = 2 D_φ(y, x) + O(‖y − x‖³): halving the step divides the gap by eight."""
    domain = zf.SolidSimplex(2)
    step = 0.05 * np.random.default_rng(2).standard_normal(X.shape) * X.min(axis=1, keepdims=True)
    gaps = []
    for size in (0.25, 0.125, 0.0625):
        quadratic = domain.curvature_along(zf.Power(p), X, size * step)[0]
        gaps.append(np.abs(quadratic - 2.0 * divergence(p, X + size * step, X)))
        assert np.all(gaps[-1] < 0.1 * quadratic)
    for before, after in pairwise(gaps):
        assert np.median(before / after) == pytest.approx(8.0, rel=0.1)
