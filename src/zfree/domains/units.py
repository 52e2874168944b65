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

from zfree.arrays import Array, Index, block_rows
from zfree.errors import SpecificationError
from zfree.threads import in_one_blas_thread

if TYPE_CHECKING:
    from zfree.domains.base import Domain

ABREAST, MANY = 8, 2048
"""Rows that are summed side by side, and how many of them it takes for that to be faster."""


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
    @in_one_blas_thread
    def of(cls, domain: Domain, X: Array, weight: Array | None = None) -> Units:
        """Measure the rows of `X`, all strictly inside `domain`, each with its weight."""
        X = domain.points(X)
        if not len(X):
            raise SpecificationError("units are measured on rows, and X has none.")
        n, d = X.shape
        total, slack_sum = 0.0, np.zeros(domain.n_slacks)
        first, second = np.zeros(d), np.zeros(d)
        step = min(n, block_rows(d) // ABREAST * ABREAST)  # what is written here is read at once
        spare, shift = np.empty((step, d)), np.empty((step, d))
        shift[:] = X[0]  # any row keeps the digits of a column far from zero
        for start in range(0, n, step):
            rows = np.ascontiguousarray(X[start : start + step])  # sums of a strided array may round otherwise
            w = None if weight is None else weight[start : start + step]
            moved = np.subtract(rows, shift[: len(rows)], out=spare[: len(rows)])
            total += len(rows) if w is None else float(w.sum())
            slack_sum += _summed(domain.slacks(rows), w)
            first += _summed(moved, w)
            moved *= moved
            second += _summed(moved, w)
        mean = first / total
        spread = np.sqrt(np.maximum(second / total - mean * mean, 0.0))
        size = np.abs(X[0] + mean)
        # A column that does not vary beyond rounding has no spread; its size is the next best unit.
        spread = np.where(spread > 1e-12 * size, spread, np.where(size > 0, size, 1.0))
        means = domain.slack_units(slack_sum / total)
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


def _summed(values: Array, weight: Array | None) -> Array:
    """Σ_i w_i v_ij. BLAS is slow on narrow matrices, so many rows are laid side by side; with weights of one the bits are those without."""
    values = values if weight is None else weight[:, None] * values
    n, m = values.shape
    if n < MANY:
        return np.ones(n) @ values
    rest = n % ABREAST
    wide = values[: n - rest].reshape(n // ABREAST, ABREAST * m)
    total: Array = (np.ones(len(wide)) @ wide).reshape(ABREAST, m).sum(axis=0)
    return total + values[n - rest :].sum(axis=0) if rest else total
