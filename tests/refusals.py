"""Data to spoil, and what every refusal is held to."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import zfree as zf
from zfree.errors import ZfreeWarning

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
    """Ones, but for one row."""
    out = np.ones(60)
    out[2] = value
    return out


def hidden(table, *place):
    """A masked array with one entry hidden."""
    out = np.ma.masked_array(np.array(table, dtype=float))
    out[place] = np.ma.masked
    return out


def gaussian(table=X, sample_weight=None, **options):
    return zf.TruncatedGaussian(**options).fit(table, sample_weight=sample_weight)


def dirichlet(table, **options):
    return zf.Dirichlet(**options).fit(table)


def family(statistic=lambda X: X, jacobian=None, hessian=None, **options):
    """Linear statistics with their derivatives, unless one of them is replaced."""
    jacobian = jacobian or (lambda X: np.repeat(np.eye(3)[None], len(X), axis=0))
    hessian = hessian or (lambda X: np.zeros((len(X), 3, 3, 3)))
    return zf.ExponentialFamily(statistic, jacobian=jacobian, hessian=hessian, **options).fit(X)


def frame(table, *columns):
    return pd.DataFrame(table, columns=list(columns))


def inequalities(text, columns=None):
    return zf.Polytope.from_inequalities(text, columns=columns)


def check_refusal(case):
    """`case`: what is done, the class of the error, regular expressions that the message must contain."""
    trigger, error, fragments = case
    assert fragments
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
