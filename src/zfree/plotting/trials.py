"""Errors of many trials: box plots and bands on a logarithmic axis, and saving them reproducibly."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.errors import MissingDependencyError
from zfree.files import write_whole

PALETTE = ("#0072B2", "#56B4E9", "#009E73", "#E69F00", "#CC79A7", "#999999", "#AA9900")
"""Distinguishable with any colour vision (after Okabe and Ito)."""
COLORS = {
    **dict(zip(("φ₁", "φ₂", "φ₃", "truncated SM", "h₁", "h₂", "GSM CD"), PALETTE, strict=True)),
    "auto": "#D55E00",
    "combined": "#882255",
    "MLE": "#000000",
}
"""An estimator has the same colour in every figure."""
DARK = ("auto", "combined", "MLE")


def colors(names: Sequence[str]) -> dict[str, str]:
    """A colour for each row: its own, or one that is free."""
    free = iter(c for c in PALETTE if c not in {COLORS.get(name) for name in names})
    return {name: COLORS[name] if name in COLORS else next(free) for name in names}


def panels(count: int, width: float = 5.5, height: float = 4.2, rows: int = 1) -> tuple[Any, list[Any]]:
    """A figure with `count` axes side by side, or in some rows, without a window."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError("figures need matplotlib: run `pip install zfree[plot]`.") from error
    columns = -(-count // rows)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    every = list(np.atleast_1d(figure.subplots(rows, columns)).flat)
    axes = every[:count]
    for spare in every[count:]:
        spare.remove()
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def boxes(errors: Mapping[str, Mapping[str, Mapping[str, Array]]], label: str) -> Any:
    """Box plots: block → group (such as a sample size) → estimator → errors; one panel per block, whiskers at 5 and 95%."""
    figure, axes = panels(len(errors), width=6.5)
    for ax, (block, groups) in zip(axes, errors.items(), strict=True):
        names = list(next(iter(groups.values())))
        color = colors(names)
        step = 0.86 / len(names)
        handles = []
        for j, name in enumerate(names):
            drawn = ax.boxplot(
                [group[name][np.isfinite(group[name])] for group in groups.values()],
                positions=np.arange(len(groups)) + (j - (len(names) - 1) / 2) * step,
                widths=0.8 * step,
                whis=(5, 95),
                patch_artist=True,
                manage_ticks=False,
                boxprops={"facecolor": color[name], "alpha": 0.75, "linewidth": 0.6},
                medianprops={"color": "white" if name in DARK else "black", "linewidth": 1.2},
                whiskerprops={"linewidth": 0.7},
                capprops={"linewidth": 0.7},
                flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": color[name]},
            )
            handles.append(drawn["boxes"][0])
        ax.set_yscale("log")
        ax.set_xticks(np.arange(len(groups)), list(groups))
        ax.set_ylabel(label.format(block))
        ax.grid(axis="y", color="0.92", zorder=0)
    columns = min(len(names), 5 * len(errors))
    figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False, fontsize="small")
    return figure


def band(ax: Any, x: Sequence[float], errors: Sequence[Array], name: str, color: str, style: str = "-") -> None:
    """Median and inter-quartile range against x."""
    low, middle, high = np.array([np.quantile(e, [0.25, 0.5, 0.75]) for e in errors]).T
    ax.fill_between(x, low, high, color=color, alpha=0.2, linewidth=0)
    ax.plot(x, middle, style, color=color, marker="o" if style == "-" else None, markersize=4, label=name)


def save(figure: Any, path: Path) -> None:
    """Save without the date: the same numbers give the same file."""
    kind = path.suffix.removeprefix(".")
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=140, metadata={"CreationDate": None} if kind == "pdf" else None)
    write_whole(path, buffer.getvalue())
