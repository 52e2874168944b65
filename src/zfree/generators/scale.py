"""In which units a generator measures slacks and columns."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np

from zfree.arrays import Array, Index
from zfree.domains import Units
from zfree.errors import SpecificationError
from zfree.generators.base import Generator

Scale = Literal["natural", "raw"] | Units
"""``"natural"``: in units of the data that are fitted. ``"raw"``: as written. Or the units of some data set, to hold them fixed."""


class ScaledGenerator(Generator):
    """A generator that can measure in the units of the data (:class:`~zfree.Units`); what it keeps beside its fields does not depend on them."""

    scale: Scale

    def _check_scale(self) -> None:
        if not isinstance(self.scale, Units) and self.scale not in ("natural", "raw"):
            raise SpecificationError(
                f'scale must be "natural" (units of the data), "raw" (as written) or zf.Units.of(domain, X), got {self.scale!r}.'
            )

    def in_units(self, units: Units) -> Self:
        return self._measured(units) if isinstance(self.scale, str) and self.scale == "natural" else self

    def _for_columns(self, kept: Index) -> Self:
        return self._measured(self.scale.columns(kept)) if isinstance(self.scale, Units) else self

    def _measured(self, units: Units) -> Self:
        """The same generator in these units: all else was checked when it was made, and what it keeps stands."""
        twin = object.__new__(type(self))
        vars(twin).update(vars(self), scale=units)
        return twin

    @property
    def is_raw(self) -> bool:
        """Whether slacks and columns count as they are written."""
        return isinstance(self.scale, str) and self.scale == "raw"

    def _units(self) -> Units | None:
        """The units to measure in; None for none."""
        if isinstance(self.scale, Units):
            return self.scale
        if self.is_raw:
            return None
        raise SpecificationError(
            f"{self!r} measures in units of the data, and no data were said: evaluate "
            'generator.in_units(zf.Units.of(domain, X)), or pass scale="raw" for the formula as it is written.'
        )

    def _spread(self, d: int) -> Array | None:
        units = self._units()
        if units is not None and units.spread.size != d:
            raise SpecificationError(f"the units are those of {units.spread.size} columns, the data have {d}.")
        return None if units is None else units.spread

    def _scale_text(self, default: str) -> str:
        """The scale as the last argument of a constructor, where it is not the default."""
        if isinstance(self.scale, Units):
            return f", scale={self.scale!r}"
        return "" if self.scale == default else f", scale={self.scale!r}"


def ratio_of_sizes(logs: Array) -> float:
    """exp of the range: how many times the largest is the smallest."""
    return float(np.exp(np.minimum(np.ptp(logs), 700.0))) if logs.size else 1.0
