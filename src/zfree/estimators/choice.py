"""From what a user says about the generator to the one that is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from zfree.conversion import shown
from zfree.domains import Domain
from zfree.errors import SelectionWarning, SpecificationError, warn
from zfree.generators import Barrier, BoundaryDistance, Combined, Generator, Identity, SectionDistance, named
from zfree.inference import (
    FamilySearch,
    Search,
    Selection,
    Target,
    Trial,
    best_of,
    boundary_orders,
    by_theory,
    is_saturated,
    judge,
    prepare,
    safe_generator,
    settled,
    worth_a_look,
)
from zfree.moments import Problem
from zfree.solvers import Restriction

AUTO, SEARCH = "auto", "search"
"""By theory where there is one for the model, else a search of the family Barrier(p, γ); and always that search."""

GeneratorLike = Generator | Sequence[Generator | str] | Combined | str
"""A generator or its name, a list to choose from, several combined, ``"auto"`` or ``"search"``."""


def as_generator(asked: Any) -> Generator | Sequence[Generator] | Combined | str:
    """What was asked for, with names replaced by the generators they stand for; an error for anything else."""
    if isinstance(asked, Generator | Combined) or (isinstance(asked, str) and asked in (AUTO, SEARCH)):
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
) -> tuple[Generator, Selection | None]:
    """The generator to use, and the record of how it was chosen (None if it was given).

    Parameters
    ----------
    asked : Generator, sequence of Generator, "auto" or "search"
    problem : Problem
        Data and model; its generator is ignored.
    restriction, ridge
        As for the fit.
    target : str or array_like
        What the criterion measures, see :func:`zfree.inference.criterion.weight_matrix`.
    known : Generator or None
        One that is known to give maximum likelihood for this model.
    """
    if isinstance(asked, Generator):
        return settled(asked, problem, restriction, ridge), None
    if not restriction.free.any():
        return safe_generator(problem.domain), None  # nothing is estimated
    if isinstance(asked, Combined):
        asked = AUTO if asked.generators is None else asked.generators
    remark = ""
    if isinstance(asked, str) and not problem.domain.is_convex:
        asked, remark = _distances(problem.domain), "barriers need a convex domain"
    label = target if isinstance(target, str) else "a target matrix"
    if asked == AUTO:
        found = _by_theory(problem, restriction, ridge, known, label)
        if found is not None:
            return found.chosen, found
    search = prepare(problem, restriction, ridge, target)
    if not isinstance(asked, str):
        trials, best = best_of(search, asked)
        return best.generator, Selection(best.generator, best.criterion, tuple(trials), label, remark)
    return _search(search, label, worth_a_look(problem.model) if asked == AUTO else ())


def _by_theory(
    problem: Problem, restriction: Restriction, ridge: float, known: Generator | None, label: str
) -> Selection | None:
    """A generator that theory names for this model, if it does."""
    remark = "known to be maximum likelihood"
    generator = by_theory(problem, ridge)
    if not problem.domain.has_boundary and (generator is None or is_saturated(problem.model, restriction)):
        known, remark = Identity(scale="natural"), "the family has one member where there is no boundary"
    if known is not None:
        return _record(known, "theory", remark)
    if generator is None:
        return None
    return _record(settled(generator, problem, restriction, ridge), label, generator.reason)


def _record(generator: Generator, label: str, remark: str) -> Selection:
    """A choice that nothing was compared for; its criterion is measured by the fit."""
    trial = Trial(generator, float("nan"), float("nan"))
    return Selection(generator, float("nan"), (trial,), label, remark, by_theory=True)


def _search(search: Search, label: str, others: Sequence[Generator]) -> tuple[Generator, Selection]:
    """The member of the family Barrier(p, γ) with the smallest criterion, or one of some others if that is smaller still."""
    problem = search.problem
    family = FamilySearch(search)
    trials, best = family.run()
    for _ in range(3):
        # The exponents at the boundary were those of a first estimate; the better one may show that D must vanish faster, or
        # grow more slowly.
        theta = best.solution.theta
        orders, tails = boundary_orders(problem, theta, search.restriction), search.tails(best.generator, theta)
        if judge(best.generator.decay(problem.domain), orders, tails).finite_variance:
            break
        search = replace(search, orders=(*search.orders, *orders), theta=theta)
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
    for trial, measured in map(search.look, others):
        trials.append(trial)
        if measured is not None and measured.cautious < best.cautious:
            best, remark = measured, trial.generator.reason
    return best.generator, Selection(best.generator, best.criterion, tuple(trials), label, remark)


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
    if leader.own_tests:  # of a finite variance whatever the shape parameters, as the leader
        return [Barrier(0.0, 0.0), Barrier(0.3, 0.25)]
    family = leader if isinstance(leader, Barrier) and leader.power is not None else Barrier(1.0, 0.0)
    step = 0.3 if heavy_tailed else 0.6
    return [beside(family, -step), beside(family, -0.2, 0.25)]


def beside(member: Barrier, power: float, det_power: float = 0.0) -> Barrier:
    """The member of the family this far from another one, in the same units."""
    assert member.power is not None
    return replace(member, power=round(member.power + power, 4), det_power=round(member.det_power + det_power, 4))
