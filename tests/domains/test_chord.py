"""How far one can move along a line before leaving a domain."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from zfree.domains import Domain

DOMAINS = [
    zf.Orthant(3),
    zf.Box([0.0, -1.0, -np.inf], [1.0, np.inf, np.inf]),
    zf.RealSpace(3),
    zf.HalfSpace([1.0, -2.0, 0.5], 1.0),
    zf.SolidSimplex(3),
    zf.Polytope.from_inequalities("x1 > 0, x2 > -1, x1 + 2*x2 < 2, x3 < x1, x3 > -4"),
    zf.Ball(1.5, center=[0.1, 0.2, -0.3]),
    zf.Product([zf.Ball(1.0, d=2), zf.Orthant(1)]),
]


def _inside(domain, n=40):
    """Points from the middle to close to the boundary."""
    rng = np.random.default_rng(0)
    centre = domain.interior_point()
    X = centre + rng.standard_normal((4000, 3)) * np.abs(rng.standard_normal((4000, 1)))
    return X[domain.contains(X)][:n]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_along_an_axis_a_chord_is_a_section(domain):
    X = _inside(domain)
    below, above = domain.sections(X)
    for j, v in enumerate(np.eye(3) * 0.5):
        chord = domain.chord(X, v)
        assert np.allclose(0.5 * chord.below, below[:, j], rtol=1e-9)
        assert np.allclose(0.5 * chord.above, above[:, j], rtol=1e-9)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_chords_agree_with_bisection(domain):
    """What every domain gets without saying anything about lines."""
    X = _inside(domain, 15)
    for v in np.random.default_rng(1).standard_normal((6, 3)) * [1.0, 10.0, 0.1]:
        known, general = domain.chord(X, v), Domain.chord(domain, X, v)
        assert np.allclose(known.below, general.below, rtol=1e-9)
        assert np.allclose(known.above, general.above, rtol=1e-9)


def test_points_next_to_a_sphere_keep_their_digits():
    gap = 1e-12
    below, above = zf.Ball(1.0, d=2).chord(np.array([[1.0 - gap, 0.0]]), np.array([1.0, 0.0]))
    assert above[0] == pytest.approx(gap, rel=1e-3)
    assert below[0] == pytest.approx(2.0)
