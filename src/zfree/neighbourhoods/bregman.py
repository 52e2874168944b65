r"""Hard neighbourhoods: the local Bregman ball :math:`(y-x)^\top H_\phi(x)(y-x) \le r(x)^2` with a weight (Theorem 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.neighbourhoods.base import Neighbourhood, Neighbours, full_dimension
from zfree.neighbourhoods.radial import mixing_constant, radial_part, truncated_length
from zfree.potentials import Power, SlackPotential
from zfree.roots import root


@dataclass(frozen=True)
class BregmanBall(Neighbourhood):
    r"""y in the ellipsoid :math:`(y-x)^\top H_\phi(x)(y-x) \le r(x)^2`: hard connectivity (Theorem 3.2), γ = ½.

    Parameters
    ----------
    potential : SlackPotential
        φ; ``Power(4/3)``, ``Power(1)``, ``Power(0)`` are the paper's φ₁, φ₂, φ₃.
    radius : float
        Between 0 and 1. r(x) is this, or this share of the room there is for the ellipsoid where there is less than 1.
    proper : bool
        True: the weight of the remark after the theorem's proof, whose limit is the proper scoring rule (λ = 1). False: the
        theorem's own weight, whose limit has :func:`mixing_constant` λ(d) in front of the divergence term.
    """

    potential: SlackPotential = Power(4 / 3)  # noqa: RUF009 - frozen
    radius: float = 0.1
    proper: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.radius <= 1:
            raise SpecificationError(
                f"radius must be in (0, 1], a share of the room around each point; got {self.radius!r}."
            )

    def dimension(self, domain: Domain) -> int:
        return full_dimension("a Bregman ball", domain)

    def moves(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """From the density ∝ exp(−½‖u‖²) on the unit ball, by inverting the distribution of the length."""
        direction = rng.standard_normal(shape)
        direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
        return direction * truncated_length(shape[-1], rng.uniform(size=shape[:-1]))[..., None]

    def place(self, domain: Domain, X: Array, U: Array) -> Neighbours:
        d = self.dimension(domain)
        hessian = domain.barrier(self.potential, X)
        # The ellipsoid lies in a Euclidean ball of radius r √tr(H⁻¹).
        distance = domain.boundary_distance(X)[0] if domain.has_boundary else np.full(len(X), np.inf)
        trace = np.maximum(hessian.inverse.diagonal().sum(axis=1), np.finfo(float).tiny)  # rounding may leave nothing
        r = self.radius * np.minimum(1.0, distance / np.sqrt(trace))
        L = root(hessian.inverse.parts)
        moves = [r[:, None] * L.apply(u) for u in U]
        mass_over_c3 = d * radial_part(d, 0) / radial_part(d, 2)
        scale = np.exp(-0.5 * hessian.logdet()) * mass_over_c3 / r**2
        return Neighbours(
            np.stack([X + move for move in moves]),
            np.stack([scale * self._weight(domain, X, move, r) for move in moves]),
        )

    def _weight(self, domain: Domain, X: Array, move: Array, r: Array) -> Array:
        """w(y, x) over exp(−½‖u‖²), which the moves are drawn from."""
        here, third = domain.curvature_along(self.potential, X, move)
        if self.proper:
            return 1.0 - third / (4.0 * r**2 * mixing_constant(domain.dimension))
        halfway, _ = domain.curvature_along(self.potential, X + 0.5 * move, move)
        return np.exp(-0.5 * (halfway - here) / r**2)
