"""What the boundary of a domain is made of: facets, spheres, and the planes that a flat set lies in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array, Index


class Sphere(NamedTuple):
    """The boundary of a ball or an ellipsoid in some of the columns, whose slack is u = R² − (x − center)ᵀ A (x − center)."""

    columns: slice
    center: Array
    slack: int
    shape: Array | None = None
    """A; None for the identity."""


@dataclass(frozen=True, eq=False)
class BoundaryParts:
    """Facets and spheres, each with the number of its slack in :meth:`Domain.slacks <zfree.Domain.slacks>`.

    Attributes
    ----------
    normals : ndarray of shape (m, d)
        a_k of every facet a_k·x = b_k, redundant inequalities left out: the slack falls by a_k·v along v.
    slacks : ndarray of int of shape (m,)
    spheres : tuple of Sphere
    flat : ndarray of shape (q, d)
        Rows n with n·x constant on the domain.
    """

    normals: Array
    slacks: Index
    spheres: tuple[Sphere, ...]
    flat: Array

    @classmethod
    def of_facets(cls, normals: Array, slacks: Index | None = None, flat: Array | None = None) -> BoundaryParts:
        """A set with facets only."""
        d = normals.shape[1]
        own = np.arange(len(normals)) if slacks is None else slacks
        return cls(normals, own, (), np.zeros((0, d)) if flat is None else flat)

    @classmethod
    def of_product(cls, parts: Sequence[BoundaryParts], sizes: Sequence[int], n_slacks: Sequence[int]) -> BoundaryParts:
        """Those of every factor, in the columns and slacks of the product."""
        d, column, slack = sum(sizes), 0, 0
        normals, slacks, flat = [np.zeros((0, d))], [np.zeros(0, dtype=np.intp)], [np.zeros((0, d))]
        spheres: list[Sphere] = []
        for part, size, own in zip(parts, sizes, n_slacks, strict=True):
            for rows, out in ((part.normals, normals), (part.flat, flat)):
                padded = np.zeros((len(rows), d))
                padded[:, column : column + size] = rows
                out.append(padded)
            slacks.append(part.slacks + slack)
            spheres += [
                Sphere(slice(s.columns.start + column, s.columns.stop + column), s.center, s.slack + slack, s.shape)
                for s in part.spheres
            ]
            column, slack = column + size, slack + own
        return cls(np.concatenate(normals), np.concatenate(slacks), tuple(spheres), np.concatenate(flat))
