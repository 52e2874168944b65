"""The closed form: rank, conditioning, ridge, restrictions."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.posed import given
from zfree.errors import IllConditionedWarning, SingularMomentsError, SpecificationError
from zfree.penalties import Ridge
from zfree.quadratic import DenseQuadratic
from zfree.solvers import Restriction, solve


def _given(gamma, g, names, restriction=None):
    return given(DenseQuadratic(np.asarray(gamma)), np.asarray(g), names, restriction)


def test_the_minimum_of_a_quadratic():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 5))
    gamma, g = A @ A.T + np.eye(5), rng.standard_normal(5)
    units = np.array([1e-8, 1, 1, 1, 1e8])  # that differ wildly
    solution = solve(_given(gamma * np.outer(units, units), g * units, tuple("abcde")))
    assert np.allclose(gamma @ (units * solution.theta), -g, rtol=1e-10)
    assert np.allclose(solution.inverse * np.outer(units, units) @ gamma, np.eye(5), atol=1e-10)
    assert solution.reciprocal_condition > 1e-4  # scaling has been removed


def test_fixed_parameters_solve_the_reduced_system():
    gamma = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])
    g = np.array([1.0, -1.0, 0.5])
    restriction = Restriction.from_names({"b": 0.7}, ("a", "b", "c"))
    theta = solve(_given(gamma, g, ("a", "b", "c"), restriction)).theta
    assert theta[1] == 0.7
    assert np.allclose((gamma @ theta + g)[[0, 2]], 0)


def test_everything_fixed_leaves_nothing_to_solve():
    restriction = Restriction.from_names({"a": 1.0}, ("a",))
    assert solve(_given([[1.0]], [0.0], ("a",), restriction)).theta[0] == 1.0


def test_restrictions_must_not_disagree():
    a = Restriction.from_names({"a": 1.0}, ("a", "b"))
    both = a.combine(Restriction.from_names({"b": 2.0}, ("a", "b")), ("a", "b"))
    assert both.values.tolist() == [1.0, 2.0]
    with pytest.raises(SpecificationError, match="a is fixed at two values, 1 and 2"):
        a.combine(Restriction.from_names({"a": 2.0}, ("a", "b")), ("a", "b"))


def test_rank_deficiency_names_the_parameters_and_the_remedy():
    v = np.array([1.0, 1.0, 0.0])
    gamma = np.eye(3) - np.outer(v, v) / 2
    with pytest.raises(SingularMomentsError, match=r"first, second|second, first") as caught:
        solve(_given(gamma, np.ones(3), ("first", "second", "third")))
    assert "third" not in str(caught.value)
    assert "ridge" in str(caught.value)
    assert "rows" in str(caught.value)


def test_ill_conditioning_warns_and_ridge_cures_it():
    v = np.array([1.0, 1.0, 0.0])
    gamma = np.eye(3) - (1 - 1e-11) * np.outer(v, v) / 2
    with pytest.warns(IllConditionedWarning, match="ill-conditioned"):
        solve(_given(gamma, np.ones(3), ("first", "second", "third")))
    solution = solve(_given(gamma, np.ones(3), ("first", "second", "third")).penalised(Ridge(0.1)))
    assert np.allclose((gamma + 0.1 * np.diag(np.diag(gamma))) @ solution.theta, -1.0)


def test_collinear_columns_fail_with_names_and_ridge_makes_them_fit():
    x = np.abs(np.random.default_rng(0).standard_normal((200, 1)))
    X = np.hstack([x, 2 * x])
    with pytest.raises(SingularMomentsError, match=r"K\[x1,x1\]"):
        zf.TruncatedGaussian(generator=zf.Identity(), domain=zf.RealSpace(2)).fit(X)
    est = zf.TruncatedGaussian(ridge=0.1, domain=zf.RealSpace(2), check=False).fit(X)
    assert np.isfinite(est.result_.theta).all()
    assert np.isfinite(est.result_.covariance).all()


def test_ridge_shrinks_and_does_not_depend_on_units():
    X = np.abs(np.random.default_rng(1).standard_normal((300, 2)))
    plain = zf.TruncatedGaussian().fit(X)
    ridge = zf.TruncatedGaussian(ridge=0.5).fit(X)
    assert np.linalg.norm(ridge.precision_) < np.linalg.norm(plain.precision_)
    scaled = zf.TruncatedGaussian(ridge=0.5).fit(1000 * X)
    assert np.allclose(scaled.precision_ * 1e6, ridge.precision_, rtol=1e-8)
