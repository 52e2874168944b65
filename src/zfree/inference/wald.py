"""Tests of linear hypotheses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc

from zfree.arrays import Array
from zfree.conversion import real_array
from zfree.errors import SpecificationError


class WaldTest(NamedTuple):
    """Chi-squared statistic of R θ = r, its degrees of freedom and the p-value."""

    statistic: float
    degrees_of_freedom: int
    p_value: float


def wald_test(theta: Array, covariance: Array, R: Any, value: Any) -> WaldTest:
    """(Rθ̂ − r)ᵀ (R V Rᵀ)⁻¹ (Rθ̂ − r), which is χ² with as many degrees of freedom as R has rows if R θ = r."""
    rows = np.atleast_2d(real_array(R, "R"))
    if rows.ndim != 2 or rows.shape[1] != len(theta) or not len(rows):
        raise SpecificationError(f"R must have {len(theta)} columns, one per parameter; its shape is {rows.shape}.")
    right = real_array(value, "value")
    if right.shape not in ((), (len(rows),)):
        raise SpecificationError(
            f"value must be one number, or {len(rows)}, one per row of R; its shape is {right.shape}."
        )
    if not (np.isfinite(rows).all() and np.isfinite(right).all()):
        raise SpecificationError("R and value must be finite numbers: a hypothesis about NaN or infinity is none.")
    if np.isnan(covariance).any():
        raise SpecificationError("this fit has no standard errors, so there is no Wald test; its notes say why.")
    gap = rows @ theta - right
    spread = rows @ covariance @ rows.T
    scale = np.sqrt(np.maximum(np.diagonal(spread), 1e-300))
    if np.linalg.matrix_rank(spread / np.multiply.outer(scale, scale)) < len(rows):
        raise SpecificationError("the rows of R are not independent on the free parameters: the test is undefined.")
    statistic = float(gap @ np.linalg.solve(spread, gap))
    return WaldTest(statistic, len(rows), float(chdtrc(len(rows), statistic)))
