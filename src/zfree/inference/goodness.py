r"""Does the family fit? Anderson–Darling indicators against draws of the model, made blind to the error of θ̂.

Let φ(x) be indicators :math:`1\{x_j \le q\}` of every column and of the log-density at quantiles q of the draws, and the products of
the signs :math:`x_j \lessgtr` median of pairs of columns. In an exponential family :math:`\partial_\theta E_\theta\varphi =
\mathrm{cov}(\varphi, t)`, so that with :math:`B = \mathrm{cov}(t)^{-1}\mathrm{cov}(t, \varphi)` the mean of
:math:`\varphi - B^\top t` does not change with θ to first order. The statistic

.. math:: T = n\,\lVert R\rVert^2, \qquad R = \overline{(\varphi - B^\top t)}_\text{data} - \overline{(\varphi - B^\top t)}_\text{draws},

is taken at the likelihood root, where the remainder is smallest, and φ is weighted as by Anderson and Darling (1952). Without a refit or
a bootstrap T is distributed as a weighted sum of squares of normals, whose weights are the eigenvalues of the covariance of R over the draws.
Taking the score out of a test function goes back to Neyman (1959). What is tested is the family, not θ̂, which is why its distance from
the root is told too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array, Mask
from zfree.data import Block, Table, Together
from zfree.domains import Domain
from zfree.inference.indicators import MOST_COLUMNS, Indicators, n_indicators
from zfree.inference.likelihood_root import Draw, LikelihoodRoot, Pool, Refusal, likelihood_root, regular_solve, worth
from zfree.inference.rounding import Grid, find_grid
from zfree.inference.verdict import GoodnessOfFit
from zfree.inference.weighted_chi2 import upper_tail
from zfree.models import Model

PRODUCTS = 500_000_000
"""Multiplications that a matrix of second moments over the draws may cost."""
FEW_DRAWS, FEWEST_DRAWS, MOST_DRAWS = 1000, 4000, 20_000
FAINT = 0.01
"""Parts with less than this share of the largest standard deviation are left as faint as they are."""
DIGITS = 6
"""Of a p-value: far more than the draws support, few enough that the order of the rows does not show."""


class Estimated(NamedTuple):
    """An estimate in the model's own parameters, its covariance, and which of them were free; the others are hypothesis."""

    theta: Array
    covariance: Array | None
    free: Mask


def pool_size(n: int, d: int, r: int) -> int:
    """How many draws `n` rows of `d` columns and `r` parameters are compared with.

    A rule of the sizes alone, so that every machine has one answer: ten for every row, unless products of the indicators and the
    statistics would cost more than :data:`PRODUCTS`.
    """
    most = min(MOST_DRAWS, PRODUCTS // (n_indicators(d) + r) ** 2)
    return max(min(max(10 * n, FEWEST_DRAWS), most), 2 * r, FEW_DRAWS)


def goodness_of_fit(
    model: Model,
    domain: Domain,
    estimate: Estimated,
    data: Table,
    draw: Draw,
    *,
    size: int,
    start: Array | None = None,
) -> GoodnessOfFit:
    """Compare the rows with draws of the model at its likelihood root.

    Parameters
    ----------
    model : Model
    domain : Domain
        Where the rows live.
    estimate : Estimated
        What the distance from the likelihood root is taken of.
    data : Rows
    draw : callable
        θ and a number to draws of the model, or to the reason why there are none.
    size : int
        Number of draws, see :func:`pool_size`.
    start : ndarray, optional
        Where the search for the likelihood root starts; at the estimate by default.
    """
    n = len(data.X)
    chart, free = domain.chart, estimate.free
    grid = find_grid(data.X if chart is None else chart.pull(data.X))
    if grid.any:
        # 0.3 is not 3 · 0.1: data and draws must be the same numbers, or ties fall on different sides of a cut.
        own = grid.round(data.X if chart is None else chart.pull(data.X))
        own = own if chart is None else chart.push(own)
        data = replace(data, X=np.where(domain.contains(own)[:, None], own, data.X))

    def rounded(at: Array, m: int) -> Pool | Refusal:
        """Draws on the grid of the data; those that it puts on the boundary are no data either."""
        pool = draw(at, m)
        if isinstance(pool, Refusal) or not grid.any:
            return pool
        moved = grid.round(pool.rows if chart is None else chart.pull(pool.rows))
        moved = moved if chart is None else chart.push(moved)
        moved = moved[domain.contains(moved)]
        if len(moved) < 0.5 * len(pool.rows):
            return Refusal("rounded as the data are, most draws of the model lie on the boundary")
        return Pool(moved, pool.effective * len(moved) / len(pool.rows))

    def statistics(X: Array) -> Array:
        return model.statistics(X)[:, free]

    with np.errstate(all="ignore"):
        target = _mean(data, statistics, int(free.sum()))
        root = likelihood_root(estimate.theta if start is None else start, free, statistics, target, rounded, size)
        if isinstance(root, Refusal):
            return GoodnessOfFit(reason=root.reason, n_rows=n)
        compared = _compare(model, estimate, data, root, statistics, target)
    names = data.columns if chart is None else [data.columns[j] for j in chart.kept]
    return replace(compared, remark="; ".join(_remarks(grid, names, data.X.shape[1])))


def _compare(
    model: Model,
    estimate: Estimated,
    data: Table,
    root: LikelihoodRoot,
    statistics: Callable[[Array], Array],
    target: Array,
) -> GoodnessOfFit:
    n, m, w = len(data.X), len(root.pool.rows), root.weights
    features = Indicators.of(model, root.theta, root.pool.rows, w, data.columns)
    t, phi = statistics(root.pool.rows), features(root.pool.rows)
    center, mean = w @ t, w @ phi
    spread = np.sqrt(w @ (t - center) ** 2)
    spread = np.where(spread > 0, spread, 1.0)
    z, gap = (t - center) / spread, (target - center) / spread
    phi -= mean
    information = (z * w[:, None]).T @ z
    B = regular_solve(information, (z * w[:, None]).T @ phi)
    phi -= z @ B
    # B was fitted to the draws, which takes r directions away.
    draws, r = root.pool.effective * worth(w), len(gap)
    covariance = (phi * w[:, None]).T @ phi * (draws / max(draws - r, 0.5 * draws))
    if data.weight is None:
        own, R = covariance / n, _mean(data, features, phi.shape[1]) - mean - gap @ B
    else:
        own, R = _weighted(data, features, statistics, mean, center, spread, B)
    far = float(gap @ regular_solve(information, gap))
    if not (np.isfinite(R).all() and np.isfinite(covariance).all()):
        return GoodnessOfFit(
            reason="its statistics leave the range of floating point on the rows or the draws", n_rows=n
        )
    covariance = own + covariance * (1.0 + far) / draws
    parts, spreads = [], np.ones(len(R))
    for name, part in features.parts.items():
        block = covariance[np.ix_(part, part)]
        parts.append((name, _p_value(R[part], block)))
        spreads[part] = np.sqrt(np.sum(block**2))
    # What the projection leaves of a part differs from part to part: in the sum each has the same standard deviation.
    scale = np.maximum(spreads, FAINT * spreads.max()) ** -0.5
    R, covariance = scale * R, np.multiply.outer(scale, scale) * covariance
    distance, error = _distance(estimate, root.theta, information, spread, draws, rows_worth(data))
    return GoodnessOfFit(
        p_value=_p_value(R, covariance),
        parts=tuple(parts),
        distance=_rounded(distance),
        distance_error=_rounded(error),
        n_rows=n,
        n_draws=m,
    )


def _distance(
    estimate: Estimated, root: Array, information: Array, spread: Array, draws: float, rows: float
) -> tuple[float, float]:
    """Between θ̂ and the root, beyond the noise of the draws, and that noise."""
    r = max(len(spread), 1)
    off = (estimate.theta - root)[estimate.free] * spread
    inverse = regular_solve(information, np.eye(len(spread)))
    covariance = inverse / rows
    if estimate.covariance is not None:
        known = estimate.covariance[np.ix_(estimate.free, estimate.free)] * np.multiply.outer(spread, spread)
        covariance = known if np.isfinite(known).all() else covariance
    noise = float(np.sum(regular_solve(covariance, inverse) * np.eye(len(spread)))) / (r * draws)
    square = float(off @ regular_solve(covariance, off)) / r
    return float(np.sqrt(max(square - noise, 0.0))), float(np.sqrt(noise))


def _p_value(R: Array, covariance: Array) -> float:
    values = np.asarray(np.linalg.eigvalsh(covariance), dtype=np.float64)
    return _rounded(upper_tail(float(R @ R), values))


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def rows_worth(data: Table) -> float:
    """Σw squared over Σw²: how many rows of equal weight the weighted ones are worth (Kish 1965)."""
    if data.weight is None:
        return float(len(data.X))
    share = data.weight / data.weight.max()
    return float(share.sum() ** 2 / (share @ share))


def _mean(data: Table, function: Callable[[Array], Array], width: int) -> Array:
    """Weighted mean over the rows, in bounded memory."""
    largest = 1.0 if data.weight is None else data.weight.max()

    def sums(block: Block) -> Together:
        w = block.weights / largest
        return Together((w @ function(block.X), float(w.sum())))

    total, weight = data.reduce(sums, 4 * (width + data.X.shape[1]))
    mean: Array = total / weight
    return mean


def _weighted(
    data: Table,
    features: Indicators,
    statistics: Callable[[Array], Array],
    mean: Array,
    center: Array,
    spread: Array,
    B: Array,
) -> tuple[Array, Array]:
    """Covariance of R and R itself from weighted rows: weights may depend on x, so the rows themselves say how they vary."""

    def residual(X: Array) -> Array:
        return features(X) - mean - ((statistics(X) - center) / spread) @ B

    assert data.weight is not None
    width = len(mean)
    R = _mean(data, residual, width)
    total = data.weight.sum()

    def spread_out(block: Block) -> Array:
        off = (residual(block.X) - R) * (block.weights / total)[:, None]
        found: Array = off.T @ off
        return found

    return data.reduce(spread_out, 4 * (width + data.X.shape[1])), R


def _remarks(grid: Grid, names: Sequence[str], d: int) -> Iterator[str]:
    """What was done to compare like with like, and what was left out."""
    rounded = [f"{c!r} to steps of {h:.3g}" for c, h in zip(names, grid.step, strict=True) if h > 0]
    if rounded:
        more = f" and {len(rounded) - 3} more columns" if len(rounded) > 3 else ""
        yield f"draws were rounded as the data are: {', '.join(rounded[:3])}{more}"
    if d > MOST_COLUMNS:
        yield f"{MOST_COLUMNS} of {d} columns were compared, and the log-density"
