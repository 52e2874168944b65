"""Moment maps on an interval and a triangle, and what all moment maps have in common (see :mod:`zfree.experiments.moment_maps`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.polynomial import legendre

from zfree.arrays import Array
from zfree.domains import SolidSimplex
from zfree.errors import SpecificationError
from zfree.experiments.laws import Law, SimplexLaw
from zfree.generators import Barrier, Generator
from zfree.potentials import ConvexFunction
from zfree.threads import one_blas_thread

STEPS = 100
"""Newton steps at most."""


NewtonEquations = Callable[[Array], tuple[Array, Callable[[], Array]] | None]
"""Gaps at z and, when asked for, their Jacobian; None where φ is not convex."""


def gauss_newton(z: Array, equations: NewtonEquations, unseen: float = 1e-13) -> tuple[Array, Array]:
    """Least squares by Gauss–Newton steps, shortened as needed, until little is gained any more; z and the gaps that are left.

    Directions that the equations do not see, by singular values relative to the largest, are left alone.
    """
    now = equations(z)
    if now is None:
        raise SpecificationError("the law is too concentrated for a polynomial of this degree: choose a larger one.")
    for _ in range(STEPS):
        gap, slope = now[0], now[1]()
        unit = 1.0 / np.linalg.norm(slope, axis=0)
        step = -unit * np.linalg.lstsq(slope * unit, gap, rcond=unseen)[0]
        size, before = 1.0, float(np.linalg.norm(gap))
        while size > 1e-3:
            there = equations(z + size * step)
            if there is not None and np.linalg.norm(there[0]) < before * (1.0 - 1e-3 * size):
                break
            size *= 0.5
        else:
            break
        z, now = z + size * step, there
        if np.linalg.norm(now[0]) > (0.7 if size == 1.0 else 0.99) * before:
            break  # steps that gain little: rounding, or the best of this degree
    return z, now[0]


@dataclass(frozen=True, eq=False)
class MomentMap(ABC):
    """φ of a law."""

    law: Law
    degree: int

    @abstractmethod
    def barrier(self) -> Generator:
        """The generator of this φ with γ = 0: D = (∇²φ)⁻¹."""


@dataclass(frozen=True, eq=False)
class Potential(MomentMap):
    """φ by its second and third derivatives."""

    @abstractmethod
    def hessian(self, X: Array) -> Array:
        """∇²φ, shape (N, d, d)."""

    @abstractmethod
    def third(self, X: Array) -> Array:
        """∇³φ, shape (N, d, d, d)."""

    def barrier(self) -> Barrier:
        return Barrier(det_power=0.0, potential=ConvexFunction(hessian=self.hessian, third=self.third, vanishing=True))


@dataclass(frozen=True, eq=False)
class PolynomialMap(Potential):
    r"""φ on an interval or a triangle: :math:`\sum_k c_k s_k\log s_k` plus a polynomial u.

    Where the density is like :math:`s_k^{a_k}` at facet k, :math:`c_k = (1 + a_k)/\bar s_k` with the mean slack :math:`\bar s_k`: then all
    logarithms in the equation cancel, and what is left,

    .. math:: \log\Bigl(\det\nabla^2\phi\prod s_k\Bigr) + \sum_k c_k(\bar s_k - s_k) + u - (x - m)\cdot\nabla u = \theta\cdot x - \tfrac k2|x|^2 ,

    is smooth up to the boundary, so polynomials of growing degree converge faster than any power. It is solved in least squares at the
    nodes of a rule finer than the polynomial.
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

        weight = np.sqrt(p)

        def equations(z: Array) -> tuple[Array, Callable[[], Array]] | None:
            H = walls + curved @ z
            sign, logdet = np.linalg.slogdet(H)
            if np.any(sign <= 0) or np.any(np.trace(H, axis1=1, axis2=2) <= 0):  # not positive definite, for d ≤ 2
                return None
            gap = weight * (logdet + fixed + linear @ z)
            return gap, lambda: weight[:, None] * (np.einsum("nij,nijr->nr", np.linalg.inv(H), curved) + linear)

        # Start at ½·0.8·precision·|x|² for u: close for a concentrated Gaussian, and zero without one.
        start = 0.4 * law.precision * np.sum(X**2, axis=1)
        z = np.linalg.lstsq(np.hstack([_derivatives(X, n, 0), X]), start, rcond=None)[0][:-d]
        z, gap = gauss_newton(z, equations)
        return z, float(np.abs(gap / weight).max())

    def hessian(self, X: Array) -> Array:
        A, c = self._facets
        walls = np.einsum("ki,nk,kj->nij", A, c / self.law.domain.slacks(X), A)
        return np.asarray(walls + _derivatives(X, self.degree, 2) @ self.coefficients)

    def third(self, X: Array) -> Array:
        A, c = self._facets
        walls = np.einsum("nk,ki,kj,kl->nijl", c / self.law.domain.slacks(X) ** 2, A, A, A)
        return np.asarray(walls + _derivatives(X, self.degree, 3) @ self.coefficients)

    def paper_barrier(self) -> Barrier:
        """On the interval, the other φ that gives the same D with the paper's γ = ½: φ'' = D^(−2/3)."""
        return Barrier(
            det_power=0.5,
            potential=ConvexFunction(
                hessian=lambda X: self.hessian(X) ** (2 / 3),
                third=lambda X: 2 / 3 * self.hessian(X)[..., None] ** (-1 / 3) * self.third(X),
                vanishing=True,
            ),
        )


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
