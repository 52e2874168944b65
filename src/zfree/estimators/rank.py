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
from zfree.estimators.data import Data
from zfree.estimators.extremes import within_range
from zfree.estimators.size import enough_memory
from zfree.estimators.validation import check_target
from zfree.generators import Generator, named
from zfree.selection import (
    Candidate,
    Choice,
    Ranking,
    Target,
    leave_out_criteria,
    log_ratio_error,
    settled,
    weight_matrix,
)
from zfree.selection.together import sum_together
from zfree.solvers import Objective
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
    generators = [_as_one(candidate) for candidate in candidates]
    posed = clone(estimator).set_params(covariance="full")  # the criterion is a trace of all of it
    with collected_warnings():  # of the rows, which a fit gives too; those of candidates become remarks
        data, notes = posed._read(X, sample_weight)
        with within_range(data), enough_memory(*data.source.X.shape):
            objective = posed._pose(data)
            with blas_threads_for(objective.problem.model.n_parameters):
                found = _fitted(posed, objective, generators, data, notes)
                return Ranking(tuple(_compared(found, objective, target)))


def _as_one(candidate: object) -> Generator:
    generator = named(candidate) if isinstance(candidate, str) else candidate
    if not isinstance(generator, Generator):
        raise SpecificationError(f"every candidate must be a generator such as zf.Barrier(), got {shown(generator)}.")
    return generator


def _fitted(
    posed: ScoreMatchingEstimator,
    objective: Objective,
    generators: Sequence[Generator],
    data: Data,
    notes: tuple[str, ...],
) -> list[tuple[Candidate, Objective | None]]:
    """Every candidate with its fit, or the reason why there is none; their sums over rows are taken together."""
    ready = [_settled(g, objective) for g in generators]
    objectives = [r for r in ready if isinstance(r, Objective)]
    errors = {id(o): e for o, e in zip(objectives, sum_together(objectives), strict=True)}
    out: list[tuple[Candidate, Objective | None]] = []
    for generator, each in zip(generators, ready, strict=True):
        if isinstance(each, Candidate):
            out.append((each, None))
            continue
        error = errors[id(each)]
        if isinstance(error, DataError):
            raise error  # the data are at fault, not the candidate
        found = _refused(generator, error) if error else _fit(posed, generator, each, data, notes)
        out.append((found, each if found.result else None))
    return out


def _settled(generator: Generator, objective: Objective) -> Objective | Candidate:
    try:
        return objective.with_generator(settled(generator, objective))
    except DataError:
        raise
    except ZfreeError as error:
        return _refused(generator, error)


def _refused(generator: Generator, error: ZfreeError) -> Candidate:
    return Candidate(generator, refused=str(error))


def _fit(
    posed: ScoreMatchingEstimator, generator: Generator, objective: Objective, data: Data, notes: tuple[str, ...]
) -> Candidate:
    with collected_warnings() as caught:
        try:
            result = posed._finish(generator, Choice(objective), data, notes)
        except DataError:
            raise
        except ZfreeError as error:
            return _refused(generator, error)
    remarks = {InconsistentGeneratorWarning: "inconsistent", InfiniteVarianceWarning: "infinite variance"}
    remark = next((text for w in caught for kind, text in remarks.items() if issubclass(w.category, kind)), "")
    return Candidate(generator, refused=remark, result=result)


def _compared(found: list[tuple[Candidate, Objective | None]], objective: Objective, target: Target) -> list[Candidate]:
    """Criterion of every candidate, and its excess over the best with a standard error."""
    usable = [(c, o) for c, o in found if o is not None and c.result is not None]
    failed = [c for c, o in found if o is None]
    if not usable:
        return failed
    theta = next(c.result.working_theta for c, _ in usable if c.result is not None)
    weight = weight_matrix(target, objective, theta)
    if not objective.restriction.block(weight).any():
        raise SpecificationError("nothing that the target measures is estimated: there is nothing to rank by.")
    measured = [_measured(c, o, weight) for c, o in usable]
    measured.sort(key=lambda pair: (bool(pair[0].refused), pair[0].criterion))
    best, best_leave_out = measured[0]
    out = []
    for c, leave_out in measured:
        excess = c.criterion / best.criterion - 1.0
        error = log_ratio_error(leave_out, best_leave_out) * (1.0 + excess)
        out.append(replace(c, excess=excess, excess_se=error))
    return out + failed


def _measured(candidate: Candidate, objective: Objective, weight: Array) -> tuple[Candidate, Array]:
    """With its criterion, and what that is without each of some groups of rows (NaN where the rest determines too little)."""
    assert candidate.result is not None
    covariance = candidate.result.working_covariance
    if np.isnan(covariance).any():
        reason = "no standard errors: the positive-definite constraint binds"
        return replace(candidate, refused=reason), np.full(1, np.nan)
    criterion = candidate.result.n_observations * float(np.sum(weight * covariance))
    try:
        leave_out = leave_out_criteria(objective, candidate.result.working_theta, weight)
    except (ZfreeError, np.linalg.LinAlgError):
        leave_out = np.full(1, np.nan)
    return replace(candidate, criterion=criterion), leave_out
