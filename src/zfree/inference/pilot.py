"""Weights that are built from a first estimate: fit with what is known before, build, and let the caller fit again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zfree.arrays import Array
from zfree.curvatures import Energy
from zfree.generators import Generator, Pilot, as_powers
from zfree.moments import Problem
from zfree.solvers import Restriction, solve


def settled(generator: Generator, problem: Problem, restriction: Restriction, ridge: float = 0.0) -> Generator:
    """The generator to use on these rows: itself, unless it wants a pilot; then the one built from it.

    One pilot is enough: a second round changed mean squared errors by less than 0.2% on balls, boxes and polytopes.
    """
    if not generator.wants_pilot:
        return generator
    model = problem.model
    energy = model.energy(None, problem.X[:0], None)
    mean, covariance = np.zeros(0), np.zeros((0, 0))
    if generator.wants_covariance:
        mean, covariance = row_moments(problem, 1.0 if energy is None else energy.exponent)
    first = replace(problem, generator=generator.informed(Pilot(None, energy, mean, covariance)))
    theta = solve(first.moments(), restriction, model.names, ridge, quiet=True).theta
    return generator.informed(Pilot(theta, _energy(problem, theta), mean, covariance))


def _energy(problem: Problem, theta: Array) -> Energy | None:
    """The energy at an estimate; where it is an average over rows, over all of them."""
    parts = [
        (len(X) if weight is None else float(weight.sum()), problem.model.energy(theta, X, weight))
        for X, weight in problem.chunks()
    ]
    first = parts[0][1]
    if first is None or first.hessian is None or first.exact or len(parts) == 1:
        return first
    total = sum(size for size, _ in parts)
    hessian = np.sum([size / total * e.hessian for size, e in parts if e is not None and e.hessian is not None], axis=0)
    return first._replace(hessian=hessian)


def row_moments(problem: Problem, exponent: float) -> tuple[Array, Array]:
    """Mean (d,) and covariance (d, d) of the weighted rows to some power."""
    d = problem.X.shape[1]
    shift = as_powers(problem.X[:1], exponent)[0]  # any row keeps the digits of a column far from zero
    total, first, second = 0.0, np.zeros(d), np.zeros((d, d))
    for X, weight in problem.chunks():
        moved = as_powers(X, exponent) - shift
        weighted = moved if weight is None else moved * weight[:, None]
        total += len(X) if weight is None else float(weight.sum())
        first += weighted.sum(axis=0)
        second += weighted.T @ moved
    mean = first / total
    return shift + mean, second / total - np.multiply.outer(mean, mean)
