"""Laws on an interval, a triangle and a disc, tilted by e^{θ·x}: quadrature, draws, maximum likelihood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import roots_jacobi, roots_legendre

from zfree.arrays import Array
from zfree.domains import Ball, Domain, SolidSimplex
from zfree.models import CustomModel

FINE = 64
"""Gauss nodes in each direction, for expectations."""


@dataclass(frozen=True)
class Law(ABC):
    """A density ∝ e^{θ·x + b(x)}: an exponential family with t(x) = x."""

    theta: tuple[float, ...]

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """Where it lives."""

    @abstractmethod
    def rule(self, n: int) -> tuple[Array, Array]:
        """Nodes (of n in each direction) and weights of the measure e^b dx."""

    @abstractmethod
    def slope(self, X: Array) -> Array:
        """∇b."""

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """`n` rows."""

    def at(self, theta: Array) -> Law:
        """The member of the family at another θ."""
        return replace(self, theta=tuple(map(float, theta)))

    def score(self, X: Array) -> Array:
        """∇ log p."""
        return self.slope(X) + self.theta

    def nodes(self, n: int = FINE) -> tuple[Array, Array]:
        """Nodes and probabilities: expectations are sums."""
        X, weight = self.rule(n)
        tilt = X @ self.theta
        weight = weight * np.exp(tilt - tilt.max())
        return X, weight / weight.sum()

    def moments(self) -> tuple[Array, Array]:
        """Mean and covariance of x; the covariance is the Fisher information of θ."""
        X, p = self.nodes()
        mean = p @ X
        return mean, np.einsum("n,ni,nj->ij", p, X - mean, X - mean)

    def likelihood(self, mean: Array) -> Array:
        """Maximum likelihood of θ from rows with this mean: E_θ x = mean, by Newton's method with shortened steps."""
        theta = np.array(self.theta)
        for _ in range(200):
            now, information = self.at(theta).moments()
            step = np.linalg.solve(information, mean - now)
            size = float(np.sqrt(step @ information @ step))
            theta = theta + step * min(1.0, 0.5 / size) if size > 0 else theta
            if size < 1e-15:
                break
        return theta

    def model(self) -> CustomModel:
        """The family for the library's moments; b itself is not needed there."""
        d = self.domain.dimension
        return CustomModel(
            d,
            [f"θ{j + 1}" for j in range(d)],
            statistic=lambda X: X,
            jacobian=lambda X: np.broadcast_to(np.eye(d), (len(X), d, d)),
            hessian=lambda X: np.zeros((len(X), d, d, d)),
            base=lambda X: np.zeros(len(X)),
            base_gradient=self.slope,
            base_hessian=lambda X: np.zeros((len(X), d, d)),
        )


@dataclass(frozen=True)
class SimplexLaw(Law):
    """Density ∝ Π_k s_k^powers_k e^{θ·x − ½ precision |x|²} on the interval (d = 1) or the triangle (d = 2).

    The slacks are s_k = x_k and the last one is 1 − Σ x.
    """

    powers: tuple[float, ...]
    precision: float = 0.0

    @property
    def domain(self) -> Domain:
        return SolidSimplex(len(self.theta))

    def rule(self, n: int) -> tuple[Array, Array]:
        X, weight = _corner(self.powers, n)
        return X, weight * np.exp(-0.5 * self.precision * np.sum(X**2, axis=1))

    def slope(self, X: Array) -> Array:
        A, _ = SolidSimplex(len(self.theta)).inequalities
        return -(np.array(self.powers) / self.domain.slacks(X)) @ A - self.precision * X

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """By rejection from the Dirichlet that has the same powers."""
        d, kept, count = len(self.theta), [], 0
        corners = np.vstack([np.zeros(d), np.eye(d), self.rule(FINE)[0]])
        top = self._height(corners).max()
        while count < n:
            X = rng.dirichlet(np.array(self.powers) + 1.0, 4 * n)[:, :d]
            inside = np.log(rng.random(len(X))) < self._height(X) - top
            kept.append(X[inside & np.all(self.domain.slacks(X) > 0, axis=1)])
            count += len(kept[-1])
        return np.concatenate(kept)[:n]

    def _height(self, X: Array) -> Array:
        return np.asarray(X @ self.theta - 0.5 * self.precision * np.sum(X**2, axis=1))


@dataclass(frozen=True)
class DiscLaw(Law):
    """Density ∝ e^{θ·x − ½ precision |x|²} on the unit disc."""

    precision: float = 0.0

    @property
    def domain(self) -> Domain:
        return Ball(1.0, d=2)

    def rule(self, n: int) -> tuple[Array, Array]:
        z, w = roots_legendre(2 * n)
        r = 0.5 * (z + 1.0)
        angle = 2.0 * np.pi * np.arange(n) / n
        X = (r[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)).reshape(-1, 2)
        return X, np.repeat(w * r * np.exp(-0.5 * self.precision * r**2), n)

    def slope(self, X: Array) -> Array:
        return -self.precision * X

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """By rejection from θ = 0, whose radius has a distribution function that can be inverted."""
        k, kept, count = self.precision, [], 0
        size = float(np.linalg.norm(self.theta))
        while count < n:
            u, angle = rng.random(2 * n), 2.0 * np.pi * rng.random(2 * n)
            square = -2.0 / k * np.log1p(u * np.expm1(-0.5 * k)) if k else u
            X = np.sqrt(square)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
            kept.append(X[np.log(rng.random(2 * n)) < X @ self.theta - size])
            count += len(kept[-1])
        return np.concatenate(kept)[:n]


@lru_cache(maxsize=32)
def _corner(powers: tuple[float, ...], n: int) -> tuple[Array, Array]:
    """Gauss–Jacobi rule of Π s_k^powers_k on {x > 0, Σ x < 1}, one coordinate after the other as a share of what is left."""
    d = len(powers) - 1
    X, weight, left = np.zeros((1, d)), np.ones(1), np.ones(1)
    for j in range(d):
        rest = sum(powers[j + 1 :]) + d - 1 - j
        z, w = roots_jacobi(n, rest, powers[j])
        share, w = 0.5 * (z + 1.0), w / 2.0 ** (rest + powers[j] + 1)
        X = np.repeat(X, n, axis=0)
        X[:, j] = np.outer(left, share).ravel()
        weight = np.outer(weight, w).ravel()
        left = np.outer(left, 1.0 - share).ravel()
    return X, weight
