"""Sample weights: zero leaves a row out, anything that is no weight is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.refusals import X, check_refusal, gaussian, hidden, put, weight
from zfree.errors import DataError

# Most of these data were not drawn from the model that is fitted to them.
pytestmark = pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning")

# name: what is done, the class of the error, regular expressions that the message must contain
MALFORMED = {
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
    "an infinite weight": (
        lambda: gaussian(sample_weight=weight(np.inf)),
        DataError,
        [r"sample_weight\[2\] = inf", "finite", "leave it out"],
    ),
    "a masked weight": (
        lambda: gaussian(sample_weight=hidden(np.ones(60), 3)),
        DataError,
        [r"sample_weight\[3\] is masked", "Leave it out"],
    ),
    "complex weights": (
        lambda: gaussian(sample_weight=np.ones(60) + 1e-9j),
        DataError,
        ["sample_weight must be real numbers"],
    ),
    "weights written as text": (
        lambda: gaussian(sample_weight=["1"] * 60),
        DataError,
        ["sample_weight must be numbers", "'1'"],
    ),
    "weights missing": (lambda: gaussian(sample_weight=[None] * 60), DataError, [r"sample_weight\[0\] = nan"]),
    "a weight beyond floating point": (
        lambda: gaussian(sample_weight=[10**400] * 60),
        DataError,
        ["sample_weight", "beyond the range"],
    ),
    "ragged weights": (
        lambda: gaussian(sample_weight=[[1.0], [1.0, 2.0]]),
        DataError,
        ["sample_weight", "regular array"],
    ),
    "weights in a dict": (lambda: gaussian(sample_weight={}), DataError, ["sample_weight must be numbers"]),
    "a single weight of zero": (lambda: gaussian(sample_weight=0.0), DataError, ["weights are zero"]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_refusal(name):
    check_refusal(MALFORMED[name])


def test_a_row_of_weight_zero_is_no_row():
    keep = np.arange(60) % 3 > 0
    weighted, without = gaussian(sample_weight=keep.astype(float)).result_, gaussian(X[keep]).result_
    assert np.allclose(weighted.theta, without.theta, rtol=1e-10)
    assert np.allclose(weighted.standard_errors, without.standard_errors, rtol=1e-10)
    assert weighted.n_observations == keep.sum()


@pytest.mark.parametrize(
    "weights",
    [2.0, np.full(60, 2), np.ones(60, dtype=bool), pd.Series(np.ones(60)), pl.Series(np.ones(60)), [1] * 60],
    ids=["one number", "integers", "booleans", "pandas", "polars", "list"],
)
def test_every_way_to_write_equal_weights_is_no_weights(weights):
    assert np.allclose(gaussian(sample_weight=weights).precision_, gaussian().precision_, rtol=1e-9)
