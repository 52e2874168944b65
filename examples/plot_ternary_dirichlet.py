"""
Compositions in a ternary plot
==============================

Shares of sand, silt and clay sum to one: each sample is a point of a triangle. We fit a Dirichlet distribution in closed
form and draw its density under the data.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import zfree as zf

# %%
# Data and fit
# ------------

parts = ["sand", "silt", "clay"]
alpha = np.array([2.0, 3.5, 6.0])
rng = np.random.default_rng(7)
soil = pd.DataFrame(rng.dirichlet(alpha, size=400), columns=parts)

fit = zf.Dirichlet(generator=zf.Barrier(power=0.4, det_power=0)).fit(soil)
print(fit.result_.summary())

# %%
# The triangle
# ------------
#
# A composition is the weighted mean of the three corners, with the shares as weights.

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


def to_plane(shares):
    """Points of the plane for rows that sum to one."""
    return np.asarray(shares) @ CORNERS


def draw_triangle(ax):
    """Frame, grid lines every 20 % and their labels; each label belongs to the line that starts at it."""
    ax.add_patch(plt.Polygon(CORNERS, fill=False, edgecolor="black", linewidth=1.4, zorder=5))
    outward = CORNERS - CORNERS.mean(axis=0)
    for k, name in enumerate(parts):
        following, before = (k + 1) % 3, (k + 2) % 3
        for share in (0.2, 0.4, 0.6, 0.8):
            ends = np.zeros((2, 3))
            ends[:, k] = share
            ends[0, before] = ends[1, following] = 1 - share
            line = to_plane(ends)
            ax.plot(*line.T, color="black", linewidth=0.5, alpha=0.3, zorder=3)
            start = line[0] - 0.075 * outward[following]
            ax.text(*start, f"{share:.0%}", color=COLOURS[k], fontsize=8, ha="center", va="center")
        ax.text(
            *(CORNERS[k] + 0.17 * outward[k]),
            name,
            color=COLOURS[k],
            fontsize=12,
            fontweight="bold",
            ha="center",
            va="center",
        )
    ax.set(xlim=(-0.13, 1.13), ylim=(-0.09, 0.99), aspect="equal")
    ax.axis("off")


COLOURS = ["#B34700", "#0072B2", "#007A5A"]

# %%
# The figure
# ----------
#
# ``log_density`` gives log p up to a constant. That is all a picture needs: we scale the density to its highest value.

step = 200
i, j = np.meshgrid(np.arange(1, step), np.arange(1, step))
mesh = np.column_stack([i[i + j < step], j[i + j < step]]) / step
mesh = np.column_stack([mesh, 1 - mesh.sum(axis=1)])
log_p = fit.log_density(pd.DataFrame(mesh, columns=parts))
density = np.exp(log_p - log_p.max())

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.7), width_ratios=[1.75, 1], layout="constrained")

levels = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.0]
filled = left.tricontourf(*to_plane(mesh).T, density, levels=levels, cmap="YlGnBu", vmin=-0.1, vmax=1.3, zorder=1)
left.scatter(*to_plane(soil).T, s=9, color="black", alpha=0.45, linewidths=0, zorder=4)
expected = fit.alpha_ / fit.alpha_.sum()
left.plot(*to_plane(expected), marker="D", color="white", markeredgecolor="black", markersize=8, zorder=6)
left.annotate(
    "fitted mean", to_plane(expected), xytext=(0.9, 0.8), fontsize=9, ha="center", zorder=7,
    arrowprops={"arrowstyle": "-", "color": "black", "linewidth": 0.8, "shrinkB": 6},
)  # fmt: skip
draw_triangle(left)
colourbar = fig.colorbar(filled, ax=left, shrink=0.7, pad=0.02, ticks=[0.05, 0.2, 0.5, 0.8, 1.0])
colourbar.set_label("fitted density, share of its maximum")

generators = [
    (zf.Barrier(power=0.4, det_power=0), "Barrier(0.4, 0)", "o"),
    (zf.Barrier.entropy(), "Barrier(1, ½)", "s"),
    (zf.Barrier.log(), "Barrier(0, ½)", "^"),
]
for shift, (generator, label, marker) in zip((0.22, 0.0, -0.22), generators, strict=True):
    other = zf.Dirichlet(generator=generator).fit(soil)
    for k in range(3):
        right.errorbar(
            other.alpha_[k], 2 - k + shift, xerr=1.96 * other.alpha_se_[k], color=COLOURS[k], marker=marker, markersize=6,
            capsize=3, elinewidth=1.6,
        )  # fmt: skip
    right.plot([], [], color="#444444", marker=marker, label=label)
for k in range(3):
    right.plot(
        [alpha[k]] * 2,
        [1.6 - k, 2.4 - k],
        color="black",
        linestyle=":",
        linewidth=1.5,
        label="truth" if k == 0 else None,
    )
right.set_yticks([2, 1, 0], parts)
for tick, colour in zip(right.get_yticklabels(), COLOURS, strict=True):
    tick.set(color=colour, fontweight="bold")
right.set(xlabel="α with 95 % interval", ylim=(-0.55, 2.55), xlim=(0, None))
right.spines[["top", "right"]].set_visible(False)
right.legend(frameon=False, fontsize=9, loc="upper right")
plt.show()

# %%
# On the right, three generators on the same data: all are consistent, but the log barrier with the determinant gives
# rows near the edges so little weight that its intervals are one and a half times to twice as long.
