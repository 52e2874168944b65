"""Weights that are built from a first estimate: fit with what is known before, build, and let the caller fit again."""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array
from zfree.curvatures import Energy
from zfree.data import Block, Together
from zfree.generators import Generator, Pilot, as_powers
from zfree.moments import Problem
from zfree.selection.sample import looked_at
from zfree.solvers import Objective, solve


def settled(generator: Generator, objective: Objective) -> Generator:
    """The generator to use on these rows: itself, unless it wants a pilot; then the one built from it, on a sample where rows are many.

    One pilot is enough: a second round changed mean squared errors by less than 0.2% on balls, boxes and polytopes.
    """
    if not generator.wants_pilot:
        return generator
    objective = looked_at(objective)
    problem = objective.problem
    energy = problem.model.energy(None, problem.source.first().X[:0], None)
    mean, covariance = np.zeros(0), np.zeros((0, 0))
    if generator.wants_covariance:
        mean, covariance = row_moments(problem, 1.0 if energy is None else energy.exponent)
    first = objective.with_generator(generator.informed(Pilot(None, energy, mean, covariance)))
    theta = solve(first, quiet=True).theta
    return generator.informed(Pilot(theta, _energy(problem, theta, energy), mean, covariance))


def _energy(problem: Problem, theta: Array, known: Energy | None) -> Energy | None:
    """The energy at an estimate; where it is an average over rows, over all of them."""
    model = problem.model
    if known is None or known.exact:
        return model.energy(theta, problem.source.first().X[:0], None)

    def weighted(block: Block) -> list[tuple[float, Energy | None]]:
        return [(block.total, model.energy(theta, block.X, block.weight))]

    parts = problem.source.reduce(weighted, model.doubles_per_row)
    first = parts[0][1]
    if first is None or first.hessian is None or len(parts) == 1:
        return first
    total = sum(size for size, _ in parts)
    hessian = np.sum([size / total * e.hessian for size, e in parts if e is not None and e.hessian is not None], axis=0)
    return first._replace(hessian=hessian)


def row_moments(problem: Problem, exponent: float) -> tuple[Array, Array]:
    """Mean (d,) and covariance (d, d) of the weighted rows to some power."""
    shift = as_powers(problem.source.first().X, exponent)[0]  # any row keeps the digits of a column far from zero

    def sums(block: Block) -> Together:
        moved = as_powers(block.X, exponent) - shift
        weighted = moved if block.weight is None else moved * block.weight[:, None]
        return Together((block.total, weighted.sum(axis=0), weighted.T @ moved))

    total, first, second = problem.source.reduce(sums, problem.model.doubles_per_row)
    mean = first / total
    return shift + mean, second / total - np.multiply.outer(mean, mean)
