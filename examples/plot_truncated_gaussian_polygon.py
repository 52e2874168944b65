"""
A Gaussian seen through a polygon
=================================

A Gaussian is observed only where some inequalities hold. The ordinary fit, sample mean and covariance, describes the
points that were seen. The score-matching fit knows the inequalities and recovers the Gaussian behind them.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.spatial import HalfspaceIntersection

import zfree as zf

# %%
# The region, and data
# --------------------
#
# A dose and a weight can be measured only up to their own limits, and only while their sum stays below 4. We draw from a
# Gaussian and keep what is inside.

region = zf.Polytope.from_inequalities(
    "0 < dose < 3.2, 0 < weight < 2.6, dose + weight < 4, weight < 1.2 + dose", columns=["dose", "weight"]
)
mean = np.array([2.1, 1.9])
covariance = np.array([[0.9, 0.4], [0.4, 0.6]])
rng = np.random.default_rng(1)
draws = rng.multivariate_normal(mean, covariance, size=5000)
X = pd.DataFrame(draws[region.contains(draws)], columns=["dose", "weight"])
print(f"{len(X)} of {len(draws)} draws are inside")

# %%
# Two fits
# --------

truncated = zf.TruncatedGaussian(domain=region, generator=zf.Barrier(power=1, det_power=0)).fit(X)
naive = zf.Gaussian().fit(X)
print(truncated.result_.summary("mean"))
print("sample mean:", X.mean().round(2).to_dict())

# %%
# The figure
# ----------
#
# Coloured lines enclose 50 % and 90 % of each fitted Gaussian *before* truncation; shading is the fitted density inside the
# region. The cross around the estimated mean is its 95 % interval.

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"


def corners(domain):
    """Vertices of a polygon A x < b, in order around its centre."""
    A, b = domain.inequalities
    centre = domain.interior_point()
    points = HalfspaceIntersection(np.column_stack([A, -b]), centre).intersections
    return points[np.argsort(np.arctan2(*(points - centre).T[::-1]))]


def ellipse(center, cov, share):
    """The curve that encloses this share of a Gaussian in two dimensions."""
    angle = np.linspace(0, 2 * np.pi, 200)
    radius = np.sqrt(-2 * np.log(1 - share))
    return center + radius * np.column_stack([np.cos(angle), np.sin(angle)]) @ np.linalg.cholesky(cov).T


def draw_region(ax):
    ax.scatter(X["dose"], X["weight"], s=5, color=GREY, alpha=0.4, linewidths=0, zorder=2, label="data")
    ax.add_patch(plt.Polygon(corners(region), closed=True, fill=False, edgecolor="black", linewidth=1.6, zorder=4))
    ax.plot(
        *mean,
        marker="*",
        markersize=17,
        color="black",
        markeredgecolor="white",
        linestyle="none",
        zorder=6,
        label="true mean",
    )
    ax.set(xlim=(-0.5, 4.7), ylim=(-0.4, 4.9), xlabel="dose", ylabel="weight", aspect="equal")


grid = np.stack(np.meshgrid(np.linspace(0, 3.2, 300), np.linspace(0, 2.6, 300)), axis=-1)
points = grid.reshape(-1, 2)
inside = region.contains(points)


def density_inside(log_density):
    """exp(log density) on the grid, scaled to a maximum of one, blank outside the region."""
    out = np.full(len(points), np.nan)
    out[inside] = np.exp(log_density - log_density.max())
    return out.reshape(grid.shape[:2])


fig, axes = plt.subplots(1, 2, figsize=(9.6, 5.2), sharey=True, layout="constrained")
fig.get_layout_engine().set(h_pad=0.15)
fits = [
    (axes[0], naive, ORANGE, "Oranges", "Region ignored"),
    (axes[1], truncated, BLUE, "Blues", "Region known"),
]
levels = np.linspace(0, 1.6, 17)  # up to 1.6, so that the darkest colours stay free for lines
for ax, fit, colour, cmap, title in fits:
    ax.contourf(
        *np.moveaxis(grid, -1, 0),
        density_inside(fit.log_density(pd.DataFrame(points[inside], columns=X.columns))),
        levels,
        cmap=cmap,
        zorder=1,
    )
    draw_region(ax)
    for share in (0.5, 0.9):
        label = "fitted Gaussian, 50 % and 90 %" if share == 0.5 else None
        ax.plot(*ellipse(fit.mean_, fit.covariance_, share).T, color=colour, linewidth=1.8, zorder=5, label=label)
        true_label = "true Gaussian" if share == 0.5 else None
        ax.plot(
            *ellipse(mean, covariance, share).T, color="black", linewidth=1, linestyle=":", zorder=3, label=true_label
        )
    xerr, yerr = 1.96 * fit.mean_se_
    style = {"color": colour, "marker": "o", "markeredgecolor": "black", "markersize": 7, "elinewidth": 2}
    ax.errorbar(*fit.mean_, yerr, xerr, linestyle="none", zorder=7, label="fitted mean, 95 % interval", **style)
    ax.set_title(title, loc="left", color=colour, fontweight="bold")
    legend = ax.legend(loc="upper left", fontsize=8, frameon=False)
    legend.legend_handles[0].set_sizes([14])
axes[1].set_ylabel("")
plt.show()

# %%
# The naive mean lies in the middle of what was seen, far from the star, with an interval too small to see. The mean of the
# truncated fit has an honest interval that covers the truth.
