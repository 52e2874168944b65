"""Ellipsoids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array
from zfree.conversion import real_array
from zfree.domains.arguments import LARGEST, as_vector, check_affine, check_squares
from zfree.domains.ball import Ball
from zfree.domains.base import Domain
from zfree.domains.image import AffineImage
from zfree.domains.nearest import nearest_on_ellipsoid
from zfree.domains.spherical import UNITS
from zfree.errors import InvalidDomainError

SYMMETRIC, DEFINITE = 1e-10, 1e-13
"""Differences from symmetry that are rounding, and the smallest eigenvalue that is not, once A has a diagonal of ones."""


class Ellipsoid(AffineImage):
    r"""{x : (x − m)ᵀA(x − m) < 1}, the image of the unit ball.

    Parameters
    ----------
    shape : array_like of shape (d, d)
        A, symmetric and positive definite; a vector is its diagonal.
    center : array_like of shape (d,), optional
        m; the origin by default.

    Notes
    -----
    The slack is :math:`u = 1 - (x - m)^\top A(x - m)`, and the Hessian of :math:`\phi = \psi(u)` is A times a number plus rank one: its inverse is diagonal
    plus rank one where A is diagonal. With :math:`A = I/r^2` this is :class:`Ball` (r), whose slack is r² times as large: the same estimates, but for
    ``BoundaryDistance(scale="natural")`` on columns of unequal spread. An ellipsoid is measured in columns divided each by its own; a ball, which must stay one, by their geometric mean.

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> domain = zf.Ellipsoid([[1.0, 0.5], [0.5, 1.0]])
    >>> domain.contains(np.array([[0.9, -0.9], [0.9, 0.9]]))
    array([ True, False])
    >>> zf.Ellipsoid.from_axes([2.0, 1.0], center=[1.0, 0.0])
    Ellipsoid(shape=[[0.25, 0.0], [0.0, 1.0]], center=[1.0, 0.0])
    """

    def __init__(self, shape: ArrayLike, center: ArrayLike | None = None) -> None:
        given = real_array(shape, "shape of an ellipsoid", InvalidDomainError)
        A = np.diag(as_vector(given, "shape of an ellipsoid")) if given.ndim == 1 else given
        if A.ndim != 2 or A.shape[0] != A.shape[1] or not A.size:
            raise InvalidDomainError(
                f"shape of an ellipsoid must be a square matrix or its diagonal, got shape {given.shape}."
            )
        if not np.isfinite(A).all():
            raise InvalidDomainError(f"shape of an ellipsoid must be finite numbers, got {A.tolist()}.")
        size = _lengths(np.diagonal(A))
        correlations = A / size / size[:, None]  # decisions that do not depend on the units of the columns
        if np.abs(correlations - correlations.T).max() > SYMMETRIC:
            raise InvalidDomainError("shape of an ellipsoid must be symmetric: use (A + A.T) / 2.")
        correlations = 0.5 * (correlations + correlations.T)
        smallest = float(np.linalg.eigvalsh(correlations)[0])
        if not smallest > DEFINITE * len(A):
            raise InvalidDomainError(
                f"shape of an ellipsoid must be positive definite, and its smallest eigenvalue, with a diagonal of ones, is {smallest:.3g}: the "
                "set would be unbounded. Product, RealSpace and HalfSpace describe sets that are."
            )
        self.shape = size[:, None] * correlations * size
        self.shape.flags.writeable = False
        self.center = np.zeros(len(A)) if center is None else as_vector(center, "center")
        if len(self.center) != len(A):
            raise InvalidDomainError(f"center has {len(self.center)} coordinates, but shape is {len(A)} × {len(A)}.")
        if np.abs(self.center).max() > LARGEST:
            raise InvalidDomainError(f"center holds {np.abs(self.center).max():.3g}, which has no square. {UNITS}")
        root = np.linalg.cholesky(correlations).T
        self._map(Ball(1.0, d=len(A)), np.linalg.inv(root) / size[:, None], root * size, self.center)

    @classmethod
    def from_axes(
        cls, semi_axes: ArrayLike, rotation: ArrayLike | None = None, center: ArrayLike | None = None
    ) -> Ellipsoid:
        """The ellipsoid with given semi-axes, along the coordinates or along the orthonormal columns of `rotation`."""
        lengths = as_vector(semi_axes, "semi_axes")
        if not np.all(lengths > 0):
            raise InvalidDomainError(f"the semi-axes of an ellipsoid must be positive, got {lengths.tolist()}.")
        check_squares(lengths, "semi_axes", UNITS)
        d = len(lengths)
        Q = np.eye(d) if rotation is None else real_array(rotation, "rotation", InvalidDomainError)
        if Q.shape != (d, d) or not np.allclose(Q.T @ Q, np.eye(d), rtol=0.0, atol=1e-8):
            raise InvalidDomainError(
                f"rotation must be a {d} × {d} matrix with orthonormal columns, the directions of the {d} semi-axes."
            )
        back = Q / lengths
        return cls(back @ back.T, center)

    def __repr__(self) -> str:
        center = f", center={self.center.tolist()}" if self.center.any() else ""
        return f"Ellipsoid(shape={self.shape.tolist()}{center})"

    def constraint_names(self, columns: Sequence[str] | None = None) -> list[str]:
        return ["√((x − center)ᵀ shape (x − center)) < 1"]

    def margin_scales(self, X: Array) -> Array:
        return np.array([1.0 + np.linalg.norm(np.abs(self._back) @ np.abs(self.center))])

    def boundary_distance(self, X: Array, spread: Array | None = None) -> tuple[Array, Array]:
        unit = np.ones(self.dimension) if spread is None else spread
        left, values, right = np.linalg.svd(self._back * unit)
        distance, normal = nearest_on_ellipsoid(self._pull(X) @ left, 1.0 / values)
        return distance, (normal @ right) / unit

    def affine_image(self, B: Array, c: Array) -> Domain:
        B, c = check_affine(B, c, self.dimension)
        back = self._back @ np.linalg.inv(B)
        return Ellipsoid(back.T @ back, B @ self.center + c)


def _lengths(diagonal: Array) -> Array:
    """Square roots of the diagonal of A: one over half the width of a section along each coordinate."""
    if not np.all(diagonal > 0):
        j = int(np.argmin(diagonal))
        raise InvalidDomainError(
            f"shape of an ellipsoid must be positive definite, and shape[{j}, {j}] = {diagonal[j]:.6g} is not positive."
        )
    lengths = np.sqrt(diagonal)
    check_squares(lengths, "the diagonal of shape, square roots taken,", UNITS)
    return np.asarray(lengths)
