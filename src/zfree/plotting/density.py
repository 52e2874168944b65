"""Fitted densities in two dimensions, on the plane and on the triangle of three-part compositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.inference import FitResult
from zfree.plotting.axes import DATA, FIT, new_axes
from zfree.plotting.fits import as_points, as_result, labels_for

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
"""Where the three parts of a composition are one."""
MASSES = (0.9, 0.5, 0.1)
"""Contours enclose these shares of the fitted probability."""


def plot_density(fit: Any, X: Any, *, columns: tuple[str, str] | None = None, ax: Any | None = None) -> Any:
    """Scatter the data with contours of the fitted density that enclose 90, 50 and 10% of it.

    Parameters
    ----------
    fit : FitResult or fitted estimator
        With two columns.
    X : array_like of shape (n, 2)
        An array, or a pandas or polars frame.
    columns : tuple of str, optional
        Axis labels; the names of the frame, or of the fit, by default.
    ax : matplotlib axes, optional
    """
    result = as_result(fit)
    if result.model.dimension != 2:
        raise SpecificationError(f"plot_density draws two columns; this fit has {result.model.dimension}.")
    labels, X = labels_for(result, X, columns), as_points(X, 2)
    ax = new_axes(ax)
    low, high = _limits(result.domain, X)
    grid = np.stack(np.meshgrid(np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 300)), axis=-1)
    log_density = _on_domain(result, grid.reshape(-1, 2)).reshape(grid.shape[:2])
    ax.plot(X[:, 0], X[:, 1], ".", color=DATA, alpha=0.35, markersize=3, zorder=1)
    _contours(ax, grid[..., 0], grid[..., 1], log_density)
    inside = np.isfinite(log_density)
    if not inside.all():
        ax.contour(grid[..., 0], grid[..., 1], inside.astype(float), levels=[0.5], colors="black", linewidths=1.2)
    ax.set(xlabel=labels[0], ylabel=labels[1], xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_ternary(fit: Any, X: Any, *, columns: tuple[str, str, str] | None = None, ax: Any | None = None) -> Any:
    """Three-part compositions in their triangle, with contours of the fitted density; arguments as in :func:`plot_density`."""
    result = as_result(fit)
    if result.model.dimension != 3 or result.domain.chart is None:
        raise SpecificationError("plot_ternary draws compositions of three parts (a fit on Simplex(3)).")
    labels, X = labels_for(result, X, columns), as_points(X, 3)
    ax = new_axes(ax)
    side = (np.arange(400) + 0.5) / 400
    a, b = np.meshgrid(side, side)
    parts = np.stack([a, (1 - a) * b, (1 - a) * (1 - b)], axis=-1)  # covers the triangle, thinner towards a corner
    log_density = _on_domain(result, parts.reshape(-1, 3)).reshape(a.shape)
    points = parts @ CORNERS
    ax.plot(*(X @ CORNERS).T, ".", color=DATA, alpha=0.4, markersize=4, zorder=1)
    _contours(ax, points[..., 0], points[..., 1], log_density, cell=1 - a)
    ax.fill(*CORNERS.T, fill=False, edgecolor="black", linewidth=1.2)
    for corner, label, shift in zip(CORNERS, labels, (-0.05, -0.05, 0.03), strict=True):
        ax.text(corner[0], corner[1] + shift, label, ha="center", va="bottom" if shift > 0 else "top")
    ax.set(xlim=(-0.08, 1.08), ylim=(-0.12, 0.98), aspect="equal")
    ax.axis("off")
    return ax


def _limits(domain: Domain, X: Array) -> tuple[Array, Array]:
    low, high = X.min(axis=0), X.max(axis=0)
    pad = 0.06 * (high - low)
    return low - pad, high + pad


def _on_domain(result: FitResult, points: Array) -> Array:
    """log-density, −∞ outside the domain."""
    out = np.full(len(points), -np.inf)
    inside = result.domain.contains(points)
    out[inside] = result.model.log_density(points[inside], result.working_theta)
    return out


def _contours(ax: Any, x: Array, y: Array, log_density: Array, cell: Array | None = None) -> None:
    density = np.exp(log_density - log_density.max())
    mass = density if cell is None else density * cell
    order = np.argsort(-density, axis=None)
    enclosed = np.cumsum(mass.ravel()[order]) / mass.sum()
    levels = [density.ravel()[order][np.searchsorted(enclosed, share)] for share in MASSES]
    if np.all(np.diff(levels) > 0):
        ax.contour(x, y, density, levels=levels, colors=FIT, linewidths=(1.0, 1.5, 2.0), zorder=2)
