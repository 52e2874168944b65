"""Choosing a generator from candidates: what is compared, what is refused, and the record of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import MissingDependencyError, NotConvexError, SingularMomentsError, SpecificationError
from zfree.generators import Barrier, BoundaryDistance, Generator
from zfree.inference.boundary import boundary_orders, judge
from zfree.inference.criterion import Measured, Target, measure, weight_matrix
from zfree.inference.pilot import settled
from zfree.inference.tails import Curves, TailOrder, tail_orders
from zfree.models import BoundaryOrder
from zfree.moments import Problem
from zfree.solvers import Restriction, solve

if TYPE_CHECKING:
    import pandas

FEW_ROWS = 3.0
"""A criterion that rests on fewer rows than this is not believed. Between that and many, a search prefers more rows."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate that was looked at: its criterion and the rows behind it (nan where not measured), or the reason why it was refused."""

    generator: Generator
    criterion: float
    effective_rows: float
    refused: str = ""


@dataclass(frozen=True, eq=False)
class Selection:
    """Why this generator: every candidate that was looked at, and the one that was taken.

    Attributes
    ----------
    chosen : Generator
    criterion : float
        Tr(W Σ̂) of the chosen one. With the default target its reciprocal estimates the share of the Cramér–Rao bound that is
        reached (optimistic or pessimistic by some per cent at a few hundred rows).
    trials : tuple of Trial
        In the order they were tried.
    target : str
        What W measures.
    remark : str
        An edge that was hit, or why theory names this one.
    by_theory : bool
        Whether the generator was known beforehand, and nothing compared.
    """

    chosen: Generator
    criterion: float
    trials: tuple[Trial, ...]
    target: str
    remark: str = ""
    by_theory: bool = False

    def __str__(self) -> str:
        rows = [("generator", "criterion", "rows behind it", "remark")]
        for t in sorted(self.trials, key=lambda t: t.criterion):
            taken = "chosen" if t.generator == self.chosen else t.refused
            rows.append((repr(t.generator), _shown(t.criterion, ".4g"), _shown(t.effective_rows, ".0f"), taken))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        head = (
            "named by theory, not searched for" if self.by_theory else f"selection by {self.target} (smaller is better)"
        )
        return "\n".join([head, *lines, *([f"note: {self.remark}"] if self.remark else [])])

    __repr__ = __str__

    def to_frame(self) -> pandas.DataFrame:
        """One row per candidate, best first."""
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError("to_frame() needs pandas: run `pip install pandas`.") from error
        ordered = sorted(self.trials, key=lambda t: t.criterion)
        return pandas.DataFrame(
            {
                "generator": [repr(t.generator) for t in ordered],
                "power": [getattr(t.generator, "power", np.nan) for t in ordered],
                "det_power": [getattr(t.generator, "det_power", np.nan) for t in ordered],
                "criterion": [t.criterion for t in ordered],
                "effective_rows": [t.effective_rows for t in ordered],
                "refused": [t.refused for t in ordered],
                "chosen": [t.generator == self.chosen for t in ordered],
            }
        )


@dataclass(frozen=True, eq=False)
class Search:
    """What is compared, and how: shared by every candidate."""

    problem: Problem
    restriction: Restriction
    ridge: float
    weight: Array
    orders: Sequence[BoundaryOrder]
    theta: Array
    """A first estimate, at which tails are looked at."""

    @cached_property
    def _curves(self) -> Curves | None:
        return Curves.of(self.problem)

    def tails(self, generator: Generator, theta: Array | None = None) -> tuple[TailOrder, ...]:
        """How a candidate behaves far out, at the first estimate or at another."""
        if self.problem.model.rapidly_decreasing and generator.tempered:
            return ()  # and no need for the curves
        problem = replace(self.problem, generator=generator)
        return tail_orders(problem, self.theta if theta is None else theta, self.restriction, self._curves)

    def look(
        self, generator: Generator, *, any_rows: bool = False, any_variance: bool = False
    ) -> tuple[Trial, Measured | None]:
        """Measure a candidate, or say why not.

        `any_rows` accepts one that rests on a handful of rows, `any_variance` one whose variance may be infinite.
        """
        domain = self.problem.domain
        verdict, vanishing = judge(generator.decay(domain), self.orders), generator.check(domain)
        if not vanishing.holds:
            # On a convex domain the reason is plain; elsewhere it may be that there is no such generator.
            why = "" if domain.is_convex else f" ({vanishing.reason})"
            return Trial(generator, np.inf, 0.0, "does not vanish on the boundary" + why), None
        if not verdict.finite_variance and not any_variance:
            return Trial(generator, np.inf, 0.0, "no finite variance"), None
        try:
            generator = settled(generator, self.problem, self.restriction, self.ridge)
            if not judge(None, (), self.tails(generator)).finite_variance and not any_variance:
                return Trial(generator, np.inf, 0.0, "no finite variance far out"), None
            problem = replace(self.problem, generator=generator)
            moments = problem.moments()
            solution = solve(moments, self.restriction, problem.model.names, self.ridge, quiet=True)
        except SingularMomentsError:
            return Trial(generator, np.inf, 0.0, "Γ is singular"), None
        except (SpecificationError, NotConvexError) as error:
            return Trial(generator, np.inf, 0.0, str(error)), None
        measured = measure(problem, solution, moments, self.weight, self.ridge)
        if measured.effective_rows < FEW_ROWS and not any_rows:
            reason = f"rests on {measured.effective_rows:.1f} rows"
            return Trial(generator, np.inf, measured.effective_rows, reason), None
        return Trial(generator, measured.criterion, measured.effective_rows), measured


def safe_generator(domain: Domain) -> Generator:
    """One that vanishes on the whole boundary, and fast where that can be had: barriers need a convex domain."""
    return Barrier.log(det_power=0.0) if domain.is_convex else BoundaryDistance(scale="natural")


def prepare(problem: Problem, restriction: Restriction, ridge: float, target: Target) -> Search:
    """Fit once with a generator that is valid whatever the data, to learn the boundary's exponents and the weight matrix."""
    safe = replace(problem, generator=safe_generator(problem.domain))
    theta = solve(safe.moments(), restriction, problem.model.names, ridge, quiet=True).theta
    orders = boundary_orders(problem, theta, restriction)
    weight = weight_matrix(target, problem, restriction, theta)
    return Search(problem, restriction, ridge, weight, orders, theta)


def best_of(search: Search, candidates: Iterable[Generator]) -> tuple[list[Trial], Measured]:
    """The candidate with the smallest criterion."""
    looked = [search.look(g) for g in candidates]
    trials = [trial for trial, _ in looked]
    fitted = [m for _, m in looked if m is not None]
    if not fitted:
        reasons = "; ".join(f"{t.generator!r}: {t.refused}" for t in trials)
        raise SpecificationError(f"no candidate generator can be used on these data: {reasons}.")
    return trials, min(fitted, key=lambda m: m.criterion)


def _shown(value: float, form: str) -> str:
    return "–" if np.isnan(value) else f"{value:{form}}"
