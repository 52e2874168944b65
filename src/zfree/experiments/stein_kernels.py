"""Stein kernels: what a generator makes of the score, where the kernel is known, and how much of the Cramér–Rao bound is reached."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import roots_legendre

from zfree.arrays import Array
from zfree.domains import SolidSimplex, Units
from zfree.experiments.laws import DiscLaw, Law, SimplexLaw
from zfree.generators import Barrier, Custom, Generator
from zfree.potentials import ConvexFunction

KEEP = 0.8
"""ρ of the Stein barrier, the share of the law's own K."""
SPHERE = 3.0
"""c · E u of the Stein barrier on a disc."""


def field_at(law: Law, generator: Generator, X: Array) -> tuple[Array, Array]:
    """D (N, d, d) and the estimating function A_D x = ∇·D + D s (N, d)."""
    value = generator.evaluate(law.domain, X)
    factor = np.exp(value.log_weight)
    D = factor[:, None, None] * value.field.dense()
    return D, factor[:, None] * value.divergence + np.einsum("nij,nj->ni", D, law.score(X))


def stein_gap(law: Law, generator: Generator, n: int = 40) -> float:
    """Largest |∇·D + D s + (x − E x)| at the nodes of a rule, in standard deviations of x."""
    mean, covariance = law.moments()
    X, _ = law.nodes(n)
    _, function = field_at(law, generator, X)
    return float(np.abs(function + X - mean).max() / np.sqrt(np.trace(covariance)))


def share_of_bound(law: Law, generator: Generator, n: int = 96) -> float:
    """d / Tr(F Σ): how much of the Cramér–Rao bound the estimate with this generator reaches at the law's own θ."""
    mean, information = law.moments()
    X, p = law.nodes(n)
    _, function = field_at(law, generator, X)
    function = function - p @ function
    gamma = -np.einsum("n,ni,nj->ij", p, function, X - mean)  # E D, by Stein's identity: so the share is at most one
    spread = np.linalg.solve(gamma, np.einsum("n,ni,nj->ij", p, function, function))
    return float(len(mean) / np.trace(np.linalg.solve(gamma, spread.T) @ information))


def interval_kernel(log_density: Callable[[Array], Array], lower: float, upper: float, x: Array) -> Array:
    """τ(x) = (1/p(x)) ∫_x^upper (y − E y) p(y) dy, the Stein kernel in one dimension, by Gauss–Legendre rules.

    The integral is taken over the side of x where y − E y has one sign, so that nothing cancels.
    """
    z, w = roots_legendre(200)
    share, w = 0.5 * (z + 1.0), 0.5 * w
    y = lower + (upper - lower) * share
    p = w * np.exp(log_density(y) - log_density(y).max())
    mean = float(p @ y / p.sum())
    far = np.where(x > mean, upper, lower)
    there = x[:, None] + (far - x)[:, None] * share
    ratio = np.exp(log_density(there) - log_density(x)[:, None])
    return np.asarray(np.abs(far - x) * np.abs(((there - mean) * ratio) @ w))


def known_kernel(law: Law, X: Array) -> Array | None:
    """D where it is known without a moment map: on an interval by quadrature, for a Dirichlet (diag(x) − xxᵀ)/α₀."""
    if not isinstance(law, SimplexLaw):
        return None
    if X.shape[1] == 1:
        a, b = law.powers

        def log_density(x: Array) -> Array:
            return np.asarray(a * np.log(x) + b * np.log1p(-x) + law.theta[0] * x - 0.5 * law.precision * x**2)

        return interval_kernel(log_density, 0.0, 1.0, X[:, 0])[:, None, None]
    if any(law.theta) or law.precision:
        return None
    total = sum(law.powers) + len(law.powers)
    return np.asarray((np.einsum("ni,ij->nij", X, np.eye(2)) - np.einsum("ni,nj->nij", X, X)) / total)


def stein_barrier(law: Law, units: Units) -> Generator:
    """D = (ρK + H₀)⁻¹ with the law's own K: H₀ = Σ (1 + α) a aᵀ/(s̄ s), or c(I + xxᵀ/u) with u = 1 − |x|² on the disc.

    α is the power with which the density vanishes at the facet.
    """
    if isinstance(law, SimplexLaw):
        A = SolidSimplex(len(law.theta)).inequalities[0]
        energy = KEEP * law.precision * np.eye(len(law.theta))
        c = (1.0 + np.array(law.powers)) / units.slacks

        def hessian(X: Array) -> Array:
            return np.asarray(energy + np.einsum("nk,ki,kj->nij", c / law.domain.slacks(X), A, A))

        def third(X: Array) -> Array:
            third: Array = np.einsum("nk,ki,kj,kl->nijl", c / law.domain.slacks(X) ** 2, A, A, A)
            return third

        return Barrier(det_power=0.0, potential=ConvexFunction(hessian=hessian, third=third, vanishing=True))
    assert isinstance(law, DiscLaw)
    # Sherman–Morrison: D = a I − g xxᵀ with 1/a = ρK + c and g = a²c/(1 − b|x|²), b = 1 − ac.
    wall = SPHERE / float(units.slacks[0])
    a = 1.0 / (KEEP * law.precision + wall)
    b = 1.0 - a * wall

    def g(X: Array) -> Array:
        return np.asarray(a * a * wall / (1.0 - b * np.sum(X**2, axis=1)))

    def D(X: Array) -> Array:
        return np.asarray(a * np.eye(2) - g(X)[:, None, None] * np.einsum("ni,nj->nij", X, X))

    def divergence(X: Array) -> Array:
        square = np.sum(X**2, axis=1)
        return np.asarray(-((3.0 + 2.0 * b * square / (1.0 - b * square)) * g(X))[:, None] * X)

    return Custom(D, divergence, vanishing_at_boundary=True)
