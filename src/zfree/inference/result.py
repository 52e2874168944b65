"""What a fit found: immutable, and able to explain itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, ndtri

from zfree.arrays import Array, Mask
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.generators import Generator
from zfree.inference.combination import Combination, JTest
from zfree.inference.selection import Selection
from zfree.inference.summary import Block, Summary
from zfree.inference.verdict import GoodnessOfFit
from zfree.models import Model
from zfree.moments import Moments, Problem


class WaldTest(NamedTuple):
    """Chi-squared statistic of R θ = r, its degrees of freedom and the p-value."""

    statistic: float
    degrees_of_freedom: int
    p_value: float


@dataclass(frozen=True, eq=False)
class Parameters:
    """Estimates with their covariance, in some parametrisation."""

    names: tuple[str, ...]
    values: Array
    covariance: Array

    @property
    def standard_errors(self) -> Array:
        """Square roots of the diagonal of the covariance; 0 for a parameter that was fixed."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    @property
    def z_values(self) -> Array:
        """Estimates over standard errors (NaN for a fixed parameter)."""
        se = self.standard_errors
        return np.divide(self.values, se, out=np.full_like(self.values, np.nan), where=se > 0)

    @property
    def p_values(self) -> Array:
        """Two-sided p-values of the hypothesis that a parameter is zero."""
        return chdtrc(1.0, self.z_values**2)

    def conf_int(self, level: float = 0.95) -> Array:
        """Wald intervals (n_parameters, 2)."""
        if not 0.0 < level < 1.0:
            raise SpecificationError(f"level must be between 0 and 1, got {level!r}.")
        half = ndtri(0.5 + level / 2.0) * self.standard_errors
        return np.column_stack([self.values - half, self.values + half])


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
        Sandwich estimate of their covariance, :math:`\Gamma^{-1}\Sigma\,\Gamma^{-1}/N`; zero rows for known parameters.
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
    """

    theta: Array
    names: tuple[str, ...]
    covariance: Array
    free: Mask
    n_observations: int
    model: Model
    generator: Generator
    domain: Domain
    moments: Moments
    working_theta: Array
    working_covariance: Array
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    selection: Selection | None = None
    fit_check: GoodnessOfFit | None = None
    j_test: JTest | None = None
    combination: Combination | None = None

    def __post_init__(self) -> None:
        for array in (self.theta, self.covariance, self.free, self.working_theta, self.working_covariance):
            array.flags.writeable = False

    @cached_property
    def natural(self) -> Parameters:
        """θ with its covariance."""
        return Parameters(self.names, self.theta, self.covariance)

    @property
    def standard_errors(self) -> Array:
        """Standard errors of θ."""
        return self.natural.standard_errors

    @property
    def z_values(self) -> Array:
        """θ over its standard errors."""
        return self.natural.z_values

    @property
    def p_values(self) -> Array:
        """Two-sided p-values of θ_l = 0."""
        return self.natural.p_values

    def conf_int(self, level: float = 0.95) -> Array:
        """Wald intervals of θ, shape (r, 2)."""
        return self.natural.conf_int(level)

    def parameters(self, which: str = "natural") -> Parameters:
        """Estimates in another parametrisation, with covariance by the delta method.

        Parameters
        ----------
        which : str
            ``"natural"``, or one the model offers: ``"mean"``, ``"precision"``, ``"covariance"`` for a Gaussian.
        """
        if which == "natural":
            return self.natural
        derived = self.model.derived(self.working_theta)
        if which not in derived:
            known = ", ".join(["natural", *derived])
            raise SpecificationError(f"this model has no parametrisation {which!r}; it has {known}.")
        names, values, jacobian = derived[which]()
        free = np.flatnonzero(self.free)
        J = jacobian[:, free]
        covariance = J @ self.working_covariance[np.ix_(free, free)] @ J.T
        # A quantity that no free parameter moves is known, whatever the covariance of the others (which may be NaN).
        still = ~J.any(axis=1)
        covariance[still] = 0.0
        covariance[:, still] = 0.0
        return Parameters(names, values, covariance)

    def wald_test(self, R: Array | None = None, value: Array | float = 0.0) -> WaldTest:
        """Test R θ = value; by default that all free parameters are zero."""
        R = np.eye(len(self.theta))[self.free] if R is None else np.atleast_2d(np.asarray(R, dtype=float))
        if R.shape[1] != len(self.theta):
            raise SpecificationError(f"R must have {len(self.theta)} columns, one per parameter; it has {R.shape[1]}.")
        gap = R @ self.theta - value
        covariance = R @ self.covariance @ R.T
        scale = np.sqrt(np.maximum(np.diagonal(covariance), 1e-300))
        if np.linalg.matrix_rank(covariance / np.multiply.outer(scale, scale)) < len(R):
            raise SpecificationError("the rows of R are not independent on the free parameters: the test is undefined.")
        statistic = float(gap @ np.linalg.solve(covariance, gap))
        return WaldTest(statistic, len(R), float(chdtrc(len(R), statistic)))

    @property
    def total_variance(self) -> float:
        """Tr(Σ̂), the paper's estimated total variance: the trace of N times the covariance of θ."""
        return float(self.n_observations * np.trace(self.covariance))

    @cached_property
    def condition_number(self) -> float:
        """κ(Γ_N) over the free natural parameters."""
        gamma = self.moments.gamma
        T = self.model.natural_map()
        if T is not None:
            inner = np.linalg.solve(T.T, gamma)
            gamma = np.linalg.solve(T.T, inner.T)
        free = np.flatnonzero(self.free)
        if not free.size:
            return 1.0
        values = np.linalg.eigvalsh(gamma[np.ix_(free, free)])
        return float(values[-1] / values[0]) if values[0] > 0 else np.inf

    def scores(self, X: Array, *, log_scale: float = 0.0) -> Array:
        """The scoring rule S(x; θ̂) of each row (paper, eq. 12), divided by e^log_scale."""
        problem = Problem(self.model, self.generator, self.domain, np.asarray(X, dtype=float))
        return np.concatenate([rows.scores(self.working_theta, log_scale) for rows in problem.rows()])

    def score(self, X: Array, *, log_scale: float = 0.0) -> float:
        r"""Mean of :math:`\tfrac12 s^\top D s + \nabla\cdot(D s)` over `X`: smaller is better.

        A proper scoring rule (Proposition 4.1), so it compares *models* on held-out rows. Scores under different
        generators are in different units and must not be compared. Pass ``log_scale=result.moments.log_scale`` in high
        dimension, where the plain value would overflow.
        """
        return float(np.mean(self.scores(X, log_scale=log_scale)))

    def summary(self, which: str | Sequence[str] | None = None, level: float = 0.95) -> Summary:
        """Estimates, standard errors, z and intervals as a table (text, DataFrame, HTML).

        Parameters
        ----------
        which : str or sequence of str, optional
            Parametrisations to show, see :meth:`parameters`. The model's own choice by default.
        level : float
            Coverage of the intervals.
        """
        chosen = self.model.reported if which is None else ((which,) if isinstance(which, str) else tuple(which))
        blocks = []
        for name in chosen:
            p = self.parameters(name)
            blocks.append(Block(name, p.names, p.values, p.standard_errors, p.z_values, p.p_values, p.conf_int(level)))
        header = (
            ("domain", repr(self.domain)),
            ("generator", self._describe_generator()),
            ("rows", f"{self.n_observations}"),
            ("free parameters", f"{int(self.free.sum())}"),
            ("Tr(Σ̂)", f"{self.total_variance:.4g}"),
            ("κ(Γ_N)", f"{self.condition_number:.4g}"),
            *([("fit check", self.fit_check.verdict)] if self.fit_check else []),
            *([("J test", f"p = {self.j_test.p_value:.3g}")] if self.j_test else []),
        )
        return Summary(self.model.title, header, tuple(blocks), level, self.notes, self.remarks)

    def _describe_generator(self) -> str:
        if self.combination is not None:
            return (
                f"{len(self.combination.generators)} combined ({self.combination.shrinkage}), first {self.generator!r}"
            )
        chosen = self.selection is not None and self.selection.target != "theory"
        return repr(self.generator) + (" (chosen from the data)" if chosen else "")

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
