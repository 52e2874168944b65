r"""The weight chooses itself: search of the family Barrier(p, γ) for the smallest criterion.

The search is confined to the generators for which the estimate has a finite variance (see :mod:`zfree.inference.facets`); inside
it the criterion is smooth in (p, γ). A few points spread along γ = 0, where the good generators are, start it; then a quadratic is
fitted to the logarithm of the criterion around the best point and its minimum tried, a few times.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.generators import Barrier
from zfree.inference import required_decay
from zfree.models import BoundaryOrder
from zfree.selection.candidate import Candidate
from zfree.selection.search import Leniency, Search

POWERS = (-1.0, 1.95)
DET_POWERS = (-0.3, 1.0)
"""The family that is searched."""
MARGIN = 0.08
"""How far inside the region of finite variance the search stays, in the exponent of D."""
ROUNDS = 5
"""Quadratic steps after the first points."""
PRIOR_ROWS = 10.0
"""Weight, in rows, of the prior guess of (p, γ), which keeps the choice steady when there are few."""

Point = tuple[float, float]


class BarrierSearch:
    """The points of the family visited so far, and the best of them."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.domain, self.orders = search.objective.problem.domain, search.orders
        self.trials: list[Candidate] = []
        self.seen: dict[Point, Candidate] = {}
        # A density that vanishes faster than any power, as the log-normal, is best served by the log barrier.
        self.top = largest_power(self.domain, self.orders, 0.0) if self.orders else 0.2

    def run(self) -> tuple[list[Candidate], Candidate]:
        """Search, and return what was tried with the best."""
        self.visit([(max(self.top - step, POWERS[0]), 0.0) for step in (0.0, 0.2, 0.5, 0.9, 1.4)])
        if not self.seen:
            return self._fall_back()
        self.visit([(largest_power(self.domain, self.orders, gamma) - 0.25, gamma) for gamma in (-0.15, 0.15)])
        p, gamma = self.best
        star = ((0.1, 0.0), (-0.1, 0.0), (0.0, 0.07), (0.0, -0.07), (-0.1, -0.07))
        self._visit_pulled_inside([(p + dp, gamma + dg) for dp, dg in star])
        for _ in range(ROUNDS):
            proposal = self._quadratic_minimum()
            if proposal is None or not self.visit([self._pulled_inside(proposal)]):
                break
        return self.trials, self.seen[self.best]

    def _fall_back(self) -> tuple[list[Candidate], Candidate]:
        """Nothing can be trusted: take the log barrier, which is valid for every model that is one, and let the fit say the rest."""
        found = self.search.look(Barrier.log(det_power=0.0), Leniency(any_rows=True, any_variance=True))
        self.trials.append(found)
        if found.fitted is None:
            raise SpecificationError(
                f"no generator can be used on these data, not even {found.generator!r}: {found.refused}."
            )
        return self.trials, found

    @property
    def best(self) -> Point:
        """The point with the smallest penalised criterion."""
        return min(self.seen, key=self._value)

    def _value(self, point: Point) -> float:
        """The cautious criterion, plus a pull towards the usual optimum that fades with n."""
        measured = self.seen[point]
        pull = ((point[0] - self.top + 0.2) / 0.3) ** 2 + (point[1] / 0.1) ** 2
        return measured.cautious + PRIOR_ROWS / measured.n_rows * pull

    def visit(self, points: Sequence[Point]) -> bool:
        """Measure points together, but for those that are out of bounds or next to one that was measured; whether there were any."""
        new: list[Point] = []
        for point in points:
            near = any(_distance(point, other) < 0.01 for other in (*self.seen, *new))
            if not near and is_allowed(self.domain, self.orders, point):
                new.append((round(point[0], 4), round(point[1], 4)))
        found = self.search.look_at([Barrier(*point) for point in new])
        self.trials += [c.for_the_record() for c in found]
        measured = {point: c for point, c in zip(new, found, strict=True) if c.fitted is not None}
        self.seen |= measured
        if measured:
            leader = self.best
            self.seen = {p: c if p == leader else c.for_the_record() for p, c in self.seen.items()}
        return bool(measured)

    def _visit_pulled_inside(self, points: Sequence[Point]) -> None:
        """Measure points, together as far as possible: one that has to be pulled inside goes towards the best of those before it."""
        waiting: list[Point] = []
        for point in points:
            if waiting and not is_allowed(self.domain, self.orders, point):
                self.visit(waiting)
                waiting = []
            waiting.append(self._pulled_inside(point))
        self.visit(waiting)

    def _quadratic_minimum(self) -> Point | None:
        """Minimum of the quadratic through the values around the best point, within a step of it."""
        center = np.array(self.best)
        points = np.array(list(self.seen)) - center
        values = np.array([self._value(point) for point in self.seen])
        order = np.argsort([_distance(p, (0.0, 0.0)) for p in points])[:9]
        x, y = points[order].T
        design = np.column_stack([np.ones_like(x), x, y, x * x / 2, x * y, y * y / 2])
        if np.linalg.matrix_rank(design) < 6:
            return None
        nearness = np.exp(-((x / 0.4) ** 2) - (y / 0.2) ** 2)
        fit = np.linalg.lstsq(design * nearness[:, None], values[order] * nearness, rcond=None)[0]
        step = _newton_step(fit[1:3], np.array([[fit[3], fit[4]], [fit[4], fit[5]]]))
        length = _distance((step[0], step[1]), (0.0, 0.0))
        step = step * min(1.0, 0.3 / max(length, 1e-12))
        return float(center[0] + step[0]), float(center[1] + step[1])

    def _pulled_inside(self, point: Point) -> Point:
        """The last allowed point on the way from the best one."""
        if is_allowed(self.domain, self.orders, point):
            return point
        a, b = np.array(self.best), np.array(point)
        for _ in range(12):
            middle = 0.5 * (a + b)
            a, b = (middle, b) if is_allowed(self.domain, self.orders, (middle[0], middle[1])) else (a, middle)
        return float(a[0]), float(a[1])

    def edge(self) -> str:
        """The bound of the family that the best point sits on, if any."""
        if not self.seen:
            return "every member rests on a handful of rows (heavy tails or outliers); the log barrier was taken"
        p, gamma = self.best
        for name, value, bounds in (("power", p, POWERS), ("det_power", gamma, DET_POWERS)):
            if min(abs(value - bounds[0]), abs(value - bounds[1])) < 0.02:
                return f"{name} = {value:.3g} is at the edge of the family that was searched"
        return ""


def is_allowed(domain: Domain, orders: Sequence[BoundaryOrder], point: Point) -> bool:
    """Whether (p, γ) is in the family and has a finite variance with :data:`MARGIN` to spare."""
    p, gamma = point
    if not (POWERS[0] <= p <= POWERS[1] and DET_POWERS[0] <= gamma <= DET_POWERS[1]):
        return False
    decay = Barrier(p, gamma).decay(domain)
    if decay is None:
        return True
    needed = max((required_decay(order) for order in orders), default=0.0)
    least = max((-(1.0 + order.density) / 2.0 for order in orders), default=-0.5)
    return decay.across >= needed + MARGIN and decay.along >= min(0.0, least + MARGIN)


def largest_power(domain: Domain, orders: Sequence[BoundaryOrder], gamma: float) -> float:
    """The largest p that is allowed at this γ, by bisection (the exponent of D falls with p)."""
    low, high = POWERS
    if is_allowed(domain, orders, (high, gamma)):
        return high
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_allowed(domain, orders, (middle, gamma)) else (low, middle)
    return low


def _distance(a: Sequence[float] | Array, b: Sequence[float]) -> float:
    """γ changes a generator about twice as fast as p does."""
    return float(np.hypot(a[0] - b[0], 2.0 * (a[1] - b[1])))


def _newton_step(slope: Array, curvature: Array) -> Array:
    """Newton's step, with directions of no or negative curvature treated as nearly flat."""
    values, vectors = np.linalg.eigh(curvature)
    floor = 1e-2 * max(float(np.abs(values).max()), 1e-6)
    step: Array = -vectors @ ((vectors.T @ slope) / np.maximum(values, floor))
    return step
