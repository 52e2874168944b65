"""Whether a density exists on a domain: indefinite K, shapes and rates, powers, and families nobody knows."""

from __future__ import annotations

import re

import numpy as np
import pytest

import zfree as zf
from zfree.errors import NotPositiveDefiniteWarning
from zfree.models import (
    CustomModel,
    DirichletModel,
    ExponentialModel,
    GammaModel,
    LogNormalModel,
    PairwiseModel,
    is_normalisable,
)
from zfree.models.integrability import look

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


@pytest.mark.parametrize(
    ("model", "domain", "theta", "reason"),
    [
        (GammaModel(["a", "b"]), zf.Orthant(2), [1.0, 0.1, 1.0, 2.0], None),
        (GammaModel(["a", "b"]), zf.Orthant(2), [1.0, -0.1, 1.0, 2.0], r"shape\[b\] = -0.1"),
        (GammaModel(["a", "b"]), zf.Orthant(2), [1.0, 0.1, 0.0, 2.0], r"rate\[a\] = 0"),
        (ExponentialModel(["a"]), zf.Orthant(1), [2.0], None),
        (ExponentialModel(["a"]), zf.Orthant(1), [-2.0], r"rate\[a\] = -2"),
        (ExponentialModel(["a"]), zf.Box([0.0], [1.0]), [-2.0], None),  # bounded: any rate will do
        (DirichletModel(["a", "b"]), zf.Simplex(2), [0.1, 3.0], None),
        (DirichletModel(["a", "b"]), zf.Simplex(2), [-0.1, 3.0], r"alpha\[a\] = -0.1"),
        (LogNormalModel(["a"]), zf.Orthant(1), [1.0, 5.0], None),
        (LogNormalModel(["a"]), zf.Orthant(1), [-1.0, 5.0], "vᵀKv < 0"),
    ],
)
def test_textbook_families(model, domain, theta, reason):
    verdict = model.normalisable(np.array(theta), domain)
    assert verdict.holds is (reason is None)
    if reason is not None:
        assert re.search(reason, verdict.reason)


@pytest.mark.parametrize(
    ("a", "b", "k", "eta", "expected"),
    [
        (0.5, 0.0, 1.0, -0.95, True),
        (0.5, 0.0, 1.0, -1.0, False),  # a pole 1/x at zero
        (0.5, 0.0, -1.0, 1.0, False),
        (0.5, 0.5, 1.0, 30.0, True),
        (0.5, 0.5, -1.0, -30.0, False),  # K is the larger power
        (0.5, 2.0, -1.0, -0.1, True),  # η is
        (0.5, 2.0, 1.0, 0.1, False),
        (0.5, 1.0, 1.0, 0.9, True),  # equal powers: k − η decides
        (0.5, 1.0, 1.0, 1.1, False),
        (0.5, 1.0, -1.0, -1.1, True),
        (0.0, 0.0, 1.0, 3.0, True),
        (0.0, 0.0, -1.0, 3.0, False),
        (0.0, 1.0, 1.0, -3.0, True),
        (0.0, 1.0, 1.0, 0.1, False),  # exp(0.1 x) outgrows exp(−log² x)
        (1.0, 1.0, 0.5, 3.0, True),
    ],
)
def test_powers_by_rule_and_by_looking(a, b, k, eta, expected):
    """The rule from the leading terms, and the look that knows nothing about them."""
    model, theta = PairwiseModel(["x1"], a=a, b=b), np.array([k, eta])
    assert model.normalisable(theta, zf.Orthant(1)).holds is expected
    assert look(lambda X: model.log_density(X, theta), zf.Orthant(1)).holds is expected


def test_powers_of_several_columns():
    model = PairwiseModel(["x1", "x2"], a=0.5, b=0.0)

    def verdict(K, eta):
        return model.normalisable(np.r_[K[model.rows, model.cols], eta], zf.Orthant(2))

    assert verdict(INDEFINITE, [0.5, 0.5]).holds is True
    assert verdict(BAD, [0.5, 0.5]).holds is False
    assert verdict(INDEFINITE, [0.5, -1.5]) == (False, "eta[x2] = -1.5 is not above -1")
    falling = PairwiseModel(["x1", "x2"], a=0.0, b=1.0)  # in logarithms both may only go down: K is positive there
    assert falling.normalisable(np.r_[INDEFINITE[model.rows, model.cols], [-1.0, -1.0]], zf.Orthant(2)).holds is True
    assert falling.normalisable(np.r_[BAD[model.rows, model.cols], [-1.0, -1.0]], zf.Orthant(2)).holds is False


def test_the_edge_is_left_undecided():
    model = PairwiseModel(["x1"])
    assert model.normalisable(np.array([0.0, -1.0]), zf.Orthant(1)).holds is None  # exponential, though K is zero
    assert model.normalisable(np.array([-1e-3, -1.0]), zf.Orthant(1)).holds is False


def _family(d, statistic, r):
    return CustomModel(d, [f"t{k}" for k in range(r)], statistic, lambda X: X, lambda X: X)


@pytest.mark.parametrize(
    ("domain", "statistic", "theta", "expected"),
    [
        (zf.Orthant(1), lambda X: np.column_stack([np.log(X), 1 / X, X]), [-2.0, -1.0, -1e-9], True),
        (zf.Orthant(1), lambda X: np.column_stack([np.log(X), 1 / X, X]), [-2.0, -1.0, 1e-9], False),
        (zf.Orthant(1), lambda X: np.column_stack([np.log(X), 1 / X, X]), [-2.0, -1.0, 0.0], True),
        (zf.Orthant(1), lambda X: np.column_stack([np.log(X), 1 / X, X]), [-0.9, -1.0, 0.0], False),
        (zf.Orthant(1), lambda X: np.column_stack([np.log(X), 1 / X, X]), [5.0, 1e-4, -1.0], False),
        (zf.RealSpace(1), lambda X: -np.log1p(X**2), [0.6], True),
        (zf.RealSpace(1), lambda X: -np.log1p(X**2), [0.5], False),
        (zf.RealSpace(2), lambda X: np.column_stack([-(X**2), X[:, 0] * X[:, 1]]), [1.0, 1.0, 1.9], True),
        (zf.RealSpace(2), lambda X: np.column_stack([-(X**2), X[:, 0] * X[:, 1]]), [1.0, 1.0, 3.5], False),
        (
            zf.RealSpace(2),
            lambda X: np.column_stack([-np.log1p(X[:, 0] ** 2), -(X[:, 1] ** 2)]),
            [0.8, 1.0],
            None,
        ),  # one ridge
        (zf.RealSpace(1), lambda X: np.column_stack([X, -np.exp(X)]), [2.0, 1.0], True),  # overflows far out
        (zf.Box([0.0], [1.0]), lambda X: np.column_stack([np.log(X), np.log1p(-X)]), [-0.5, -0.99], True),
        (zf.Box([0.0], [1.0]), lambda X: np.column_stack([np.log(X), np.log1p(-X)]), [-0.5, -1.01], False),
        (zf.Box([1e6], [1e6 + 1]), lambda X: np.log(X - 1e6), [-0.95], True),
        (zf.Box([1e6], [1e6 + 1]), lambda X: np.log(X - 1e6), [-1.05], False),
        (zf.Simplex(3), np.log, [-0.5, 2.0, -0.9], True),
        (zf.Simplex(3), np.log, [-0.5, 2.0, -1.1], False),
        (zf.Ball(1.0, d=2), lambda X: np.log(1 - (X**2).sum(axis=1, keepdims=True)), [-0.9], True),
        (zf.Ball(1.0, d=2), lambda X: np.log(1 - (X**2).sum(axis=1, keepdims=True)), [-1.1], False),
        (zf.Shells([0.5, 1.0], d=2), lambda X: X, [1.0, 1.0], None),
    ],
)
def test_unknown_families(domain, statistic, theta, expected):
    model = _family(domain.dimension, statistic, len(theta))
    rng = np.random.default_rng(0)
    rows = {
        "Simplex": lambda: rng.dirichlet([2.0, 2.0, 2.0], 30),
        "Orthant": lambda: rng.gamma(2.0, 100.0, (30, 1)),
    }.get(type(domain).__name__, lambda: domain.interior_point() + 0.1 * rng.standard_normal((30, domain.dimension)))()
    assert model.normalisable(np.array(theta), domain).holds is expected
    assert model.normalisable(np.array(theta), domain, rows).holds is expected


def test_a_steep_exponential_at_a_facet_is_no_pole():
    from zfree.models import GammaModel

    verdict = GammaModel(("a",)).normalisable(np.array([2.0, 1e10]), zf.Box([0.0], [2.0]))
    assert verdict.holds is not False
