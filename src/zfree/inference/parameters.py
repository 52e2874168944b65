"""Estimates with what is known of their error: standard errors, intervals, p-values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from zfree.arrays import Array, Mask
from zfree.conversion import check_level, shown
from zfree.errors import SingularMomentsError, SpecificationError
from zfree.models.linear_maps import Jacobian, LinearMap, moved_by

FEWEST = 2.0
"""Degrees of freedom below which a t quantile says more about the tails of the t than about the estimate."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """Estimates with their covariance, in some parametrisation.

    Attributes
    ----------
    names : tuple of str
    values : ndarray
        The estimates themselves; no bias is taken off.
    variances : ndarray
        By the jackknife where it was computed, otherwise of the sandwich.
    known_covariance : ndarray or None
        All of their covariance, where it was computed.
    sandwich_variances : ndarray or None
        Of the sandwich, :math:`\\Gamma^{-1}\\Sigma\\,\\Gamma^{-1}/N` (Theorem 5.1); None when `variances` are these.
    bias : ndarray or None
        The jackknife's estimate of the bias of `values`; None when it was not computed.
    degrees_of_freedom : ndarray or None
        Of the t distribution that intervals and p-values refer to; None for the normal distribution.
    refused : str
        Why there is nothing but the values, and what to do; empty where there is more. `variances` are NaN then, and zero for what is known.
    """

    names: tuple[str, ...]
    values: Array
    variances: Array
    known_covariance: Array | None = None
    sandwich_variances: Array | None = None
    bias: Array | None = None
    degrees_of_freedom: Array | None = None
    refused: str = ""

    def __post_init__(self) -> None:
        if self.known_covariance is not None:
            self.known_covariance.flags.writeable = False

    @property
    def covariance(self) -> Array:
        """Their covariance; refused where only standard errors were computed, or nothing."""
        self._check_computed()
        if self.known_covariance is None:
            raise SpecificationError(
                'only standard errors were computed for this fit, not the covariance: pass covariance="full" to the estimator.'
            )
        return self.known_covariance

    @property
    def sandwich_standard_errors(self) -> Array:
        """Square roots of the diagonal of the sandwich covariance."""
        self._check_computed()
        return standard_errors(
            self.variances if self.sandwich_variances is None else self.sandwich_variances, self.names
        )

    @property
    def standard_errors(self) -> Array:
        """Square roots of the variances; 0 for a parameter that was fixed. Refused where none were computed."""
        self._check_computed()
        return standard_errors(self.variances, self.names)

    def _check_computed(self) -> None:
        if self.refused:
            raise SpecificationError(self.refused)

    @property
    def corrected(self) -> Array:
        """The estimates minus their bias, as far as it is known: the centers of the intervals."""
        return self.values if self.bias is None else self.values - self.bias

    @property
    def z_values(self) -> Array:
        """Estimates, minus their bias where it is known, over standard errors (NaN for a fixed parameter)."""
        se = self.standard_errors
        return np.divide(self.corrected, se, out=np.full_like(self.values, np.nan), where=se > 0)

    @property
    def p_values(self) -> Array:
        """Two-sided p-values of the hypothesis that a parameter is zero: below 1 − level where that interval leaves zero out."""
        found: Array = 2.0 * stdtr(self._freedom(), -np.abs(self.z_values))
        return found

    def _freedom(self) -> Array:
        df = self.degrees_of_freedom
        return np.full(len(self.values), np.inf) if df is None else np.maximum(df, FEWEST)

    def conf_int(self, level: float | None = None, method: str = "auto", *, alpha: float | None = None) -> Array:
        r"""Confidence intervals (n_parameters, 2).

        Parameters
        ----------
        level : float, optional
            Their coverage, 0.95 by default.
        method : {"auto", "jackknife", "wald"}
            ``"jackknife"``: :math:`\hat\theta - \text{bias} \mp t_\nu\,\text{se}`. ``"wald"``: :math:`\hat\theta \mp z\,\text{se}` with the sandwich.
            ``"auto"``: the jackknife where it was computed.
        alpha : float, optional
            1 − level, as statsmodels has it; give one of the two.
        """
        level = _level(level, alpha)
        if not isinstance(method, str) or method not in ("auto", "jackknife", "wald"):
            raise SpecificationError(f'method must be "auto", "jackknife" or "wald", got {shown(method)}.')
        if method == "jackknife" and self.bias is None:
            raise SpecificationError(
                'no jackknife was computed for this fit: pass standard_errors="jackknife" to the estimator '
                "(a combination of generators has none)."
            )
        if method == "wald":
            center, se, df = self.values, self.sandwich_standard_errors, np.full(len(self.values), np.inf)
        else:
            center, se, df = self.corrected, self.standard_errors, self._freedom()
        half = stdtrit(df, 0.5 + level / 2.0) * se
        return np.column_stack([center - half, center + half])


def check_variances(variances: Array, free: Mask, names: tuple[str, ...], measured: str = "") -> None:
    """Variances of free parameters that are negative or not numbers are refused, never made zero."""
    bad = np.flatnonzero(free & ~(variances >= 0.0))
    if bad.size:
        raise SingularMomentsError(_lost([names[k] for k in bad], measured))


def standard_errors(variances: Array, names: tuple[str, ...]) -> Array:
    """Square roots of variances. A negative variance is rounding that has eaten the number: no zero is made of it."""
    if np.any(variances < 0):
        raise SingularMomentsError(_lost([names[int(k)] for k in np.flatnonzero(variances < 0)]))
    return np.sqrt(variances)


def _lost(names: list[str], measured: str = "") -> str:
    """The message for variances that rounding has destroyed."""
    culprits = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
    return (
        f"the variance of {culprits} is lost in rounding: Γ_N is too ill-conditioned{measured} for standard errors. "
        "Bring the columns to similar units, use more rows, drop nearly dependent columns, or add a small ridge= "
        "(for example 1e-3)."
    )


def _level(level: float | None, alpha: float | None) -> float:
    if level is not None and alpha is not None:
        raise SpecificationError("give level= or alpha= (which is 1 − level), not both.")
    if alpha is not None:
        return 1.0 - check_level(alpha, "alpha", 0.05)
    return 0.95 if level is None else check_level(level)


def mapped(covariance: Array, jacobian: Jacobian | None, free: Mask) -> Array:
    """J Σ Jᵀ over the free parameters; the covariance is zero for the others.

    A quantity that no free parameter moves is known, whatever the covariance of the others (which may be NaN).
    """
    if jacobian is None:
        return covariance
    if isinstance(jacobian, LinearMap):
        out = np.array((jacobian @ covariance) @ jacobian.T, dtype=np.float64)
    else:
        index = np.flatnonzero(free)
        J = jacobian[:, index]
        out = np.asarray(J @ covariance[np.ix_(index, index)] @ J.T, dtype=np.float64)
    still = ~moved_by(jacobian, free)
    out[still] = 0.0
    out[:, still] = 0.0
    return out
