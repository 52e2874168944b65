r"""Affine images of any domain: what the domain knows, carried over by x = B y + c.

Slacks are those of the original at y. With H the Hessian of the potential in y, that in x is :math:`B^{-\top} H B^{-1}`: its inverse is
:math:`B H^{-1} B^\top`, the gradient of the log-determinant :math:`B^{-\top}\nabla_y\log\det H`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from zfree.arrays import Array
from zfree.domains.base import BarrierHessian, Domain, FacetExponents, Sections
from zfree.domains.parts import BoundaryParts, Sphere
from zfree.domains.units import Units
from zfree.domains.validation import check_affine
from zfree.errors import SpecificationError
from zfree.fields import Dense, Field
from zfree.potentials import SlackPotential


class AffineImage(Domain):
    """{B y + c : y ∈ domain}, of a domain of full dimension. Distances are not carried over, because lengths are not."""

    def __init__(self, domain: Domain, B: Array, c: Array) -> None:
        B, c = check_affine(B, c, domain.dimension)
        if domain.chart is not None:
            raise SpecificationError(
                f"{domain!r} is flat: map its chart instead, domain.chart.domain.affine_image(B, c)."
            )
        self._map(domain, B, np.asarray(np.linalg.inv(B), dtype=np.float64), c)

    def _map(self, domain: Domain, forward: Array, back: Array, shift: Array) -> None:
        """x = B y + c and y = B⁻¹(x − c), each by its own matrix, so that neither loses digits to the other."""
        self._domain, self._forward, self._back, self._shift = domain, forward, back, shift
        self._diagonal = not np.count_nonzero(forward - np.diag(np.diagonal(forward)))

    def __repr__(self) -> str:
        return f"AffineImage({self._domain!r}, B={self._forward.tolist()}, c={self._shift.tolist()})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def _pull(self, X: Array) -> Array:
        """y of every x."""
        return (X - self._shift) * np.diagonal(self._back) if self._diagonal else (X - self._shift) @ self._back.T

    def _push(self, Y: Array) -> Array:
        """x of every y."""
        return Y @ self._forward.T + self._shift

    @cached_property
    def dimension(self) -> int:
        return self._domain.dimension

    @cached_property
    def is_bounded(self) -> bool:
        return self._domain.is_bounded

    @cached_property
    def has_boundary(self) -> bool:
        return self._domain.has_boundary

    @cached_property
    def is_convex(self) -> bool:
        return self._domain.is_convex

    @property
    def hull(self) -> Domain:
        return self if self.is_convex else AffineImage(self._domain.hull, self._forward, self._shift)

    def margins(self, X: Array) -> Array:
        margins: Array = self._domain.margins(self._pull(X))
        return margins

    def interior_point(self) -> Array:
        moved: Array = self._push(self._domain.interior_point()[None])[0]
        return moved

    def chord(self, X: Array, v: Array) -> Sections:
        return self._domain.chord(self._pull(X), self._back @ v)

    def slacks(self, X: Array) -> Array:
        return self._domain.slacks(self._pull(X))

    def slack_units(self, means: Array) -> Array:
        return self._domain.slack_units(means)

    def barrier(self, potential: SlackPotential, X: Array, units: Units | None = None) -> BarrierHessian:
        if self._domain.unlimited.any():
            raise SpecificationError(
                f"the barrier of {self!r} would measure directions that no facet limits by the spread of columns that are mixed. "
                f"Transform the data instead, fit on {self._domain!r} and map the estimate back."
            )
        inner = self._domain.barrier(potential, self._pull(X), units)
        shrunk = 2.0 * float(np.linalg.slogdet(self._back)[1])
        gradient = inner.grad_logdet @ self._back
        return BarrierHessian(self._carried(inner.inverse), gradient, lambda: inner.logdet() + shrunk)

    def _carried(self, field: Field) -> Field:
        """B D Bᵀ, in the structure of D where B scales the columns only."""
        B, d = self._forward, self.dimension
        if self._diagonal:
            return field.rescale(np.diagonal(B)[None])
        diagonal, rank_ones, dense = field.parts
        if dense is not None:
            return Dense(B @ dense @ B.T)
        assert diagonal is not None
        out = (diagonal @ (B.T[:, :, None] * B.T[:, None, :]).reshape(d, -1)).reshape(-1, d, d)
        for sigma, u in rank_ones:
            moved = u @ B.T
            out += (sigma[:, None] * moved)[:, :, None] * moved[:, None, :]
        return Dense(out)

    def curvature_along(self, potential: SlackPotential, X: Array, V: Array) -> tuple[Array, Array]:
        return self._domain.curvature_along(potential, self._pull(X), V @ self._back.T)

    def boundary_parts(self) -> BoundaryParts:
        parts, d = self._domain.boundary_parts(), self.dimension
        spheres = []
        for columns, center, slack, shape in parts.spheres:
            back = self._back[columns]
            middle = np.zeros(d)
            middle[columns] = center
            shape = back.T @ back if shape is None else back.T @ shape @ back
            spheres.append(Sphere(slice(0, d), self._push(middle[None])[0], slack, 0.5 * (shape + shape.T)))
        return BoundaryParts(parts.normals @ self._back, parts.slacks, tuple(spheres), parts.flat @ self._back)

    def facet_exponents(self, q: float) -> list[FacetExponents]:
        return self._domain.facet_exponents(q)

    def clip(self, X: Array, epsilon: float) -> Array:
        Y = self._pull(X)
        short = np.any(self._domain.margins(Y) < epsilon, axis=1)  # the others stay what they are, to the last digit
        return np.where(short[:, None], self._push(self._domain.clip(Y, epsilon * (1.0 + 1e-9))), X)

    def affine_image(self, B: Array, c: Array) -> Domain:
        B, c = check_affine(B, c, self.dimension)
        return self._domain.affine_image(B @ self._forward, B @ self._shift + c)

    def recession(self) -> Array | None:
        rows = self._domain.recession()
        return None if rows is None else rows @ self._back
