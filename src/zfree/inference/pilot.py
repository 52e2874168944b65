"""Weights that are built from a first estimate: fit with a provisional one, build, and let the caller fit again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zfree.arrays import Array
from zfree.generators import Generator, Pilot
from zfree.moments import Problem
from zfree.solvers import Restriction, solve


def settled(generator: Generator, problem: Problem, restriction: Restriction, ridge: float = 0.0) -> Generator:
    """The generator to use on these rows: itself, unless it wants a pilot; then the one built from it.

    One pilot is enough: a second round changed mean squared errors by less than 0.2% on balls, boxes and polytopes.
    """
    if not generator.wants_pilot:
        return generator
    covariance = row_covariance(problem) if generator.wants_covariance else np.zeros((0, 0))
    first = replace(problem, generator=generator.provisional(covariance))
    theta = solve(first.moments(), restriction, problem.model.names, ridge, quiet=True).theta
    return generator.informed(Pilot(theta, problem.model.energy_hessian(theta), covariance))


def row_covariance(problem: Problem) -> Array:
    """Covariance (d, d) of the weighted rows."""
    d = problem.X.shape[1]
    shift = problem.X[0]  # any row keeps the digits of a column far from zero
    total, first, second = 0.0, np.zeros(d), np.zeros((d, d))
    for X, weight in problem.chunks():
        moved = X - shift
        weighted = moved if weight is None else moved * weight[:, None]
        total += len(X) if weight is None else float(weight.sum())
        first += weighted.sum(axis=0)
        second += weighted.T @ moved
    mean = first / total
    return second / total - np.multiply.outer(mean, mean)
