r"""The size of things on these data: what makes a weight independent of how a set is written and of the units of its columns.

A facet can be written :math:`a\cdot x < b` or :math:`1000\,a\cdot x < 1000\,b`, and a column given in grams or in kilograms. Neither may
change an estimate, so every slack and every column is measured in a unit taken from the rows:

- slack k in units of its mean over the rows, :math:`\sigma_k = \bar s_k`. It is positive, one pass over the rows gives it, it follows the
  facet when that is rescaled, and it says how much room the data really have, which the width of the set does not. Parts of a
  composition are shares of one whole and have a unit already, the whole;
- column j in units of its standard deviation, :math:`\tau_j`, where no facet limits a direction.

The rows enter the weight only through these averages. The expectation of the estimating function is zero for every fixed unit, so to first
order their randomness does not touch the estimate, and the sandwich covariance stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from zfree.arrays import Array, Index
from zfree.data import Source, Table
from zfree.data.statistics import column_sums
from zfree.errors import SpecificationError

if TYPE_CHECKING:
    from zfree.domains.base import Domain


@dataclass(frozen=True, eq=False)
class Units:
    """Typical sizes on one data set.

    Attributes
    ----------
    slacks : ndarray of shape (m,)
        Mean of each slack of the domain over the rows, in the order of :meth:`Domain.slacks <zfree.Domain.slacks>`; one for the parts of a
        :class:`~zfree.Simplex`.
    spread : ndarray of shape (d,)
        Standard deviation of each column (its size, or one, for a column that does not vary).

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> zf.Units.of(zf.Box([0.0], [1.0]), np.array([[0.2], [0.4]])).slacks
    array([0.3, 0.7])
    """

    slacks: Array
    spread: Array

    def __post_init__(self) -> None:
        for name in ("slacks", "spread"):
            own = np.array(getattr(self, name), dtype=np.float64)  # the caller's array stays as it is
            own.flags.writeable = False
            object.__setattr__(self, name, own)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Units)
            and np.array_equal(self.slacks, other.slacks)
            and np.array_equal(self.spread, other.spread)
        )

    def __hash__(self) -> int:
        return hash((self.slacks.tobytes(), self.spread.tobytes()))

    def __repr__(self) -> str:
        return f"Units({self.slacks.size} slacks, {self.spread.size} columns)"

    @classmethod
    def of(cls, domain: Domain, X: Array, weight: Array | None = None) -> Units:
        """Measure the rows of `X`, all strictly inside `domain`, each with its weight."""
        X = domain.points(X)
        if not len(X):
            raise SpecificationError("units are measured on rows, and X has none.")
        return cls.of_source(domain, Table(X, weight))

    @classmethod
    def of_source(cls, domain: Domain, source: Source) -> Units:
        """Measure rows wherever they come from, with the same bits whatever threads BLAS has."""
        found = source.statistics
        if domain.slacks_are_linear:
            slacks = domain.slacks(found.mean[None])[0]
        else:
            total = source.reduce(lambda b: column_sums(domain.slacks(b.X), b.weight), 2 * len(found.mean))
            slacks = total / found.total
        means, spread = domain.slack_units(slacks), found.spread
        if not means.min(initial=np.inf) > 0:
            k = int(np.argmin(means))
            raise SpecificationError(
                f"slack {k} of {domain!r} is {means[k]:.3g} on average: the rows are not inside the domain. "
                "domain.explain(X) says which."
            )
        return cls(means, spread)

    def columns(self, kept: Index | slice) -> Units:
        """The units of some of the columns, for weights that know nothing of slacks."""
        return Units(np.zeros(0), self.spread[kept])
