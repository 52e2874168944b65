"""What of a row is compared with the model: where it stands in every column and in the log-density, and pairs of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array, Index, Mask
from zfree.models import Model

LOG_DENSITY, DEPENDENCE = "log-density", "dependence"
LEVELS = ((12, 15), (30, 7), (np.inf, 3))
"""Quantiles of each column: 15 up to 12 columns, fewer where there are more. Odd numbers, so that one is the median."""
MOST_COLUMNS = 64
"""Columns that are compared, at most, spread evenly; the log-density looks at all of them."""
MOST_PAIRS = 66
"""Pairs of columns whose signs are compared, at most."""

LOOSE = 0.1
"""Variance that the product of two signs must have to be compared."""


def n_indicators(d: int) -> int:
    """How many numbers are kept of a row with `d` columns, at most."""
    d = min(d, MOST_COLUMNS)
    return _levels(d) * (d + 1) + _n_pairs(d)


@dataclass(frozen=True, eq=False)
class Indicators:
    r"""φ(x): :math:`1\{x_j \le q\}` at cuts q, the same of the log-density, and products of signs :math:`x_j \lessgtr` median of pairs.

    The indicators at u are divided by :math:`\sqrt{L\,u(1-u)}`, the weight of Anderson and Darling (1952), so that each part of φ has a
    total variance of one.
    """

    model: Model
    theta: Array
    columns: Index
    """Those that are compared"""
    cuts: Array
    """(number of columns + 1, L), the last row for the log-density"""
    variance: Array
    """u(1 − u), in the shape of the cuts"""
    pairs: tuple[Index, Index]
    parts: dict[str, Index]
    """Positions of each part in φ"""

    @classmethod
    def of(cls, model: Model, theta: Array, draws: Array, weights: Array, columns: Sequence[str]) -> Indicators:
        """Cuts at quantiles of (weighted) draws at θ."""
        chosen = np.unique(np.linspace(0, draws.shape[1] - 1, min(draws.shape[1], MOST_COLUMNS)).round().astype(int))
        d, L = len(chosen), _levels(len(chosen))
        u = (np.arange(L) + 0.5) / L
        first, second = np.triu_indices(d, 1)
        kept = np.unique(np.linspace(0, max(len(first) - 1, 0), _n_pairs(d)).round().astype(int))
        kept = kept[_loose(draws[:, chosen], weights, first[kept], second[kept])]
        names = [*(columns[j] for j in chosen), _unlike(LOG_DENSITY, columns), _unlike(DEPENDENCE, columns)]
        ends = [*range(0, L * (d + 1) + 1, L), L * (d + 1) + len(kept)]
        parts = {name: np.arange(ends[k], ends[k + 1]) for k, name in enumerate(names) if ends[k + 1] > ends[k]}
        values = np.column_stack([draws[:, chosen], model.log_density(draws, theta)])
        cuts = np.quantile(values, u, axis=0).T
        share = np.stack([weights @ (values <= cut) for cut in cuts.T], axis=1)
        # With ties a cut may have no draws on one side.
        variance = np.maximum(share * (1.0 - share), u[0] * (1.0 - u[0]))
        return cls(model, theta, chosen, cuts, variance, (first[kept], second[kept]), parts)

    def __call__(self, X: Array) -> Array:
        """φ of every row, one column for each."""
        values = np.column_stack([X[:, self.columns], self.model.log_density(X, self.theta)])
        below = values[:, :, None] <= self.cuts
        L = self.cuts.shape[1]
        indicators = (below * (L * self.variance) ** -0.5).reshape(len(X), -1)
        first, second = self.pairs
        if not len(first):
            return np.asarray(indicators, dtype=np.float64)
        signs = np.where(below[:, :-1, L // 2], -1.0, 1.0)
        return np.concatenate([indicators, signs[:, first] * signs[:, second] / np.sqrt(len(first))], axis=1)


def _loose(draws: Array, weights: Array, first: Index, second: Index) -> Mask:
    """Pairs whose signs leave each other some freedom: the two parts of a composition do not."""
    signs = np.where(draws <= np.median(draws, axis=0), -1.0, 1.0)
    together = np.einsum("n,nk,nk->k", weights, signs[:, first], signs[:, second])
    return np.asarray(1.0 - together**2 > LOOSE)


def _levels(d: int) -> int:
    return next(levels for most, levels in LEVELS if d <= most)


def _n_pairs(d: int) -> int:
    return min(d * (d - 1) // 2, MOST_PAIRS)


def _unlike(name: str, columns: Sequence[str]) -> str:
    return f"the {name}" if name in columns else name
