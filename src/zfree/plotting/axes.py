"""Matplotlib, loaded when a picture is asked for, and the few colours used in all of them."""

from __future__ import annotations

from typing import Any

from zfree.errors import MissingDependencyError

DATA, FIT, TRUTH = "#767676", "#0072B2", "#D55E00"
"""Grey, blue, vermillion: distinguishable with any colour vision."""


def new_axes(ax: Any | None) -> Any:
    """`ax`, or the axes of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError("plots need matplotlib: run `pip install zfree[plot]`.") from error
    return plt.subplots(layout="constrained")[1] if ax is None else ax
