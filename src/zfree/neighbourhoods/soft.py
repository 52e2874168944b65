r"""Soft neighbourhoods: y from :math:`N(x + \tfrac\varepsilon2\nabla\cdot D,\ \varepsilon D)` (Theorem 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array, Index
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.fields import Parts, RankOne
from zfree.generators import Generator
from zfree.neighbourhoods.base import Neighbourhood, Neighbours
from zfree.roots import EPSILON, root


@dataclass(frozen=True)
class SoftNeighbourhood(Neighbourhood):
    r"""y = x + (ε/2) ∇·D + √ε D^{1/2} u with u normal: minimum probability flow with Gaussian connectivity (Theorem 3.1).

    It is a channel, and not a symmetric one unless D is constant. To leading order it is: with :math:`z = D^{-1/2}\delta/\sqrt\varepsilon` of a
    move δ, :math:`\log q(x|y) - \log q(y|x) = -\tfrac1{2\varepsilon}\sum\partial_k D^{-1}_{ij}\,{:}\delta_i\delta_j\delta_k{:} + O(\varepsilon)`,
    a Hermite polynomial of degree three in z times √ε, which no linear function of δ correlates with.

    Parameters
    ----------
    generator : Generator
    epsilon : float
    """

    generator: Generator
    epsilon: float = 0.01

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise SpecificationError(f"epsilon must be positive, got {self.epsilon!r}.")

    def dimension(self, domain: Domain) -> int:
        return domain.dimension

    def moves(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        return rng.standard_normal(shape)

    def place(self, domain: Domain, X: Array, U: Array) -> Neighbours:
        value = self.generator.evaluate(domain, X)
        scale = np.exp(value.log_weight)[:, None]
        center = X + 0.5 * self.epsilon * scale * value.divergence
        L = root(value.field.parts)
        spread = np.sqrt(self.epsilon * scale)
        points = np.stack([center + spread * L.apply(u) for u in U])
        if domain.chart is not None:  # D is singular there; rounding must not lead out of the plane
            points = domain.chart.push(domain.chart.pull(points.reshape(-1, X.shape[1]))).reshape(points.shape)
        return Neighbours(points, np.full(U.shape[:2], 1.0 / self.epsilon))

    def log_density(self, domain: Domain, X: Array, Y: Array) -> Array:
        value = self.generator.evaluate(domain, X)
        parts, drift = value.field.parts, 0.5 * self.epsilon * np.exp(value.log_weight)[:, None] * value.divergence
        gaps = Y - X - drift
        if domain.chart is not None:  # y of the chart are columns of x, and so are its D and ∇·D
            parts, gaps = _columns(parts, domain.chart.kept), gaps[..., domain.chart.kept]
        L, log_variance = root(parts, EPSILON), np.log(self.epsilon) + value.log_weight
        return np.stack([L.log_density(gap, log_variance) for gap in gaps])


def _columns(parts: Parts, kept: Index) -> Parts:
    """The block of some rows and columns."""
    if parts.dense is not None:
        return Parts(None, (), parts.dense[:, kept[:, None], kept])
    assert parts.diagonal is not None
    return Parts(parts.diagonal[:, kept], tuple(RankOne(sigma, u[:, kept]) for sigma, u in parts.rank_ones), None)
