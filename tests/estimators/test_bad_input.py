"""Everything one can get wrong: each refusal is of the right class and names the place, the constraint and the remedy."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import zfree as zf
from zfree.errors import (
    BoundaryError,
    DataError,
    DomainError,
    InvalidDomainError,
    SingularMomentsError,
    SpecificationError,
    ZfreeWarning,
)

# Most of these data were not drawn from the model that is fitted to them.
pytestmark = pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning")

RNG = np.random.default_rng(0)
X = RNG.gamma(2.0, 1.0, size=(60, 3))
P = RNG.dirichlet([2.0, 3.0, 4.0], size=60)
TRIANGLE = zf.Polytope.from_inequalities("dose > 0, age > 0, dose + 2*age < 1", columns=["dose", "age"])
T = P[:, :2] * [1.0, 0.5]  # inside the triangle


def put(table, *places):
    """A copy with values put in: (row, column, value), …"""
    out = np.array(table, dtype=float)
    for row, column, value in places:
        out[row, column] = value
    return out


def weight(value):
    out = np.ones(60)
    out[2] = value
    return out


def gaussian(table=X, sample_weight=None, **options):
    return zf.TruncatedGaussian(**options).fit(table, sample_weight=sample_weight)


def dirichlet(table, **options):
    return zf.Dirichlet(**options).fit(table)


def family(statistic=lambda X: X, jacobian=None, hessian=None, **options):
    jacobian = jacobian or (lambda X: np.repeat(np.eye(3)[None], len(X), axis=0))
    hessian = hessian or (lambda X: np.zeros((len(X), 3, 3, 3)))
    return zf.ExponentialFamily(statistic, jacobian=jacobian, hessian=hessian, **options).fit(X)


def frame(table, *columns):
    return pd.DataFrame(table, columns=list(columns))


def inequalities(text, columns=None):
    return zf.Polytope.from_inequalities(text, columns=columns)


# name: what is done, the class of the error, regular expressions that the message must contain
MALFORMED = {
    # values that are not numbers
    "NaN": (
        lambda: gaussian(put(X, (4, 1, np.nan))),
        DataError,
        ["NaN", "row 4, column 'x2'", "1 of 60 rows", "Drop.*impute"],
    ),
    "NaN in a frame": (
        lambda: gaussian(frame(put(X, (4, 1, np.nan), (9, 0, np.nan)), "a", "b", "c")),
        DataError,
        ["NaN", "row 4, column 'b'", "2 of 60 rows", "Drop.*impute"],
    ),
    "infinity": (lambda: gaussian(put(X, (7, 0, np.inf))), DataError, [" infinity", "row 7, column 'x1'", "Drop"]),
    "minus infinity": (
        lambda: gaussian(put(X, (7, 2, -np.inf))),
        DataError,
        ["-infinity", "row 7, column 'x3'", "Drop"],
    ),
    "both infinities": (
        lambda: gaussian(put(X, (7, 2, np.inf), (8, 2, -np.inf))),
        DataError,
        ["row 7, column 'x3'", "2 of 60 rows"],
    ),
    "NaN after the fit": (
        lambda: gaussian().log_density(put(X, (5, 1, np.nan))),
        DataError,
        ["NaN", "row 5, column 'x2'"],
    ),
    "text in a frame": (
        lambda: gaussian(pd.DataFrame({"dose": [1.0, 2.0], "group": [1, "high"]})),
        DataError,
        ["row 1, column 'group'", "text 'high'", "Select the numeric columns"],
    ),
    "text in a polars frame": (
        lambda: gaussian(pl.DataFrame({"dose": [1.0, 2.0], "group": ["1", "high"]})),
        DataError,
        ["row 1, column 'group'", "text 'high'", "encode"],
    ),
    "categories in a frame": (
        lambda: gaussian(pd.DataFrame({"dose": [1.0, 2.0], "group": pd.Categorical(["high", "low"])})),
        DataError,
        ["row 0, column 'group'", "text 'high'", "encode"],
    ),
    "text in an object array": (
        lambda: gaussian(np.array([[1.0, 2.0], [3.0, "low"]], dtype=object)),
        DataError,
        ["row 1, column 1", "text 'low'", "Select the numeric columns"],
    ),
    "text in a text array": (
        lambda: gaussian(np.array([["1", "x"], ["2", "3"]])),
        DataError,
        ["row 0, column 1", "'x'"],
    ),
    "dates in a frame": (
        lambda: gaussian(pd.DataFrame({"dose": [1.0, 2.0], "day": pd.to_datetime(["2020-01-01", "2020-01-02"])})),
        DataError,
        ["column 'day'", "dates", "Convert"],
    ),
    "dates in a polars frame": (
        lambda: gaussian(pl.DataFrame({"day": pl.Series([1, 2]).cast(pl.Date)})),
        DataError,
        ["column 'day'", "dates", "Convert"],
    ),
    "dates in an array": (
        lambda: gaussian(np.array([["2020-01-01"], ["2020-01-02"]], dtype="datetime64[D]")),
        DataError,
        ["X holds dates", "Convert"],
    ),
    "complex numbers": (lambda: gaussian(X + 1j), DataError, ["Complex data not supported", r"X\.real"]),
    # shapes
    "one dimension": (lambda: gaussian(X[:, 0]), DataError, ["Expected 2D", "1 dimension", r"X\.reshape\(-1, 1\)"]),
    "one dimension, a list": (lambda: gaussian([1.0, 2.0]), DataError, ["Expected 2D", "1 dimension", "reshape"]),
    "a series": (lambda: gaussian(pd.Series(X[:, 0])), DataError, ["2-dimensional", "Series", "Pass a DataFrame"]),
    "three dimensions": (lambda: gaussian(X[None]), DataError, ["dim 3", "must have 2", r"X\.reshape\(len\(X\), -1\)"]),
    "ragged rows": (
        lambda: zf.Gamma().fit([[1.0, 2.0], [3.0]]),
        DataError,
        ["different lengths", "one value per column"],
    ),
    "no rows": (lambda: gaussian(X[:0]), DataError, [r"0 sample\(s\)", "no rows", "check the filter"]),
    "no columns": (lambda: gaussian(np.zeros((5, 0))), DataError, [r"0 feature\(s\)", "select at least one"]),
    "one row": (lambda: gaussian(X[:1]), DataError, ["n_samples=1", "at least 2 rows", "Collect more"]),
    "one row of one part": (lambda: zf.Gamma().fit([3.0]), DataError, ["n_samples=1", "at least 2 rows"]),
    "too few rows": (
        lambda: gaussian(X[:2]),
        DataError,
        ["2 rows of 3 columns", "9 parameters", "at least 3 rows", "Collect more rows", "ridge=", "mask="],
    ),
    "a lazy frame": (lambda: gaussian(pl.DataFrame(X).lazy()), DataError, ["lazy frame", r"X\.collect\(\)"]),
    "a sparse matrix": (lambda: gaussian(sparse.csr_matrix(X)), DataError, ["Sparse", r"X\.toarray\(\)"]),
    "one part": (
        lambda: dirichlet(np.ones((5, 1))),
        DataError,
        ["n_features=1", "at least 2 parts", "Add the remainder"],
    ),
    "another width after the fit": (
        lambda: gaussian().score(X[:, :2]),
        DataError,
        ["2 features", "expecting 3", "fitted on"],
    ),
    # the domain
    "negative": (
        lambda: gaussian(put(X, (4, 1, -1.5))),
        DomainError,
        ["1 of 60 rows", r"outside Orthant\(3\)", "Row 4 breaks “x2 > 0” by 1.5", "x2=-1.5", "Remove.*rescale.*choose"],
    ),
    "negative in a frame": (
        lambda: gaussian(frame(put(X, (4, 1, -1.5)), "a", "b", "c")),
        DomainError,
        ["Row 4 breaks “b > 0” by 1.5", "a=.*, b=-1.5, c="],
    ),
    "negative after the fit": (lambda: gaussian().log_density(-X), DomainError, ["60 of 60", "Row 0 breaks “x. > 0”"]),
    "outside a box": (
        lambda: gaussian(put(X, (6, 2, 41.0)), domain=zf.Box([0.0] * 3, [40.0] * 3)),
        DomainError,
        ["1 of 60 rows", "outside Box", "Row 6 breaks “x3 < 40” by 1", "choose a domain"],
    ),
    "outside a polytope": (
        lambda: gaussian(frame(put(T, (3, 0, 2.0), (3, 1, 0.25)), "dose", "age"), domain=TRIANGLE),
        DomainError,
        ["1 of 60 rows", "outside Polytope", r"Row 3 breaks “dose \+ 2\*age < 1” by 1\.5", "dose=2, age=0.25"],
    ),
    "outside a ball": (
        lambda: gaussian(put(X, (3, 0, 60.0)), domain=zf.Ball(50.0)),
        DomainError,
        ["1 of 60 rows", "outside Ball", "Row 3 breaks", "x1=60", "choose a domain"],
    ),
    "a negative part": (
        lambda: dirichlet(put(P, (8, 0, -0.25), (8, 1, 0.75), (8, 2, 0.5))),
        DomainError,
        [r"outside Simplex\(3\)", "Row 8 breaks “x1 > 0” by 0.25", "x1=-0.25"],
    ),
    "parts that do not sum to one": (
        lambda: dirichlet(put(P, (8, 0, 1.5), (8, 1, 0.25), (8, 2, 0.25))),
        DomainError,
        ["1 of 60 rows", "Row 8 breaks “parts sum to 1 within 1e-06” by 1", "Divide each row", r"zf\.Simplex\.closure"],
    ),
    "counts instead of parts": (
        lambda: dirichlet(np.ceil(9 * P)),
        DomainError,
        ["60 of 60 rows", "sum to 1", "closure"],
    ),
    "another width than the domain": (
        lambda: gaussian(domain=zf.Orthant(2)),
        DataError,
        ["3 columns", r"Orthant\(2\) has 2", "Select the columns"],
    ),
    "another order than the domain": (
        lambda: gaussian(frame(T[:, ::-1], "age", "dose"), domain=TRIANGLE),
        DataError,
        ["column 0 of X is 'age'", "written for 'dose'", r"X\[\['dose', 'age'\]\]"],
    ),
    "a domain that is none": (
        lambda: gaussian(domain="orthant"),
        SpecificationError,
        ["domain", r"zf\.Orthant\(3\)", "'orthant'"],
    ),
    "the class of a domain": (
        lambda: gaussian(domain=zf.Orthant),
        SpecificationError,
        ["domain", r"zf\.Orthant\(3\)", "class"],
    ),
    "a Dirichlet on the orthant": (
        lambda: dirichlet(P, domain=zf.Orthant(3)),
        SpecificationError,
        ["Simplex", r"Orthant\(3\)"],
    ),
    # the boundary
    "zeros": (
        lambda: gaussian(put(X, (4, 1, 0.0), (9, 0, 0.0))),
        BoundaryError,
        ["2 of 60 rows", r"row 4 \(x2 > 0", r"row 9 \(x1 > 0", 'boundary="drop"', 'boundary="clip"', "boundary_eps="],
    ),
    "many zeros": (
        lambda: gaussian(frame(X * (np.arange(60) > 9)[:, None], "a", "b", "c")),
        BoundaryError,
        ["10 of 60 rows", r"row 0 \(a > 0", "and 7 more"],
    ),
    "a zero part": (
        lambda: dirichlet(put(P, (5, 0, 0.0), (5, 1, 0.5), (5, 2, 0.5))),
        BoundaryError,
        ["1 of 60 rows", r"Simplex\(3\)", r"row 5 \(x1 > 0", "zeros of counts and compositions"],
    ),
    "zeros after the fit": (lambda: gaussian().score(put(X, (4, 1, 0.0))), BoundaryError, [r"row 4 \(x2 > 0"]),
    "clip without an amount": (
        lambda: gaussian(boundary="clip"),
        SpecificationError,
        ['boundary="clip"', "boundary_eps > 0", "units of the data", "None"],
    ),
    "clip by a negative amount": (
        lambda: gaussian(boundary="clip", boundary_eps=-1.0),
        SpecificationError,
        ["boundary_eps > 0", "-1"],
    ),
    "clip by a text": (
        lambda: gaussian(boundary="clip", boundary_eps="1e-3"),
        SpecificationError,
        ["boundary_eps > 0", "'1e-3'"],
    ),
    "clip by infinity": (
        lambda: gaussian(boundary="clip", boundary_eps=np.inf),
        SpecificationError,
        ["boundary_eps > 0", "inf"],
    ),
    "clip by too much": (
        lambda: dirichlet(put(P, (5, 0, 0.0), (5, 1, 0.0), (5, 2, 1.0)), boundary="clip", boundary_eps=0.6),
        SpecificationError,
        ["boundary_eps = 0.6", r"Simplex\(3\)", "row 5", "“x3 > 0”", "below the width"],
    ),
    "clip by too little": (
        lambda: gaussian(put(X, (2, 0, 1e9)), domain=zf.Box([0.0] * 3, [1e9] * 3), boundary="clip", boundary_eps=1e-12),
        SpecificationError,
        ["boundary_eps = 1e-12", "row 2", r"“x1 < 1e\+09”", "above rounding"],
    ),
    "boundary misspelt": (
        lambda: gaussian(boundary="cilp"),
        SpecificationError,
        ['"raise", "drop" or "clip"', "'cilp'"],
    ),
    "every row dropped": (
        lambda: gaussian(X * [0.0, 1.0, 1.0], boundary="drop"),
        BoundaryError,
        ["every row", r"row 0 \(x1 > 0", "Leave out the column", 'boundary="clip"'],
    ),
    "all rows but one dropped": (
        lambda: gaussian(put(X * [0.0, 1.0, 1.0], (7, 0, 1.0)), boundary="drop"),
        DataError,
        ["n_samples=1", "59 of 60 rows on the boundary were dropped", "Collect more"],
    ),
    # data that do not determine the parameters
    "a constant column": (
        lambda: gaussian(frame(put(X, *((i, 1, 2.5) for i in range(60))), "a", "b", "c")),
        DataError,
        ["column 'b' is constant", "2.5 in all 60 rows", "Drop the column"],
    ),
    "a constant gamma column": (
        lambda: zf.Gamma().fit(np.ones(20)),
        SingularMomentsError,
        [r"shape\[x1\], rate\[x1\]", "drop constant", "fixed="],
    ),
    "a column given twice": (
        lambda: gaussian(X[:, [0, 1, 1]]),
        SingularMomentsError,
        ["singular", r"K\[x2,x3\]", "linearly dependent columns", "ridge=", "mask="],
    ),
    "a column name given twice": (lambda: gaussian(frame(X, "a", "b", "a")), DataError, ["unique", "'a'"]),
    # numbers out of range
    "huge values": (
        lambda: gaussian(put(X, (5, 1, 1e300))),
        DataError,
        ["row 5", "column 'x2'", r"1e\+300", "Divide the columns"],
    ),
    "huge values everywhere": (
        lambda: zf.Gaussian().fit(1e200 * X),
        DataError,
        ["column 'x.'", r"e\+200", "Divide the columns"],
    ),
    "tiny values everywhere": (
        lambda: zf.Gaussian().fit(1e-200 * X),
        DataError,
        ["column 'x.'", "e-200", "Divide the columns"],
    ),
    "a finite estimate with an infinite error": (
        lambda: zf.Exponential().fit(1e-300 * X),
        DataError,
        ["column 'x.'", "e-300", "Divide the columns"],
    ),
    "a value next to the boundary": (
        lambda: zf.Gamma().fit(put(X, (5, 1, 1e-300))),
        DataError,
        ["row 5", "1e-300", "“x2 > 0”", "Leave it out", "boundary_eps="],
    ),
    # sample weights
    "too few weights": (
        lambda: gaussian(sample_weight=np.ones(3)),
        DataError,
        ["one entry per row", r"\(60,\)", r"\(3,\)"],
    ),
    "weights in a column": (
        lambda: gaussian(sample_weight=np.ones((60, 1))),
        DataError,
        ["one entry per row", r"\(60, 1\)"],
    ),
    "a negative weight": (
        lambda: gaussian(sample_weight=weight(-1.0)),
        DataError,
        [r"sample_weight\[2\] = -1", "not negative", "weight 0"],
    ),
    "a missing weight": (
        lambda: gaussian(sample_weight=weight(np.nan)),
        DataError,
        [r"sample_weight\[2\] = nan", "finite", "leave it out"],
    ),
    "weights all zero": (
        lambda: gaussian(sample_weight=np.zeros(60)),
        DataError,
        ["weights are zero", "positive weight"],
    ),
    "weights as text": (
        lambda: gaussian(sample_weight=["heavy"] * 60),
        DataError,
        ["sample_weight must be numbers", "'heavy'"],
    ),
    "weight on dropped rows only": (
        lambda: gaussian(put(X, (0, 0, 0.0)), boundary="drop", sample_weight=np.eye(60)[0]),
        DataError,
        ["1 of 60 rows on the boundary were dropped", "weight zero"],
    ),
    # options
    "a mask that is not symmetric": (
        lambda: gaussian(mask=np.triu(np.ones((3, 3)))),
        SpecificationError,
        ["symmetric", r"\(0, 1\) and \(1, 0\)"],
    ),
    "a mask of another shape": (lambda: gaussian(mask=np.ones((2, 2))), SpecificationError, [r"\(3, 3\)", r"\(2, 2\)"]),
    "a mask and a structure": (
        lambda: gaussian(mask=np.eye(3), structure="diagonal"),
        SpecificationError,
        ["contradict", "give one"],
    ),
    "an unknown structure": (
        lambda: gaussian(structure="diag"),
        SpecificationError,
        ['"full" or "diagonal"', "'diag'"],
    ),
    "an unknown name in fixed": (
        lambda: gaussian(fixed={"K[x1,x4]": 0.0}),
        SpecificationError,
        [r"'K\[x1,x4\]'", r"the parameters are K\[x1,x1\]"],
    ),
    "fixed is no mapping": (lambda: gaussian(fixed=["K[x1,x2]"]), SpecificationError, ["fixed must map", "as in"]),
    "fixed at a text": (
        lambda: gaussian(fixed={"K[x1,x2]": "0"}),
        SpecificationError,
        [r"K\[x1,x2\]", "finite number", "'0'"],
    ),
    "fixed at NaN": (
        lambda: gaussian(fixed={"K[x1,x2]": np.nan}),
        SpecificationError,
        [r"K\[x1,x2\]", "finite number", "nan"],
    ),
    "a mean of another length": (
        lambda: gaussian(mean=[1.0, 2.0]),
        SpecificationError,
        ["mean", "3 finite numbers", r"\[1.0, 2.0\]"],
    ),
    "a mean that is text": (
        lambda: gaussian(mean=["a", "b", "c"]),
        SpecificationError,
        ["known mean must be numbers", "'a'"],
    ),
    "a precision that is not symmetric": (
        lambda: gaussian(precision=np.triu(np.ones((3, 3)))),
        SpecificationError,
        ["symmetric", "NaN where it is not known", r"\(0, 1\) and \(1, 0\) are 1 and 0"],
    ),
    "a precision known on one side": (
        lambda: gaussian(precision=put(np.full((3, 3), np.nan), (2, 0, 1.0))),
        SpecificationError,
        ["symmetric", r"\(0, 2\) and \(2, 0\) are nan and 1"],
    ),
    "a precision of another shape": (
        lambda: gaussian(precision=np.eye(2)),
        SpecificationError,
        [r"\(3, 3\)", r"\(2, 2\)"],
    ),
    "a precision against the mask": (
        lambda: gaussian(precision=np.ones((3, 3)), mask=np.eye(3)),
        SpecificationError,
        [r"entry \(0, 1\)", "mask says it is zero"],
    ),
    "a generator that is none": (
        lambda: gaussian(generator="log"),
        SpecificationError,
        ["generator", r"zf\.Barrier", "'log'"],
    ),
    "a negative ridge": (lambda: gaussian(ridge=-0.5), SpecificationError, ["ridge", "≥ 0", "-0.5"]),
    "a ridge that is text": (lambda: gaussian(ridge="0.5"), SpecificationError, ["ridge", "≥ 0", "'0.5'"]),
    "a negative exponent": (
        lambda: zf.PowerInteraction(a=-1.0).fit(X),
        SpecificationError,
        ["exponent a", "≥ 0", "-1"],
    ),
    "an exponent that is text": (
        lambda: zf.PowerInteraction(b="1").fit(X),
        SpecificationError,
        ["exponent b", "≥ 0", "'1'"],
    ),
    "an unknown weight": (
        lambda: zf.CoordinateWeight("x^3"),
        SpecificationError,
        [r"'x\^3'", r"x\^2", "Or pass a function"],
    ),
    "a weight without its derivative": (lambda: zf.CoordinateWeight(np.sqrt), SpecificationError, ["derivative="]),
    "a distance to no boundary": (
        lambda: zf.Gaussian(generator=zf.BoundaryDistance()).fit(X),
        SpecificationError,
        [r"RealSpace\(3\) has no boundary", r"Identity\(\)"],
    ),
    "no candidate to rank": (
        lambda: zf.rank(zf.Gamma(), X, []),
        SpecificationError,
        ["candidates is empty", r"zf\.Barrier"],
    ),
    "a candidate that is none": (lambda: zf.rank(zf.Gamma(), X, ["log"]), SpecificationError, ["generator", "'log'"]),
    # statistics
    "no statistic": (lambda: zf.ExponentialFamily().fit(X), SpecificationError, ["statistic="]),
    "a statistic of one dimension": (
        lambda: family(lambda X: X.sum(axis=1)),
        SpecificationError,
        [r"\(n, 3\) to \(n, r\)", r"\(1,\)"],
    ),
    "a Jacobian of another shape": (
        lambda: family(jacobian=lambda X: X),
        SpecificationError,
        ["Jacobian", r"\(60, 3, 3\)", r"\(60, 3\)"],
    ),
    "a Hessian of another shape": (
        lambda: family(hessian=lambda X: X),
        SpecificationError,
        ["Hessian", r"\(60, 3, 3, 3\)", r"\(60, 3\)"],
    ),
    "one derivative of two": (
        lambda: zf.ExponentialFamily(lambda X: X, jacobian=lambda X: X).fit(X),
        SpecificationError,
        ["both derivatives", "or neither"],
    ),
    "a statistic that is not finite": (
        lambda: family(jacobian=lambda X: np.full((len(X), 3, 3), np.nan)),
        SpecificationError,
        ["Jacobian", "not finite at row 0", "Check the statistic"],
    ),
    "too few names": (lambda: family(names=["a"]), SpecificationError, ["1 names", "3 statistics"]),
    # domains that do not exist
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
}


@pytest.mark.parametrize("name", MALFORMED)
def test_refusal(name):
    trigger, error, fragments = MALFORMED[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(error) as raised:
            trigger()
    assert type(raised.value) is error
    message = str(raised.value)
    for fragment in fragments:
        assert re.search(fragment, message, flags=re.DOTALL), f"{fragment!r} is not in: {message}"
    assert len(message) < 600, message  # a message is read, a dump of the data is not
    assert not [w for w in caught if not issubclass(w.category, ZfreeWarning)], [str(w.message) for w in caught]


def test_the_table_is_long_and_asks_every_message_for_something():
    assert len(MALFORMED) >= 30
    assert all(fragments for _, _, fragments in MALFORMED.values())


def test_a_refused_fit_leaves_the_last_one_alone():
    fitted = gaussian()
    before = fitted.precision_.copy()
    with pytest.raises(DataError):
        fitted.fit(put(X, (5, 1, 1e300)))
    assert np.array_equal(fitted.precision_, before)
