"""Models for which theory names the weight, so that nothing has to be searched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zfree.generators import Generator, SteinBarrier, SteinMoments
from zfree.inference import FitResult
from zfree.models import Model
from zfree.selection.candidate import Candidate, Selection
from zfree.selection.criterion import Target, weight_matrix
from zfree.selection.sample import looked_at
from zfree.solvers import Objective


def by_theory(objective: Objective) -> Generator | None:
    """The generator that theory names for a model on a convex domain; None where a search has to find one."""
    problem = objective.problem
    model, domain, units = problem.model, problem.domain, problem.units
    assert units is not None
    if (
        not objective.penalty.share and model.test_functions(domain, units, None) is not None
    ):  # equations have no loss to penalise
        return SteinMoments()
    energy = model.energy(None, problem.source.first().X[:0], None)
    return SteinBarrier() if energy is not None and energy.exact else None


def worth_a_look(model: Model) -> tuple[Generator, ...]:
    """Generators that theory suggests for models other than those it is about, to be compared with what a search finds."""
    return () if model.energy(None, np.zeros((0, model.dimension)), None) is None else (SteinBarrier(),)


def is_saturated(objective: Objective) -> bool:
    """Whether all of mean and precision is estimated, so that without a boundary every constant D gives maximum likelihood."""
    d = objective.problem.model.dimension
    return objective.n_free == d * (d + 3) // 2


def with_criterion(record: Selection, result: FitResult, objective: Objective, target: Target) -> Selection:
    """The record of a generator that theory named with Tr(W Σ̂), as a search would have measured it; W from the rows that one looks at."""
    covariance = result.uncertainty.matrix
    if not record.by_theory or record.target == "theory" or covariance is None:
        return record
    weight = weight_matrix(target, looked_at(objective), result.working_theta)
    criterion = result.n_observations * float(np.vdot(weight, covariance))
    return replace(record, criterion=criterion, trials=(Candidate(record.chosen, criterion),))
