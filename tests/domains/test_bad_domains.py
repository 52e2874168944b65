"""Domains that do not exist, and text that is no inequality: each refusal names the entry and the remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import zfree as zf
from tests.refusals import X, check_refusal, hidden, inequalities, put
from zfree.errors import DataError, InvalidDomainError, SpecificationError

SUM = " + ".join(f"x{j}" for j in range(1, 3001))

# name: what is done, the class of the error, regular expressions that the message must contain
MALFORMED = {
    "half an inequality": (
        lambda: inequalities("x1 + < 1"),
        InvalidDomainError,
        [r"'x1 \+ < 1'", "write a linear inequality"],
    ),
    "a product of columns": (lambda: inequalities("x1*x2 < 1"), InvalidDomainError, [r"'x1\*x2 < 1'", "not linear"]),
    "no inequality sign": (lambda: inequalities("x1 + x2"), InvalidDomainError, [r"'x1 \+ x2'", "no < or >"]),
    "an equation": (lambda: inequalities("x1 + x2 == 1"), InvalidDomainError, ["only < and >", "use Simplex"]),
    "no inequality": (lambda: inequalities(" , "), InvalidDomainError, ["no inequality", "write for example"]),
    "a name without columns": (lambda: inequalities("dose < 2"), InvalidDomainError, ["'dose'", r"Pass columns="]),
    "a name not among the columns": (
        lambda: inequalities("dose < 2", ["age"]),
        InvalidDomainError,
        ["unknown column 'dose'", "the columns are age"],
    ),
    "inequalities that contradict": (
        lambda: inequalities("x2 > 0, x1 > 1, x1 < 0"),
        InvalidDomainError,
        ["empty", "row 1: x1 > 1", "row 2: x1 < 0", "Relax one"],
    ),
    "an empty side": (
        lambda: zf.Box([0.0, 2.0], [1.0, 2.0]),
        InvalidDomainError,
        ["side 1", r"lower\[1\] = 2", "below"],
    ),
    "sides of different number": (
        lambda: zf.Box([0.0, 2.0], [1.0]),
        InvalidDomainError,
        ["one entry per column", "2 and 1"],
    ),
    "a ball of radius zero": (lambda: zf.Ball(0.0), InvalidDomainError, ["radius", "positive", "0.0"]),
    "a ball of negative radius": (lambda: zf.Ball(-1.0), InvalidDomainError, ["radius", "positive", "-1.0"]),
    "rows without a total": (
        lambda: zf.Simplex.closure(put(X, *((3, j, 0.0) for j in range(3)))),
        DataError,
        ["row 3", "Leave it out"],
    ),
    "an amount below zero": (
        lambda: zf.Simplex.closure(put(X, (3, 1, -1.0))),
        DataError,
        [r"\[3, 1\]", "negative", "Leave the row out"],
    ),
    "an infinite amount": (
        lambda: zf.Simplex.closure(put(X, (3, 1, np.inf))),
        DataError,
        [r"\[3, 1\]", "infinite", "Leave the row out"],
    ),
    # scalars and vectors
    "two bounds of a half-space": (lambda: zf.HalfSpace([1, 0], [1, 2]), InvalidDomainError, ["b must be one number"]),
    "an infinite half-space": (lambda: zf.HalfSpace([1, 0], np.inf), InvalidDomainError, ["b .* finite", "RealSpace"]),
    "two radii of a ball": (lambda: zf.Ball([1, 2]), InvalidDomainError, ["radius", "one number", r"\[1, 2\]"]),
    "a radius of NaN": (lambda: zf.Ball(np.nan), InvalidDomainError, ["radius", "nan"]),
    "a radius that is text": (lambda: zf.Ball("1"), InvalidDomainError, ["radius", "numbers", "'1'"]),
    "a radius without a square": (lambda: zf.Ball(1e200), InvalidDomainError, ["1e.200", "square", "common unit"]),
    "a tiny radius without a square": (lambda: zf.Ball(1e-200), InvalidDomainError, ["1e-200", "square", "unit"]),
    "a center without a square": (lambda: zf.Ball(1.0, [1e200]), InvalidDomainError, ["center", "1e.200", "unit"]),
    "a shape that is not symmetric": (
        lambda: zf.Ellipsoid([[1.0, 0.5], [0.4, 1.0]]),
        InvalidDomainError,
        ["shape", "symmetric", r"\(A \+ A.T\) / 2"],
    ),
    "a shape that is not definite": (
        lambda: zf.Ellipsoid([[1.0, 2.0], [2.0, 1.0]]),
        InvalidDomainError,
        ["positive definite", "-1", "unbounded"],
    ),
    "a singular shape in other units": (
        lambda: zf.Ellipsoid(np.outer([1.0, 1e6], [1.0, 1e6])),
        InvalidDomainError,
        ["positive definite", "unbounded", "Product"],
    ),
    "a shape with a zero": (lambda: zf.Ellipsoid([1.0, 0.0]), InvalidDomainError, [r"shape\[1, 1\] = 0"]),
    "a shape that is no matrix": (lambda: zf.Ellipsoid([[1.0, 0.0]]), InvalidDomainError, ["square", r"\(1, 2\)"]),
    "a shape with NaN": (lambda: zf.Ellipsoid([[np.nan]]), InvalidDomainError, ["shape", "finite", "nan"]),
    "a shape that is text": (lambda: zf.Ellipsoid([["1"]]), InvalidDomainError, ["shape", "numbers", "'1'"]),
    "a shape without a square": (lambda: zf.Ellipsoid([1e305, 1.0]), InvalidDomainError, ["square", "common unit"]),
    "a center of another width": (
        lambda: zf.Ellipsoid(np.eye(2), [0.0, 0.0, 0.0]),
        InvalidDomainError,
        ["center", "3", "2 × 2"],
    ),
    "a center of an ellipsoid without a square": (
        lambda: zf.Ellipsoid(np.eye(1), [1e200]),
        InvalidDomainError,
        ["center", "1e.200", "unit"],
    ),
    "a semi-axis of zero": (
        lambda: zf.Ellipsoid.from_axes([1.0, 0.0]),
        InvalidDomainError,
        ["semi-axes", "positive", r"\[1.0, 0.0\]"],
    ),
    "a semi-axis without a square": (lambda: zf.Ellipsoid.from_axes([1e200]), InvalidDomainError, ["1e.200", "unit"]),
    "a rotation that is none": (
        lambda: zf.Ellipsoid.from_axes([1.0, 2.0], rotation=[[1.0, 1.0], [0.0, 1.0]]),
        InvalidDomainError,
        ["rotation", "2 × 2", "orthonormal"],
    ),
    "radii without squares": (lambda: zf.Shells([1.0, 1e200]), InvalidDomainError, ["radii", "square", "unit"]),
    "a side beyond floating point": (
        lambda: zf.Box([0], [10**400]),
        InvalidDomainError,
        ["upper", "beyond the range of floating point"],
    ),
    "a complex side": (lambda: zf.Box([0j], [1.0]), InvalidDomainError, ["lower must be real"]),
    "a masked side": (lambda: zf.Box([0.0, 0.0], hidden([1, 1], 1)), InvalidDomainError, [r"upper\[1\] is masked"]),
    "a side that is text": (lambda: zf.Box(["0"], [1.0]), InvalidDomainError, ["lower must be numbers", "'0'"]),
    "a side of two dimensions": (lambda: zf.Box([[0.0]], [[1.0]]), InvalidDomainError, ["lower", r"\(1, 1\)"]),
    "an empty side for all columns": (lambda: zf.Box(1, 0), InvalidDomainError, ["side 0", "below"]),
    "a dimension against the bounds": (lambda: zf.Box([0, 0], 1, d=3), InvalidDomainError, ["d = 3", "2 columns"]),
    "the dimension of an open box": (lambda: zf.Box(0, 100).dimension, SpecificationError, ["open", "d=", "estimator"]),
    "an open box in a product": (
        lambda: zf.Product([zf.Box(0, 1), zf.Orthant(1)]),
        SpecificationError,
        [r"Box\(0.0, 1.0\) is open"],
    ),
    "a complex matrix": (lambda: zf.Polytope([[1j]], [1.0]), InvalidDomainError, ["A of a polytope must be real"]),
    "a masked matrix": (lambda: zf.Polytope(hidden([[1.0]], 0, 0), [1.0]), InvalidDomainError, [r"\[0, 0\] is masked"]),
    "a masked right side": (
        lambda: zf.Polytope([[1.0]], hidden([1.0], 0)),
        InvalidDomainError,
        [r"b .*\[0\] is masked"],
    ),
    "a matrix without squares": (
        lambda: zf.Polytope([[1e300]], [1.0]),
        InvalidDomainError,
        ["A of", "square", "Divide"],
    ),
    "a right side without a square": (lambda: zf.Polytope([[1.0]], [1e300]), InvalidDomainError, ["b of", "Divide"]),
    "a normal without a square": (lambda: zf.HalfSpace([1e300], 1), InvalidDomainError, ["a holds", "Divide a and b"]),
    "a ragged matrix": (lambda: zf.Polytope([[1.0], [1.0, 2.0]], [1, 1]), InvalidDomainError, ["regular array"]),
    "names of columns as one text": (lambda: zf.Polytope([[1.0]], [1.0], "a"), InvalidDomainError, ["list of names"]),
    "names of columns as a number": (lambda: zf.Polytope([[1.0]], [1.0], 5), InvalidDomainError, ["list of names"]),
    "half a part": (lambda: zf.Simplex(3, drop=1.5), SpecificationError, ["drop", "3 parts", "1.5"]),
    "no such part": (lambda: zf.Simplex(3, drop=3), SpecificationError, ["drop", "3 parts"]),
    "a tolerance of NaN": (lambda: zf.Simplex(3, tolerance=np.nan), SpecificationError, ["tolerance", "≥ 0", "nan"]),
    "a negative tolerance": (lambda: zf.Simplex(3, tolerance=-1), SpecificationError, ["tolerance", "≥ 0", "-1"]),
    "a tolerance that is text": (lambda: zf.Simplex(3, tolerance="a"), SpecificationError, ["tolerance", "'a'"]),
    "a product of nothing": (lambda: zf.Product(None), InvalidDomainError, ["list of domains", "Orthant"]),
    "a product of a domain": (lambda: zf.Product(zf.Orthant(2)), InvalidDomainError, ["list of domains"]),
    # text
    "the name of a placeholder": (
        lambda: inequalities("_quoted0_ < 1"),
        InvalidDomainError,
        ["which column", "_quoted0_"],
    ),
    "a number of 400 digits": (lambda: inequalities("x1 < " + "9" * 400), InvalidDomainError, ["beyond the range"]),
    "a column too far": (lambda: inequalities("x99999999 < 1"), InvalidDomainError, ["10000 columns", "columns="]),
    "no text": (lambda: inequalities(None), InvalidDomainError, ["text such as", "None"]),
    "a number for text": (lambda: inequalities(["x1 < 1", 5]), InvalidDomainError, ["text such as", "5"]),
    "bytes for text": (lambda: inequalities(b"x1 < 1"), InvalidDomainError, ["text such as", "b'x1 < 1'"]),
    "a comment": (lambda: inequalities("x1<1 #, x2<2"), InvalidDomainError, ["cannot read 'x1<1 #' at '#'"]),
    "a column twice": (lambda: inequalities("a < 1", ["a", "a"]), InvalidDomainError, ["'a' is given twice"]),
    "a name with a dot": (lambda: inequalities("Solar.R > 0"), InvalidDomainError, ["backquotes: `Solar.R`"]),
    "a name with a space": (lambda: inequalities("body mass > 0"), InvalidDomainError, ["backquotes: `body mass`"]),
    "a backquote alone": (lambda: inequalities("`body mass > 0"), InvalidDomainError, ["in pairs"]),
    "a number beside a column": (lambda: inequalities("2x1 < 1"), InvalidDomainError, [r"a \* between"]),
    "brackets in brackets": (
        lambda: inequalities("(" * 999 + "x1" + ")" * 999 + "<1"),
        InvalidDomainError,
        ["50 brackets"],
    ),
    "signs before signs": (lambda: inequalities("-" * 999 + "x1 < 1"), InvalidDomainError, ["50 brackets or signs"]),
    "a contradiction in large numbers": (
        lambda: zf.Polytope([[1e10], [-1e10]], [0.0, -1e10]),
        InvalidDomainError,
        ["contradict", "row 0: x1 < 0; row 1: x1 > 1", "Relax one"],
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_refusal(name):
    check_refusal(MALFORMED[name])


def test_a_sum_may_have_any_number_of_terms():
    polytope = inequalities(f"{SUM} < 1")
    assert polytope.A.shape == (1, 3000)
    assert (polytope.A == 1.0).all()


def test_brackets_and_signs_are_read():
    A, b = inequalities("-(x1 - 2*(x2 - 3))/2 + +x1 < -(-4), `x2` > .5e1").inequalities
    assert np.allclose(A, [[0.5, 1.0], [0.0, -1.0]])
    assert np.allclose(b, [4.0 + 3.0, -5.0])


def test_a_box_takes_the_width_of_the_data():
    box = zf.Box(0, 100)
    assert repr(box) == "Box(0.0, 100.0)"
    assert box != zf.Box(0, 100, d=1) == zf.Box([0], [100])
    assert box.for_columns(3) == zf.Box([0, 0, 0], [100, 100, 100])
    fits = [zf.TruncatedGaussian(domain, zf.Barrier()).fit(X) for domain in (box, zf.Box([0.0] * 3, [100.0] * 3))]
    assert np.array_equal(fits[0].precision_, fits[1].precision_)
    assert fits[0].domain_ == zf.Box(0, 100, d=3)


def test_one_bound_stands_for_all_columns():
    assert zf.Box(0, [1, 2]) == zf.Box([0, 0], [1, 2])
    assert zf.Box([0, 1], np.inf) == zf.Box([0, 1], [np.inf, np.inf])


def test_a_closure_keeps_the_frame():
    pandas = pd.DataFrame(X, columns=["a", "b", "c"], index=range(100, 160))
    closed = zf.Simplex.closure(pandas)
    assert list(closed.columns) == ["a", "b", "c"]
    assert closed.index.equals(pandas.index)
    assert np.allclose(closed.to_numpy(), zf.Simplex.closure(X))
    polars = zf.Simplex.closure(pl.DataFrame(X, schema=["a", "b", "c"]))
    assert polars.columns == ["a", "b", "c"]
    assert np.allclose(polars.to_numpy(), zf.Simplex.closure(X))
    assert isinstance(zf.Simplex.closure(X.tolist()), np.ndarray)


def test_a_closure_keeps_the_series():
    closed = zf.Simplex.closure(pd.Series([1.0, 3.0], index=["sand", "clay"], name="plot 1"))
    assert closed.to_dict() == {"sand": 0.25, "clay": 0.75}
    assert closed.name == "plot 1"
    polars = zf.Simplex.closure(pl.Series("plot 1", [1.0, 3.0]))
    assert (polars.name, polars.to_list()) == ("plot 1", [0.25, 0.75])
    assert isinstance(zf.Simplex.closure((1.0, 3.0)), np.ndarray)


def test_a_closure_of_amounts_whose_sum_overflows():
    closed = zf.Simplex.closure([[1e308, 1e308], [1.0, 3.0], [1.5e308, 5e307], [5e-324, 5e-324]])
    assert np.allclose(closed, [[0.5, 0.5], [0.25, 0.75], [0.75, 0.25], [0.5, 0.5]], rtol=1e-15)


def test_a_domain_keeps_its_own_numbers():
    a, lower, matrix = np.array([1.0, 2.0]), np.zeros(2), np.eye(2)
    domains = [zf.HalfSpace(a, 1.0), zf.Box(lower, 5.0), zf.Polytope(matrix, [1.0, 1.0])]
    before = [repr(domain) for domain in domains]
    for array in (a, lower, matrix):
        array += 1.0
    assert [repr(domain) for domain in domains] == before
