r"""The sums over rows from which the estimate follows.

For an exponential family the empirical loss is the quadratic :math:`\tfrac12\theta^\top\Gamma_N\theta + g_N^\top\theta + C`
(Proposition 5.1) with

.. math::
   \Gamma_i = J_t D J_t^\top, \qquad g_i = \mathrm{tr}(D\nabla^2 t) + J_t(\nabla\cdot D + D\nabla b) .

Other test functions h in place of the statistics (:class:`~zfree.SteinMoments`) give linear equations :math:`\Gamma_N\theta + g_N = 0` too, with
:math:`J_h` and :math:`\nabla^2 h` for the left :math:`J_t` and for :math:`\nabla^2 t`: no quadratic, as Γ is not symmetric.

Both are sums over rows, so they are added up in chunks and can be merged. Each carries a common factor
:math:`e^{\text{log\_scale}}`, because the weight of a row may not be representable by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from zfree.arrays import Array
from zfree.quadratic import LowRank, Quadratic


@dataclass(frozen=True, eq=False)
class Moments:
    r"""Sums :math:`\sum w_i\Gamma_i` and :math:`\sum w_i g_i` in units of :math:`e^{\text{log\_scale}}`.

    Attributes
    ----------
    n : int
        Number of rows.
    weight : float
        Σ w_i.
    log_scale : float
        Logarithm of the unit of the two sums.
    gamma_sum : Quadratic
        The sum of the Γ_i, in the structure that it has.
    g_sum : ndarray
        The sum of the g_i.
    symmetric : bool
        Whether Γ is that of a quadratic; with test functions of another kind it is not.
    """

    n: int
    weight: float
    log_scale: float
    gamma_sum: Quadratic
    g_sum: Array
    symmetric: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "symmetric", self.gamma_sum.symmetric)

    @classmethod
    def zero(cls, n_parameters: int) -> Moments:
        """No rows."""
        r = n_parameters
        return cls(0, 0.0, -np.inf, LowRank(np.zeros((r, 0)), np.zeros(0)), np.zeros(r))

    def __add__(self, other: Moments) -> Moments:
        """Merge the sums of two sets of rows."""
        if other.n == 0:
            return self
        if self.n == 0:
            return other
        top = max(self.log_scale, other.log_scale)
        mine, theirs = np.exp(self.log_scale - top), np.exp(other.log_scale - top)
        return Moments(
            self.n + other.n,
            self.weight + other.weight,
            top,
            self.gamma_sum.scaled(mine) + other.gamma_sum.scaled(theirs),
            mine * self.g_sum + theirs * other.g_sum,
        )

    @cached_property
    def gamma(self) -> Quadratic:
        """Γ_N in units of e^log_scale."""
        return self.gamma_sum.scaled(1.0 / self.weight)

    @cached_property
    def g(self) -> Array:
        """g_N in units of e^log_scale."""
        g: Array = self.g_sum / self.weight
        return g
