"""Pictures of fits (needs matplotlib: ``pip install zfree[plot]``)."""

from zfree.plotting.density import plot_density, plot_ternary
from zfree.plotting.intervals import plot_intervals

__all__ = ["plot_density", "plot_intervals", "plot_ternary"]
