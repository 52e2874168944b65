"""Tables that cannot be read or used: each refusal is of the right class and names the place and the remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import zfree as zf
from tests.refusals import P, X, check_refusal, dirichlet, frame, gaussian, hidden, put
from zfree.errors import DataError, DataTypeError, SingularMomentsError

# Most of these data were not drawn from the model that is fitted to them.
pytestmark = pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning")

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
    # what numpy would read without a word
    "a masked entry": (
        lambda: gaussian(hidden(X, 4, 1)),
        DataError,
        ["masked in row 4, column 'x2'", "no value", "Drop the masked rows", "filled"],
    ),
    "a masked entry in a list of rows": (
        lambda: gaussian(list(hidden(X, 4, 1))),
        DataError,
        ["masked in row 4, column 'x2'"],
    ),
    "a masked entry of a vector": (lambda: zf.Gamma().fit(hidden(X[:, 0], 4)), DataError, ["masked in row 4:"]),
    "a masked entry after the fit": (
        lambda: gaussian().score(hidden(X, 4, 1)),
        DataError,
        ["masked in row 4, column 'x2'"],
    ),
    "masked amounts": (lambda: zf.Simplex.closure(hidden(X, 4, 1)), DataError, [r"X\[4, 1\] is masked", "fill it"]),
    "complex objects": (
        lambda: gaussian(np.array([[1.0, 1j], [2.0, 3.0]], dtype=object)),
        DataTypeError,
        ["row 0, column 1", "complex number 1j", r"X\.real"],
    ),
    "a complex column": (
        lambda: gaussian(frame(X + 0j, "a", "b", "c")),
        DataError,
        ["column 'a'", "complex", r"X\.real"],
    ),
    "a dict": (lambda: gaussian({"a": [1.0, 2.0]}), DataError, ["X is a dict", r"pandas\.DataFrame\(X\)"]),
    "a structured array": (
        lambda: gaussian(np.array([(1.0, 2.0)], dtype=[("a", float), ("b", float)])),
        DataError,
        ["structured array", "fields a, b", r"pandas\.DataFrame\(X\)"],
    ),
    "nothing": (lambda: gaussian(None), DataError, ["table of numbers", "None"]),
    "a text": (lambda: gaussian("X.csv"), DataError, ["table of numbers", "'X.csv'"]),
    "a generator of rows": (lambda: gaussian(row for row in X), DataError, ["table of numbers", "generator object"]),
    "one number": (lambda: gaussian(5.0), DataError, ["Expected 2D", "0 dimension"]),
    "an integer without a float": (
        lambda: gaussian([[10**400, 1.0], [2.0, 3.0]]),
        DataError,
        ["row 0, column 0", "beyond the range of floating point", "Divide"],
    ),
    "a list in a cell": (
        lambda: gaussian(pd.DataFrame({"a": [1.0, 2.0], "b": [[1], [2]]})),
        DataError,
        ["row 0, column 'b'", r"holds \[1\]"],
    ),
    "a missing value of pandas": (
        lambda: gaussian(pd.DataFrame({"a": [1.0, pd.NA, 3.0], "b": [1.0, 2.0, 3.0]})),
        DataTypeError,
        ["row 1, column 'a'", "missing value", "impute"],
    ),
    # shapes
    "parts in one dimension": (
        lambda: dirichlet(P[:, 0]),
        DataError,
        ["Expected 2D", "1 dimension", r"X\.reshape\(-1, 1\)"],
    ),
    "parts in a series": (
        lambda: dirichlet(pd.Series(P[:, 0])),
        DataError,
        ["2-dimensional", "Series", "Pass a DataFrame"],
    ),
    "one dimension for three columns": (
        lambda: gaussian(X[:, 0], domain=zf.Orthant(3)),
        DataError,
        ["X has 1 columns", r"Orthant\(3\) has 3", "Select the columns"],
    ),
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
        lambda: zf.Gamma("search").fit(put(X, (5, 1, 1e-300))),
        DataError,
        ["row 5", "1e-300", "“x2 > 0”", "Leave it out", "boundary_eps="],
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_refusal(name):
    check_refusal(MALFORMED[name])


def test_a_refused_fit_leaves_the_last_one_alone():
    fitted = gaussian()
    before = fitted.precision_.copy()
    with pytest.raises(DataError):
        fitted.fit(put(X, (5, 1, 1e300)))
    assert np.array_equal(fitted.precision_, before)


def test_a_masked_array_without_a_mask_is_an_array():
    assert np.array_equal(gaussian(np.ma.masked_array(X)).precision_, gaussian().precision_)
