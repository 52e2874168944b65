"""Small simulated data sets with a known truth, one per kind of domain. Everything is drawn from a seed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zfree.arrays import Array
from zfree.conversion import random_generator
from zfree.domains import Domain, Orthant, Polytope, Simplex
from zfree.samplers import sample_gaussian
from zfree.samplers.draws import check_number


class Dataset(NamedTuple):
    """Data, the domain they live on, the names of the columns, and the parameters they were drawn with."""

    X: Array
    domain: Domain
    columns: tuple[str, ...]
    truth: dict[str, Array]


def make_positive(n: int = 1000, random_state: int | None = 0) -> Dataset:
    """Two positive measurements: a Gaussian cut off at zero, so that a third of one column piles up against it."""
    mean, precision = np.array([0.3, 1.0]), np.array([[2.0, -0.8], [-0.8, 1.5]])
    X = sample_gaussian(Orthant(2), mean, precision, n, random_state)
    return Dataset(X, Orthant(2), ("length", "width"), {"mean": mean, "precision": precision})


def make_composition(n: int = 500, random_state: int | None = 0) -> Dataset:
    """Compositions of three parts from a Dirichlet distribution."""
    alpha = np.array([2.0, 3.5, 1.5])
    X = random_generator(random_state).dirichlet(alpha, size=check_number(n, len(alpha)))
    return Dataset(X, Simplex(3), ("sand", "silt", "clay"), {"alpha": alpha})


def make_truncated(n: int = 3000, random_state: int | None = 0) -> Dataset:
    """Two scores seen only if each is above a bar and their weighted sum below another: a triangle of data."""
    columns = ("first", "second")
    domain = Polytope.from_inequalities("first > 0, second > 0.2, first + 2*second < 3", columns=columns)
    mean, precision = np.array([1.0, 0.9]), np.array([[1.6, 0.6], [0.6, 3.0]])
    X = sample_gaussian(domain, mean, precision, n, random_state)
    return Dataset(X, domain, columns, {"mean": mean, "precision": precision})
