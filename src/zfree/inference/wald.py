"""Tests of linear hypotheses about the parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc

from zfree.arrays import Array
from zfree.conversion import real_array
from zfree.errors import SpecificationError
from zfree.inference.jackknife import Jackknife
from zfree.inference.parameters import standard_errors


class WaldTest(NamedTuple):
    """Statistic of R θ = r, its degrees of freedom (the rows of R) and the p-value.

    With `denominator` infinite the statistic is referred to χ²; otherwise, divided by its degrees of freedom, to F with that many in the
    denominator.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    denominator: float = np.inf


def hypothesis(R: Any, value: Any, r: int) -> tuple[Array, Array]:
    """R θ = value about `r` parameters as finite arrays (k, r) and (k,) or one number."""
    rows = np.atleast_2d(real_array(R, "R"))
    if rows.ndim != 2 or rows.shape[1] != r or not len(rows):
        raise SpecificationError(f"R must have {r} columns, one per parameter; its shape is {rows.shape}.")
    right = real_array(value, "value")
    if right.shape not in ((), (len(rows),)):
        raise SpecificationError(
            f"value must be one number, or {len(rows)}, one per row of R; its shape is {right.shape}."
        )
    if not (np.isfinite(rows).all() and np.isfinite(right).all()):
        raise SpecificationError("R and value must be finite numbers: a hypothesis about NaN or infinity is none.")
    return rows, right


def wald_test(gap: Array, covariance: Array, contrasts: Array, jackknife: Jackknife | None) -> WaldTest:
    """Test that q linear contrasts, estimated as `gap` with this covariance, are zero; `contrasts` are over working parameters."""
    if np.isnan(covariance).any():
        raise SpecificationError("this fit has no standard errors, so there is no Wald test; its notes say why.")
    q = len(gap)
    scale = np.maximum(standard_errors(covariance.diagonal(), tuple(f"row {k} of R" for k in range(q))), 1e-150)
    if np.linalg.matrix_rank(covariance / np.multiply.outer(scale, scale)) < q:
        raise SpecificationError("the rows of R are not independent on the free parameters: the test is undefined.")
    statistic = float(gap @ np.linalg.solve(covariance, gap))
    if jackknife is None:
        return WaldTest(statistic, q, float(chdtrc(q, statistic)))
    shrink, denominator = jackknife.hotelling(contrasts)
    return WaldTest(statistic, q, float(fdtrc(q, denominator, shrink * statistic / q)), denominator)
