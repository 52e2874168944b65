"""Polytopes from matrices and from text."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from zfree.errors import InvalidDomainError


@pytest.mark.parametrize(
    ("text", "A", "b"),
    [
        ("x1 + 2*x2 < 1", [[1, 2]], [1]),
        ("x1 > 0", [[-1]], [0]),
        ("0 < x1 < 1", [[-1], [1]], [0, 1]),
        ("2*(x1 - x2)/4 <= 3 - x2", [[0.5, 0.5]], [3]),
        ("x1 < x2 < x3", [[1, -1, 0], [0, 1, -1]], [0, 0]),
        ("-x1 + 1 < 2e-1*x2; x2 >= -3", [[-1, -0.2], [0, -1]], [-1, 3]),
        (["x1 > 0", "x2 > 0\nx1 + x2 < 1"], [[-1, 0], [0, -1], [1, 1]], [0, 0, 1]),
    ],
)
def test_inequalities_are_read(text, A, b):
    domain = zf.Polytope.from_inequalities(text)
    assert np.allclose(domain.A, A)
    assert np.allclose(domain.b, b)


def test_column_names_and_backquotes():
    commas = zf.Polytope.from_inequalities("`a, b` > 0, c < 1", columns=["a, b", "c"])
    assert np.array_equal(commas.A, [[-1, 0], [0, 1]])
    domain = zf.Polytope.from_inequalities(["dose > 0", "dose < 2*`body weight`"], columns=["body weight", "dose"])
    assert np.array_equal(domain.A, [[0, -1], [-2, 1]])
    assert domain.columns == ("body weight", "dose")
    assert domain.constraint_names() == ["dose > 0", "-2*body weight + dose < 0"]
    assert repr(domain) == 'Polytope("dose > 0, -2*body weight + dose < 0")'


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("x1 * x2 < 1", "not linear"),
        ("x1 ** 2 < 1", "not linear"),
        ("log(x1) < 1", "not linear"),
        ("x1 / 0 < 1", "not linear"),
        ("x1 + x2", "no < or >"),
        ("x1 == 1", "use Simplex"),
        ("x1 <", "cannot read"),
        ("", "no inequality"),
        ("weight < 1", "columns="),
        ("1 < 2", "constrains no column"),
        ("x1 - x1 < 1", "constrains no column"),
        ("__import__('os').system('true') < x1", "not linear"),
    ],
)
def test_text_that_is_no_linear_inequality_is_refused(text, match):
    with pytest.raises(InvalidDomainError, match=match):
        zf.Polytope.from_inequalities(text)


def test_unknown_column_is_named():
    with pytest.raises(InvalidDomainError, match=r"'hieght'.*weight, height"):
        zf.Polytope.from_inequalities("hieght < 1", columns=["weight", "height"])


def test_contradictions_are_named():
    with pytest.raises(InvalidDomainError, match=r"row 1: x2 > 3; row 3: x2 < 2"):
        zf.Polytope.from_inequalities("x1 > 0, x2 > 3, x1 < 1, x2 < 2")
    with pytest.raises(InvalidDomainError, match="contradict"):  # a facet, no interior
        zf.Polytope([[1.0], [-1.0]], [0.0, 0.0])


def test_redundant_rows_are_reported():
    domain = zf.Polytope.from_inequalities("x1 > 0, x2 > 0, x1 + x2 < 1, x1 < 5, 2*x1 + 2*x2 < 2")
    assert set(domain.redundant) == {3, 2} or set(domain.redundant) == {3, 4}
    assert zf.Polytope.from_inequalities("x1 > 0, x1 < 1").redundant == ()


@pytest.mark.parametrize(
    ("text", "bounded"),
    [
        ("0 < x1 < 1", True),
        ("x1 > 0, x2 > 0, x1 + x2 < 1", True),
        ("x1 > 0, x2 > 0", False),
        ("x1 + x2 < 1, x1 + x2 > 0", False),
    ],
)
def test_boundedness(text, bounded):
    assert zf.Polytope.from_inequalities(text).is_bounded is bounded


def test_polytope_of_another_class_agrees_with_it():
    """The structured domains, written as general polytopes, give the same fit."""
    X = np.random.default_rng(0).dirichlet(np.full(4, 2.0), 300)[:, :3]
    for domain in (
        zf.Orthant(3),
        zf.SolidSimplex(3),
        zf.Box(np.zeros(3), np.ones(3)),
        zf.HalfSpace([1.0, 1.0, 1.0], 1.0),
    ):
        general = zf.Polytope(*domain.inequalities)
        for generator in (zf.Barrier(0.7, 0.5), zf.BoundaryDistance(), zf.SectionDistance("x")):
            a = zf.TruncatedGaussian(domain=domain, generator=generator, structure="diagonal").fit(X).result_
            b = zf.TruncatedGaussian(domain=general, generator=generator, structure="diagonal").fit(X).result_
            assert np.allclose(a.theta, b.theta, rtol=1e-8)
            assert np.allclose(a.covariance, b.covariance, rtol=1e-7)


@pytest.mark.parametrize(
    ("A", "b", "match"),
    [
        ([[1.0, 2.0]], [1.0, 2.0], "shape"),
        ([[0.0, 0.0]], [1.0], "row 0 of A is zero"),
        ([[np.nan, 1.0]], [1.0], "finite"),
        ([["a", 1.0]], [1.0], "numbers"),
        ([[1.0, 1.0]], [np.inf], "finite"),
    ],
)
def test_malformed_systems(A, b, match):
    with pytest.raises(InvalidDomainError, match=match):
        zf.Polytope(A, b)
