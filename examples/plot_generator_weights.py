r"""
What a generator looks like
===========================

The generator :math:`D(x) = \det(H)^{-\gamma} H^{-1}` says how much a point counts, and in which directions. It vanishes on
the boundary. How fast is a matter of the power p of the barrier; what a corner costs is a matter of γ.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import EllipseCollection

import zfree as zf

POWERS = [(0, "p = 0 (log)"), (1, "p = 1 (entropy)"), (4 / 3, "p = 4/3")]
COLOURS = ["#D55E00", "#009E73", "#0072B2"]


def evaluate(generator, domain, X):
    """D at the rows of X as dense matrices, scaled so that the largest trace is one."""
    value = generator.evaluate(domain, X)
    D = np.exp(value.log_weight - value.log_weight.max())[:, None, None] * value.field.dense()
    return D / np.trace(D, axis1=1, axis2=2).max()


# %%
# On an interval
# --------------
#
# In one dimension D is a number, and near an end it behaves like :math:`s^{(2-p)(1+\gamma)}`, where s is the distance to that
# end. A smaller p, or a larger γ, pushes the weight towards the middle.

x = np.linspace(0, 1, 402)[1:-1]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, gamma, title in zip(axes, (0, 0.5), ("γ = 0, no determinant", "γ = ½, the paper"), strict=True):
    for (p, label), colour, style in zip(POWERS, COLOURS, ("-", "--", "-."), strict=True):
        D = evaluate(zf.Barrier(power=p, det_power=gamma, scale="raw"), zf.Box([0.0], [1.0]), x[:, None])[:, 0, 0]
        ax.plot(x, D, color=colour, linestyle=style, linewidth=2.2, label=label)
    ax.set(xlabel="x", xlim=(0, 1), ylim=(0, 1.05))
    ax.set_title(title, loc="left")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("D(x), share of its maximum")
axes[0].legend(frameon=False, loc="lower center")
plt.show()

# %%
# On a triangle
# -------------
#
# In two dimensions D is a matrix. Colour shows its size (the trace), and each ellipse its shape: a long axis is a direction
# in which the score counts much. Near an edge the ellipses lie flat along it. D vanishes across the edge, where the data are
# cut off, and not along it, where nothing is.
#
# With γ = ½ the whole matrix is multiplied by a power of the determinant. Then it vanishes along the edges too, and most of
# the weight is in the middle.

domain = zf.Simplex(3)
corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


def lattice(n, margin):
    """Compositions on a triangular lattice, at least `margin` away from zero."""
    i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1))
    keep = i + j <= n
    shares = np.column_stack([i[keep], j[keep], n - i[keep] - j[keep]]) / n
    return margin + (1 - 3 * margin) * shares


fine, coarse = lattice(120, 1e-4), lattice(9, 0.035)
fig, axes = plt.subplots(2, 3, figsize=(9.6, 5.4), layout="constrained")
for row, gamma in enumerate((0, 0.5)):
    for column, (p, label) in enumerate(POWERS):
        ax, generator = axes[row, column], zf.Barrier(power=p, det_power=gamma, scale="raw")
        # A matrix on the three shares becomes one in the plane of the figure: CᵀDC, C the corners.
        D_fine, D = (corners.T @ evaluate(generator, domain, X) @ corners for X in (fine, coarse))
        size = np.trace(D_fine, axis1=1, axis2=2)
        image = ax.tripcolor(
            *(fine @ corners).T, size / size.max(), shading="gouraud", cmap="YlGnBu", vmin=0, vmax=1.25
        )
        values, vectors = np.linalg.eigh(D)
        lengths = 0.105 * np.sqrt(values / values.max())
        angle = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
        ax.add_collection(
            EllipseCollection(
                lengths[:, 1], lengths[:, 0], angle, units="x", offsets=coarse @ corners, offset_transform=ax.transData,
                facecolors="none", edgecolors="black", linewidths=0.9,
            )
        )  # fmt: skip
        ax.add_patch(plt.Polygon(corners, fill=False, edgecolor="black", linewidth=1.2))
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 0.9), aspect="equal", xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        if row == 0:
            ax.set_title(label)
    axes[row, 0].set_ylabel("γ = 0" if gamma == 0 else "γ = ½", fontsize=12)
colourbar = fig.colorbar(image, ax=axes, shrink=0.6, boundaries=np.linspace(0, 1, 101), ticks=[0, 0.25, 0.5, 0.75, 1.0])
colourbar.set_label("trace of D, share of its maximum")
plt.show()
