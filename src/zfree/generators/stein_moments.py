"""Equations with test functions of the model's own, not with its statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.conversion import shown
from zfree.domains import Domain, Orthant, Simplex
from zfree.errors import SpecificationError
from zfree.fields import Diagonal, DiagonalPlusRankOne
from zfree.generators.barrier import Barrier
from zfree.generators.base import Decay, Generator, GeneratorValue, Pilot, Vanishing

_WEIGHT = Barrier(1.0, 0.0, scale="raw")


@dataclass(frozen=True)
class SteinMoments(Generator):
    r"""Stein's method of moments: :math:`\tfrac1N\sum_i A_\theta(D\nabla h_l)(x_i) = 0` with test functions h that suit the model.

    For every h that makes :math:`D\nabla h` vanish on the boundary the expectation of
    :math:`A_\theta v = \nabla\cdot v + v\cdot s_\theta` is zero, and the equations are linear in θ:

    .. math:: \Gamma_i = J_h D J_t^\top, \qquad g_i = \mathrm{tr}(D\nabla^2 h) + J_h(\nabla\cdot D + D\nabla b), \qquad
              \hat\theta = -\Gamma_N^{-1} g_N,

    with the sandwich :math:`\Gamma^{-1}\Sigma\Gamma^{-\top}/N`. Score matching is h = t. Here D is that of ``Barrier(1, 0)`` and h' is the member of the span of
    1, log x, x and x log x for which the equation is closest to the likelihood's, at a first estimate with h' = log x. For a gamma
    that first estimate is the closed form of Ye and Chen (2017); for a Dirichlet it solves
    :math:`\tfrac1N\sum_i [(1 - x_{il}) + (\alpha_l - \alpha_0 x_{il})\log x_{il}] = 0`.

    Models with such functions: :class:`~zfree.Dirichlet`, :class:`~zfree.Gamma` and :class:`~zfree.GeneralizedGamma`, where it is the default.

    Parameters
    ----------
    pilot : sequence of float, optional
        Parameters from which the test functions are built. By default a first estimate on the rows; a fit keeps it in ``generator_``.

    Notes
    -----
    The fields :math:`D\nabla h` are like s log s at distance s from the boundary, and the influence of a row like log s: the estimate is consistent
    and has a finite variance for all positive shape parameters, however small. Equations have no loss: there is no ridge, and scores of
    new rows are taken with another generator.

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> x = np.random.default_rng(0).gamma(2.0, 3.0, size=5000)
    >>> zf.Gamma(zf.SteinMoments()).fit(x).shape_.round(1)
    array([2.])
    """

    pilot: Sequence[float] | None = None

    intrinsic = True
    own_tests = True
    tempered = True
    reason = "equations that are nearly the likelihood's for this model; pilot: the closed form with h' = log x; rounds: 2, that fit and this one"
    wants_covariance = False

    def __post_init__(self) -> None:
        if self.pilot is not None:
            object.__setattr__(self, "pilot", _numbers(self.pilot))
        object.__setattr__(self, "wants_pilot", self.pilot is None)

    def __repr__(self) -> str:
        return "SteinMoments()"

    def tests_pilot(self) -> Array | None:
        return None if self.pilot is None else np.array(self.pilot)

    def informed(self, pilot: Pilot) -> SteinMoments:
        return self if pilot.theta is None else SteinMoments(tuple(pilot.theta.tolist()))

    def on_domain(self, domain: Domain, X: Array) -> GeneratorValue:
        n, d = X.shape
        if isinstance(domain, Simplex):
            return GeneratorValue(np.zeros(n), DiagonalPlusRankOne(X, np.full(n, -1.0), X), 1.0 - d * X)
        if isinstance(domain, Orthant):
            return GeneratorValue(np.zeros(n), Diagonal(X), np.ones_like(X))
        return _WEIGHT.on_domain(domain, X)

    def vanishing(self, domain: Domain) -> Vanishing:
        return Vanishing(True) if domain.is_convex else _WEIGHT.vanishing(domain)

    def decay(self, domain: Domain) -> Decay | None:
        """None: the fields are the test functions' and not D∇t, and vanish fast enough wherever the model has some."""
        return None


def _numbers(pilot: Any) -> tuple[float, ...]:
    """A tuple, so that generators can be compared."""
    if isinstance(pilot, tuple) and all(isinstance(value, float) and isfinite(value) for value in pilot):
        return pilot
    try:
        values = np.asarray(pilot, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.zeros((0, 0))
    if values.ndim != 1 or not np.isfinite(values).all():
        raise SpecificationError(f"pilot must be a list of finite numbers, one per parameter, got {shown(pilot)}.")
    return tuple(values.tolist())
