r"""What is left over when a generator does not vanish on inner spheres, by quadrature.

Integration by parts leaves :math:`\Gamma_0\theta_0 + g_0 = b` with :math:`b_k = \oint_{\partial\Omega} p\, n\cdot D\nabla t_k\,ds`
(appendix, "Evaluation Under Non-Convex Support"), so the estimate tends to :math:`\theta_0 - \Gamma_0^{-1} b` instead of θ₀.
Both sides are computed here, the left one over the volume and the right one over the spheres.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array
from zfree.data import Table
from zfree.domains import Shells
from zfree.errors import SpecificationError
from zfree.generators import Generator
from zfree.models import PairwiseModel
from zfree.moments import Problem

NODES = 24


@dataclass(frozen=True, eq=False)
class BoundaryTerm:
    """The two sides for a Gaussian on shells in three dimensions, with a generator of the hull."""

    model: PairwiseModel
    volume: Array
    """Γ₀θ₀ + g₀ by quadrature over the domain."""
    surface: Array
    """b by quadrature over its spheres."""
    limit: Array
    """θ₀ − Γ₀⁻¹ b, where the estimate tends to."""

    @property
    def limiting_precision(self) -> Array:
        """K of the limit."""
        return self.model.matrix(self.limit)

    @property
    def limiting_mean(self) -> Array:
        """μ of the limit."""
        eta = self.limit[len(self.model.rows) :]
        return np.asarray(np.linalg.solve(self.limiting_precision, eta), dtype=np.float64)


def boundary_term(domain: Shells, generator: Generator, mean: Array, precision: Array) -> BoundaryTerm:
    """Compute both sides of the identity for N(μ, K⁻¹) on `domain`, with `generator` built for its hull."""
    if domain.dimension != 3:
        raise SpecificationError(f"the quadrature is for three dimensions, the domain has {domain.dimension}.")
    model = PairwiseModel(["x1", "x2", "x3"])
    theta = np.concatenate([precision[model.rows, model.cols], precision @ mean])
    directions, areas = _sphere()

    def density(X: Array) -> Array:
        density: Array = np.exp(-0.5 * np.einsum("nj,jk,nk->n", X - mean, precision, X - mean))
        return density

    points, weights = [], []
    for low, high in _layers(domain.radii):
        r, w = np.polynomial.legendre.leggauss(NODES)
        r, w = 0.5 * (high - low) * r + 0.5 * (high + low), 0.5 * (high - low) * w
        points.append((r[:, None, None] * directions).reshape(-1, 3))
        weights.append(((w * r**2)[:, None] * areas).ravel())
    X, weight = np.concatenate(points), np.concatenate(weights)
    weight = weight * density(X)
    mass = weight.sum()
    moments = Problem(model, generator, domain.hull, Table(X + domain.center, weight)).moments()
    scale = np.exp(moments.log_scale)
    gamma, g = scale * moments.gamma.dense(), scale * moments.g

    surface = np.zeros(model.n_parameters)
    # The outermost sphere is the hull's own, where D vanishes; inwards the outer normal of Ω points out of and into the ball.
    for k, radius in enumerate(domain.radii[:-1]):
        outwards = 1.0 if (len(domain.radii) - 1 - k) % 2 == 0 else -1.0
        X = radius * directions
        value = generator.evaluate(domain.hull, X + domain.center)
        push = value.field.apply(outwards * directions) * np.exp(value.log_weight)[:, None]
        surface += model.apply_jacobian(X, push) @ (areas * radius**2 * density(X) / mass)
    return BoundaryTerm(model, gamma @ theta + g, surface, theta - np.linalg.solve(gamma, surface))


def _layers(radii: Array) -> list[tuple[float, float]]:
    edges = radii if len(radii) % 2 == 0 else np.concatenate([[0.0], radii])
    return [(float(low), float(high)) for low, high in zip(edges[::2], edges[1::2], strict=True)]


def _sphere() -> tuple[Array, Array]:
    """Points and weights that integrate over the unit sphere: Gauss–Legendre in height, equal steps around."""
    z, w = np.polynomial.legendre.leggauss(NODES)
    turn = 2 * np.pi * np.arange(2 * NODES) / (2 * NODES)
    height, angle = np.meshgrid(z, turn, indexing="ij")
    ring = np.sqrt(1 - height**2)
    directions = np.stack([ring * np.cos(angle), ring * np.sin(angle), height], axis=-1).reshape(-1, 3)
    return directions, np.repeat(w * np.pi / NODES, 2 * NODES)
