"""Domains cut out by half-spaces a·x < b: everything that follows from the slacks alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from zfree.arrays import Array, Mask
from zfree.domains.arguments import check_affine
from zfree.domains.base import Domain, Sections
from zfree.domains.derived import pull_inwards
from zfree.domains.linear_programs import rank
from zfree.domains.parts import BoundaryParts
from zfree.potentials import SlackPotential


class Polyhedral(Domain):
    """The set {x : A x < b}. Subclasses say what A and b are and how their barrier's Hessian is structured."""

    slacks_are_linear = True

    @property
    @abstractmethod
    def inequalities(self) -> tuple[Array, Array]:
        """A (m, d) and b (m,) with Ω = {A x < b}."""

    @cached_property
    def has_boundary(self) -> bool:
        return self.inequalities[1].size > 0

    @cached_property
    def n_slacks(self) -> int:
        return int(self.inequalities[1].size)

    def slacks(self, X: Array) -> Array:
        """s_k(x) = b_k − a_k·x, shape (N, m)."""
        A, b = self.inequalities
        return b - X @ A.T

    def margins(self, X: Array) -> Array:
        return self.slacks(X)

    def margin_scales(self, X: Array) -> Array:
        A, b = self.inequalities
        sizes: Array = np.abs(b) + np.abs(A) @ np.abs(X).max(axis=0, initial=0.0)
        return sizes

    def constraint_names(self, columns: Sequence[str] | None = None) -> list[str]:
        labels = self._labels(columns)
        return [describe_inequality(a, float(b), labels) for a, b in zip(*self.inequalities, strict=True)]

    def boundary_distance(self, X: Array, spread: Array | None = None) -> tuple[Array, Array]:
        A, _ = self.inequalities
        if not A.size:
            return np.full(X.shape[0], np.inf), np.zeros_like(X)
        norms = np.linalg.norm(A if spread is None else A * spread, axis=1)
        distances = self.slacks(X) / norms
        nearest = distances.argmin(axis=1)
        return distances[np.arange(X.shape[0]), nearest], np.take(-A / norms[:, None], nearest, axis=0)

    def sections(self, X: Array) -> Sections:
        A, _ = self.inequalities
        slacks = self.slacks(X)
        below = np.full(X.shape, np.inf)
        above = np.full(X.shape, np.inf)
        # Moving x_j by t changes slack k to s_k − a_kj t: facets with a_kj > 0 stop it above, a_kj < 0 below.
        for k, j in zip(*np.nonzero(A), strict=True):
            side = above if A[k, j] > 0 else below
            np.minimum(side[:, j], slacks[:, k] / abs(A[k, j]), out=side[:, j])
        return Sections(below, above)

    def chord(self, X: Array, v: Array) -> Sections:
        rate = self.inequalities[0] @ v  # moving by t changes slack k to s_k − t rate_k
        (hit,) = np.nonzero(rate)
        if not hit.size:
            return Sections(np.full(len(X), np.inf), np.full(len(X), np.inf))
        slacks = self.slacks(X)
        with np.errstate(divide="ignore", over="ignore"):
            speed = rate[hit] / (slacks if hit.size == rate.size else slacks[:, hit])
            return Sections(1.0 / np.maximum(-speed.min(axis=1), 0.0), 1.0 / np.maximum(speed.max(axis=1), 0.0))

    def free_directions(self, spread: Array) -> Array:
        """Orthonormal rows that span the directions no facet limits, in columns divided by `spread`."""
        A, _ = self.inequalities
        free = self.dimension - self._facet_rank
        if not free:
            return np.zeros((0, self.dimension))
        scaled = A * spread
        norms = np.linalg.norm(scaled, axis=1, keepdims=True)
        return np.asarray(np.linalg.svd(scaled / norms)[2][self.dimension - free :]) if A.size else np.eye(free)

    @cached_property
    def unlimited(self) -> Mask:
        return np.asarray(np.abs(self.free_directions(np.ones(self.dimension))).max(axis=0, initial=0.0) > 1e-9)

    @cached_property
    def _facet_rank(self) -> int:
        """How many directions the facets limit: the rank of A, whatever the units of its rows and columns."""
        A, _ = self.inequalities
        return rank(A)

    def boundary_parts(self) -> BoundaryParts:
        return BoundaryParts.of_facets(self.inequalities[0])

    def curvature_along(self, potential: SlackPotential, X: Array, V: Array) -> tuple[Array, Array]:
        A, b = self.inequalities
        free = np.sum((V @ self.free_directions(np.ones(self.dimension)).T) ** 2, axis=1)
        if not b.size:
            return free, np.zeros(len(X))
        inverse, _, ratio = potential.terms(self.slacks(X))
        slope = -V @ A.T  # of the slacks
        second = slope**2 / inverse
        return second.sum(axis=1) + free, (second * slope * ratio).sum(axis=1)

    def clip(self, X: Array, epsilon: float) -> Array:
        center = self.interior_point()
        return pull_inwards(X, center, self.slacks(X), self.slacks(center[None])[0], epsilon)

    def affine_image(self, B: Array, c: Array) -> Domain:
        from zfree.domains.polytope import Polytope

        B, c = check_affine(B, c, self.dimension)
        A, b = self.inequalities
        if not b.size:
            return self
        image = np.linalg.solve(B.T, A.T).T
        return Polytope(image, b + image @ c)

    def coordinate_facets(self) -> dict[int, list[float]] | None:
        A, b = self.inequalities
        facets: dict[int, list[float]] = {}
        for a, level in zip(A, b, strict=True):
            (nonzero,) = np.nonzero(a)
            if nonzero.size != 1:
                return None
            j = int(nonzero[0])
            facets.setdefault(j, []).append(float(level / a[j]))
        return facets

    def recession(self) -> Array | None:
        return None if self.is_bounded else self.inequalities[0]


def describe_inequality(a: Array, b: float, labels: Sequence[str]) -> str:
    """Write a·x < b the way a person would: ``x1 > 0``, ``x1 + 2*x2 < 1``."""
    (nonzero,) = np.nonzero(a)
    if nonzero.size == 1:
        j = int(nonzero[0])
        return f"{labels[j]} {'<' if a[j] > 0 else '>'} {b / a[j] + 0.0:.6g}"
    flip = np.all(a[nonzero] < 0)
    coefficients, level, sign = (-a, -b, ">") if flip else (a, b, "<")
    text = ""
    for k in map(int, nonzero):
        value = float(coefficients[k])
        size = "" if abs(value) == 1 else f"{abs(value):.6g}*"
        glue = (" - " if value < 0 else " + ") if text else ("-" if value < 0 else "")
        text += f"{glue}{size}{labels[k]}"
    return f"{text} {sign} {level + 0.0:.6g}"
