"""Parameters held at known values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array, Index, Mask
from zfree.errors import SpecificationError


@dataclass(frozen=True, eq=False)
class Restriction:
    """θ with some entries known: `values` holds them, `free` marks the others."""

    values: Array
    free: Mask

    @classmethod
    def none(cls, n_parameters: int) -> Restriction:
        """Everything free."""
        return cls(np.zeros(n_parameters), np.ones(n_parameters, dtype=bool))

    @classmethod
    def from_names(cls, fixed: Mapping[str, float], names: tuple[str, ...]) -> Restriction:
        """Hold the named parameters."""
        values, free = np.zeros(len(names)), np.ones(len(names), dtype=bool)
        for name, value in fixed.items():
            if name not in names:
                raise SpecificationError(
                    f"fixed= names {name!r}, which is no parameter of this model; the parameters are "
                    f"{', '.join(names[:8])}{', …' if len(names) > 8 else ''}."
                )
            if not np.isfinite(value):
                raise SpecificationError(f"the known value of {name} must be a finite number, got {value!r}.")
            values[names.index(name)], free[names.index(name)] = value, False
        return cls(values, free)

    def combine(self, other: Restriction, names: tuple[str, ...]) -> Restriction:
        """Hold what either holds; they must not disagree."""
        clash = np.flatnonzero(~self.free & ~other.free & (self.values != other.values))
        if clash.size:
            k = int(clash[0])
            raise SpecificationError(
                f"{names[k]} is fixed at two values, {self.values[k]:.6g} and {other.values[k]:.6g}: leave one of them out."
            )
        return Restriction(np.where(self.free, other.values, self.values), self.free & other.free)

    @property
    def index(self) -> Index:
        """Positions of the free parameters."""
        return np.flatnonzero(self.free)

    def block(self, matrix: Array) -> Array:
        """Rows and columns of the free parameters."""
        return matrix if self.free.all() else matrix[np.ix_(self.index, self.index)]

    def embed(self, block: Array) -> Array:
        """A matrix over all parameters, zero where one is known."""
        if self.free.all():
            return block
        out = np.zeros((self.free.size, self.free.size))
        out[np.ix_(self.index, self.index)] = block
        return out

    def expand(self, theta_free: Array) -> Array:
        """The whole of θ from its free part."""
        theta = self.values.copy()
        theta[self.free] = theta_free
        return theta
