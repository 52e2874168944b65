r"""Does the generator grow slowly enough for this model, where the domain is unbounded?

Integration by parts over an unbounded set needs that nothing flows out at infinity (paper, Proposition 3.1 for :math:`\mathbb R^d`; appendix,
"Treatment of Unbounded sets", for convex sets). For an exponential family the estimate solves mean ψ = 0 with
:math:`\psi_l = \nabla\cdot(p D\nabla t_l)/p`. Cut Ω off at distance r. The expectation of :math:`\psi_l` over the part inside is the flux
:math:`\int p\, n\cdot D\nabla t_l` through the cut, so

- the estimate is consistent if the flux tends to zero and :math:`\mathbb E|\psi|` is finite;
- it has a finite variance if :math:`\mathbb E\psi^2` is.

**Powers.** In directions that fill a cone of k dimensions let the density fall like :math:`r^{-a}` (a > k, or it cannot be normalised), the
gradient of a statistic behave like :math:`r^{m}`, and D like :math:`r^{q}`. The surface of the cut is of order :math:`r^{k-1}`, each of the terms of ψ
of order :math:`r^{q+m-1}`. Flux and :math:`\mathbb E|\psi|` then ask for the same, and

.. math:: q + m - 1 < a - k \quad\text{(consistent)}, \qquad 2(q + m - 1) < a - k \quad\text{(finite variance)}.

A density that falls like a power has statistics like log r, so m = −1 (or less), and a D that grows no faster than r² is always right. That is
``Barrier(p, 0)`` with p ≥ 0. With the determinant D is of order :math:`r^{(2-p)(1+\gamma k)}` in the middle of an orthant: the paper's φ₃ is r³ in one column and r¹²
in ten. Densities that fall faster than every power bear every D that grows like one; exponentials are compared with exponentials.

**The five integrals.** The paper asks for 1. :math:`\mathbb E|s\,\partial G|`, 3. :math:`\int|\partial p\, G s|`, 4. :math:`\mathbb E|G\,\partial s|` and
5. :math:`\mathbb E|G s|` to be finite for the score s of every θ (2. is about facets, see :mod:`zfree.inference.facets`). Scores differ by gradients of statistics, and
only these are in the equations, so here they take the place of s. The first three are then of the order of ψ. The fifth is one power larger, q + m < a − k, because the paper's
cut-off :math:`\rho_n` falls from one to zero over a length of one, whatever n: with :math:`\rho(x/n)`, which takes a length of n, its gradient is of order 1/n, and
:math:`G s/|x|` is needed in place of G s, which for powers the others imply. (In one dimension they always imply that nothing flows out: if p s G tended to c ≠ 0, they would make p'/p integrable,
and p could not vanish.) So the fifth is sufficient and not necessary, and no verdict rests on it.

**Where an estimate ends that does not converge.** If the tail's exponent is itself estimated and q + m − 1 > a − k, the largest rows outweigh all others, and θ̂
tends, whatever the truth, to the θ at which the flux is constant. What is measured at θ̂ then lies on the edge between consistent and not, and that edge, with
:data:`EDGE` to spare, counts as inconsistent.

**How it is measured.** Not every direction is alike: heavy tails may fill a cone, or lie along a few axes only. Points are therefore followed along curves
:math:`x(r) = c + \sum_i w_i r^{\kappa_i} v_i` with :math:`v_i` the directions in which Ω is unbounded and :math:`\kappa_i \in \{0, \tfrac12, 1\}`. The
neighbourhood of such a curve has the volume :math:`r^k`, with k = Σκ over independent directions, and by Laplace's principle an
integral behaves like the worst of them. Slopes of logarithms between points far apart are the exponents. Heavy tails along lines that are oblique to all :math:`v_i`
are not found, and where the model cannot be evaluated nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array, Mask
from zfree.data import Block, Source, Together
from zfree.data.chunks import row_chunks
from zfree.errors import ZfreeError
from zfree.fields import Field
from zfree.models.tails import named_direction
from zfree.moments import Problem, Rows
from zfree.solvers import Restriction

POSITIONS = 10.0 ** np.array([0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
"""How far out, in units of the spread of the rows. What overflows is looked at up to where it does."""
PHASES = np.array([1.0, 1.17, 1.39])
"""Points close to each other, of which the largest value counts: what oscillates is near its height at one of them."""
DISTANCES = np.multiply.outer(POSITIONS, PHASES).ravel()
MOST = 12
"""Single directions, pairs and ridges that are followed, at most this many of each."""
GRADING = 1e10
"""Ratio of the largest to the smallest eigenvalue of D up to which rounding of the one leaves digits of the other."""
EDGE = 0.05
"""An exponent that has to be negative counts as zero above minus this."""
WINDOW = 3
DRIFT, LEVELS_OFF = 0.1, 0.8
"""A slope that changes by more than the first per unit of log r, and not by less than the second's share of the change before, keeps on."""
REACH = float(np.log(10.0))
"""How far beyond the last position a rising slope is followed, in log r."""


class TailOrder(NamedTuple):
    """A model and a generator at distance r along a curve to infinity: exponents of r, ±∞ for faster than every power."""

    where: str
    density: float
    """p ~ r^density"""
    volume: float
    """The neighbourhood of the curve has the volume r^volume."""
    flux: float
    """p n·D∇t times the surface; it must be negative, as must the next."""
    mean: float
    """p |ψ| times the volume"""
    square: float
    """p ψ² times the volume; negative for a finite variance."""

    @property
    def consistent(self) -> bool:
        """Whether nothing flows out, and E|ψ| is finite."""
        return max(self.flux, self.mean) < -EDGE

    @property
    def finite_variance(self) -> bool:
        """Whether E ψ² is finite."""
        return self.consistent and self.square < -EDGE

    @property
    def reason(self) -> str:
        """What is wrong here, and what to do."""
        # ψ ~ r^e, in the mean or as the divergence of what flows out, must be slower than half of what the density leaves.
        room = -self.density - self.volume
        e = max(self.mean, self.flux) + room
        if np.isfinite([room, e]).all():
            words = (
                f"the density behaves like r^{self.density:.3g} and what a row adds to the equations like r^{e:.3g}, which must be "
                f"slower than r^{room / 2.0:.3g}"
            )
        else:
            words = "what a row adds to the equations grows faster than the density falls"
        return (
            f"far out along {self.where} {words}: take a generator that grows no faster than |x|², such as "
            "Barrier.log(det_power=0)"
        )


@dataclass(frozen=True, eq=False)
class Curves:
    """Curves to infinity inside the domain of a problem."""

    points: Array
    """(distances, curves, d)"""
    normals: Array
    """Outward, as a covector; of length one in columns divided by their spread. The same shape."""
    volumes: Array
    """(curves,)"""
    names: tuple[str, ...]

    @classmethod
    def of(cls, problem: Problem) -> Curves | None:
        """Curves from the mean of the rows along every direction, along pairs, along all, and along ridges; None where Ω is bounded."""
        domain, units = problem.domain, problem.units
        assert units is not None
        if domain.is_bounded:
            return None
        V = domain.recession_directions(units.spread) / units.spread
        if not len(V):
            return None
        centre = _middle(problem.source)
        if not domain.is_convex:
            centre = _nearest(problem.source, centre, units.spread)
        exponents = _exponents(len(V))
        weights = np.random.default_rng(0).uniform(0.5, 1.5, len(V))  # no symmetry to be caught in
        steps = np.where(exponents > 0, weights * DISTANCES[:, None, None] ** exponents, 0.0) @ V
        length = np.linalg.norm(steps, axis=2, keepdims=True)
        filled = exponents[:, :, None] * V
        volumes = 0.5 * (
            np.linalg.matrix_rank(np.where(exponents[:, :, None] == 1.0, V, 0.0)) + np.linalg.matrix_rank(filled)
        )
        names = tuple(named_direction(v) for v in (steps[-1] / length[-1]).round(2) * units.spread)
        return cls(centre + steps * units.spread, steps / length / units.spread, volumes, names)

    def orders(self, problem: Problem, theta: Array, restriction: Restriction) -> tuple[TailOrder, ...]:
        """What is found along the curves; nothing for a density that cannot be normalised, or where nothing can be evaluated."""
        assert problem.units is not None
        generator, free = problem.generator.in_units(problem.units), restriction.free
        model, domain, r = problem.model, problem.domain, int(free.sum())
        spread = problem.units.spread

        def look(X: Array, N: Array) -> Array:
            rows = Rows(model, generator, domain, Block(X), problem.tests)
            psi = rows.equations(theta)[free]
            flux = rows.tests.apply_jacobian(X, rows.value.field.apply(N))[free]
            log_weight = np.where(_has_digits(rows.value.field, spread), rows.value.log_weight, np.nan)
            return np.concatenate([model.log_density(X, theta)[None], _log(psi) + log_weight, _log(flux) + log_weight])

        with np.errstate(all="ignore"):
            values = _follow(look, self.points, self.normals, 1 + 2 * r, model.doubles_per_row)
            distance = np.log(DISTANCES)[:, None]
            density, psi, flux = values[:1], values[1 : 1 + r], values[1 + r :]
            volume = self.volumes * distance
            mass = limiting_slopes(density + volume)[0]
            if np.any(mass >= -1e-5):
                return ()
            found = [
                limiting_slopes(density + amount).max(axis=0)
                for amount in (flux + volume - distance, psi + volume, 2.0 * psi + volume)
            ]
            density = limiting_slopes(density)[0]
        return tuple(
            TailOrder(name, *map(float, numbers))
            for name, *numbers in zip(self.names, density, self.volumes, *found, strict=True)
            if not np.isnan(numbers).any()
        )


def tail_orders(
    problem: Problem, theta: Array, restriction: Restriction, curves: Curves | None = None
) -> tuple[TailOrder, ...]:
    """How the equations of a problem behave far out, at θ; empty where there is no such place or theory knows that all is well.

    `curves` are those of the problem, where they are known already.
    """
    if problem.model.rapidly_decreasing and problem.generator.tempered:
        return ()
    if not restriction.free.any():
        return ()
    curves = Curves.of(problem) if curves is None else curves
    return () if curves is None else curves.orders(problem, theta, restriction)


def _middle(source: Source) -> Array:
    """The mean of the rows, whatever their weights."""
    total, n = source.reduce(lambda block: Together((block.X.sum(axis=0), len(block))), source.statistics.mean.size)
    return np.asarray(total / n, dtype=np.float64)


def _nearest(source: Source, point: Array, spread: Array) -> Array:
    """The row that is nearest to a point."""

    def nearest(block: Block) -> list[tuple[float, Array]]:
        far = np.sum(((block.X - point) / spread) ** 2, axis=1)
        k = int(np.argmin(far))
        return [(float(far[k]), block.X[k])]

    return min(source.reduce(nearest, point.size), key=lambda found: found[0])[1]


def _exponents(m: int) -> Array:
    """κ (curves, m): one direction; two; all; and one with all others like √r, as ridges are wide."""
    own = np.eye(m)
    if m == 1:
        return own
    i, j = np.triu_indices(m, 1)
    pairs, all_of_them, ridges = own[i] + own[j], np.ones((int(m > 2), m)), 0.5 * (1.0 + own)
    return np.concatenate([_some(own), _some(pairs), all_of_them, _some(ridges)])


def _some(curves: Array) -> Array:
    return curves[:: -(-len(curves) // MOST)]


def _has_digits(field: Field, spread: Array) -> Mask:
    """Whether D, where it is not diagonal, leaves digits of its smallest direction beside the largest."""
    _, rank_ones, dense = field.parts
    if dense is None and not rank_ones:
        return np.ones(len(field.diagonal()), dtype=bool)
    values = np.linalg.eigvalsh(field.dense() / np.multiply.outer(spread, spread))
    return np.asarray(values[:, -1] < GRADING * values[:, 0])


def _log(values: Array) -> Array:
    return np.log(np.abs(values))


def _follow(look: Callable[[Array, Array], Array], points: Array, normals: Array, n_values: int, doubles: int) -> Array:
    """What `look` says at the points of all curves, (values, positions, curves), and NaN from where a curve cannot be followed."""
    positions, curves, d = points.shape
    X, N = points.reshape(-1, d), normals.reshape(-1, d)
    try:
        parts = [look(X[part], N[part]) for part in row_chunks(len(X), doubles)]
        return np.concatenate(parts, axis=1).reshape(n_values, positions, curves)
    except (ZfreeError, ArithmeticError, np.linalg.LinAlgError):
        if curves > 1:
            half = [slice(curves // 2), slice(curves // 2, None)]
            return np.concatenate([_follow(look, points[:, c], normals[:, c], n_values, doubles) for c in half], axis=2)
        unknown = np.full((n_values, positions, 1), np.nan)
        if positions > 1:
            near = positions // 2
            unknown[:, :near] = _follow(look, points[:near], normals[:near], n_values, doubles)
            if not np.isnan(unknown[0, near - 1, 0]):
                unknown[:, near:] = _follow(look, points[near:], normals[near:], n_values, doubles)
        return unknown


def limiting_slopes(values: Array) -> Array:
    """Slopes of `values` (…, distances, curves) against log r, as r → ∞: the last ones, or ±∞ where slopes keep on changing.

    −∞ for values that are −∞ in the end; NaN where there are too few that are finite. A slope is taken over :data:`WINDOW` positions.
    """
    position = np.log(POSITIONS)
    values = values.reshape(*values.shape[:-2], len(POSITIONS), len(PHASES), -1).max(axis=-2)
    slope, drift, before, middle = (np.full(values[..., 0, :].shape, np.nan) for _ in range(4))
    for k in range(1, len(position)):
        j = max(0, k - WINDOW)
        here, there = values[..., k, :], values[..., j, :]
        step = (here - there) / (position[k] - position[j])  # −∞ if it vanishes here, NaN or ∞ if it did so there
        step = np.where(np.isneginf(here) & ~np.isnan(there), -np.inf, step)
        known, at = np.isfinite(step) | np.isneginf(step), 0.5 * (position[k] + position[j])
        change = (step - slope) / (at - middle)
        before, drift = np.where(known, drift, before), np.where(known, change, drift)
        slope, middle = np.where(known, step, slope), np.where(known, at, middle)
    endless = np.isfinite(drift) & (np.abs(drift) > DRIFT) & (drift * np.sign(before) > LEVELS_OFF * np.abs(before))
    endless &= (drift < 0) | (slope + REACH * drift > 0)  # rising, but with a long way to zero: rather noise
    return np.where(endless, np.copysign(np.inf, drift), slope)
