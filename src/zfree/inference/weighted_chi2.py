"""Upper tail of a weighted sum of squares of independent standard normals."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from zfree.arrays import Array

NEGLIGIBLE = 1e-10
"""Weights below this share of the largest one are rounding."""
NEAR_MEAN = 1e-3
"""Where the saddlepoint is this close to zero, its formula loses digits and the limit is used."""


def upper_tail(value: float, weights: Array) -> float:
    r"""P(Σ λ_k Z_k² > value) by the saddlepoint approximation of Lugannani and Rice (for this sum: Kuonen 1999).

    With the cumulant function :math:`K(s) = -\tfrac12\sum\log(1 - 2\lambda_k s)`, the saddlepoint :math:`K'(\hat s) =` `value`,
    :math:`w = \mathrm{sign}(\hat s)\sqrt{2(\hat s\,\mathrm{value} - K(\hat s))}` and :math:`v = \hat s\sqrt{K''(\hat s)}`, the tail is
    :math:`1 - \Phi(w + \log(v/w)/w)`. It keeps its relative accuracy, some per cent, far out.

    Parameters
    ----------
    value : float
    weights : ndarray
        λ, none negative beyond rounding.
    """
    largest = float(weights.max(initial=0.0))
    if not value > NEGLIGIBLE * largest:
        return 1.0
    if largest <= 0.0:
        return 0.0  # the sum is zero for certain
    rate = weights[weights > NEGLIGIBLE * largest] / largest
    t = value / largest
    # K' grows from 0 to ∞ between the ends: below, every term is at most 1/(−2s); above, the largest alone exceeds t.
    low, high = -len(rate) / t, 0.5 * (1.0 - 0.5 / (t + 1.0))
    s = brentq(lambda u: float(np.sum(rate / (1.0 - 2.0 * rate * u))) - t, low, high, xtol=1e-14)
    cumulant = -0.5 * float(np.sum(np.log1p(-2.0 * rate * s)))
    w = float(np.sign(s)) * np.sqrt(max(2.0 * (s * t - cumulant), 0.0))
    if abs(w) < NEAR_MEAN:
        skewness = 8.0 * np.sum(rate**3) / (2.0 * np.sum(rate**2)) ** 1.5
        return float(ndtr(-(w + skewness / 6.0)))
    v = s * np.sqrt(2.0 * float(np.sum((rate / (1.0 - 2.0 * rate * s)) ** 2)))
    return float(ndtr(-(w + np.log(v / w) / w)))
