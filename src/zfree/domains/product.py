"""Products: groups of columns, each on its own domain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from zfree.arrays import Array, Index, Mask
from zfree.domains.arguments import check_affine
from zfree.domains.base import BarrierHessian, Chart, Domain, FacetExponents, Sections
from zfree.domains.parts import BoundaryParts
from zfree.domains.units import Units
from zfree.errors import InvalidDomainError, SpecificationError
from zfree.fields import BlockDiagonal
from zfree.potentials import SlackPotential


class Product(Domain):
    """Ω₁ × Ω₂ × …: the first columns live on the first domain, the next on the second, and so on."""

    def __init__(self, factors: Sequence[Domain]) -> None:
        self.factors = tuple(factors) if isinstance(factors, list | tuple) else ()
        if not self.factors or not all(isinstance(f, Domain) for f in self.factors):
            raise InvalidDomainError("Product takes a non-empty list of domains, for example [Orthant(2), Simplex(3)].")
        ends = np.cumsum([f.dimension for f in self.factors])
        self._slices = tuple(slice(int(e - f.dimension), int(e)) for e, f in zip(ends, self.factors, strict=True))

    def __repr__(self) -> str:
        return f"Product([{', '.join(map(repr, self.factors))}])"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Product) and self.factors == other.factors

    def __hash__(self) -> int:
        return hash(self.factors)

    def _columns_of(self, X: Array) -> list[tuple[Domain, Array]]:
        return [(f, X[:, part]) for f, part in zip(self.factors, self._slices, strict=True)]

    @cached_property
    def dimension(self) -> int:
        return sum(f.dimension for f in self.factors)

    @cached_property
    def is_bounded(self) -> bool:
        return all(f.is_bounded for f in self.factors)

    @cached_property
    def has_boundary(self) -> bool:
        return any(f.has_boundary for f in self.factors)

    @cached_property
    def is_convex(self) -> bool:
        return all(f.is_convex for f in self.factors)

    @property
    def hull(self) -> Domain:
        return self if self.is_convex else Product([f.hull for f in self.factors])

    @cached_property
    def chart(self) -> Chart | None:
        charts = [f.chart for f in self.factors]
        if not any(charts):
            return None
        pieces = [
            chart or Chart(np.eye(f.dimension), np.zeros(f.dimension), f, np.arange(f.dimension))
            for f, chart in zip(self.factors, charts, strict=True)
        ]
        return Chart(
            block_diag(*[p.matrix for p in pieces]),
            np.concatenate([p.offset for p in pieces]),
            Product([p.domain for p in pieces]),
            np.concatenate([p.kept + part.start for p, part in zip(pieces, self._slices, strict=True)]),
        )

    def constraint_names(self, columns: Sequence[str] | None = None) -> list[str]:
        labels = self._labels(columns)
        return [
            name
            for f, part in zip(self.factors, self._slices, strict=True)
            for name in f.constraint_names(labels[part])
        ]

    def margins(self, X: Array) -> Array:
        return np.concatenate([f.margins(x) for f, x in self._columns_of(X)], axis=1)

    def margin_scales(self, X: Array) -> Array:
        return np.concatenate([f.margin_scales(x) for f, x in self._columns_of(X)])

    def normalise(self, X: Array) -> Array:
        return np.concatenate([f.normalise(x) for f, x in self._columns_of(X)], axis=1)

    def interior_point(self) -> Array:
        return np.concatenate([f.interior_point() for f in self.factors])

    def boundary_distance(self, X: Array, spread: Array | None = None) -> tuple[Array, Array]:
        pieces = [
            f.boundary_distance(x, None if spread is None else spread[part])
            for (f, x), part in zip(self._columns_of(X), self._slices, strict=True)
        ]
        distances = np.column_stack([distance for distance, _ in pieces])
        nearest = np.argmin(distances, axis=1)
        gradient = np.concatenate(
            [np.where((nearest == k)[:, None], g, 0.0) for k, (_, g) in enumerate(pieces)], axis=1
        )
        return distances.min(axis=1), gradient

    def sections(self, X: Array) -> Sections:
        pieces = [f.sections(x) for f, x in self._columns_of(X)]
        return Sections(
            np.concatenate([p.below for p in pieces], axis=1),
            np.concatenate([p.above for p in pieces], axis=1),
        )

    def chord(self, X: Array, v: Array) -> Sections:
        pieces = [
            f.chord(x, v[part]) for (f, x), part in zip(self._columns_of(X), self._slices, strict=True) if v[part].any()
        ]
        return Sections(np.min([p.below for p in pieces], axis=0), np.min([p.above for p in pieces], axis=0))

    @cached_property
    def n_slacks(self) -> int:
        return sum(f.n_slacks for f in self.factors)

    def slacks(self, X: Array) -> Array:
        return np.concatenate([f.slacks(x) for f, x in self._columns_of(X)], axis=1)

    def slack_units(self, means: Array) -> Array:
        pieces = np.split(means, self._slack_cuts)
        return np.concatenate([f.slack_units(own) for f, own in zip(self.factors, pieces, strict=True)])

    @cached_property
    def _slack_cuts(self) -> Index:
        return np.cumsum([f.n_slacks for f in self.factors])[:-1]

    @cached_property
    def unlimited(self) -> Mask:
        return np.concatenate([f.unlimited for f in self.factors])

    def _units_of(self, units: Units | None) -> list[Units | None]:
        if units is None:
            return [None] * len(self.factors)
        return [
            Units(own, units.spread[part])
            for own, part in zip(np.split(units.slacks, self._slack_cuts), self._slices, strict=True)
        ]

    def barrier(self, potential: SlackPotential, X: Array, units: Units | None = None) -> BarrierHessian:
        own = self._units_of(units)
        pieces = [f.barrier(potential, x, u) for (f, x), u in zip(self._columns_of(X), own, strict=True)]
        sizes = tuple(f.dimension for f in self.factors)
        return BarrierHessian(
            BlockDiagonal(tuple(p.inverse for p in pieces), sizes),
            np.concatenate([p.grad_logdet for p in pieces], axis=1),
            lambda: np.sum([p.logdet() for p in pieces], axis=0),
        )

    def curvature_along(self, potential: SlackPotential, X: Array, V: Array) -> tuple[Array, Array]:
        pieces = [
            f.curvature_along(potential, x, V[:, part])
            for (f, x), part in zip(self._columns_of(X), self._slices, strict=True)
        ]
        return np.sum([second for second, _ in pieces], axis=0), np.sum([third for _, third in pieces], axis=0)

    def boundary_parts(self) -> BoundaryParts:
        parts = [f.boundary_parts() for f in self.factors]
        return BoundaryParts.of_product(parts, [f.dimension for f in self.factors], [f.n_slacks for f in self.factors])

    def facet_exponents(self, q: float) -> list[FacetExponents]:
        own = [e for f in self.factors for e in f.facet_exponents(q)]
        # At a facet of one factor the other factors feel its determinant only.
        return [FacetExponents(e.across, min(e.along, 0.0), e.det) for e in own]

    def clip(self, X: Array, epsilon: float) -> Array:
        return np.concatenate([f.clip(x, epsilon) for f, x in self._columns_of(X)], axis=1)

    def affine_image(self, B: Array, c: Array) -> Domain:
        B, c = check_affine(B, c, self.dimension)
        outside = B.copy()
        for part in self._slices:
            outside[part, part] = 0.0
        if np.any(outside):
            raise SpecificationError("an affine map of a product must not mix the columns of its factors.")
        return Product(
            [f.affine_image(B[part, part], c[part]) for f, part in zip(self.factors, self._slices, strict=True)]
        )

    def coordinate_facets(self) -> dict[int, list[float]] | None:
        facets: dict[int, list[float]] = {}
        for f, part in zip(self.factors, self._slices, strict=True):
            inner = f.coordinate_facets()
            if inner is None:
                return None
            facets.update({j + part.start: values for j, values in inner.items()})
        return facets

    def recession(self) -> Array | None:
        if self.is_bounded:
            return None
        rows = []
        for f in self.factors:
            inner = f.recession()
            # A bounded factor moves in no direction at all: ±v ≤ 0.
            rows.append(inner if inner is not None else np.vstack([np.eye(f.dimension), -np.eye(f.dimension)]))
        return np.asarray(block_diag(*rows))

    def recession_directions(self, spread: Array | None = None) -> Array:
        own = [
            f.recession_directions(None if spread is None else spread[part])
            for f, part in zip(self.factors, self._slices, strict=True)
        ]
        return np.asarray(block_diag(*own))
