"""Diagonal generators: Yu–Drton–Shojaie's coordinate weights, their section distances, and the identity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zfree.arrays import Array, Mask
from zfree.domains import Domain, Units
from zfree.errors import SpecificationAtRowError
from zfree.fields import Diagonal, Scalar
from zfree.generators.base import Decay, GeneratorValue, Vanishing
from zfree.generators.coordinate_functions import CoordinateFunction, FunctionLike, coordinate_function
from zfree.generators.scale import Scale, ScaledGenerator, ratio_of_sizes


def _check_at_rows(good: Mask, tell: Callable[[int, int, str], str]) -> None:
    """Refuse values that are not good; `tell` gets where the first one stands, and that in words."""
    if not good.all():
        row, column = map(int, np.argwhere(~good)[0])
        raise SpecificationAtRowError(lambda number: tell(row, column, f"row {number}, column {column}"), row)


@dataclass(frozen=True)
class Identity(ScaledGenerator):
    """D = I: Hyvärinen's score matching (2005). Consistent on the whole space only.

    Parameters
    ----------
    scale : {"raw", "natural"} or Units
        ``"raw"`` is the identity in the columns as they are. ``"natural"`` is the identity in columns divided by their standard
        deviations τ, D = diag(τ²): the estimate then does not depend on the units of the columns.
    """

    scale: Scale = "raw"

    tempered = True

    def __post_init__(self) -> None:
        self._check_scale()

    def __repr__(self) -> str:
        return f"Identity({self._scale_text('raw').removeprefix(', ')})"

    def on_domain(self, domain: Domain, X: Array) -> GeneratorValue:
        n, d = X.shape
        spread = self._spread(d)
        if spread is None:
            return GeneratorValue(np.zeros(n), Scalar(np.ones(n), d), np.zeros_like(X))
        return GeneratorValue(np.zeros(n), Diagonal(np.broadcast_to(spread**2, X.shape)), np.zeros_like(X))

    def imbalance(self, domain: Domain, units: Units, separable: bool) -> float:
        return ratio_of_sizes(2.0 * np.log(units.spread)) if self.is_raw and not separable else 1.0

    def decay(self, domain: Domain) -> Decay | None:
        return Decay(0.0, 0.0)

    def vanishing(self, domain: Domain) -> Vanishing:
        return Vanishing(False, "D = I is one everywhere, on the boundary too")


@dataclass(frozen=True)
class CoordinateWeight(ScaledGenerator):
    """D = diag(h(x_1), …, h(x_d)): Yu, Drton and Shojaie (2019); h = x² is Hyvärinen (2007).

    Parameters
    ----------
    h : str or callable
        ``"x"``, ``"x^2"``, ``"log(1+x)"``, ``"sigmoid"``, ``"exp(-|x|)"``, ``"exp(-x^2)"``, or a function with `derivative`.
    derivative : callable, optional
        h', for an `h` given as a function.
    cap : float, optional
        Use min(h, cap) instead.
    floor : float
        Added to h, so that no point has a weight of nearly zero. For domains without a boundary: on one, D no longer vanishes.
    scale : {"raw", "natural"} or Units
        ``"raw"`` is the method as published, whose estimate depends on the units of the columns. ``"natural"`` applies it to columns
        divided by their standard deviations τ: D_jj = τ_j² h(x_j/τ_j).
    """

    h: FunctionLike = "x"
    derivative: Callable[[Array], Array] | None = None
    cap: float | None = None
    floor: float = 0.0
    scale: Scale = "raw"

    def __post_init__(self) -> None:
        self._weight  # noqa: B018 - what is no weight is refused here
        self._check_scale()

    def __repr__(self) -> str:
        return f"CoordinateWeight({self._weight.name}{self._scale_text('raw')})"

    @cached_property
    def _weight(self) -> CoordinateFunction:
        return coordinate_function(self.h, self.derivative, self.cap, self.floor)

    def on_domain(self, domain: Domain, X: Array) -> GeneratorValue:
        weight, spread = self._weight, self._spread(X.shape[1])
        scaled = X if spread is None else X / spread
        value = np.asarray(weight.value(scaled), dtype=float)
        _check_at_rows(
            value > 0,
            lambda row, column, place: (
                f"the weight {weight.name} must be positive inside the domain, but h({X[row, column]:.6g}) = "
                f"{value[row, column]:.6g} ({place}). Use a weight that fits {domain!r}, or a Barrier."
            ),
        )
        slope = np.asarray(weight.derivative(scaled), dtype=float)
        _check_at_rows(
            np.isfinite(value) & np.isfinite(slope),
            lambda row, column, place: (
                f"the weight {weight.name} leaves the range of floating point at x = {X[row, column]:.6g} ({place}). "
                "Cap it (cap=), or use one that grows more slowly."
            ),
        )
        if spread is not None:
            value, slope = value * spread**2, slope * spread
        return GeneratorValue(np.zeros(len(X)), Diagonal(value), slope)

    def imbalance(self, domain: Domain, units: Units, separable: bool) -> float:
        return ratio_of_sizes(np.log(units.spread)) if self.is_raw and not separable else 1.0

    @cached_property
    def tempered(self) -> bool:
        return isinstance(self.h, str)  # every weight with a name does

    def decay(self, domain: Domain) -> Decay | None:
        facets = domain.coordinate_facets()
        positions = [v for values in (facets or {}).values() for v in values]
        orders = [self._weight.order(v) for v in positions]
        known = [q for q in orders if q is not None]
        return Decay(min(known), 0.0) if known and len(known) == len(orders) else None

    def vanishing(self, domain: Domain) -> Vanishing:
        weight = self._weight
        facets = domain.coordinate_facets()
        if facets is None:
            return Vanishing(False, f"{weight.name} depends on one coordinate at a time, the boundary on several")
        for j, positions in facets.items():
            for position in positions:
                value = weight.at(position)
                if abs(value) > 1e-12:
                    return Vanishing(False, f"h({position:.6g}) = {value:.6g} at the facet x{j + 1} = {position:.6g}")
        return Vanishing(True)


@dataclass(frozen=True)
class SectionDistance(ScaledGenerator):
    """D = diag(h(ρ_j(x))), ρ_j the distance from x_j to the nearer end of its own section of the domain.

    Yu, Drton and Shojaie (2021; for compositions, "GSM CD", 2024): move coordinate j alone until it leaves the domain.

    Parameters
    ----------
    h : str or callable
        As in :class:`CoordinateWeight`, applied to the distance.
    derivative : callable, optional
    cap : float, optional
        Use min(h, cap); needed for nothing, but common where sections are long.
    scale : {"raw", "natural"} or Units
        As in :class:`CoordinateWeight`.
    """

    h: FunctionLike = "x"
    derivative: Callable[[Array], Array] | None = None
    cap: float | None = None
    scale: Scale = "raw"

    def __post_init__(self) -> None:
        self._weight  # noqa: B018 - what is no weight is refused here
        self._check_scale()

    def __repr__(self) -> str:
        return f"SectionDistance({self._weight.name}{self._scale_text('raw')})"

    @cached_property
    def _weight(self) -> CoordinateFunction:
        return coordinate_function(self.h, self.derivative, self.cap)

    def on_domain(self, domain: Domain, X: Array) -> GeneratorValue:
        below, above = domain.sections(X)
        spread = self._spread(X.shape[1])
        unit = np.ones(X.shape[1]) if spread is None else spread
        distance = np.minimum(below, above) / unit
        endless = np.isinf(distance)
        # A coordinate that never leaves the domain needs no weight at all.
        finite = np.where(endless, 1.0, distance)
        weight = self._weight
        value = np.where(endless, 1.0, weight.value(finite))
        _check_at_rows(
            value > 0,
            lambda row, column, place: (
                f"the weight {weight.name} must be positive inside the domain, but h({finite[row, column]:.6g}) = "
                f"{value[row, column]:.6g} ({place})."
            ),
        )
        slope = np.where(below < above, 1.0, -1.0) * weight.derivative(finite)
        return GeneratorValue(np.zeros(len(X)), Diagonal(unit**2 * value), unit * np.where(endless, 0.0, slope))

    def imbalance(self, domain: Domain, units: Units, separable: bool) -> float:
        apart = separable and domain.coordinate_facets() is not None
        return ratio_of_sizes(np.log(units.spread)) if self.is_raw and not apart else 1.0

    @cached_property
    def tempered(self) -> bool:
        return isinstance(self.h, str)  # every weight with a name does

    def decay(self, domain: Domain) -> Decay | None:
        order = self._weight.order(0.0)
        return None if order is None else Decay(order, 0.0)

    def vanishing(self, domain: Domain) -> Vanishing:
        weight = self._weight
        value = weight.at(0.0)
        return Vanishing(abs(value) <= 1e-12, f"h(0) = {value:.6g} at the ends of the sections")
