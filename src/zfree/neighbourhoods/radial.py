r"""Moments of the density ∝ exp(−½‖u‖²) on the unit ball: the constants of Theorem 3.2 and of its proof."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, hyp1f1

from zfree.arrays import Array
from zfree.errors import SpecificationError


def radial_moment(d: int, power: int) -> float:
    r""":math:`\int_B \|u\|^k e^{-\|u\|^2/2}du` over the unit ball of ℝᵈ."""
    log_surface = np.log(2.0) + 0.5 * d * np.log(np.pi) - gammaln(0.5 * d)
    return float(np.exp(log_surface) * radial_part(d, power))


def radial_part(d: int, power: int) -> float:
    r""":math:`\int_0^1 t^{d+k-1} e^{-t^2/2}dt`, which unlike the surface of the ball stays in range for every d."""
    n = d + power
    return float(np.exp(-0.5) / n * hyp1f1(1.0, 0.5 * n + 1.0, 0.5))


def truncated_length(d: int, share: Array) -> Array:
    """Where the distribution function of ‖u‖ is `share`, by Newton's method for its logarithm in log ‖u‖."""
    log_share = np.log(np.maximum(share, np.finfo(float).tiny))
    total = np.log(hyp1f1(1.0, 0.5 * d + 1.0, 0.5)) - 0.5
    log_length = log_share / d
    for _ in range(6):
        square = np.exp(2.0 * log_length)
        kummer = hyp1f1(1.0, 0.5 * d + 1.0, 0.5 * square)
        # log F = d log ‖u‖ − ½‖u‖² + log kummer − total, and its slope is d / kummer.
        log_length = log_length - (log_length - (log_share + total + 0.5 * square - np.log(kummer)) / d) * kummer
    return np.exp(log_length)


def mixing_constant(d: int) -> float:
    r"""λ(d) = C₆/C₃ of Theorem 3.2: the coefficient of :math:`\nabla E\cdot(\nabla\cdot G_\phi)` under the theorem's own weight.

    With :math:`C_3 = \int_B u_1^2 e^{-\|u\|^2/2}du` and :math:`C_6 = \tfrac13\int_B u_1^4 e^{-\|u\|^2/2}du` over the unit ball. It falls like
    1/(d + 4): the theorem's weight is far from the proper scoring rule, λ = 1, in any dimension.

    Examples
    --------
    >>> from zfree.neighbourhoods import mixing_constant
    >>> [round(mixing_constant(d), 4) for d in (1, 3, 10)]
    [0.1884, 0.1381, 0.0708]
    """
    if d < 1:
        raise SpecificationError(f"a dimension must be at least 1, got {d!r}.")
    return radial_part(d, 4) / ((d + 2) * radial_part(d, 2))
