r"""The neighbourhood that minimum probability flow started from: a small cube (paper, Main Results, before section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.neighbourhoods.base import Neighbourhood, Neighbours, full_dimension

ROUNDING = 1e-12
"""A neighbour on a face of the cube may miss it by this share of half the side, and of the size of x."""


@dataclass(frozen=True)
class Cube(Neighbourhood):
    r"""y uniform in the cube around x with a given side: binary connectivity, whose limit on ℝᵈ is Hyvärinen's score matching, D = I.

    :math:`E[\delta\delta^\top] = \tfrac1{12}\text{side}^2 I`, so the coefficient is :math:`12/\text{side}^2`, and the remainder of the limit is of
    order side² (Sohl-Dickstein, Battaglino and DeWeese 2011, appendix C).

    On a domain with a boundary some neighbours are outside, where the model has no density (give :func:`~zfree.neural.contrast_rule` the
    domain). The channel is symmetric, so the loss is least at the truth for every side there too, and its limit has the boundary term
    that score matching with D = I lacks. The price is noise: one row in 1/side is next to the boundary and has a gradient of order 1/side.

    Parameters
    ----------
    side : float
        ε in the paper.
    """

    side: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.side < np.inf:
            raise SpecificationError(f"side must be positive and finite, got {self.side!r}.")

    def dimension(self, domain: Domain) -> int:
        return full_dimension("a cube", domain)

    def moves(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Uniform on the cube of side 2."""
        return rng.uniform(-1.0, 1.0, shape)

    def place(self, domain: Domain, X: Array, U: Array) -> Neighbours:
        self.dimension(domain)
        return Neighbours(X + 0.5 * self.side * U, np.full(U.shape[:2], 12.0 / self.side**2))

    def log_density(self, domain: Domain, X: Array, Y: Array) -> Array:
        reach = 0.5 * self.side * (1.0 + ROUNDING) + ROUNDING * np.maximum(np.abs(X), np.abs(Y))
        return np.where((np.abs(Y - X) <= reach).all(axis=-1), 0.0, -np.inf)
