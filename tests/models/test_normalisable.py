"""Whether a density with an indefinite K exists on a domain."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from zfree.errors import NotPositiveDefiniteWarning
from zfree.models import is_normalisable

INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and −1, positive on the orthant
BAD = np.array([[1.0, -2.0], [-2.0, 1.0]])  # negative along (1, 1)
HORN = np.array(
    [[1, -1, 1, 1, -1], [-1, 1, -1, 1, 1], [1, -1, 1, -1, 1], [1, 1, -1, 1, -1], [-1, 1, 1, -1, 1]], dtype=float
)


@pytest.mark.parametrize(
    ("K", "domain", "expected"),
    [
        (np.eye(2), zf.RealSpace(2), True),
        (INDEFINITE, zf.RealSpace(2), False),
        (INDEFINITE, zf.SolidSimplex(2), True),
        (INDEFINITE, zf.Orthant(2), True),
        (BAD, zf.Orthant(2), False),
        (BAD, zf.Ball(1.0, d=2), True),
        (INDEFINITE, zf.Box([0.0, -np.inf], [np.inf, 0.0]), False),  # second coordinate flipped
        (BAD, zf.Box([0.0, -np.inf], [np.inf, 0.0]), True),
        (INDEFINITE, zf.Box([0.0, -np.inf], [np.inf, np.inf]), False),
        (np.diag([1.0, -1.0]), zf.Box([0.0, 0.0], [np.inf, 1.0]), True),
        (np.diag([-1.0, 1.0]), zf.Box([0.0, 0.0], [np.inf, 1.0]), False),
        (BAD, zf.HalfSpace([1.0, 1.0], 1.0), False),
        (BAD, zf.Polytope.from_inequalities("x1 + x2 < 1, x1 - x2 < 1, x2 - x1 < 1"), False),
        (np.diag([-1.0, 1.0, 1.0]), zf.Product([zf.Ball(1.0, d=1), zf.Orthant(2)]), True),
        (np.diag([1.0, -1.0, 1.0]), zf.Product([zf.Ball(1.0, d=1), zf.Orthant(2)]), False),
        (HORN, zf.Orthant(5), False),  # copositive, not strictly: zero along (1, 1, 0, 0, 0)
        (HORN + 0.1 * np.eye(5), zf.Orthant(5), True),  # copositive but neither definite nor non-negative
        (HORN - 0.1 * np.eye(5), zf.Orthant(5), False),
    ],
)
def test_verdicts(K, domain, expected):
    assert is_normalisable(K, domain.recession()) is expected


def test_undecided_is_said():
    """A cone whose exact check is hard: positive along it, indefinite off it."""
    domain = zf.Polytope.from_inequalities("x1 + 2*x2 > 0, 2*x1 + x2 > 0")
    K = np.array([[1.0, 1.5], [1.5, 1.0]])
    rays = np.array([[2.0, -1.0], [-1.0, 2.0]])
    positive = all(v @ K @ v > 0 for v in rays) and rays[0] @ K @ rays[1] > 0
    assert is_normalisable(K, domain.recession()) is (None if positive else False)


def test_large_orthants_fall_back_to_a_search():
    rng = np.random.default_rng(0)
    K = np.eye(15)
    K[:2, :2] = BAD
    assert is_normalisable(K, zf.Orthant(15).recession()) is False
    A = rng.uniform(0, 1, (15, 15))
    assert is_normalisable(A + A.T, zf.Orthant(15).recession()) is True


def test_the_warning_says_which():
    X = np.random.default_rng(0).dirichlet(np.full(6, 1.2), 80)[:, :5]
    with pytest.warns(
        NotPositiveDefiniteWarning, match=r"still normalisable on SolidSimplex\(5\).*positive_definite=True"
    ):
        est = zf.TruncatedGaussian(domain=zf.SolidSimplex(5)).fit(X)
    assert "remark: the estimated K is not positive definite" in str(est.result_.summary())
    assert "remark: the estimated K" in est.result_.summary()._repr_html_()
    assert est.result_.notes == ()
    x = np.random.default_rng(0).pareto(1.5, (400, 1)) + 0.01
    with pytest.warns(NotPositiveDefiniteWarning, match="cannot be normalised on Orthant"):
        zf.TruncatedGaussian(generator=zf.Barrier(1.0, 0.0), fixed={"K[x1,x1]": -0.1}).fit(x)
