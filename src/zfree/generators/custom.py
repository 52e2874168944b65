"""A generator written by the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.conversion import check_callable, check_flag, values_of
from zfree.domains import Domain
from zfree.errors import SpecificationAtRowError, SpecificationError
from zfree.fields import Dense, Diagonal, Field, Scalar
from zfree.generators.base import Decay, Generator, GeneratorValue, Vanishing


@dataclass(frozen=True)
class Custom(Generator):
    """Any D(x).

    Parameters
    ----------
    D : callable
        Maps points (N, d) to matrices (N, d, d), to diagonals (N, d), or to multiples of the identity (N,). On a domain with
        a chart (the simplex) it is called in the chart's coordinates.
    divergence : callable, optional
        ∇·D as (N, d). Without it D must be written with torch operations and is differentiated automatically.
    vanishing_at_boundary : bool
        Your word that D n → 0 on the boundary. If false (the default) a fit on a domain with a boundary warns.
    """

    D: Callable[[Any], Any]
    divergence: Callable[[Array], Array] | None = None
    vanishing_at_boundary: bool = False

    def __post_init__(self) -> None:
        check_callable(self.D, "D of Custom")
        if self.divergence is not None:
            check_callable(self.divergence, "divergence of Custom")
        check_flag(self.vanishing_at_boundary, "vanishing_at_boundary")

    def on_domain(self, domain: Domain, X: Array) -> GeneratorValue:
        if self.divergence is None:
            from zfree.autodiff import column_divergence

            values, divergence = column_divergence(self.D, X)
        else:
            values = values_of(self.D, X, "D of Custom")
            divergence = values_of(self.divergence, X, "the divergence of Custom")
        return GeneratorValue(np.zeros(len(X)), _as_field(values, X), _checked(divergence, X))

    def decay(self, domain: Domain) -> Decay | None:
        return None

    def vanishing(self, domain: Domain) -> Vanishing:
        return Vanishing(self.vanishing_at_boundary, "it was not declared to (vanishing_at_boundary=True)")


def _as_field(values: Array, X: Array) -> Field:
    n, d = X.shape
    if values.shape == (n, d, d):
        smallest = np.linalg.eigvalsh(values)[:, 0]
        same = np.isclose(values, np.swapaxes(values, 1, 2), rtol=1e-9, atol=1e-12).all(axis=(1, 2))
        if not same.all():
            raise SpecificationAtRowError(
                lambda number: f"D must be symmetric at every point; at row {number} it is not.", int(np.argmin(same))
            )
        field: Field = Dense(values)
    elif values.shape == (n, d):
        smallest, field = values.min(axis=1), Diagonal(values)
    elif values.shape == (n,):
        smallest, field = values, Scalar(values, d)
    else:
        raise SpecificationError(
            f"D returned shape {values.shape} for {n} points in {d} dimensions; "
            f"expected {(n, d, d)}, {(n, d)} (diagonal) or {(n,)} (times the identity)."
        )
    if not np.all(smallest > 0):
        row = int(np.flatnonzero(~(smallest > 0))[0])
        value = smallest[row]
        raise SpecificationAtRowError(
            lambda number: f"D must be positive definite; its smallest eigenvalue at row {number} is {value:.3g}.", row
        )
    return field


def _checked(divergence: Array, X: Array) -> Array:
    if divergence.shape != X.shape:
        raise SpecificationError(f"the divergence must be finite numbers of shape {X.shape}, got {divergence.shape}.")
    finite = np.isfinite(divergence).all(axis=1)
    if not finite.all():
        raise SpecificationAtRowError(
            lambda number: f"the divergence must be finite numbers; at row {number} it is not.", int(np.argmin(finite))
        )
    return divergence
