"""What a fit found: immutable, and able to explain itself."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from zfree.arrays import Array, Mask
from zfree.conversion import shown
from zfree.data import Source
from zfree.domains import Domain, Units
from zfree.domains.inequalities import check_columns
from zfree.errors import SpecificationError
from zfree.generators import Generator, default_generator
from zfree.inference.conditioning import condition_number, scaled_condition_number
from zfree.inference.delta_method import DeltaMethod
from zfree.inference.jackknife import Jackknife
from zfree.inference.parameters import Parameters
from zfree.inference.provenance import HowChosen, HowCombined, Test
from zfree.inference.scoring import row_scores
from zfree.inference.summary import SHOWN_ROWS, Summary
from zfree.inference.uncertainty import Uncertainty
from zfree.inference.verdict import GoodnessOfFit
from zfree.inference.wald import WaldTest, hypothesis, wald_test
from zfree.models import Model
from zfree.moments import Moments


@dataclass(frozen=True, eq=False)
class FitResult:
    r"""The outcome of a score-matching fit (Theorem 5.1).

    Attributes
    ----------
    theta : ndarray
        Natural parameters :math:`\hat\theta = -\Gamma_N^{-1} g_N`, known ones included.
    names : tuple of str
        Their names.
    covariance : ndarray
        Their covariance, by the jackknife where it was computed, otherwise the sandwich :math:`\Gamma^{-1}\Sigma\,\Gamma^{-1}/N`; zero
        rows for known parameters. Of a grouped jackknife it has the standard errors, with the correlations of the sandwich.
    free : ndarray of bool
        Which parameters were estimated.
    n_observations : int
    model, generator, domain
        What was fitted, with which weight, where.
    moments : Moments
        Γ_N and g_N, in the coordinates the model works in.
    notes : tuple of str
        Trouble that a reader must know of: rows dropped or moved, constraints that bind, inconsistency, a misfit. Empty if all is well.
    remarks : tuple of str
        What is worth knowing and no trouble; the summary shows them too.
    selection : Selection or None
        Why this generator, when it was chosen from the data.
    fit_check : GoodnessOfFit or None
        Whether the data contradict the model; None if the check was not run.
    j_test : JTest or None
        Whether the estimates of combined generators agree.
    combination : Combination or None
        How several generators were combined.
    units : Units
        What a generator with ``scale="natural"`` measured in: typical sizes of slacks and columns over the rows.
    jackknife : Jackknife or None
        Estimates without each row or group of rows, where they were computed. Intervals and tests are corrected for the bias that they show;
        `theta` is not.
    """

    theta: Array
    names: tuple[str, ...]
    free: Mask
    n_observations: int
    model: Model
    generator: Generator
    domain: Domain
    moments: Moments
    working_theta: Array
    uncertainty: Uncertainty
    reciprocal_condition: float = 1.0
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    selection: HowChosen | None = None
    fit_check: GoodnessOfFit | None = None
    j_test: Test | None = None
    combination: HowCombined | None = None
    units: Units | None = None
    jackknife: Jackknife | None = None

    def __post_init__(self) -> None:
        for array in (self.theta, self.free, self.working_theta):
            array.flags.writeable = False

    @property
    def working_covariance(self) -> Array:
        """The sandwich of the parameters that the model works in; NaN where only standard errors, or nothing, were computed."""
        known = self.uncertainty.matrix
        return np.full((len(self.theta),) * 2, np.nan) if known is None else known

    @property
    def _delta(self) -> DeltaMethod:
        return DeltaMethod(self.model, self.working_theta, self.free, self.uncertainty, self.jackknife)

    @cached_property
    def natural(self) -> Parameters:
        """θ with its covariance."""
        return self._delta.parameters("natural", self.names, self.theta, self.model.natural_map())

    @property
    def covariance(self) -> Array:
        """Covariance of θ, see :attr:`covariance_type`."""
        return self.natural.covariance

    @property
    def covariance_type(self) -> str:
        """What standard errors rest on: ``"jackknife"``, ``"grouped jackknife"``, ``"sandwich"`` or ``"none"``."""
        if self.uncertainty.kind is None:
            return "none"
        return "sandwich" if self.jackknife is None else self.jackknife.kind

    @property
    def standard_errors(self) -> Array:
        """Standard errors of θ, see :attr:`covariance_type`."""
        return self.natural.standard_errors

    @property
    def sandwich_standard_errors(self) -> Array:
        """Standard errors of θ by the sandwich, whatever :attr:`standard_errors` are."""
        return self.natural.sandwich_standard_errors

    @property
    def bias(self) -> Array:
        """The jackknife's estimate of the bias of θ; NaN where none was computed. θ itself is not corrected, intervals are."""
        return np.full(len(self.theta), np.nan) if self.natural.bias is None else self.natural.bias

    @property
    def degrees_of_freedom(self) -> Array:
        """Of the t distribution behind intervals and p-values; infinite for the normal one."""
        df = self.natural.degrees_of_freedom
        return np.full(len(self.theta), np.inf) if df is None else df

    @property
    def z_values(self) -> Array:
        """θ, minus its bias where it is known, over its standard errors."""
        return self.natural.z_values

    @property
    def p_values(self) -> Array:
        """Two-sided p-values of θ_l = 0."""
        return self.natural.p_values

    params = property(lambda self: self.theta, doc="θ, by the name statsmodels uses.")
    bse = property(lambda self: self.standard_errors, doc="Standard errors, by the name statsmodels uses.")
    pvalues = property(lambda self: self.p_values, doc="p-values, by the name statsmodels uses.")

    def conf_int(self, level: float | None = None, method: str = "auto", *, alpha: float | None = None) -> Array:
        """Intervals of θ, shape (r, 2), see :meth:`zfree.inference.parameters.Parameters.conf_int`."""
        return self.natural.conf_int(level, method, alpha=alpha)

    def parameters(self, which: str = "natural") -> Parameters:
        """Estimates in another parametrisation, with covariance by the delta method.

        With the jackknife it is applied at θ minus its bias, which also gives the center of the intervals: for the mean K⁻¹η of a truncated
        Gaussian that covers better than the same function of the estimates without each row. These are taken where they are sample
        moments (no truncation): standard errors of a mean are then the textbook's.

        Parameters
        ----------
        which : str
            ``"natural"``, or one the model offers: ``"mean"``, ``"precision"``, ``"covariance"`` for a Gaussian.
        """
        if which == "natural":
            return self.natural
        derived = self.model.derived(self.working_theta)
        if not isinstance(which, str) or which not in derived:
            known = ", ".join(["natural", *derived])
            raise SpecificationError(f"this model has no parametrisation {shown(which)}; it has {known}.")
        here = derived[which]()
        return self._delta.parameters(which, *here, self._delta.bent(which, here))

    def wald_test(self, R: Array | None = None, value: Array | float = 0.0) -> WaldTest:
        """Test R θ = value; by default that all free parameters are zero.

        With the jackknife θ is corrected for its bias and the statistic referred to F (one row of R: the square of t), so that a test of one
        parameter agrees with its interval.

        Parameters
        ----------
        R : array_like of shape (k, r) or (r,), optional
            One hypothesis per row.
        value : float or array_like of shape (k,)
        """
        covariance = self.covariance
        asked = np.eye(len(self.theta))[self.free] if R is None else R
        rows, right = hypothesis(asked, value, len(self.theta))
        T = self.model.natural_map()
        contrasts = rows if T is None else rows @ T
        gap = rows @ self.natural.corrected - right
        return wald_test(gap, rows @ covariance @ rows.T, contrasts, self.jackknife)

    @property
    def total_variance(self) -> float:
        """Tr(Σ̂), the paper's estimated total variance: the trace of N times the sandwich covariance of θ."""
        return float(self.n_observations * self.uncertainty.variances("natural", self.model.natural_map()).sum())

    @cached_property
    def condition_number(self) -> float:
        """κ(Γ_N) over the free natural parameters."""
        return condition_number(self.moments, self.free, self.model.natural_map())

    @cached_property
    def scaled_condition_number(self) -> float:
        """κ(Γ_N) over the free parameters as they were fitted, scaled to unit diagonal (where it is not symmetric, to rows and columns with largest entry one).

        It does not depend on the units of the columns, and says how many digits the estimate loses.
        """
        return scaled_condition_number(self.moments, self.free)

    def scores(self, X: Array | Source, *, log_scale: float = 0.0, generator: Generator | str | None = None) -> Array:
        """The scoring rule S(x; θ̂) of each row (paper, eq. 12), divided by e^log_scale; with the fit's generator by default.

        Equations with test functions (:class:`~zfree.SteinMoments`) have no scoring rule; for these it is the log barrier's.
        """
        own = default_generator(self.domain, "score") if self.generator.own_tests else self.generator
        judge = own if generator is None else generator
        return row_scores(self.model, judge, self.domain, self.units, self.working_theta, X, log_scale)

    def score(self, X: Array | Source, *, log_scale: float = 0.0, generator: Generator | str | None = None) -> float:
        r"""Mean of :math:`\tfrac12 s^\top D s + \nabla\cdot(D s)` over `X`: smaller is better.

        A proper scoring rule (Proposition 4.1), so it compares estimates on held-out rows. Scores under different
        generators are in different units and must not be compared: pass one `generator` to all of them. Pass
        ``log_scale=result.moments.log_scale`` in high dimension, where the plain value would overflow.
        """
        return float(np.mean(self.scores(X, log_scale=log_scale, generator=generator)))

    def summary(
        self, which: str | Sequence[str] | None = None, level: float = 0.95, rows: int | None = SHOWN_ROWS
    ) -> Summary:
        """Estimates, standard errors, z and intervals as a table (text, DataFrame, HTML).

        Parameters
        ----------
        which : str or sequence of str, optional
            Parametrisations to show, see :meth:`parameters`. The model's own choice by default.
        level : float
            Coverage of the intervals.
        rows : int or None
            How many parameters of each parametrisation the text shows; None for all. A DataFrame always has all.
        """
        from zfree.inference.reporting import summarise  # which reads this class

        return summarise(self, which, level, rows)

    def with_columns(self, columns: Sequence[str]) -> FitResult:
        """The same result with other names for the columns, for data that came without any."""
        known = getattr(self.model, "columns", None)
        if known is None:
            raise SpecificationError(
                "the parameters of this model are not named after columns: pass names= to the estimator."
            )
        names = check_columns(columns)
        if len(names) != len(known):
            raise SpecificationError(f"{len(names)} names given for {len(known)} columns.")
        model = copy(self.model)
        model.__dict__.pop("names", None)  # computed from the columns
        model.__dict__["columns"] = names
        return replace(self, model=model, names=model.names)

    def with_note(self, note: str) -> FitResult:
        """The same result with one more trouble to know of."""
        return replace(self, notes=(*self.notes, note))

    def with_remark(self, remark: str) -> FitResult:
        """The same result with one more thing worth knowing."""
        return replace(self, remarks=(*self.remarks, remark))

    def __repr__(self) -> str:
        return (
            f"FitResult({len(self.theta)} parameters, {self.n_observations} rows, {self.domain!r}, {self.generator!r}); "
            "print(result.summary())"
        )
