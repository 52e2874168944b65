r"""Metropolis-adjusted Langevin on a domain, preconditioned by a generator.

The diffusion :math:`dX = \tfrac12 (D\nabla\log p + \nabla\cdot D)\,dt + D^{1/2}\,dW` leaves p invariant for every D that vanishes across
the boundary: the weight that makes score matching valid makes sampling valid ("fit like you sample", Qin and Risteski 2024).
Its Euler step is the proposal, and Metropolis' rule removes the error of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array, Mask, Seed, row_sums
from zfree.conversion import check_callable, random_generator, real_array, shown, whole_number
from zfree.domains import Domain, Units
from zfree.errors import SpecificationError
from zfree.fields import Parts, RankOne
from zfree.generators import Barrier, BoundaryDistance, Generator
from zfree.roots import EPSILON, apply_parts, root
from zfree.samplers.diagnostics import effective_size, split_rhat
from zfree.samplers.draws import check_domain, check_number

TARGET = 0.574
"""Acceptance rate at which Langevin chains are most efficient (Roberts and Rosenthal 1998)."""
KEPT_DOUBLES = 2**24
"""States kept for the diagnostics, at most (128 MB)."""

LogDensityAndGradient = Callable[[Array], tuple[Array, Array]]
"""Rows (N, d) to log p up to a constant (N,) and its gradient (N, d)."""


@dataclass(frozen=True, eq=False)
class Chains:
    """Draws, and how far to trust them.

    Attributes
    ----------
    draws : ndarray of shape (n, d)
    acceptance : float
        Share of proposals accepted after the burn-in.
    step : float
        The step size h that was found.
    rhat, effective_size : ndarray of shape (d,)
        Split-R̂ and effective sample size of all states after the burn-in; in the chart's coordinates on a simplex.
    """

    draws: Array
    acceptance: float
    step: float
    rhat: Array
    effective_size: Array

    def __str__(self) -> str:
        return (
            f"{len(self.draws)} draws; acceptance {self.acceptance:.2f}, step {self.step:.3g}, largest split-R̂ "
            f"{self.rhat.max():.3f}, smallest effective size {self.effective_size.min():.0f}"
        )


class _State(NamedTuple):
    """Points with everything that was evaluated there, all of it one row per chain."""

    x: Array
    log_density: Array
    gradient: Array
    log_weight: Array
    divergence: Array
    parts: Parts

    def replaced(self, where: Mask, other: _State) -> _State:
        """Rows of `other` where asked."""

        def mix(new: Array, old: Array) -> Array:
            return np.where(where.reshape(-1, *[1] * (old.ndim - 1)), new, old)

        mine, others = self.parts, other.parts
        parts = Parts(
            None if mine.diagonal is None or others.diagonal is None else mix(others.diagonal, mine.diagonal),
            tuple(
                RankOne(mix(n.sigma, o.sigma), mix(n.u, o.u))
                for n, o in zip(others.rank_ones, mine.rank_ones, strict=True)
            ),
            None if mine.dense is None or others.dense is None else mix(others.dense, mine.dense),
        )
        return _State(
            mix(other.x, self.x),
            mix(other.log_density, self.log_density),
            mix(other.gradient, self.gradient),
            mix(other.log_weight, self.log_weight),
            mix(other.divergence, self.divergence),
            parts,
        )


class _Proposal:
    """N(m(x), h D(x)), the Euler step from every point."""

    def __init__(self, state: _State, h: float) -> None:
        scale = np.exp(state.log_weight)[:, None]
        drift = scale * apply_parts(state.parts, state.gradient)
        # Far out the gradient may call for a step of many standard deviations; one is enough, and the rule stays exact.
        length = np.sqrt(np.maximum(h * row_sums(state.gradient * drift), 0.0))[:, None]
        drift = drift / np.maximum(1.0, 0.5 * length) + scale * state.divergence
        self._mean = state.x + 0.5 * h * drift
        self._root, self._log_variance = root(state.parts, EPSILON), np.log(h) + state.log_weight

    def draw(self, rng: np.random.Generator) -> Array:
        noise = rng.standard_normal(self._mean.shape)
        proposed: Array = self._mean + np.exp(0.5 * self._log_variance)[:, None] * self._root.apply(noise)
        return proposed

    def log_density(self, X: Array) -> Array:
        """Up to a constant."""
        return self._root.log_density(X - self._mean, self._log_variance)


def sample_langevin(
    log_density: LogDensityAndGradient,
    domain: Domain,
    n: int,
    *,
    generator: Generator | None = None,
    start: Array | None = None,
    chains: int = 256,
    burn_in: int = 1000,
    steps: int = 1000,
    random_state: Seed = None,
) -> Chains:
    """Draw from an unnormalised density on a domain with many preconditioned Langevin chains at once.

    Parameters
    ----------
    log_density : callable
        Rows to (log p up to a constant, ∇ log p). It is only called inside the domain.
    domain : Domain
    n : int
        Draws to return: the last states of the chains, spread over the steps.
    generator : Generator, optional
        D. ``Barrier(1, det_power=0)`` by default, and the distance to the boundary where the domain is not convex, in the units of the
        points that the chains start from.
    start : ndarray, optional
        Rows to start from (they are repeated as needed); a point well inside by default. Chains do not jump between distant
        modes: start them from data where there are several.
    chains : int
        How many chains run side by side.
    burn_in : int
        Steps thrown away, during which the step size is tuned to an acceptance of 0.574.
    steps : int
        Steps after that, at least as many as `n` needs.
    random_state : int, Generator or None

    Returns
    -------
    Chains

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> def log_density(X):  # x₁ exp(−x₁ − x₂)
    ...     return np.log(X[:, 0]) - X.sum(axis=1), np.column_stack([1 / X[:, 0] - 1, -np.ones(len(X))])
    >>> found = zf.samplers.sample_langevin(log_density, zf.Orthant(2), 5000, random_state=0)
    >>> found.draws.mean(axis=0).round(1)
    array([2., 1.])
    """
    check_callable(log_density, "log_density")
    check_domain(domain)
    if generator is not None and not isinstance(generator, Generator):
        raise SpecificationError(f"generator must be a generator such as zf.Barrier(1), got {shown(generator)}.")
    n = check_number(n, domain.dimension)
    chains, burn_in = whole_number(chains, "chains", 2), whole_number(burn_in, "burn_in")
    steps = whole_number(steps, "steps", 8)
    rng = random_generator(random_state)
    target = _Diffusion(log_density, domain, generator)
    state = target.begin(start, chains, rng)
    log_h = np.log(0.5)
    for t in range(1, burn_in + 1):
        state, accepted = target.step(state, float(np.exp(log_h)), rng)
        log_h += (accepted - TARGET) / t**0.6
    h = float(np.exp(log_h))
    rounds = -(-n // chains)
    steps = max(steps, rounds)
    thin = steps // rounds
    stride = -(-steps * chains * state.x.shape[1] // KEPT_DOUBLES)
    kept: list[Array] = []
    trace: list[Array] = []
    rate = 0.0
    for t in range(1, steps + 1):
        state, accepted = target.step(state, h, rng)
        rate += accepted / steps
        if t % thin == 0 and len(kept) < rounds:
            kept.append(state.x)
        if t % stride == 0:
            trace.append(state.x)
    states = np.stack(trace)
    draws = np.concatenate(kept)[:n]
    return Chains(target.out(draws), rate, h, split_rhat(states), effective_size(states))


class _Diffusion:
    """The density in full-dimensional coordinates, with the generator."""

    def __init__(self, log_density: LogDensityAndGradient, domain: Domain, generator: Generator | None) -> None:
        self._log_density, self._given, self._chart = log_density, domain, domain.chart
        self._domain = domain if self._chart is None else self._chart.domain
        default = Barrier(1.0, det_power=0.0) if self._domain.is_convex else BoundaryDistance(scale="natural")
        self._generator = generator or default

    def out(self, X: Array) -> Array:
        return X if self._chart is None else self._chart.push(X)

    def begin(self, start: Array | None, chains: int, rng: np.random.Generator) -> _State:
        if start is None:
            x = np.repeat(self._domain.interior_point()[None], chains, axis=0)
        else:
            rows = real_array(start, "start")
            if not rows.size:
                raise SpecificationError("start has no rows; leave it out, or pass rows inside the domain.")
            outside = self._given.explain(rows)
            if len(outside):
                raise SpecificationError(f"start: {outside}. Pass rows that are strictly inside the domain.")
            x = rows[rng.integers(len(rows), size=chains)] if len(rows) != chains else rows
            x = x if self._chart is None else self._chart.pull(self._given.normalise(x))
            if not self._domain.contains(x).all():
                raise SpecificationError("a row of start is on the boundary of the domain, to rounding.")
        self._generator = self._generator.in_units(Units.of(self._domain, x))
        return self._evaluate(x)

    def _evaluate(self, x: Array) -> _State:
        value, gradient = self._log_density(self.out(x))
        bad = np.flatnonzero(~(np.isfinite(value) & np.isfinite(gradient).all(axis=1)))
        if bad.size:
            raise SpecificationError(
                f"the log-density or its gradient is not finite at x = {self.out(x)[bad[0]].tolist()}, inside the domain. "
                "Write it so that it is finite on the whole domain."
            )
        if self._chart is not None:
            gradient = gradient @ self._chart.matrix
        weight = self._generator.on_domain(self._domain, x)
        return _State(x, value, gradient, weight.log_weight, weight.divergence, weight.field.parts)

    def step(self, state: _State, h: float, rng: np.random.Generator) -> tuple[_State, float]:
        forward = _Proposal(state, h)
        x = forward.draw(rng)
        inside = self._domain.contains(x)
        # Outside the density is zero; evaluating at the old point instead keeps the arrays whole.
        new = self._evaluate(np.where(inside[:, None], x, state.x))
        gain = new.log_density - state.log_density
        gain += _Proposal(new, h).log_density(state.x) - forward.log_density(new.x)
        accept = inside & (np.log(rng.uniform(size=len(x))) < gain)
        return state.replaced(accept, new), float(accept.mean())
