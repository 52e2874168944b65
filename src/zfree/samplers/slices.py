r"""Draws from any density that can be evaluated: slices along lines, in coordinates that keep the boundary away.

Where the domain unfolds to the whole space (:mod:`zfree.samplers.unfolding`) the chains move there. On other convex domains a line
leaves a segment (a, b), and the point at t is moved in :math:`s = \log\frac{t-a}{b-t}`, or a logarithm where one end is missing. A slice
is found by stepping out and shrinking (Neal 2003): no derivative, no step size, and densities with poles at a facet are as easy as others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from zfree.arrays import Array, Index, Mask
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.samplers.draws import Draws
from zfree.samplers.lines import block, learnt_root, number_of_chains, run, spread_evenly
from zfree.samplers.starts import choose
from zfree.samplers.unfolding import LARGEST_LOG, ROUNDING, Unfolding, unfolding

WIDTH, MOST_STEPS, MOST_SHRINKS = 3.0, 32, 100
"""First width of a slice, in standard deviations of the direction; steps out and inwards, at most."""
MOST_MOVES = 12_000
"""Moves along lines before chains that do not mix are given up."""
HEAT, HOT_ROUNDS = 4.0, 4
"""Chains start from the density to the power 1/4, after as many rounds."""
MOST_ROWS = 20_000
"""Rows of a start that the first frame is learnt from, at most."""
FAR = 30.0
"""Where a statistic overflows this many standard deviations out, the density counts as zero; nearer it is an error."""
UNRESOLVED = 0.002
"""Share of draws within rounding of the boundary above which they cannot be trusted."""

LogDensity = Callable[[Array], Array]


def slice_draws(
    log_density: LogDensity,
    domain: Domain,
    n: int,
    rng: np.random.Generator,
    start: Array | None = None,
    patience: float = 1.0,
) -> Draws:
    """Draws from exp(log_density) on a domain; chains start from rows of `start`, if it is given."""
    chains = number_of_chains(n)
    chart = unfolding(domain)
    target = _Segments(log_density, domain) if chart is None else _Unfolded(log_density, domain, chart)
    if start is not None:
        rows = target.inwards(choose(start, min(len(start), MOST_ROWS), rng))
        Y = choose(rows, chains, rng)
        root = learnt_root(rows[None], np.eye(Y.shape[1]))
    else:
        Y = np.repeat(target.inwards(domain.interior_point()[None]), chains, axis=0)
        root = np.eye(Y.shape[1])
        for rounds in (1, 1, HOT_ROUNDS):  # from one point and an unknown scale: the frame is learnt at once
            states = block(_Slice(target, HEAT), Y, root, rounds, 1, rng)
            Y, root = states[-1], learnt_root(states[-1:], root)
    found = run(_Slice(target, 1.0), Y, root, n, rng, int(patience * MOST_MOVES))
    draws = spread_evenly(found.states, n)
    share = float(target.unresolved(draws).mean())
    remark = (
        f"{share:.2g} of the draws lie within rounding of the boundary, where the density has a pole that doubles cannot resolve on "
        f"{domain!r}; a pole at zero of an Orthant, or at a part of a Simplex, can be"
        if share > UNRESOLVED
        else ""
    )
    return Draws(target.outwards(draws), False, target.method, found.rhat, found.effective_size, remark)


class _Slice:
    """A slice on the line through every state, of the density to the power 1/heat."""

    def __init__(self, target: _Target, heat: float) -> None:
        self._target, self._heat = target, heat

    def __call__(self, Y: Array, v: Array, rng: np.random.Generator) -> Array:
        n, line = len(Y), self._target.line(Y, v)

        def value(rows: Index, s: Array) -> Array:
            return line.value(rows, s) / self._heat

        every, here = np.arange(n), line.here
        level = line.now / self._heat
        if not np.isfinite(level).all():
            bad = int(np.argmin(np.isfinite(level)))
            raise SpecificationError(
                f"the log-density is not finite at x = {self._target.outwards(Y[bad : bad + 1])[0].tolist()}, inside the domain. "
                "Write it so that it is finite on the whole domain."
            )
        level += np.log(rng.uniform(size=n))
        ends = here - WIDTH * rng.uniform(size=n) + np.array([[0.0], [WIDTH]])
        steps = np.floor(MOST_STEPS * rng.uniform(size=n)) * np.array([[1.0], [-1.0]]) + np.array(
            [[0.0], [MOST_STEPS - 1.0]]
        )
        outwards = np.repeat([-WIDTH, WIDTH], n)
        todo = np.flatnonzero(steps.ravel() > 0)
        while todo.size:
            todo = todo[value(todo % n, ends.flat[todo]) > level[todo % n]]
            ends.flat[todo] += outwards[todo]
            steps.flat[todo] -= 1.0
            todo = todo[steps.flat[todo] > 0]
        low, high = ends
        new, todo = here.copy(), every
        for _ in range(MOST_SHRINKS):
            s = low[todo] + (high[todo] - low[todo]) * rng.uniform(size=todo.size)
            found = value(todo, s) >= level[todo]
            new[todo[found]] = s[found]
            todo, s = todo[~found], s[~found]
            if not todo.size:
                break
            below = s < here[todo]
            low[todo[below]], high[todo[~below]] = s[below], s[~below]
        return np.where((new == here)[:, None], Y, line.point(every, new))


class _Line(NamedTuple):
    """The lines through all states, with a coordinate s on each."""

    here: Array
    """s of the states."""
    now: Array
    """The density there."""
    point: Callable[[Index, Array], Array]
    """States at s, of some of the chains."""
    value: Callable[[Index, Array], Array]
    """Logarithm of their density with respect to s, −∞ outside the domain."""


class _Target(ABC):
    """The density in the coordinates the chains move in."""

    method: str

    def __init__(self, log_density: LogDensity, domain: Domain) -> None:
        self._log_density, self._domain = log_density, domain

    @abstractmethod
    def line(self, Y: Array, v: Array) -> _Line: ...

    @abstractmethod
    def inwards(self, X: Array) -> Array:
        """Coordinates of rows of the model."""

    @abstractmethod
    def outwards(self, Y: Array) -> Array:
        """And back."""

    @abstractmethod
    def unresolved(self, Y: Array) -> Mask:
        """States so close to the boundary that rounding says where they are."""

    def _evaluate(self, X: Array, valid: Mask, far: Mask) -> Array:
        """log p where `valid`, −∞ elsewhere. Rows that are `far` may overflow: there is no mass that far out."""
        out = np.full(len(X), -np.inf)
        rows = np.flatnonzero(valid)
        if rows.size:
            out[rows] = self._attempt(X[rows], far[rows])
        return out

    def _attempt(self, X: Array, far: Mask) -> Array:
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                out = self._log_density(X)
        except SpecificationError:
            if far.all() and len(X) == 1:
                return np.array([-np.inf])
            if not far.any():
                raise
            parts = (
                (far, ~far) if not far.all() else (np.arange(len(X)) < len(X) // 2, np.arange(len(X)) >= len(X) // 2)
            )
            out = np.empty(len(X))
            for part in parts:
                out[part] = self._attempt(X[part], far[part])
            return out
        broken = np.isnan(out) | np.isposinf(out)
        if np.any(broken & ~far):
            raise SpecificationError(
                f"the log-density is {out[broken & ~far][0]} at x = {X[broken & ~far][0].tolist()}, inside the domain. Write it so "
                "that it is finite on the whole domain."
            )
        return np.where(broken, -np.inf, out)


class _Unfolded(_Target):
    method = "slices in unfolded coordinates"

    def __init__(self, log_density: LogDensity, domain: Domain, chart: Unfolding) -> None:
        super().__init__(log_density, domain)
        self._chart = chart

    def inwards(self, X: Array) -> Array:
        return self._chart.unfold(X)

    def outwards(self, Y: Array) -> Array:
        return self._chart.fold(Y).points

    def unresolved(self, Y: Array) -> Mask:
        return self._chart.unresolved(self.outwards(Y))

    def line(self, Y: Array, v: Array) -> _Line:
        middle, spread = np.median(Y, axis=0), Y.std(axis=0)

        def point(rows: Index, s: Array) -> Array:
            return Y[rows] + s[:, None] * v

        def value(rows: Index, s: Array) -> Array:
            y = point(rows, s)
            X, log_volume, valid = self._chart.fold(y)
            far = (np.abs(y - middle) / FAR - spread).max(axis=1) > 0
            return self._evaluate(X, valid, far) + log_volume

        here = np.zeros(len(Y))
        return _Line(here, value(np.arange(len(Y)), here), point, value)


class _Segments(_Target):
    method = "slices along segments"

    def __init__(self, log_density: LogDensity, domain: Domain) -> None:
        super().__init__(log_density, domain)
        self._chart = domain.chart
        self._inner = domain if self._chart is None else self._chart.domain

    def inwards(self, X: Array) -> Array:
        return X if self._chart is None else self._chart.pull(X)

    def outwards(self, Y: Array) -> Array:
        return Y if self._chart is None else self._chart.push(Y)

    def unresolved(self, Y: Array) -> Mask:
        # A move towards a facet starts from a point that may be far from it, and has the digits of that point.
        close = self._inner.margins(Y) < ROUNDING * self._inner.margin_scales(Y)
        return np.asarray(close.any(axis=1))

    def line(self, Y: Array, v: Array) -> _Line:
        below, above = self._inner.hull.chord(Y, v)
        low, high = np.isfinite(below), np.isfinite(above)
        both, none = low & high, ~low & ~high
        with np.errstate(all="ignore"):
            length = np.where(both, below + above, 1.0)
            here = np.select([both, low, high], [np.log(below / above), np.log(below), np.log(above)], 0.0)

        def position(rows: Index, s: Array) -> Array:
            """t at s, from −below to above."""
            with np.errstate(all="ignore"):
                single = np.exp(np.clip(s, -LARGEST_LOG, LARGEST_LOG))
                cases = [length[rows] * expit(s) - below[rows], single - below[rows], above[rows] - single]
            return np.select([both[rows], low[rows], high[rows]], cases, s)

        def point(rows: Index, s: Array) -> Array:
            return Y[rows] + position(rows, s)[:, None] * v

        def value(rows: Index, s: Array) -> Array:
            return at(point(rows, s), rows, s)

        def at(y: Array, rows: Index, s: Array) -> Array:
            log_slope = np.where(both[rows], log_expit(s) + log_expit(-s), np.where(none[rows], 0.0, s))
            valid: Mask = self._inner.contains(y)
            valid[(np.abs(s) >= LARGEST_LOG) & ~none[rows]] = False
            return self._evaluate(self.outwards(y), valid, np.zeros(len(y), dtype=bool)) + log_slope

        return _Line(here, at(Y, np.arange(len(Y)), here), point, value)
