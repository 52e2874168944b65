r"""Moment maps: the convex φ whose generator recovers maximum likelihood of θ in e^{θ·x + b(x)}.

For a law p with mean m there is a convex Ψ such that ∇Ψ carries the density e^{−Ψ} to that of x − m (Cordero-Erausquin and Klartag
2015). Its Legendre dual φ solves on the domain

.. math:: \log\det\nabla^2\phi - (x - m)\cdot\nabla\phi + \phi = \log p ,

and the gradient of this equation, multiplied by D = (∇²φ)⁻¹, says ∇·D + D ∇log p = −(x − m): D is a Stein kernel of p (Fathi 2019).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.polynomial import chebyshev, legendre

from zfree.arrays import Array
from zfree.domains import SolidSimplex
from zfree.errors import SpecificationError
from zfree.experiments.laws import DiscLaw, Law, SimplexLaw
from zfree.generators import Barrier
from zfree.potentials import ConvexFunction
from zfree.threads import one_blas_thread

STEPS = 100
"""Newton steps at most."""


@dataclass(frozen=True, eq=False)
class MomentMap:
    """φ of a law, by its second and third derivatives."""

    law: Law
    degree: int

    def hessian(self, X: Array) -> Array:
        """∇²φ, shape (N, d, d)."""
        raise NotImplementedError

    def third(self, X: Array) -> Array:
        """∇³φ, shape (N, d, d, d)."""
        raise NotImplementedError

    def barrier(self) -> Barrier:
        """The library's generator with this φ and γ = 0: D = (∇²φ)⁻¹."""
        return Barrier(det_power=0.0, potential=ConvexFunction(hessian=self.hessian, third=self.third, vanishing=True))

    def paper_barrier(self) -> Barrier:
        """In one dimension, the other φ that gives the same D with the paper's γ = ½: φ'' = D^(−2/3)."""
        return Barrier(
            det_power=0.5,
            potential=ConvexFunction(
                hessian=lambda X: self.hessian(X) ** (2 / 3),
                third=lambda X: 2 / 3 * self.hessian(X)[..., None] ** (-1 / 3) * self.third(X),
                vanishing=True,
            ),
        )


@dataclass(frozen=True, eq=False)
class PolynomialMap(MomentMap):
    r"""φ on an interval or a triangle: :math:`\sum_k c_k s_k\log s_k` plus a polynomial u.

    Where the density is like :math:`s_k^{a_k}` at facet k, :math:`c_k = (1 + a_k)/\bar s_k` with the mean slack :math:`\bar s_k`: then all
    logarithms in the equation cancel, and what is left,

    .. math:: \log\Bigl(\det\nabla^2\phi\prod s_k\Bigr) + \sum_k c_k(\bar s_k - s_k) + u - (x - m)\cdot\nabla u = \theta\cdot x + \log(p_\text{smooth}) ,

    is smooth up to the boundary, so polynomials of growing degree converge faster than any power. It is solved in least squares by
    Gauss–Newton steps at the nodes of a rule finer than the polynomial.
    """

    law: SimplexLaw
    mean: Array = field(init=False)
    coefficients: Array = field(init=False)
    residual: float = field(init=False)
    """Largest gap of the equation at the nodes."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", self.law.moments()[0])
        with one_blas_thread():  # matrices are small, and threads in each other's way
            coefficients, residual = self._solve()
        object.__setattr__(self, "coefficients", coefficients)
        object.__setattr__(self, "residual", residual)

    @property
    def _facets(self) -> tuple[Array, Array]:
        """Normals A, and c."""
        domain = SolidSimplex(len(self.law.theta))
        return domain.inequalities[0], (1.0 + np.array(self.law.powers)) / domain.slacks(self.mean[None])[0]

    def _solve(self) -> tuple[Array, float]:
        law, n, d = self.law, self.degree, len(self.law.theta)
        A, c = self._facets
        X, p = law.nodes(n + 8)
        S, mean_slack = law.domain.slacks(X), law.domain.slacks(self.mean[None])
        smooth = X @ law.theta - 0.5 * law.precision * np.sum(X**2, axis=1)
        fixed = np.log(S).sum(axis=1) + (mean_slack - S) @ c - smooth
        curved = _derivatives(X, n, 2)
        linear = _derivatives(X, n, 0) - np.einsum("nir,ni->nr", _derivatives(X, n, 1), X - self.mean)
        walls = np.einsum("ki,nk,kj->nij", A, c / S, A)

        def gap(z: Array) -> tuple[Array | None, Array]:
            H = walls + curved @ z
            sign, logdet = np.linalg.slogdet(H)
            inside = np.all(sign > 0) and np.all(np.trace(H, axis1=1, axis2=2) > 0)  # positive definite, for d ≤ 2
            return (logdet + fixed + linear @ z) if inside else None, H

        # Start at ½·0.8·precision·|x|² for u: close for a concentrated Gaussian, and zero without one.
        weight, start = np.sqrt(p), 0.4 * law.precision * np.sum(X**2, axis=1)
        basis = _derivatives(X, n, 0)
        z = np.linalg.lstsq(np.hstack([basis, X]), start, rcond=None)[0][:-d]
        R, H = gap(z)
        if R is None:
            raise SpecificationError(
                f"the law is too concentrated for a polynomial of degree {n}: choose a larger one."
            )
        for _ in range(STEPS):
            slope = np.einsum("nij,nijr->nr", np.linalg.inv(H), curved) + linear
            step = -np.linalg.lstsq(weight[:, None] * slope, weight * R, rcond=1e-14)[0]
            size, before = 1.0, float(np.linalg.norm(weight * R))
            while size > 1e-3:
                there, H_there = gap(z + size * step)
                if there is not None and np.linalg.norm(weight * there) < before * (1.0 - 1e-3 * size):
                    break
                size *= 0.5
            else:
                break  # nothing is gained any more: rounding, or the best of this degree
            z, R, H = z + size * step, there, H_there
        return z, float(np.abs(R).max())

    def hessian(self, X: Array) -> Array:
        A, c = self._facets
        walls = np.einsum("ki,nk,kj->nij", A, c / self.law.domain.slacks(X), A)
        return np.asarray(walls + _derivatives(X, self.degree, 2) @ self.coefficients)

    def third(self, X: Array) -> Array:
        A, c = self._facets
        walls = np.einsum("nk,ki,kj,kl->nijl", c / self.law.domain.slacks(X) ** 2, A, A, A)
        return np.asarray(walls + _derivatives(X, self.degree, 3) @ self.coefficients)


def _derivatives(X: Array, degree: int, order: int) -> Array:
    """Derivatives (N, d, …, d, r) of products of Legendre polynomials on [0, 1]ᵈ, linear functions left out.

    The equation does not see them: they move e^{−Ψ} and nothing else.
    """
    n, d = X.shape
    multi = np.array([i for i in product(range(degree + 1), repeat=d) if sum(i) <= degree and sum(i) != 1])
    single = []
    for k in range(order + 1):
        rows = legendre.legder(np.eye(degree + 1), k, scl=2.0) if k else np.eye(degree + 1)
        single.append([legendre.legvander(2.0 * X[:, j] - 1.0, len(rows) - 1) @ rows for j in range(d)])
    out = [
        np.prod([single[where.count(j)][j][:, multi[:, j]] for j in range(d)], axis=0)
        for where in product(range(d), repeat=order)
    ]
    return np.stack(out, axis=1).reshape(n, *[d] * order, len(multi))


@dataclass(frozen=True, eq=False)
class RadialMap(MomentMap):
    r"""φ on a disc at θ = 0, where the law is radial: :math:`\Psi''\,\Psi'\,p(\Psi') = t\,e^{-\Psi}` with Ψ'(0) = 0 and Ψ'(∞) = 1.

    Ψ is a Chebyshev polynomial in t = |y| on (0, `end`), determined by collocation. At |x| = Ψ'(t) the eigenvalues of D are Ψ''(t) along the
    radius and Ψ'(t)/t across it.
    """

    law: DiscLaw
    end: float = 36.0
    coefficients: Array = field(init=False)

    def __post_init__(self) -> None:
        with one_blas_thread():
            object.__setattr__(self, "coefficients", self._solve())

    def _basis(self, t: Array, order: int) -> Array:
        rows: Array = np.eye(self.degree + 1)
        if order:
            rows = np.asarray(chebyshev.chebder(rows, order, scl=2.0 / self.end), dtype=np.float64)
        return np.asarray(chebyshev.chebvander(2.0 * t / self.end - 1.0, len(rows) - 1) @ rows)

    def _solve(self) -> Array:
        k, n = self.law.precision, self.degree
        t = 0.5 * self.end * (1.0 + np.cos(np.pi * (np.arange(n - 1) + 0.5) / (n - 1)))
        value, slope, curvature = (self._basis(t, order) for order in range(3))
        ends = self._basis(np.array([0.0, self.end]), 1)

        def gap(z: Array) -> Array:
            inner = (curvature @ z) * (slope @ z) * np.exp(-0.5 * k * (slope @ z) ** 2) - t * np.exp(-value @ z)
            return np.concatenate([inner, ends @ z - [0.0, 1.0]])

        z = np.linalg.lstsq(np.vstack([value, slope]), np.r_[np.hypot(3.0, t), t / np.hypot(3.0, t)], rcond=None)[0]
        for _ in range(STEPS):
            one, two = slope @ z, curvature @ z
            damp, source = np.exp(-0.5 * k * one**2), t * np.exp(-value @ z)
            inner = (one * damp)[:, None] * curvature + (two * damp * (1.0 - k * one**2))[:, None] * slope
            step = -np.linalg.solve(np.vstack([inner + source[:, None] * value, ends]), gap(z))
            size, before = 1.0, float(np.linalg.norm(gap(z)))
            while size > 1e-3 and not np.linalg.norm(gap(z + size * step)) < before:
                size *= 0.5
            if size <= 1e-3:
                break
            z = z + size * step
        return z

    def at_radius(self, r: Array) -> tuple[Array, Array, Array, Array]:
        """t, and Ψ', Ψ'', Ψ''' there, with Ψ'(t) = r."""
        grid = np.linspace(0.0, self.end, 4000)
        t = np.interp(r, np.maximum.accumulate(self._basis(grid, 1) @ self.coefficients), grid)
        for _ in range(6):
            step = (r - self._basis(t, 1) @ self.coefficients) / (self._basis(t, 2) @ self.coefficients)
            t = np.clip(t + np.clip(step, -0.1, 0.1), 1e-9, self.end)
        one, two, three = (self._basis(t, order) @ self.coefficients for order in (1, 2, 3))
        return t, one, two, three

    def hessian(self, X: Array) -> Array:
        r = np.linalg.norm(X, axis=1)
        normal = X / r[:, None]
        t, _, two, _ = self.at_radius(r)
        along = np.einsum("ni,nj->nij", normal, normal)
        return np.asarray((t / r)[:, None, None] * (np.eye(2) - along) + (1.0 / two)[:, None, None] * along)

    def third(self, X: Array) -> Array:
        r = np.linalg.norm(X, axis=1)
        normal = X / r[:, None]
        t, _, two, three = self.at_radius(r)
        mixed = 1.0 / (two * r) - t / r**2
        cube = np.einsum("ni,nj,nk->nijk", normal, normal, normal)
        once = np.einsum("ij,nk->nijk", np.eye(2), normal)
        once = once + np.einsum("nijk->nikj", once) + np.einsum("nijk->nkji", once)
        return np.asarray(
            (-three / two**3 - 3.0 * mixed)[:, None, None, None] * cube + mixed[:, None, None, None] * once
        )


RADIAL = 6
"""A polynomial in the radius costs less than one in the plane: its degree is this many times larger."""


def moment_map(law: Law, degree: int) -> MomentMap:
    """The moment map of a law, by polynomials of this degree (six times this on a disc)."""
    if isinstance(law, SimplexLaw):
        return PolynomialMap(law, degree)
    if isinstance(law, DiscLaw) and not any(law.theta):
        return RadialMap(law, RADIAL * degree)
    raise SpecificationError("moment maps are computed on an interval, a triangle, and at θ = 0 on a disc.")
