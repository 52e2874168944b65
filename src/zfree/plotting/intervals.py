"""Estimates with their intervals, one line per parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zfree.conversion import real_array
from zfree.errors import SpecificationError
from zfree.plotting.axes import FIT, TRUTH, new_axes
from zfree.plotting.fits import as_result


def plot_intervals(
    fit: Any,
    which: str | Sequence[str] | None = None,
    *,
    level: float = 0.95,
    truth: ArrayLike | None = None,
    ax: Any | None = None,
) -> Any:
    """Draw estimates and their intervals, which are centered at the estimate minus its bias where that is known.

    Parameters
    ----------
    fit : FitResult or fitted estimator
    which : str or sequence of str, optional
        Parametrisations, see :meth:`FitResult.parameters`; those the model reports by default.
    level : float
        Coverage.
    truth : array_like, optional
        True values to mark, in the same order.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    result = as_result(fit)
    chosen = result.model.reported if which is None else (which,) if isinstance(which, str) else which
    blocks = [result.parameters(name) for name in chosen]
    values = np.concatenate([p.values for p in blocks])
    low, high = np.concatenate([p.conf_int(level) for p in blocks]).T
    y = np.arange(len(values))[::-1]
    ax = new_axes(ax)  # once it is known that there is something to draw
    ax.hlines(y, low, high, color=FIT, linewidth=2)
    ax.plot(values, y, "o", color=FIT, label=f"estimate, {100 * level:.3g}% interval")
    if truth is not None:
        true = real_array(truth, "truth")
        if true.shape != values.shape:
            raise SpecificationError(
                f"truth must be {values.size} numbers, one per parameter drawn; its shape is {true.shape}."
            )
        ax.plot(true, y, "D", color=TRUTH, markersize=5, fillstyle="none", label="truth")
    ax.set_yticks(y, [name for p in blocks for name in p.names])
    ax.set_ylim(-0.6, len(y) - 0.4)
    if np.any(low < 0) and np.any(high > 0):
        ax.axvline(0, color="0.8", linewidth=1, zorder=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderpad=0)
    return ax
