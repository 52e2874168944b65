"""Domains bounded by spheres around one center: everything that does not depend on how many."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array
from zfree.domains.arguments import LARGEST, as_vector, check_affine, check_dimension
from zfree.domains.base import Domain
from zfree.errors import InvalidDomainError, SpecificationError

UNITS = "Divide the data and the lengths of the domain by a common unit."
"""What to do about lengths that have no square."""


class Spherical(Domain):
    """A bounded domain around a center, whose dimension may be left open until there are data."""

    def __init__(self, center: ArrayLike | None, d: int | None) -> None:
        if center is None and d is not None:
            check_dimension(d)
            center = np.zeros(d)
        self._center = None if center is None else as_vector(center, "center")
        if self._center is not None and np.abs(self._center).max() > LARGEST:
            raise InvalidDomainError(f"center holds {np.abs(self._center).max():.3g}, which has no square. {UNITS}")
        if d is not None and d != self.dimension:
            raise InvalidDomainError(f"d = {d} contradicts a center with {self.dimension} coordinates.")

    @property
    def center(self) -> Array:
        """The center (d,)."""
        if self._center is None:
            raise SpecificationError(
                f"the dimension of {self!r} is open: give it a center or d=, or fit an estimator on it."
            )
        return self._center

    def _where(self) -> str:
        """The center as the last arguments of a constructor."""
        if self._center is None:
            return ""
        return f", d={self._center.size}" if not self._center.any() else f", center={self._center.tolist()}"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    @cached_property
    def dimension(self) -> int:
        return int(self.center.size)

    is_bounded = True

    def _similar(self, B: Array, c: Array) -> tuple[float | None, Array]:
        """Factor of all lengths, None where the map does not keep spheres spheres, and the new center."""
        B, c = check_affine(B, c, self.dimension)
        square = B.T @ B
        scale = square[0, 0]
        alike = np.allclose(square, scale * np.eye(self.dimension), rtol=1e-10, atol=1e-12 * scale)
        return float(np.sqrt(scale)) if alike else None, B @ self.center + c


def common_unit(spread: Array | None) -> float:
    """One unit for all columns, as spheres need it: the geometric mean."""
    return 1.0 if spread is None else float(np.exp(np.log(spread).mean()))
