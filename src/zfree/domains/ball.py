"""Euclidean balls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array
from zfree.conversion import real_number
from zfree.domains.arguments import check_squares
from zfree.domains.base import BarrierHessian, Domain, FacetExponents, Sections
from zfree.domains.parts import BoundaryParts, Sphere
from zfree.domains.spherical import UNITS, Spherical, common_unit
from zfree.domains.units import Units
from zfree.errors import InvalidDomainError
from zfree.fields import DiagonalPlusRankOne
from zfree.potentials import SlackPotential


class Ball(Spherical):
    """{x : ‖x − center‖ < radius}. The inverse Hessian is a multiple of the identity plus rank one.

    Parameters
    ----------
    radius : float
    center : array_like, optional
        The origin by default, in as many dimensions as the data have columns, or as `d` says.
    d : int, optional
        Number of columns, when no center is given and the ball is used by itself.

    Notes
    -----
    The slack is :math:`u = c^2 - \\|x - m\\|^2` and :math:`\\phi = \\psi(u)`; power 0 gives the paper's
    :math:`-\\log(c^2 - \\|x\\|^2)` ("Evaluation Under Non-Convex Support"). For other powers see
    :meth:`Power.descent <zfree.potentials.Power.descent>`.
    """

    def __init__(self, radius: float, center: ArrayLike | None = None, d: int | None = None) -> None:
        self.radius = real_number(radius, "the radius of a ball", InvalidDomainError)
        if not 0 < self.radius < np.inf:
            raise InvalidDomainError(f"the radius of a ball must be positive and finite, got {self.radius!r}.")
        check_squares(np.array([self.radius]), "the radius of a ball", UNITS)
        super().__init__(center, d)

    def for_columns(self, n_columns: int) -> Ball:
        return self if self._center is not None else Ball(self.radius, d=n_columns)

    def __repr__(self) -> str:
        return f"Ball(radius={self.radius!r}{self._where()})"

    def constraint_names(self, columns: Sequence[str] | None = None) -> list[str]:
        return [f"distance from the center < {self.radius:.6g}"]

    def margins(self, X: Array) -> Array:
        distances: Array = self.radius - np.linalg.norm(X - self.center, axis=1, keepdims=True)
        return distances

    def margin_scales(self, X: Array) -> Array:
        return np.array([self.radius + np.linalg.norm(self.center)])

    def interior_point(self) -> Array:
        return self.center.copy()

    def boundary_distance(self, X: Array, spread: Array | None = None) -> tuple[Array, Array]:
        offset = X - self.center
        r = np.linalg.norm(offset, axis=1)
        unit = common_unit(spread)
        return (self.radius - r) / unit, -offset / (unit * np.where(r > 0, r, 1.0))[:, None]

    def sections(self, X: Array) -> Sections:
        offset = X - self.center
        others = (offset**2).sum(axis=1, keepdims=True) - offset**2
        half = np.sqrt(np.maximum(self.radius**2 - others, 0.0))
        return Sections(half + offset, half - offset)

    def chord(self, X: Array, v: Array) -> Sections:
        offset = X - self.center
        size = float(np.linalg.norm(v))
        along = offset @ v / size
        r = np.linalg.norm(offset, axis=1)
        room = (self.radius - r) * (self.radius + r)
        far = np.abs(along) + np.sqrt(np.maximum(along**2 + room, 0.0))
        near = room / far  # the product of the two ends, so that neither loses digits
        return Sections(np.where(along > 0, far, near) / size, np.where(along > 0, near, far) / size)

    def slacks(self, X: Array) -> Array:
        r = np.linalg.norm(X - self.center, axis=1, keepdims=True)
        slacks: Array = (self.radius - r) * (self.radius + r)
        return slacks

    def barrier(self, potential: SlackPotential, X: Array, units: Units | None = None) -> BarrierHessian:
        d = self.dimension
        x = X - self.center
        square = np.einsum("nj,nj->n", x, x)
        r = np.sqrt(square)
        u = (self.radius - r) * (self.radius + r)
        sigma = 1.0 if units is None else float(units.slacks[0])
        inverse, _, ratio = potential.terms_in(u, None if units is None else units.slacks)
        alpha = 2.0 / sigma * potential.descent(u / sigma, self.radius**2 / sigma)
        beta = 4.0 / inverse  # H = α I + β x xᵀ
        across = alpha + beta * square
        field = DiagonalPlusRankOne(np.repeat(1.0 / alpha[:, None], d, axis=1), -beta / (alpha * across), x)
        # ∇α = β x and ∇β = −2 (ψ'''/ψ'') β x, because ∇u = −2x.
        slope = (d - 1) * beta / alpha + beta * (3.0 - 2.0 * ratio * square) / across
        return BarrierHessian(field, slope[:, None] * x, lambda: (d - 1) * np.log(alpha) + np.log(across))

    def boundary_parts(self) -> BoundaryParts:
        d = self.dimension
        return BoundaryParts(
            np.zeros((0, d)), np.zeros(0, dtype=np.intp), (Sphere(slice(0, d), self.center, 0),), np.zeros((0, d))
        )

    def curvature_along(self, potential: SlackPotential, X: Array, V: Array) -> tuple[Array, Array]:
        x = X - self.center
        r = np.linalg.norm(x, axis=1)
        u = (self.radius - r) * (self.radius + r)
        inverse, _, ratio = potential.terms(u)
        slope = -2.0 * np.einsum("nj,nj->n", x, V)  # of u along v; its own slope is −2‖v‖²
        bend = -2.0 * np.einsum("nj,nj->n", V, V)
        second = slope**2 / inverse - potential.descent(u, self.radius**2) * bend
        return second, (ratio * slope**3 + 3.0 * slope * bend) / inverse

    def facet_exponents(self, q: float) -> list[FacetExponents]:
        # Along the sphere H = 2|ψ'|, and ψ' ~ s^(1−q) where that diverges.
        along = max(0.0, q - 1.0)
        return [FacetExponents(q, along, q + (self.dimension - 1) * along)]

    def clip(self, X: Array, epsilon: float) -> Array:
        offset = X - self.center
        r = np.linalg.norm(offset, axis=1, keepdims=True)
        largest = self.radius - min(epsilon, 0.5 * self.radius)
        return self.center + offset * np.minimum(1.0, largest / np.where(r > 0, r, 1.0))

    def affine_image(self, B: Array, c: Array) -> Domain:
        from zfree.domains.ellipsoid import Ellipsoid

        scale, center = self._similar(B, c)
        if scale is not None:
            return Ball(self.radius * scale, center)
        back = np.linalg.inv(B) / self.radius
        return Ellipsoid(back.T @ back, center)
