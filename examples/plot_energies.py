"""
Densities learned by networks
=============================

An energy network on a bounded domain, trained by score matching, needs a weight D that vanishes on the boundary. Here are three
densities with much of their mass at the boundary, each learned with three weights: the default barrier, D = I, which is
ordinary score matching and ignores the boundary, and the distance to the boundary, which is truncated score matching.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import zfree as zf
from zfree.errors import InconsistentGeneratorWarning
from zfree.neural import EnergyModel

warnings.simplefilter("ignore", InconsistentGeneratorWarning)  # what D = I would say here is what the page shows

# %%
# Three densities
# ---------------
#
# Three modes on a triangle, a ring on a disc, a banana on a pentagon. Each is known up to its constant, which a sum over a fine
# grid supplies.


def modes(X):
    """Three bumps on a low floor."""
    squares = [np.sum((X - np.array(center)) ** 2, axis=1) for center in ((0.15, 0.15), (0.7, 0.15), (0.15, 0.7))]
    return np.log(np.exp(-0.5 * np.array(squares) / 0.12**2).sum(axis=0) + 0.05)


def ring(X):
    return -0.5 * ((np.linalg.norm(X, axis=1) - 0.85) / 0.15) ** 2


def banana(X):
    return -0.5 * (((X[:, 1] + 0.9 - X[:, 0] ** 2) / 0.25) ** 2 + (X[:, 0] / 0.8) ** 2)


def circle(n, start=0.0):
    """n points around the unit circle."""
    angle = start + 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


normals = circle(5, np.pi / 2)  # of the sides of the pentagon; the corners are opposite to them, further out
shapes = {  # the domain, its outline, log p up to a constant
    "three modes on a triangle": (zf.SolidSimplex(2), np.array([[0, 0], [1, 0], [0, 1]]), modes),
    "a ring on a disc": (zf.Ball(1.0, d=2), circle(200), ring),
    "a banana on a pentagon": (zf.Polytope(normals, np.ones(5)), -normals / np.cos(np.pi / 5), banana),
}
weights = {
    "barrier": zf.Barrier(1.2, det_power=0),
    "D = I": zf.Identity(),
    "truncated SM": zf.BoundaryDistance(),
}

# %%
# Fits
# ----
#
# Data are drawn by rejection. The networks have the default size, two hidden layers of 64. With 3000 rows and 20 epochs a fit
# takes about two seconds; ``make bench-energies`` is the full version: 5000 rows, 100 epochs, three data sets each.

CELLS = 240


def grid(outline):
    """Midpoints of the cells of a square grid around a domain, the area of a cell, and the edges for a picture."""
    center, half = (outline.max(axis=0) + outline.min(axis=0)) / 2, np.ptp(outline, axis=0).max() / 2
    step = half * ((np.arange(CELLS) + 0.5) / CELLS * 2 - 1)
    points = center + np.stack(np.meshgrid(step, step), axis=-1).reshape(-1, 2)
    left, bottom = center - half
    return points, (2 * half / CELLS) ** 2, (left, left + 2 * half, bottom, bottom + 2 * half)


def draw(n, domain, log_density, points, extent, rng):
    """n exact draws, by rejection from the uniform distribution on the square."""
    top = log_density(points).max() + 0.05
    kept = np.empty((0, 2))
    while len(kept) < n:
        proposals = rng.uniform(extent[::2], extent[1::2], size=(20 * n, 2))
        proposals = proposals[domain.contains(proposals)]
        accepted = np.log(rng.uniform(size=len(proposals))) < log_density(proposals) - top
        kept = np.concatenate([kept, proposals[accepted]])
    return kept[:n]


def normalised(log_density, cell):
    """log p with the integral over the domain equal to one."""
    shifted = log_density - log_density.max()
    return shifted - np.log(np.exp(shifted).sum() * cell)


results = {}
for name, (domain, outline, log_density) in shapes.items():
    points, cell, extent = grid(outline)
    inside = domain.contains(points)
    X = draw(3000, domain, log_density, points[inside], extent, np.random.default_rng(0))
    truth = normalised(log_density(points[inside]), cell)
    learned = {}
    for weight, generator in weights.items():
        est = EnergyModel(domain=domain, generator=generator, epochs=20, learning_rate=0.01).fit(X)
        learned[weight] = normalised(est.log_density(points[inside]), cell)
    divergences = {weight: np.sum(np.exp(truth) * (truth - log_q)) * cell for weight, log_q in learned.items()}
    results[name] = X, truth, learned, divergences, inside, extent
    print(f"{name:26s}", ", ".join(f"{weight}: KL {value:.3f}" for weight, value in divergences.items()))

# %%
# The figure
# ----------
#
# One row per density, with one scale of colours, from zero (pale) to the largest value in the row (dark). KL is the
# Kullback–Leibler divergence of the learned density from the true one, in nats.

fig, axes = plt.subplots(3, 5, figsize=(11, 7.4), layout="constrained")
fig.get_layout_engine().set(h_pad=0.1)
for row, (name, (_, outline, _)) in zip(axes, shapes.items(), strict=True):
    X, truth, learned, divergences, inside, extent = results[name]
    densities = {"truth": np.exp(truth), "data": None, **{weight: np.exp(log_q) for weight, log_q in learned.items()}}
    darkest = max(density.max() for density in densities.values() if density is not None)
    for ax, (heading, density) in zip(row, densities.items(), strict=True):
        if density is None:
            ax.scatter(*X.T, s=1.5, color="#333333", alpha=0.5, linewidths=0)
        else:
            picture = np.full(CELLS**2, np.nan)
            picture[inside] = density
            picture = picture.reshape(CELLS, CELLS)
            ax.imshow(picture, origin="lower", extent=extent, cmap="YlGnBu", vmin=0, vmax=darkest)
        ax.add_patch(plt.Polygon(outline, fill=False, edgecolor="black", linewidth=1.2))
        ax.set_title(f"{heading}, KL {divergences[heading]:.3f}" if heading in divergences else heading, fontsize=10)
        margin = 0.02 * (extent[1] - extent[0])
        ax.set(xlim=(extent[0] - margin, extent[1] + margin), ylim=(extent[2] - margin, extent[3] + margin))
        ax.set(aspect="equal", xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    row[0].set_ylabel(name.replace(" on ", "\non "), fontsize=12)
plt.show()

# %%
# D = I does not know that the data end at the boundary. It takes the edge for a place where the density falls to zero, and
# learns that: the density is pushed away from the edge, into ridges beside it. Both weights that vanish on the boundary learn the
# right shape, and the differences between them are small.
