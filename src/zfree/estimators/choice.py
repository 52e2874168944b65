"""From what a user says about the generator to the one that is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from zfree.errors import SelectionWarning, SpecificationError, warn
from zfree.generators import Barrier, Combined, Generator, Identity
from zfree.inference import FamilySearch, Selection, Target, Trial, best_of, boundary_orders, judge, prepare
from zfree.moments import Problem
from zfree.solvers import Restriction

GeneratorLike = Generator | Sequence[Generator] | Combined | str
"""A generator, a list to choose from, several combined, or ``"auto"``."""


def check_generator(generator: Any) -> None:
    """A generator, a non-empty list of them, several combined, or the word auto."""
    if isinstance(generator, Generator | Combined) or (isinstance(generator, str) and generator == "auto"):
        return
    if isinstance(generator, list | tuple) and generator and all(isinstance(g, Generator) for g in generator):
        return
    raise SpecificationError(
        'generator must be "auto", a generator such as zf.Barrier(power=4/3), a list of generators to choose from, or '
        f"zf.Combined, got {generator!r}."
    )


def choose_generator(
    asked: GeneratorLike,
    problem: Problem,
    restriction: Restriction,
    ridge: float,
    target: Target,
    known: Generator | None,
) -> tuple[Generator, Selection | None]:
    """The generator to use, and the record of how it was chosen (None if it was given).

    Parameters
    ----------
    asked : Generator, sequence of Generator or "auto"
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
        return asked, None
    if not restriction.free.any():
        return Barrier.log(det_power=0.0), None  # nothing is estimated
    if isinstance(asked, Combined):
        asked = "auto" if asked.generators is None else asked.generators
    if isinstance(asked, str):
        remark = "known to be maximum likelihood"
        if not problem.domain.has_boundary:
            known, remark = Identity(), "the family has one member where there is no boundary"
        if known is not None:
            trial = Trial(known, float("nan"), float(len(problem.X)))
            return known, Selection(known, float("nan"), (trial,), "theory", remark)
    search = prepare(problem, restriction, ridge, target)
    label = target if isinstance(target, str) else "a target matrix"
    if not isinstance(asked, str):
        trials, best = best_of(search, asked)
        return best.generator, Selection(best.generator, best.criterion, tuple(trials), label)
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


def companions(leader: Generator, heavy_tailed: bool) -> list[Generator]:
    """Generators to hold against `leader`: faster decay, and some weight on the determinant.

    Faster decay also means more weight far out, which the tails of some models (the log-normal) do not bear.
    """
    p, gamma = (leader.power, leader.det_power) if isinstance(leader, Barrier) else (1.0, 0.0)
    step = 0.3 if heavy_tailed else 0.6
    return [Barrier(round(p - step, 4), gamma), Barrier(round(p - 0.2, 4), round(gamma + 0.25, 4))]
