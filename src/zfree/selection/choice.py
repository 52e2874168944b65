"""From what a user says about the generator to the one that is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from zfree.conversion import shown
from zfree.errors import SelectionWarning, SpecificationError, warn
from zfree.generators import Combined, Generator, Identity, default_generator, named
from zfree.inference import Found, boundary_orders, judge
from zfree.selection.barrier_search import BarrierSearch
from zfree.selection.candidate import Candidate, Selection
from zfree.selection.companions import distances
from zfree.selection.criterion import Target, check_target_name
from zfree.selection.pilot import settled
from zfree.selection.sample import looked_at, rows_looked_at
from zfree.selection.search import Search, best_of, learned, prepare
from zfree.selection.theory import by_theory, is_saturated, worth_a_look
from zfree.solvers import Objective

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


@dataclass(frozen=True, eq=False)
class Choice:
    """The generator to use, and what is known of it already.

    Attributes
    ----------
    objective : Objective
        With that generator, over all rows.
    record : Selection or None
        How it was chosen; None if it was given.
    found : Found or None
        Its solution, where the choice has looked at all rows.
    """

    objective: Objective
    record: Selection | None = None
    found: Found | None = None


def choose(
    asked: Generator | Sequence[Generator] | Combined | str,
    objective: Objective,
    target: Target,
    known: Generator | None,
) -> Choice:
    """The generator to use, and the record of how it was chosen.

    Parameters
    ----------
    asked : Generator, sequence of Generator, "auto" or "search"
    objective : Objective
        Its generator is ignored.
    target : str or array_like
        What the criterion measures, see :func:`zfree.selection.criterion.weight_matrix`.
    known : Generator or None
        One that is known to give maximum likelihood for this model.
    """
    domain = objective.problem.domain
    check_target_name(target, objective.problem.model)
    if isinstance(asked, Generator):
        return Choice(objective.with_generator(settled(asked, objective)))
    if not objective.n_free:
        return Choice(objective.with_generator(default_generator(domain, "look")))  # nothing is estimated
    if isinstance(asked, Combined):
        asked = AUTO if asked.generators is None else asked.generators
    remark = ""
    if isinstance(asked, str) and not domain.is_convex:
        asked, remark = distances(domain), "barriers need a convex domain"
    label = target if isinstance(target, str) else "a target matrix"
    if asked == AUTO:
        found = _by_theory(objective, known, label)
        if found is not None:
            return Choice(objective.with_generator(found.chosen), found)
    looked = looked_at(objective)
    search = prepare(looked, target)
    if isinstance(asked, str):
        trials, best, remark = _search(search, worth_a_look(objective.problem.model) if asked == AUTO else ())
    else:
        trials, best = best_of(search, asked)
    record = Selection(
        best.generator,
        best.criterion,
        tuple(t.for_the_record() for t in trials),
        label,
        remark,
        rows=rows_looked_at(objective, looked),
    )
    assert best.fitted is not None
    if looked is objective:
        fitted = best.fitted
        return Choice(fitted.objective, record, Found(fitted.solution, fitted.meat, objective.penalty))
    return Choice(objective.with_generator(best.generator), record)


def _by_theory(objective: Objective, known: Generator | None, label: str) -> Selection | None:
    """A generator that theory names for this model, if it does."""
    remark = "known to be maximum likelihood"
    generator = by_theory(objective)
    if not objective.problem.domain.has_boundary and (generator is None or is_saturated(objective)):
        known, remark = Identity(scale="natural"), "the family has one member where there is no boundary"
    if known is not None:
        return _record(known, "theory", remark)
    if generator is None:
        return None
    rows = rows_looked_at(objective, looked_at(objective))
    return replace(_record(settled(generator, objective), label, generator.reason), rows=rows)


def _record(generator: Generator, label: str, remark: str) -> Selection:
    """A choice that nothing was compared for; its criterion is measured by the fit."""
    nothing = float("nan")
    return Selection(generator, nothing, (Candidate(generator, nothing),), label, remark, by_theory=True)


def _search(search: Search, others: Sequence[Generator]) -> tuple[list[Candidate], Candidate, str]:
    """The member of the family Barrier(p, γ) with the smallest criterion, or one of some others if that is smaller still; and a remark."""
    problem, restriction = search.objective.problem, search.objective.restriction
    family = BarrierSearch(search)
    trials, best = family.run()
    for _ in range(3):
        # The exponents at the boundary were those of a first estimate; the better one may show that D must vanish faster, or
        # grow more slowly.
        assert best.fitted is not None
        theta = best.fitted.solution.theta
        orders, tails = boundary_orders(problem, theta, restriction), search.tails(best.generator, theta)
        if judge(best.generator.decay(problem.domain), orders, tails).finite_variance:
            break
        search = learned(search, orders, theta)
        family = BarrierSearch(search)
        again, best = family.run()
        trials += again
    remark = family.edge()
    if remark and family.seen:
        warn(
            f"the generator that suits these data best, {best.generator!r}, is not inside the family: {remark}. Look at "
            "result_.selection; the model or the domain may not fit the data.",
            SelectionWarning,
        )
    for found in search.look_at(others):
        trials.append(found)
        if found.fitted is not None and found.cautious < best.cautious:
            best, remark = found, found.generator.reason
    return trials, best, remark
