"""What every domain can do, and how it says that a row does not belong to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from zfree.arrays import Array, Index, Mask
from zfree.conversion import real_array
from zfree.data.chunks import row_chunks
from zfree.domains.chart import Chart
from zfree.domains.derived import Sections, curvature_along, pulled_to_the_interior, reach, terms_of_margins
from zfree.domains.parts import BoundaryParts
from zfree.domains.recession import cone_edges
from zfree.domains.units import Units
from zfree.domains.violations import Violations
from zfree.errors import SpecificationError
from zfree.fields import Field
from zfree.potentials import SlackPotential

BOUNDARY_TOLERANCE = 1e-12
"""A constraint missed by less than this, relative to the size of its terms, is rounding: the row is *on* the boundary."""


__all__ = ["BarrierHessian", "Chart", "Domain", "FacetExponents", "Sections"]


class BarrierHessian(NamedTuple):
    """The Hessian of a potential on a domain, in the form a generator uses."""

    inverse: Field
    grad_logdet: Array
    logdet: Callable[[], Array]
    """Computed when asked for: with γ = 0 nobody does."""


class FacetExponents(NamedTuple):
    """How a barrier with 1/ψ'' ~ s^q behaves at distance s from a part of the boundary."""

    across: float
    """n·H⁻¹n ~ s^across"""
    along: float
    """H⁻¹ in the other directions ~ s^along"""
    det: float
    """det H ~ s^(−det)"""


class Domain(ABC):
    """An open set Ω ⊂ ℝᵈ (or a flat one, such as the simplex) where the data live: convex, unless it says otherwise.

    A domain says its `dimension`, whether it `is_bounded`, its `margins` and an `interior_point`; for barriers also its `slacks`, where they are
    not the margins, and its `barrier`. The rest follows from these, by bisection and differences where a domain does not know better, or is
    refused with what is missing.
    """

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of columns of the data."""

    @property
    @abstractmethod
    def is_bounded(self) -> bool:
        """Whether the domain is a bounded set."""

    slacks_are_linear: bool = False
    """Whether the slacks are linear in x, so that their means over the rows are those at the mean of the rows."""

    @cached_property
    def has_boundary(self) -> bool:
        """False only for the whole of ℝᵈ."""
        return True

    def constraint_names(self, columns: Sequence[str] | None = None) -> list[str]:
        """Readable constraints, in the order of :meth:`margins`."""
        m = self.margins(self.interior_point()[None]).shape[1]
        return [f"constraint {k} of {self!r}" for k in range(m)]

    @abstractmethod
    def margins(self, X: Array) -> Array:
        """Signed room (N, m) to each constraint in its own units: positive inside, 0 on it, negative outside."""

    def margin_scales(self, X: Array) -> Array:
        """The size (m,) of the terms that each margin is a difference of, at most over the rows of `X`.

        Rounding of a margin is a share of it, whatever the units: that tells rounding from a violation.
        """
        return terms_of_margins(self, X)

    @abstractmethod
    def interior_point(self) -> Array:
        """A point well inside the domain."""

    def boundary_distance(self, X: Array, spread: Array | None = None) -> tuple[Array, Array]:
        """Euclidean distance (N,) to the boundary and its gradient (N, d) (almost everywhere).

        With `spread` the distance is that in columns divided by it, and the gradient that in the columns as they are. Spheres stay
        spheres only under one unit for all columns; there the geometric mean is it.
        """
        raise self.lacks(
            "boundary_distance", "no distance to the boundary is known", "Use a Barrier, or SectionDistance"
        )

    def sections(self, X: Array) -> Sections:
        """How far each coordinate can move alone before it leaves the domain (∞ where it never does)."""
        ends = [self.chord(X, e) for e in np.eye(self.dimension)]
        return Sections(np.stack([e.below for e in ends], axis=1), np.stack([e.above for e in ends], axis=1))

    def slacks(self, X: Array) -> Array:
        """The slacks s_k(x) > 0 (N, m) that a barrier acts on, as the domain is written: the margins, unless it says otherwise."""
        return self.margins(X)

    @cached_property
    def n_slacks(self) -> int:
        """m, how many slacks there are."""
        return int(self.slacks(self.interior_point()[None]).shape[1])

    def slack_units(self, means: Array) -> Array:
        """The unit of each slack (m,), from its mean over the rows: that mean, unless the set brings a unit of its own."""
        return means

    def barrier(self, potential: SlackPotential, X: Array, units: Units | None = None) -> BarrierHessian:
        """Inverse Hessian, log-determinant and its gradient of φ = Σ ψ(slack), in the domain's own structure.

        With `units` the slacks are divided by their typical size, φ = Σ ψ(s_k/σ_k), and directions that no facet limits are
        measured by the spread of the columns; without, everything counts as it is written.
        """
        raise self.lacks("barrier", "no barrier is known", "Use BoundaryDistance() or SectionDistance()")

    def boundary_parts(self) -> BoundaryParts:
        """The facets and spheres that bound the domain, each once; refused where it is not convex."""
        raise self.lacks(
            "boundary_parts", "what its boundary is made of is not known", 'Use Barrier() or generator="search"'
        )

    def curvature_along(self, potential: SlackPotential, X: Array, V: Array) -> tuple[Array, Array]:
        """Second and third derivatives (N,) of t ↦ φ(x + t v) at t = 0: vᵀHv, and Σ ∂_k H_ij v_i v_j v_k."""
        return curvature_along(self, potential, X, V)

    def clip(self, X: Array, epsilon: float) -> Array:
        """Move rows that touch the boundary inwards, so that no margin is below `epsilon`."""
        return pulled_to_the_interior(self, X, epsilon)

    def affine_image(self, B: Array, c: Array) -> Domain:
        """The domain of x ↦ B x + c for x in this domain."""
        from zfree.domains.image import AffineImage

        return AffineImage(self, B, c)

    def coordinate_facets(self) -> dict[int, list[float]] | None:
        """Positions of the facets {x_j = v} if the boundary has no other parts, else None."""
        if self.dimension > 1 or not self.is_convex:
            return None
        middle = self.interior_point()
        below, above = self.chord(middle[None], np.ones(1))
        return {0: [float(v) for v in np.r_[middle - below, middle + above] if np.isfinite(v)]}

    def recession(self) -> Array | None:
        """Rows a of a system a·v ≤ 0 whose solutions are the directions in which Ω is unbounded; None if bounded."""
        if self.is_bounded:
            return None
        raise self.lacks("recession", "the directions in which it is unbounded are not known", "Cut it off far out")

    def lacks(self, ability: str, missing: str, remedy: str) -> SpecificationError:
        """The refusal of something that this domain does not bring: what is missing, and what to do."""
        if ability in ("barrier", "boundary_parts") and not self.is_convex:
            hull = (
                f"fit on its convex hull, {self.hull!r} (domain.hull)"
                if self.hull is not self
                else "fit on its convex hull"
            )
            return SpecificationError(
                f"a barrier needs a convex domain, and {self!r} is not convex. Use BoundaryDistance(), which is consistent there, or "
                f"{hull}, knowing that the generator then does not vanish on the rest of the boundary and the estimate is biased."
            )
        return SpecificationError(f"{missing} for {self!r}. {remedy}, or write {type(self).__name__}.{ability}.")

    def recession_directions(self, spread: Array | None = None) -> Array:
        """Directions v (m, d) that span the cone in which Ω is unbounded: x + t v is inside for all x inside and t ≥ 0.

        The edges of the cone, and both senses of every line in it; none, (0, d), where Ω is bounded. Their length is one in columns
        divided by `spread`.
        """
        system = self.recession()
        if system is None:
            return np.zeros((0, self.dimension))
        unit = np.ones(self.dimension) if spread is None else spread
        return cone_edges(system * unit) * unit

    def chord(self, X: Array, v: Array) -> Sections:
        """How far each row can move along −v and along v, in units of v, before it leaves a convex domain: two arrays (N,).

        By doubling and bisection, unless a domain knows better.
        """
        return Sections(reach(self, X, -v), reach(self, X, v))

    def facet_exponents(self, q: float) -> list[FacetExponents]:
        """Exponents of the barrier with 1/ψ'' ~ s^q at each kind of facet; flat facets unless overridden."""
        return [FacetExponents(q, 0.0, q)] if self.has_boundary and self.is_convex else []

    @property
    def unlimited(self) -> Mask:
        """Which columns (d,) change along some direction that no facet limits."""
        return np.zeros(self.dimension, dtype=bool)

    @cached_property
    def is_convex(self) -> bool:
        """Whether the segment between any two points of the domain stays inside."""
        return True

    @property
    def hull(self) -> Domain:
        """The convex hull: the domain itself, if it is convex."""
        return self

    @cached_property
    def chart(self) -> Chart | None:
        """Full-dimensional coordinates, for a domain that is flat inside ℝᵈ."""
        return None

    @cached_property
    def columns(self) -> tuple[str, ...] | None:
        """Column names the domain was written in, if any."""
        return None

    def for_columns(self, n_columns: int) -> Domain:
        """The domain for data with `n_columns` columns, where its dimension was left open (a :class:`Ball`)."""
        return self

    def normalise(self, X: Array) -> Array:
        """Rows with rounding removed (a simplex divides by the sum)."""
        return X

    def contains(self, X: Array) -> Mask:
        """Whether each row is strictly inside the domain."""
        X = self.points(X)
        inside = np.ones(X.shape[0], dtype=bool)
        for rows in row_chunks(X.shape[0], 2 * self.dimension):
            inside[rows] = np.all(self.margins(X[rows]) > 0, axis=1)
        return inside

    def holds_all(self, X: Array) -> bool:
        """Whether every row is strictly inside: the quick question that :meth:`explain` asks first."""
        chunks = row_chunks(X.shape[0], 2 * self.dimension)
        return all(self.margins(X[rows]).min(initial=np.inf) > 0 for rows in chunks)

    def explain(self, X: Array, columns: Sequence[str] | None = None) -> Violations:
        """The rows that are not strictly inside, with the constraint they break and by how much."""
        X = self.points(X)
        if self.holds_all(X):
            return Violations(np.zeros(0, dtype=np.intp), (), np.zeros(0), len(X))
        found: list[tuple[Index, Index, Array]] = []
        scales = self.margin_scales(X)
        for rows in row_chunks(X.shape[0], 2 * self.dimension):
            margins = self.margins(X[rows])
            bad = np.flatnonzero(~np.all(margins > 0, axis=1))
            relative = margins[bad] / np.where(scales > 0, scales, 1.0)
            worst = np.argmin(np.where(np.isnan(relative), -np.inf, relative), axis=1)
            smallest = relative[np.arange(bad.size), worst]
            amount = np.where(smallest >= -BOUNDARY_TOLERANCE, 0.0, -margins[bad, worst])
            found.append((bad + rows.start, worst, amount))
        names = self.constraint_names(columns)
        numbers, which, amounts = (np.concatenate(pieces) for pieces in zip(*found, strict=True))
        return Violations(numbers, tuple(names[k] for k in which), amounts, len(X))

    def points(self, X: Array) -> Array:
        """`X` as a float array with one column per dimension, or an error."""
        if type(X) is not np.ndarray or X.dtype != np.float64:
            X = real_array(X, "points")
        if X.ndim != 2 or X.shape[1] != self.dimension:
            raise SpecificationError(
                f"{self!r} expects an array of shape (rows, {self.dimension}), got shape {X.shape}."
            )
        return X

    def __getstate__(self) -> dict[str, Any]:
        """All but the chart, whose matrix is larger than the domain and made anew where it is asked for."""
        return {name: value for name, value in self.__dict__.items() if name != "chart"}

    def _labels(self, columns: Sequence[str] | None) -> list[str]:
        if columns is None:
            columns = self.columns
        return list(columns) if columns is not None else [f"x{j + 1}" for j in range(self.dimension)]
