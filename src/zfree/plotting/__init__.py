"""Pictures of fits (needs matplotlib: ``pip install zfree[plot]``)."""

from zfree.plotting.density import plot_density, plot_ternary
from zfree.plotting.intervals import plot_intervals
from zfree.plotting.selection_plot import plot_selection

__all__ = ["plot_density", "plot_intervals", "plot_selection", "plot_ternary"]
