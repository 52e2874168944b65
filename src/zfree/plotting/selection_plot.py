"""The criterion over the family that was searched."""

from __future__ import annotations

from typing import Any

import numpy as np

from zfree.conversion import shown
from zfree.errors import SpecificationError
from zfree.generators import Barrier
from zfree.plotting.axes import TRUTH, new_axes
from zfree.selection import Selection


def plot_selection(selection: Any, *, ax: Any | None = None) -> Any:
    """Draw the candidates Barrier(p, γ) of a selection, coloured by their criterion relative to the best.

    Parameters
    ----------
    selection : Selection, FitResult or fitted estimator
        Of a fit with ``generator="search"``: ``est.result_.selection``.
    ax : matplotlib axes, optional
    """
    record = getattr(getattr(selection, "result_", selection), "selection", selection)
    if not isinstance(record, Selection):
        raise SpecificationError(
            f'plot_selection needs est.result_.selection of a fit with generator="search", got {shown(record)}.'
        )
    selection = record
    tried = [(t.generator, t) for t in selection.trials if isinstance(t.generator, Barrier)]
    if not tried:
        raise SpecificationError(
            "this selection has no Barrier(p, γ) to draw: theory named the generator, or it was given in a list. "
            'Fit with generator="search" to compare the members of the family.'
        )
    ax = new_axes(ax)
    good = [(g, t) for g, t in tried if not t.refused]
    if good:
        p, gamma = np.array([(g.power, g.det_power) for g, _ in good]).T
        best = min(t.criterion for _, t in good)
        excess = np.array([100.0 * (t.criterion / best - 1.0) for _, t in good])
        points = ax.scatter(p, gamma, c=np.minimum(excess, 100.0), cmap="viridis_r", s=70, edgecolor="white", zorder=3)
        ax.figure.colorbar(points, ax=ax, label="criterion above the best (%), at most 100")
    bad = [(g.power, g.det_power) for g, t in tried if t.refused]
    if bad:
        ax.plot(*np.array(bad).T, "x", color="0.5", label="refused", zorder=2)
    if isinstance(selection.chosen, Barrier):
        ax.plot(
            selection.chosen.power,
            selection.chosen.det_power,
            "o",
            markersize=15,
            fillstyle="none",
            color=TRUTH,
            markeredgewidth=2,
            label="chosen",
            zorder=4,
        )
    ax.plot([0, 1, 4 / 3], [0.5, 0.5, 0.5], "k^", markersize=6, label="the paper's φ₃, φ₂, φ₁", zorder=2)
    ax.set(xlabel="power p", ylabel="det_power γ")
    ax.legend(frameon=False, fontsize="small", loc="lower left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
