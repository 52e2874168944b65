"""Tests of linear hypotheses about the parameters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc

from zfree.arrays import Array
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


def wald_test(gap: Array, covariance: Array, contrasts: Array, jackknife: Jackknife | None) -> WaldTest:
    """Test that q linear contrasts, estimated as `gap` with this covariance, are zero; `contrasts` are over working parameters."""
    q = len(gap)
    scale = np.maximum(standard_errors(covariance, tuple(f"row {k} of R" for k in range(q))), 1e-150)
    if np.linalg.matrix_rank(covariance / np.multiply.outer(scale, scale)) < q:
        raise SpecificationError("the rows of R are not independent on the free parameters: the test is undefined.")
    statistic = float(gap @ np.linalg.solve(covariance, gap))
    if jackknife is None:
        return WaldTest(statistic, q, float(chdtrc(q, statistic)))
    shrink, denominator = jackknife.hotelling(contrasts)
    return WaldTest(statistic, q, float(fdtrc(q, denominator, shrink * statistic / q)), denominator)
