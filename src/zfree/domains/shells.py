"""Concentric shells: the one domain here that is not convex."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array, Index
from zfree.domains.arguments import as_vector, check_squares
from zfree.domains.ball import Ball
from zfree.domains.base import Domain, Sections
from zfree.domains.spherical import UNITS, Spherical, common_unit
from zfree.errors import InvalidDomainError, SpecificationError


class Shells(Spherical):
    """Layers between concentric spheres, every other one inside and the outermost among them. Not convex.

    Parameters
    ----------
    radii : array_like
        At least two, increasing. ``[b, c]`` is the annulus b < ‖x − center‖ < c, ``[a, b, c]`` the ball ‖x − center‖ < a
        together with that annulus.
    center : array_like, optional
        The origin by default, in as many dimensions as the data have columns, or as `d` says.
    d : int, optional
        Number of columns, when no center is given and the domain is used by itself.

    Notes
    -----
    The paper's Ω of "Evaluation Under Non-Convex Support" is ``Shells([0.2, 0.5, 1.0])`` and its Ω' the :attr:`hull`. A
    :class:`~zfree.Barrier` needs a convex domain and is refused. :class:`~zfree.BoundaryDistance` and
    :class:`~zfree.SectionDistance` vanish on every sphere and give consistent estimates.

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> domain = zf.Shells([0.2, 0.5, 1.0], d=2)
    >>> domain.contains(np.array([[0.1, 0.0], [0.3, 0.0], [0.6, 0.6]]))
    array([ True, False,  True])
    >>> domain.hull
    Ball(radius=1.0, d=2)
    """

    def __init__(self, radii: ArrayLike, center: ArrayLike | None = None, d: int | None = None) -> None:
        self.radii = as_vector(radii, "radii")
        if self.radii.size == 1:
            raise InvalidDomainError(f"one radius bounds a ball: use Ball({self.radii[0]:.6g}) instead of Shells.")
        if not (self.radii[0] > 0 and np.all(np.diff(self.radii) > 0)):
            raise InvalidDomainError(f"the radii of shells must be positive and increasing, got {self.radii.tolist()}.")
        check_squares(self.radii, "radii", UNITS)
        self._halfway = 0.5 * (self.radii[:-1] + self.radii[1:])
        # Which way the domain lies from each sphere: inwards from the outermost, then by turns.
        self._towards = np.where(np.arange(self.radii.size)[::-1] % 2 == 0, -1.0, 1.0)
        super().__init__(center, d)

    def for_columns(self, n_columns: int) -> Shells:
        return self if self._center is not None else Shells(self.radii, d=n_columns)

    def __repr__(self) -> str:
        return f"Shells(radii={self.radii.tolist()}{self._where()})"

    is_convex = False

    @property
    def hull(self) -> Ball:
        return Ball(float(self.radii[-1]), self._center)

    def constraint_names(self, columns: Sequence[str] | None = None) -> list[str]:
        r = [f"{radius:.6g}" for radius in self.radii]
        first = len(r) % 2
        layers = [f"< {r[0]}"] if first else []
        layers += [f"between {low} and {high}" for low, high in zip(r[first::2], r[first + 1 :: 2], strict=True)]
        return ["distance from the center " + " or ".join(layers)]

    def _nearest(self, r: Array) -> Index:
        return np.searchsorted(self._halfway, r)

    def _room(self, r: Array) -> tuple[Array, Array]:
        """Signed distance to the nearest sphere, and its derivative in r."""
        nearest = self._nearest(r)
        return self._towards[nearest] * (r - self.radii[nearest]), self._towards[nearest]

    def margins(self, X: Array) -> Array:
        return self._room(np.linalg.norm(X - self.center, axis=1))[0][:, None]

    def margin_scales(self, X: Array) -> Array:
        return self.radii[-1:] + np.linalg.norm(self.center)

    def interior_point(self) -> Array:
        point = self.center.copy()
        point[0] += self._halfway[-1]
        return point

    def boundary_distance(self, X: Array, spread: Array | None = None) -> tuple[Array, Array]:
        offset = X - self.center
        r = np.linalg.norm(offset, axis=1)
        room, slope = self._room(r)
        unit = common_unit(spread)
        return room / unit, (slope / (unit * np.where(r > 0, r, 1.0)))[:, None] * offset

    def sections(self, X: Array) -> Sections:
        offset = X - self.center
        r = np.linalg.norm(offset, axis=1, keepdims=True)
        # Of all spheres that a line meets, the two around the layer of x come first. Differences of squares as products
        # keep the digits of points next to a sphere.
        around = np.minimum(np.searchsorted(self.radii, r), self.radii.size - 1)
        outer, inner = self.radii[around], np.where(around > 0, self.radii[around - 1], 0.0)
        square, size = offset**2, np.abs(offset)
        within = (outer - r) * (outer + r)
        far = np.sqrt(np.maximum(square + within, 0.0)) + size  # to the outer sphere, through the middle
        ahead = within / np.where(far > 0, far, 1.0)  # to the outer sphere, away from the middle
        beyond = (r - inner) * (r + inner)
        meets = (inner > 0) & (square > beyond)
        back = np.where(meets, beyond / (size + np.sqrt(np.where(meets, square - beyond, 1.0))), far)
        return Sections(np.where(offset > 0, back, ahead), np.where(offset > 0, ahead, back))

    def slacks(self, X: Array) -> Array:
        return np.zeros((len(X), 0))  # no barrier, no slacks

    def clip(self, X: Array, epsilon: float) -> Array:
        offset = X - self.center
        r = np.linalg.norm(offset, axis=1)
        nearest = self._nearest(r)
        above = np.where(self._towards[nearest] > 0, nearest + 1, nearest)  # the outer sphere of the nearest layer
        high, low = self.radii[above], np.where(above > 0, self.radii[above - 1], 0.0)
        step = np.minimum(epsilon, 0.5 * (high - low))
        target = np.clip(r, np.where(above > 0, low + step, 0.0), high - step)
        # The center itself has no direction: any will do.
        direction = np.where((r > 0)[:, None], offset / np.where(r > 0, r, 1.0)[:, None], np.eye(self.dimension)[0])
        return np.where((target == r)[:, None], X, self.center + target[:, None] * direction)

    def affine_image(self, B: Array, c: Array) -> Domain:
        scale, center = self._similar(B, c)
        if scale is None:
            raise SpecificationError(
                "this map turns spheres into ellipsoids; only rotations with one scale keep shells shells. "
                f"Transform the data instead, fit on {self!r} and map the estimate back."
            )
        return Shells(self.radii * scale, center)

    def coordinate_facets(self) -> dict[int, list[float]] | None:
        if self.dimension == 1:
            return {0: [float(v) for v in self.center[0] + np.concatenate([-self.radii[::-1], self.radii])]}
        return None
