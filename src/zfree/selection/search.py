"""Looking at candidates: what is compared, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from zfree.arrays import Array
from zfree.errors import NotConvexError, SingularMomentsError, SpecificationError, ZfreeError
from zfree.generators import Generator, default_generator
from zfree.inference import Curves, TailOrder, boundary_orders, judge, tail_orders
from zfree.models import BoundaryOrder
from zfree.selection.candidate import Candidate
from zfree.selection.criterion import Target, measure, weight_matrix
from zfree.selection.pilot import settled
from zfree.selection.together import sum_together
from zfree.solvers import Objective, Solution, solve

FEW_ROWS = 3.0
"""A criterion that rests on fewer rows than this is not believed. Between that and many, a search prefers more rows."""


@dataclass(frozen=True)
class Leniency:
    """What is let pass: `any_rows` a candidate that rests on a handful of rows, `any_variance` one whose variance may be infinite."""

    any_rows: bool = False
    any_variance: bool = False


STRICT = Leniency()


@dataclass(frozen=True, eq=False)
class Search:
    """What is compared, and how: shared by every candidate.

    Attributes
    ----------
    objective : Objective
        Over the rows that are looked at; its generator is ignored.
    weight : ndarray
        W of the criterion.
    orders : sequence of BoundaryOrder
    theta : ndarray
        A first estimate, at which tails are looked at.
    """

    objective: Objective
    weight: Array
    orders: Sequence[BoundaryOrder]
    theta: Array

    @cached_property
    def _curves(self) -> Curves | None:
        return Curves.of(self.objective.problem)

    def tails(self, generator: Generator, theta: Array | None = None) -> tuple[TailOrder, ...]:
        """How a candidate behaves far out, at the first estimate or at another."""
        problem = self.objective.problem
        if problem.model.rapidly_decreasing and generator.tempered:
            return ()  # and no need for the curves
        at = self.theta if theta is None else theta
        return tail_orders(problem.with_generator(generator), at, self.objective.restriction, self._curves)

    def look(self, generator: Generator, leniency: Leniency = STRICT) -> Candidate:
        """Measure a candidate, or say why not."""
        (found,) = self.look_at([generator], leniency)
        return found

    def look_at(self, generators: Sequence[Generator], leniency: Leniency = STRICT) -> list[Candidate]:
        """Measure several candidates, in one pass over the rows for their moments and one for their influences."""
        admitted = [self._admitted(g, leniency) for g in generators]
        objectives = [a for a in admitted if isinstance(a, Objective)]
        errors = sum_together(objectives)
        solved = {id(o): self._solved(o, error) for o, error in zip(objectives, errors, strict=True)}
        fits = [(o, s) for o in objectives if isinstance(s := solved[id(o)], Solution)]
        measured = {id(o): c for (o, _), c in zip(fits, measure(fits, self.weight), strict=True)}
        found: list[Candidate] = []
        for each in admitted:
            if isinstance(each, Candidate):
                found.append(each)
            elif id(each) in measured:
                found.append(self._believed(measured[id(each)], leniency))
            else:
                refusal = solved[id(each)]
                assert isinstance(refusal, Candidate)
                found.append(refusal)
        for each in objectives:
            each.problem.release()
        return found

    def _admitted(self, generator: Generator, leniency: Leniency) -> Objective | Candidate:
        """The objective with this generator, or why it is not to be tried."""
        domain = self.objective.problem.domain
        verdict, vanishing = judge(generator.decay(domain), self.orders), generator.check(domain)
        if not vanishing.holds:
            # On a convex domain the reason is plain; elsewhere it may be that there is no such generator.
            why = "" if domain.is_convex else f" ({vanishing.reason})"
            return _refused(generator, "does not vanish on the boundary" + why)
        if not verdict.finite_variance and not leniency.any_variance:
            return _refused(generator, "no finite variance")
        try:
            generator = settled(generator, self.objective)
            if not judge(None, (), self.tails(generator)).finite_variance and not leniency.any_variance:
                return _refused(generator, "no finite variance far out")
        except ZfreeError as error:
            return _reason(generator, error)
        return self.objective.with_generator(generator)

    def _solved(self, objective: Objective, error: ZfreeError | None) -> Solution | Candidate:
        if error is None:
            try:
                return solve(objective, quiet=True)
            except ZfreeError as found:
                error = found
        return _reason(objective.problem.generator, error)

    def _believed(self, candidate: Candidate, leniency: Leniency) -> Candidate:
        rows = candidate.effective_rows
        if rows < FEW_ROWS and not leniency.any_rows:
            return _refused(candidate.generator, f"rests on {rows:.1f} rows", rows)
        return candidate


def _refused(generator: Generator, reason: str, rows: float = 0.0) -> Candidate:
    return Candidate(generator, np.inf, rows, reason)


def _reason(generator: Generator, error: ZfreeError) -> Candidate:
    """A candidate that cannot be fitted. What is wrong with the data is wrong with all candidates, and goes on."""
    if isinstance(error, SingularMomentsError):
        return _refused(generator, "Γ is singular")
    if isinstance(error, SpecificationError | NotConvexError):
        return _refused(generator, str(error))
    raise error


def prepare(objective: Objective, target: Target) -> Search:
    """Fit once with a generator that is valid whatever the data, to learn the boundary's exponents and the weight matrix."""
    safe = objective.with_generator(default_generator(objective.problem.domain, "look"))
    theta = solve(safe, quiet=True).theta
    orders = boundary_orders(objective.problem, theta, objective.restriction)
    return Search(objective, weight_matrix(target, objective, theta), orders, theta)


def best_of(search: Search, generators: Sequence[Generator]) -> tuple[list[Candidate], Candidate]:
    """The candidate with the smallest criterion."""
    trials = search.look_at(generators)
    fitted = [c for c in trials if c.fitted is not None]
    if not fitted:
        reasons = "; ".join(f"{t.generator!r}: {t.refused}" for t in trials)
        raise SpecificationError(f"no candidate generator can be used on these data: {reasons}.")
    return trials, min(fitted, key=lambda c: c.criterion)


def learned(search: Search, orders: Sequence[BoundaryOrder], theta: Array) -> Search:
    """The same search with more known of the boundary, at a better estimate."""
    return replace(search, orders=(*search.orders, *orders), theta=theta)
