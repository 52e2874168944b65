"""From what a user says about the generator to the one that is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from zfree.conversion import shown
from zfree.domains import Domain
from zfree.errors import SelectionWarning, SpecificationError, warn
from zfree.generators import Barrier, BoundaryDistance, Combined, Generator, Identity, SectionDistance, named
from zfree.inference import (
    FamilySearch,
    FitResult,
    Selection,
    Target,
    Trial,
    best_of,
    boundary_orders,
    judge,
    prepare,
    safe_generator,
    weight_matrix,
)
from zfree.inference.pilot import settled
from zfree.moments import Problem
from zfree.solvers import Restriction

GeneratorLike = Generator | Sequence[Generator | str] | Combined | str
"""A generator or its name, a list to choose from, several combined, or ``"auto"`` or ``"search"``."""
BY_THEORY = 'its equations are nearly the likelihood\'s for this model; generator="search" would search the barriers'
"""The remark of a choice that was made without looking at the data."""


def as_generator(asked: Any) -> Generator | Sequence[Generator] | Combined | str:
    """What was asked for, with names replaced by the generators they stand for; an error for anything else."""
    if isinstance(asked, Generator | Combined) or (isinstance(asked, str) and asked in ("auto", "search")):
        return asked
    if isinstance(asked, str):
        return named(asked)
    if isinstance(asked, list | tuple) and asked and all(isinstance(g, Generator | str) for g in asked):
        return [named(g) if isinstance(g, str) else g for g in asked]
    raise SpecificationError(
        'generator must be "auto", "search", a generator such as zf.Barrier(power=4/3), a name such as "truncated-sm", a list of '
        f"generators to choose from, or zf.Combined, got {shown(asked)}."
    )


def choose_generator(
    asked: Generator | Sequence[Generator] | Combined | str,
    problem: Problem,
    restriction: Restriction,
    ridge: float,
    target: Target,
    known: Generator | None,
    theory: Generator | None = None,
) -> tuple[Generator, Selection | None]:
    """The generator to use, and the record of how it was chosen (None if it was given).

    Parameters
    ----------
    asked : Generator, sequence of Generator, "auto" or "search"
        ``"auto"`` takes what theory knows to be best for the model, if it does; ``"search"`` searches the family of barriers.
    problem : Problem
        Data and model; its generator is ignored.
    restriction, ridge
        As for the fit.
    target : str or array_like
        What the criterion measures, see :func:`zfree.inference.criterion.weight_matrix`.
    known : Generator or None
        One that is known to give maximum likelihood for this model.
    theory : Generator or None
        One that is known to come close to it.
    """
    if isinstance(asked, Generator):
        return settled(asked, problem, restriction, ridge), None
    if not restriction.free.any():
        return safe_generator(problem.domain), None  # nothing is estimated
    if isinstance(asked, Combined):
        asked = "auto" if asked.generators is None else asked.generators
    remark = ""
    if isinstance(asked, str) and not problem.domain.is_convex:
        asked, remark = _distances(problem.domain), "barriers need a convex domain"
    if isinstance(asked, str):
        remark = "known to be maximum likelihood"
        if asked == "search":
            known, theory = None, None
        if known is None and theory is not None:
            known, remark = settled(theory, problem, restriction, ridge), BY_THEORY
        if not problem.domain.has_boundary:
            known, remark = Identity(scale="natural"), "the family has one member where there is no boundary"
        if known is not None:
            trial = Trial(known, float("nan"), float(len(problem.X)))
            return known, Selection(known, float("nan"), (trial,), "theory", remark)
    search = prepare(problem, restriction, ridge, target)
    label = target if isinstance(target, str) else "a target matrix"
    if not isinstance(asked, str):
        trials, best = best_of(search, asked)
        return best.generator, Selection(best.generator, best.criterion, tuple(trials), label, remark)
    family = FamilySearch(search)
    trials, best = family.run()
    for _ in range(3):
        # The exponents at the boundary were those of a first estimate; the better one may show that D must vanish faster.
        orders = boundary_orders(problem, best.solution.theta, restriction)
        if judge(best.generator.decay(problem.domain), orders).finite_variance:
            break
        search = replace(search, orders=(*search.orders, *orders))
        family = FamilySearch(search)
        again, best = family.run()
        trials += again
    remark = family.edge()
    if remark and family.seen:
        warn(
            f"the generator that suits these data best, {best.generator!r}, is not inside the family: {remark}. Look at "
            "result_.selection; the model or the domain may not fit the data.",
            SelectionWarning,
        )
    return best.generator, Selection(best.generator, best.criterion, tuple(trials), label, remark)


def with_criterion(
    selection: Selection | None, result: FitResult, problem: Problem, restriction: Restriction, target: Target
) -> Selection | None:
    """The record of a choice by theory with its criterion, which the fit itself gives."""
    if selection is None or selection.remark != BY_THEORY:
        return selection
    weight = weight_matrix(target, problem, restriction, result.working_theta)
    criterion = result.n_observations * float(np.vdot(weight, result.working_covariance))
    trial = Trial(selection.chosen, criterion, float(result.n_observations))
    return replace(selection, criterion=criterion, trials=(trial,))


def _distances(domain: Domain) -> list[Generator]:
    """What vanishes on a boundary that is not that of a convex set; on a line the two are one."""
    nearest = BoundaryDistance(scale="natural")
    return [nearest] if domain.dimension == 1 else [nearest, SectionDistance("x", scale="natural")]


def companions(leader: Generator, domain: Domain, heavy_tailed: bool) -> list[Generator]:
    """Generators to hold against `leader`: faster decay, and some weight on the determinant.

    Faster decay also means more weight far out, which the tails of some models (the log-normal) do not bear. Barriers need a
    convex domain; elsewhere there are distances only.
    """
    if not domain.is_convex:
        return [SectionDistance("x^2", scale="natural"), *(g for g in _distances(domain) if g != leader)]
    if leader.own_tests:
        # Of a finite variance whatever the shape parameters, as the leader.
        return [Barrier(0.0, 0.0), Barrier(0.3, 0.25)]
    family = leader if isinstance(leader, Barrier) and leader.power is not None else Barrier(1.0, 0.0)
    step = 0.3 if heavy_tailed else 0.6
    return [beside(family, -step), beside(family, -0.2, 0.25)]


def beside(member: Barrier, power: float, det_power: float = 0.0) -> Barrier:
    """The member of the family this far from another one, in the same units."""
    assert member.power is not None
    return replace(member, power=round(member.power + power, 4), det_power=round(member.det_power + det_power, 4))
