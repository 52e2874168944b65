r"""What every neighbourhood can do: draw neighbours, and say how likely the way there and the way back are.

A neighbourhood gives points y with coefficients c such that, for an energy E and a contrast h with h(L) ≈ f''(1)(½L² + 2L) near 0,

.. math:: \tfrac{1}{f''(1)}\,E\bigl[c\,h(E(x) - E(y))\bigr] \;\to\; \tfrac12\nabla E^\top D\nabla E - \nabla\cdot(D\nabla E)

as it shrinks. One that draws y from a conditional density q(y | x) is a *channel*. Nothing here depends on the energy: neighbours are
functions of the data, like the generator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import SpecificationError


class Neighbours(NamedTuple):
    """Points y (k, N, d) around N rows, with the coefficient (k, N) of each."""

    points: Array
    coefficients: Array


class Origins(NamedTuple):
    """Points x' (m, k, N, d) that the neighbours y may have come from, with log q(y | x') − log r(x' | y), r their own density (m, k, N).

    Minus infinity says that x' is outside the domain; the row itself stands for it in `points`.
    """

    points: Array
    log_weight: Array


class Neighbourhood(ABC):
    """Where the neighbours of a data point are."""

    @abstractmethod
    def dimension(self, domain: Domain) -> int:
        """How many random numbers one neighbour takes."""

    @abstractmethod
    def place(self, domain: Domain, X: Array, U: Array) -> Neighbours:
        """Neighbours of the rows of `X` for given standard moves `U` (k, N, dimension)."""

    @abstractmethod
    def moves(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Standard moves: random directions and lengths before they are shaped by D."""

    def draw(
        self, domain: Domain, X: Array, rng: np.random.Generator, *, count: int = 1, antithetic: bool = False
    ) -> Neighbours:
        """`count` neighbours of every row, in pairs ±u with `antithetic` (then `count` pairs)."""
        U = self.moves((count, len(X), self.dimension(domain)), rng)
        return self.place(domain, X, np.concatenate([U, -U]) if antithetic else U)

    def log_density(self, domain: Domain, X: Array, Y: Array) -> Array:
        """log q(y | x) (k, N) up to a constant, for `Y` (k, N, d) around the rows of `X`, in the chart of a flat domain."""
        raise SpecificationError(
            f"{self!r} is no channel: its neighbours have weights, not a conditional density q(y | x). "
            "Use SoftNeighbourhood or Cube where q is needed."
        )

    def log_ratio(self, domain: Domain, X: Array, Y: Array) -> Array:
        """log q(x | y) − log q(y | x) (k, N): how much likelier the way back is than the way there. Zero for a symmetric channel.

        Zero also where y is outside the domain. The channel is not defined there, and nobody asks: the model has no density.
        """
        k, n, d = Y.shape
        rows, ends = np.tile(X, (k, 1)), Y.reshape(k * n, d)
        inside = domain.contains(ends)
        back = self.log_density(domain, np.where(inside[:, None], ends, rows), rows[None])
        return np.where(inside.reshape(k, n), back.reshape(k, n) - self.log_density(domain, X, Y), 0.0)

    def origins(self, domain: Domain, X: Array, Y: Array, U: Array) -> Origins:
        """Where the neighbours `Y` (k, N, d) of the rows of `X` may have come from, for given standard moves `U` (m, k, N, dimension).

        A move of the kind that x makes, taken back from y: x' = y − (z − x) with z from q(· | x). That is defined wherever y is, and has
        weights near 1 as long as the channel changes little over one move; they are equal where it does not change.
        """
        (m, k, n), d = U.shape[:3], X.shape[1]
        rows, ends = np.tile(X, (k, 1)), Y.reshape(k * n, d)
        there = self.place(domain, rows, U.reshape(m, k * n, -1)).points
        points = ends + (rows - there)
        flat = points.reshape(-1, d)
        inside = domain.contains(flat)
        flat = np.where(inside[:, None], flat, np.tile(rows, (m, 1)))
        arrive = self.log_density(domain, flat, np.tile(ends, (m, 1))[None]).reshape(m, k * n)
        log_weight = arrive - self.log_density(domain, rows, there)
        log_weight = np.where(inside.reshape(m, k * n), log_weight, -np.inf)
        return Origins(flat.reshape(m, k, n, d), log_weight.reshape(m, k, n))

    def draw_origins(self, domain: Domain, X: Array, Y: Array, rng: np.random.Generator, *, count: int = 64) -> Origins:
        """`count` random :meth:`origins` of every neighbour."""
        return self.origins(domain, X, Y, self.moves((count, *Y.shape[:2], self.dimension(domain)), rng))


def full_dimension(name: str, domain: Domain) -> int:
    """The dimension, for neighbourhoods that a flat domain has no room for."""
    if domain.chart is not None:
        raise SpecificationError(
            f"{name} needs a full-dimensional domain; use the chart of {domain!r}, domain.chart.domain."
        )
    return domain.dimension
