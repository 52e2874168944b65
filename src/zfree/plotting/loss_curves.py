"""The losses of a training as a picture that is renewed while it runs."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from zfree.files import write_whole
from zfree.plotting.trials import PALETTE, panels


def draw_losses(history: Sequence[Mapping[str, float]], path: Path) -> None:
    """One panel for each number in the history but ``iteration``, written whole."""
    names = list(dict.fromkeys(name for row in history for name in row if name != "iteration"))
    figure, axes = panels(len(names), width=3.2, height=2.8)
    for ax, name, color in zip(axes, names, PALETTE * len(names), strict=False):
        rows = [row for row in history if name in row]
        ax.plot([row["iteration"] for row in rows], [row[name] for row in rows], color=color, marker=".", markersize=3)
        ax.set(title=name.replace("_", " "), xlabel="iteration")
        ax.locator_params(axis="x", nbins=4)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=100)
    write_whole(path, picture.getvalue())
