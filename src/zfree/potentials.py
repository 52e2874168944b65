r"""Convex potentials φ whose Hessian shapes the generator (paper, section 3 and "Effect of Power Barrier Exponent").

On a domain with slacks :math:`s_k(x) > 0` a *slack potential* is :math:`\phi(x) = \sum_k \psi(s_k(x))`. Everything the
library needs of ψ is its curvature :math:`\psi''` and how fast that changes, so those are what a potential provides.
A :class:`ConvexFunction` is any other φ, given as a function of the whole point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from zfree.arrays import Array
from zfree.conversion import check_callable, check_flag, is_number, shown, values_of
from zfree.errors import NotConvexError, SpecificationError


class SlackTerms(NamedTuple):
    r"""What a barrier needs of ψ at the slacks (all of the slacks' shape)."""

    inverse: Array
    r""":math:`w = 1 / \psi''(s)`"""
    log_curvature: Callable[[], Array]
    r""":math:`\log \psi''(s)`, computed when asked for: without a determinant nobody does"""
    ratio: Array
    r""":math:`\psi'''(s) / \psi''(s)`"""


class SlackPotential(ABC):
    """A convex function ψ of one positive slack."""

    @abstractmethod
    def terms(self, s: Array) -> SlackTerms:
        """ψ'' and ψ''' at `s`, as a barrier uses them."""

    def terms_in(self, s: Array, unit: Array | None) -> SlackTerms:
        """:meth:`terms` of s ↦ ψ(s/unit): slacks measured in a unit of their own, or as they are."""
        if unit is None:
            return self.terms(s)
        inverse, log_curvature, ratio = self.terms(s / unit)
        return SlackTerms(inverse * unit**2, lambda: log_curvature() - 2.0 * np.log(unit), ratio / unit)

    @abstractmethod
    def descent(self, u: Array, largest: float) -> Array:
        """Minus the slope of ψ along a *concave* slack 0 < u ≤ `largest`; positive when φ is convex."""

    @property
    @abstractmethod
    def decay(self) -> float:
        """The exponent q with :math:`1/\\psi''(s) \\sim s^q` at the boundary; 0 when it does not vanish there."""


@dataclass(frozen=True)
class Power(SlackPotential):
    r"""The power family :math:`\psi''(s) = s^{p-2}`.

    p = 4/3 is the paper's φ₁ up to scale, p = 1 the entropy φ₂, p = 0 the log barrier φ₃, p = 2 the quadratic.
    Negative p is allowed. The Hessian blows up at the boundary, and so the generator vanishes there, when p < 2.
    """

    p: float

    def __post_init__(self) -> None:
        if not is_number(self.p) or not -np.inf < self.p < np.inf:
            raise SpecificationError(f"the power p must be a finite number, got {shown(self.p)}.")

    def terms(self, s: Array) -> SlackTerms:
        ratio = (self.p - 2.0) / s
        if self.p in (0.0, 1.0):
            return SlackTerms(s if self.p == 1.0 else s * s, lambda: (self.p - 2.0) * np.log(s), ratio)
        log_curvature = (self.p - 2.0) * np.log(s)
        return SlackTerms(np.exp(-log_curvature), lambda: log_curvature, ratio)

    def terms_in(self, s: Array, unit: Array | None) -> SlackTerms:
        if unit is None or self.p == 0.0:
            return self.terms(s)
        if self.p != 1.0:
            return super().terms_in(s, unit)
        inverse, log_curvature, ratio = self.terms(s)  # ψ''(s/u)/u² = u^(−p) s^(p−2): a unit is a factor
        return SlackTerms(_times(inverse, unit), lambda: log_curvature() - np.log(unit), ratio)

    def descent(self, u: Array, largest: float) -> Array:
        r"""Slope along a concave slack, shifted by a constant so that φ is strictly convex for every p.

        .. math:: -\tilde\psi'(u) = c^{p-1}\Bigl[1 + \frac{1 - (u/c)^{p-1}}{p-1}\Bigr], \qquad c = \max u,

        which is :math:`1/u` at p = 0 (the log barrier, unshifted) and :math:`1 + \log(c/u)` at p = 1. The shift adds a
        quadratic to φ; without it ψ would increase along the slack for p > 1 and φ would not be convex.
        """
        q = self.p - 1.0
        log_v = np.log(u / largest)
        bracket = 1.0 - log_v if abs(q) < 1e-12 else 1.0 - np.expm1(q * log_v) / q
        value: Array = largest**q * bracket
        return value

    @cached_property
    def decay(self) -> float:
        return max(0.0, 2.0 - self.p)


def _times(s: Array, unit: Array) -> Array:
    """s · unit. numpy is slow to repeat a short row, so eight rows are laid side by side."""
    if s.ndim == 1 or not s.flags.c_contiguous:
        return s * unit
    whole, out = len(s) - len(s) % 8, np.empty_like(s)
    wide = whole // 8, 8 * s.shape[1]
    np.multiply(s[:whole].reshape(wide), np.tile(unit, 8), out=out[:whole].reshape(wide))
    np.multiply(s[whole:], unit, out=out[whole:])
    return out


@dataclass(frozen=True)
class SlackFunction(SlackPotential):
    """A custom ψ of one slack, given by its derivatives.

    Parameters
    ----------
    curvature, third : callable
        ψ''(s) > 0 and ψ'''(s), vectorised.
    slope : callable, optional
        ψ'(s), needed on a ball only (where the slack is curved); must be negative there.
    decay : float
        The exponent q with 1/ψ''(s) ~ s^q at s = 0; 0 says that the generator does not vanish at the boundary.
    """

    curvature: Callable[[Array], Array]
    third: Callable[[Array], Array]
    slope: Callable[[Array], Array] | None = None
    decay: float = 0.0

    def __post_init__(self) -> None:
        check_callable(self.curvature, "curvature, ψ'' of SlackFunction,")
        check_callable(self.third, "third, ψ''' of SlackFunction,")
        if self.slope is not None:
            check_callable(self.slope, "slope, ψ' of SlackFunction,")
        if not is_number(self.decay) or not 0.0 <= self.decay < np.inf:
            raise SpecificationError(f"decay must be a number ≥ 0, got {shown(self.decay)}.")

    def terms(self, s: Array) -> SlackTerms:
        curvature = values_of(self.curvature, s, "the curvature ψ'' of SlackFunction", s.shape)
        if not np.all(curvature > 0):
            i = np.unravel_index(int(np.argmin(np.where(np.isnan(curvature), -np.inf, curvature))), s.shape)
            raise NotConvexError(
                f"the potential is not strictly convex: ψ''({s[i]:.6g}) = {curvature[i]:.6g}, which must be positive. "
                "Use a convex ψ, for example Power(p)."
            )
        third = values_of(self.third, s, "the third derivative ψ''' of SlackFunction", s.shape)
        return SlackTerms(1.0 / curvature, lambda: np.log(curvature), third / curvature)

    def descent(self, u: Array, largest: float) -> Array:
        if self.slope is None:
            raise SpecificationError(
                "on a ball the potential also needs its first derivative: pass slope= to SlackFunction."
            )
        descent = -values_of(self.slope, u, "the slope ψ' of SlackFunction", u.shape)
        if not np.all(descent > 0):
            raise NotConvexError(
                f"the potential is not convex on a ball: ψ'(u) must be negative on (0, {largest:.6g}]. "
                "Subtract a linear term from ψ, or use Power(p)."
            )
        return descent


@dataclass(frozen=True)
class ConvexFunction:
    r"""A custom strictly convex φ of the whole point.

    Parameters
    ----------
    value : callable, optional
        φ as a function of *one* point, a torch vector (d,) → scalar tensor. Its Hessian and the gradient of
        log det H are then taken by automatic differentiation (needs torch).
    hessian, third : callable, optional
        Instead of `value`: the Hessian (N, d) → (N, d, d) and the third derivatives (N, d) → (N, d, d, d).
    vanishing : bool
        Whether :math:`H_\phi^{-1}` vanishes on the boundary of the domain it is used on. If false (the default) the
        fit warns that the estimate is inconsistent on a domain with a boundary.
    """

    value: Callable[[Any], Any] | None = None
    hessian: Callable[[Array], Array] | None = None
    third: Callable[[Array], Array] | None = None
    vanishing: bool = False

    def __post_init__(self) -> None:
        by_derivatives = self.hessian is not None and self.third is not None
        if (self.value is None) == (not by_derivatives):
            raise SpecificationError(
                "give ConvexFunction either value= (differentiated automatically) or both hessian= and third=."
            )
        for name in ("value", "hessian", "third"):
            if getattr(self, name) is not None:
                check_callable(getattr(self, name), f"{name} of ConvexFunction")
        check_flag(self.vanishing, "vanishing of ConvexFunction")

    def evaluate(self, X: Array) -> tuple[Array, Array]:
        """Return the Hessians (N, d, d) and the third derivatives (N, d, d, d) at the rows of `X`."""
        if self.value is not None:
            from zfree.autodiff import hessian_and_third

            return hessian_and_third(self.value, X)
        assert self.hessian is not None
        assert self.third is not None
        n, d = X.shape
        return (
            values_of(self.hessian, X, "the hessian of ConvexFunction", (n, d, d)),
            values_of(self.third, X, "third of ConvexFunction", (n, d, d, d)),
        )
