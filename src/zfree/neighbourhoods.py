r"""Random neighbours of data points: the small moves whose limit is score matching (paper, section 3).

A *soft* neighbourhood draws y from :math:`N(x + \tfrac\varepsilon2\nabla\cdot D,\ \varepsilon D)` (Theorem 3.1). A *hard* one is the local
Bregman ball :math:`(y-x)^\top H_\phi(x)(y-x) \le r(x)^2` with a weight (Theorem 3.2). Either gives points y with coefficients c
such that, for an energy E and a contrast h with h(L) ≈ f''(1)(½L² + 2L) near 0,

.. math:: \tfrac{1}{f''(1)}\,E\bigl[c\,h(E(x) - E(y))\bigr] \;\to\; \tfrac12\nabla E^\top D\nabla E - \nabla\cdot(D\nabla E)

as the neighbourhood shrinks. Nothing here depends on the energy: neighbours are functions of the data, like the generator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, hyp1f1

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.generators import Generator
from zfree.potentials import Power, SlackPotential
from zfree.roots import root


class Neighbours(NamedTuple):
    """Points y (k, N, d) around N rows, with the coefficient (k, N) of each."""

    points: Array
    coefficients: Array


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


@dataclass(frozen=True)
class SoftNeighbourhood(Neighbourhood):
    """y = x + (ε/2) ∇·D + √ε D^{1/2} u with u normal: minimum probability flow with Gaussian connectivity (Theorem 3.1).

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
        centre = X + 0.5 * self.epsilon * scale * value.divergence
        L = root(value.field.parts())
        spread = np.sqrt(self.epsilon * scale)
        points = np.stack([centre + spread * L.apply(u) for u in U])
        if domain.chart is not None:  # D is singular there; rounding must not lead out of the plane
            points = domain.chart.push(domain.chart.pull(points.reshape(-1, X.shape[1]))).reshape(points.shape)
        return Neighbours(points, np.full(U.shape[:2], 1.0 / self.epsilon))


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
        if domain.chart is not None:
            raise SpecificationError(
                f"a Bregman ball needs a full-dimensional domain; use the chart of {domain!r}, domain.chart.domain."
            )
        return domain.dimension

    def moves(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """From the density ∝ exp(−½‖u‖²) on the unit ball, by inverting the distribution of the length."""
        direction = rng.standard_normal(shape)
        direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
        return direction * _length(shape[-1], rng.uniform(size=shape[:-1]))[..., None]

    def place(self, domain: Domain, X: Array, U: Array) -> Neighbours:
        d = self.dimension(domain)
        hessian = domain.barrier(self.potential, X)
        # The ellipsoid lies in a Euclidean ball of radius r √tr(H⁻¹).
        distance = domain.boundary_distance(X)[0] if domain.has_boundary else np.full(len(X), np.inf)
        trace = np.maximum(hessian.inverse.diagonal().sum(axis=1), np.finfo(float).tiny)  # rounding may leave nothing
        r = self.radius * np.minimum(1.0, distance / np.sqrt(trace))
        L = root(hessian.inverse.parts())
        moves = [r[:, None] * L.apply(u) for u in U]
        mass_over_c3 = d * _radial(d, 0) / _radial(d, 2)
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


def radial_moment(d: int, power: int) -> float:
    r""":math:`\int_B \|u\|^k e^{-\|u\|^2/2}du` over the unit ball of ℝᵈ."""
    log_surface = np.log(2.0) + 0.5 * d * np.log(np.pi) - gammaln(0.5 * d)
    return float(np.exp(log_surface) * _radial(d, power))


def _radial(d: int, power: int) -> float:
    r""":math:`\int_0^1 t^{d+k-1} e^{-t^2/2}dt`, which unlike the surface of the ball stays in range for every d."""
    n = d + power
    return float(np.exp(-0.5) / n * hyp1f1(1.0, 0.5 * n + 1.0, 0.5))


def _length(d: int, share: Array) -> Array:
    """Where the distribution function of ‖u‖ is `share`, by Newton's method for its logarithm in log ‖u‖."""
    log_share = np.log(np.maximum(share, np.finfo(float).tiny))
    total = np.log(hyp1f1(1.0, 0.5 * d + 1.0, 0.5)) - 0.5
    log_length = log_share / d
    for _ in range(6):
        square = np.exp(2.0 * log_length)
        kummer = hyp1f1(1.0, 0.5 * d + 1.0, 0.5 * square)
        # log F = d log ‖u‖ − ½‖u‖² + log kummer − total, and its slope is d / kummer.
        log_length = log_length - (log_length - (log_share + total + 0.5 * square - np.log(kummer)) / d) * kummer
    return np.exp(log_length)


def mixing_constant(d: int) -> float:
    r"""λ(d) = C₆/C₃ of Theorem 3.2: the coefficient of :math:`\nabla E\cdot(\nabla\cdot G_\phi)` under the theorem's own weight.

    With :math:`C_3 = \int_B u_1^2 e^{-\|u\|^2/2}du` and :math:`C_6 = \tfrac13\int_B u_1^4 e^{-\|u\|^2/2}du` over the unit ball. It falls like
    1/(d + 4): the theorem's weight is far from the proper scoring rule, λ = 1, in any dimension.

    Examples
    --------
    >>> from zfree.neighbourhoods import mixing_constant
    >>> [round(mixing_constant(d), 4) for d in (1, 3, 10)]
    [0.1884, 0.1381, 0.0708]
    """
    if d < 1:
        raise SpecificationError(f"a dimension must be at least 1, got {d!r}.")
    return _radial(d, 4) / ((d + 2) * _radial(d, 2))
