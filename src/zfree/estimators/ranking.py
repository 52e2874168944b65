"""Compare generators on one data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from zfree.arrays import Array
from zfree.conversion import shown
from zfree.errors import (
    DataError,
    InconsistentGeneratorWarning,
    InfiniteVarianceWarning,
    SpecificationError,
    ZfreeError,
    collected_warnings,
)
from zfree.estimators.base import ScoreMatchingEstimator
from zfree.estimators.validation import check_target
from zfree.generators import Generator, named
from zfree.inference import Candidate, Ranking, Target, leave_out_criteria, log_ratio_error, weight_matrix
from zfree.moments import Problem
from zfree.solvers import Restriction
from zfree.threads import blas_threads_for


def rank(
    estimator: ScoreMatchingEstimator,
    X: Any,
    candidates: Sequence[Generator | str],
    *,
    target: Target = "natural",
    sample_weight: Any = None,
) -> Ranking:
    """Order generators by the estimated total variance Tr(Σ̂), with κ(Γ_N) and the estimate beside it.

    Parameters
    ----------
    estimator : estimator
        Says which model and domain; its own generator is ignored.
    X : array_like
    candidates : sequence of Generator or str
        Generators, or their names (:func:`zfree.named`).
    target : str or array_like
        What is compared: ``"natural"`` is the paper's Tr(Σ̂), which depends on units; ``"information"`` does not; or a
        parametrisation of the model, or a matrix.
    sample_weight : array_like, optional

    Returns
    -------
    Ranking
        Best first. Candidates that do not vanish on the boundary, or not fast enough for this model, come after those
        that do (their Tr(Σ̂) means nothing), and candidates that cannot be fitted last, with the reason. A paired jackknife
        says how sure the order is: ``excess`` and ``excess_se`` of each candidate.

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> x = np.random.default_rng(0).exponential(size=500)
    >>> table = zf.rank(zf.Exponential(), x, [zf.Barrier.log(), zf.Barrier(power=4/3)])
    >>> table.best.generator
    Barrier(power=1.33333, det_power=0.5)
    """
    if not isinstance(estimator, ScoreMatchingEstimator):
        raise SpecificationError(f"rank needs an estimator such as zf.Gamma(), got {shown(estimator)}.")
    if not isinstance(candidates, list | tuple):
        raise SpecificationError(f"candidates must be a list of generators or their names, got {shown(candidates)}.")
    if not candidates:
        raise SpecificationError("candidates is empty: give at least one generator, such as zf.Barrier().")
    check_target(target)
    fitted = []
    for candidate in candidates:
        generator = named(candidate) if isinstance(candidate, str) else candidate
        if not isinstance(generator, Generator):
            raise SpecificationError(
                f"every candidate must be a generator such as zf.Barrier(), got {shown(generator)}."
            )
        fitted.append(_fit(estimator, X, generator, sample_weight))
    return Ranking(tuple(_compare(fitted, estimator, X, target, sample_weight)))


def _compare(
    fitted: list[Candidate], estimator: ScoreMatchingEstimator, X: Any, target: Target, sample_weight: Any
) -> list[Candidate]:
    """Criterion of every candidate, and its excess over the best with a standard error."""
    usable = [c for c in fitted if c.result is not None]
    if not usable:
        return fitted
    posed = clone(estimator)
    with collected_warnings():  # each fit gave them already
        data, _ = posed._read(X, sample_weight)
        problem, restriction = posed._pose(data)
    theta = next(c.result.working_theta for c in usable if c.result is not None)
    weight = weight_matrix(target, problem, restriction, theta)
    if not restriction.block(weight).any():
        raise SpecificationError("nothing that the target measures is estimated: there is nothing to rank by.")
    measured: list[tuple[Candidate, Array]] = []
    with blas_threads_for(problem.model.n_parameters):
        for c in usable:
            assert c.result is not None
            if np.isnan(c.result.working_covariance).any():
                reason = "no standard errors: the positive-definite constraint binds"
                measured.append((replace(c, problem=reason), np.full(2, np.nan)))
                continue
            criterion = c.result.n_observations * float(np.sum(weight * c.result.working_covariance))
            posed_with = replace(problem, generator=c.result.generator)
            leave_out = _leave_out(posed_with, restriction, weight, posed.ridge)
            measured.append((replace(c, criterion=criterion), leave_out))
    measured.sort(key=lambda pair: (bool(pair[0].problem), pair[0].criterion))
    best, best_leave_out = measured[0]
    out = []
    for c, leave_out in measured:
        excess = c.criterion / best.criterion - 1.0
        error = log_ratio_error(leave_out, best_leave_out) * (1.0 + excess)
        out.append(replace(c, excess=excess, excess_se=error))
    return out + [c for c in fitted if c.result is None]


def _leave_out(problem: Problem, restriction: Restriction, weight: Array, ridge: float) -> Array:
    """Leave-out values, or NaN where a part of the rows alone determines too little."""
    try:
        return leave_out_criteria(problem, restriction, weight, ridge)
    except (ZfreeError, np.linalg.LinAlgError):
        return np.full(2, np.nan)


def _fit(estimator: ScoreMatchingEstimator, X: Any, generator: Generator, sample_weight: Any) -> Candidate:
    with collected_warnings() as caught:
        try:
            fit = clone(estimator).set_params(generator=generator).fit(X, sample_weight=sample_weight)
        except DataError:
            raise  # the data are at fault, not the candidate
        except ZfreeError as error:
            return Candidate(generator, None, str(error))
    remarks = {InconsistentGeneratorWarning: "inconsistent", InfiniteVarianceWarning: "infinite variance"}
    problem = next((text for w in caught for kind, text in remarks.items() if issubclass(w.category, kind)), "")
    return Candidate(generator, fit.result_, problem)
