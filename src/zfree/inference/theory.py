"""Models for which theory names the weight, so that nothing has to be searched."""

from __future__ import annotations

import numpy as np

from zfree.generators import Generator, SteinBarrier, SteinMoments
from zfree.inference.criterion import Target, weight_matrix
from zfree.inference.result import FitResult
from zfree.inference.selection import Selection, Trial
from zfree.models import Model
from zfree.moments import Problem
from zfree.solvers import Restriction


def by_theory(problem: Problem, ridge: float) -> Generator | None:
    """The generator that theory names for a model on a convex domain; None where a search has to find one."""
    model, domain, units = problem.model, problem.domain, problem.units
    assert units is not None
    if not ridge and model.test_functions(domain, units, None) is not None:  # equations have no loss to penalise
        return SteinMoments()
    energy = model.energy(None, problem.X[:0], None)
    return SteinBarrier() if energy is not None and energy.exact else None


def worth_a_look(model: Model) -> tuple[Generator, ...]:
    """Generators that theory suggests for models other than those it is about, to be compared with what a search finds."""
    return () if model.energy(None, np.zeros((0, model.dimension)), None) is None else (SteinBarrier(),)


def is_saturated(model: Model, restriction: Restriction) -> bool:
    """Whether all of mean and precision is estimated, so that without a boundary every constant D gives maximum likelihood."""
    d = model.dimension
    return int(restriction.free.sum()) == d * (d + 3) // 2


def with_criterion(
    record: Selection | None, result: FitResult, problem: Problem, restriction: Restriction, target: Target
) -> Selection | None:
    """The record of a generator that theory named with Tr(W Σ̂), as a search would have measured it."""
    if record is None or not record.by_theory or record.target == "theory":
        return record
    weight = weight_matrix(target, problem, restriction, result.working_theta)
    criterion = result.n_observations * float(np.vdot(weight, result.working_covariance))
    trial = Trial(record.chosen, criterion, float("nan"))
    return Selection(record.chosen, criterion, (trial,), record.target, record.remark, by_theory=True)
