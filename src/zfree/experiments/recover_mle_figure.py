"""The picture of ``recover-mle``: D of the moment maps beside those of the barriers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.domains import Units
from zfree.experiments.laws import Law
from zfree.experiments.moment_maps import moment_map
from zfree.experiments.stein_kernels import field_at, stein_barrier
from zfree.generators import Barrier, Generator, named

MAP, ENTROPY, LOG, STEIN = "moment map", "entropy, γ = 0, mean slacks", "log barrier, γ = 0", "Stein barrier"
COLORS = {
    MAP: "#000000",
    "φ₁": "#0072B2",
    "φ₂": "#56B4E9",
    "φ₃": "#009E73",
    ENTROPY: "#E69F00",
    LOG: "#CC79A7",
    STEIN: "#D55E00",
}
INTERVAL, DISC, TRIANGLE = "(0, 1), exponential", "disc, Gaussian", "triangle, Gaussian"


def figure(laws: Mapping[str, Law], found: Mapping[str, Any], degree: int) -> Any:
    """Six panels: D on an interval, its eigenvalues on a disc, the rounds of the fixed point, and ellipses of D on a triangle."""
    from zfree.plotting.trials import panels

    drawn, axes = panels(6, width=4.6, height=4.1, rows=2)
    _interval(axes[0], laws[INTERVAL], degree)
    _disc(axes[1], laws[DISC], degree)
    _rounds(axes[2], found)
    for ax, name in zip(axes[3:], (MAP, ENTROPY, LOG), strict=True):
        _triangle(ax, laws[TRIANGLE], name, degree)
    axes[3].set_title("triangle: Gaussian, moment map (Stein barrier dashed)", fontsize="medium")
    return drawn


def _generator(law: Law, name: str, degree: int) -> Generator:
    X, p = law.nodes()
    units = Units.of(law.domain, X, p)
    paper = {"φ₁": "phi1", "φ₂": "phi2", "φ₃": "phi3"}
    if name in paper:
        return named(paper[name])
    if name == MAP:
        return moment_map(law, degree).barrier()
    if name == STEIN:
        return stein_barrier(law, units)
    return Barrier.log(0.0, scale="raw") if name == LOG else Barrier.entropy(0.0, scale=units)


def _scaled(law: Law, name: str, degree: int, X: Array) -> Array:
    """D at X, multiplied so that E tr D is the total variance, as it is for a Stein kernel; a factor changes no estimate."""
    generator = _generator(law, name, degree)
    nodes, p = law.nodes()
    total = p @ np.einsum("nii->n", field_at(law, generator, nodes)[0])
    scaled: Array = field_at(law, generator, X)[0] * np.trace(law.moments()[1]) / total
    return scaled


def _interval(ax: Any, law: Law, degree: int) -> None:
    x = np.linspace(0.0, 1.0, 401)[1:-1]
    styles = {MAP: ("-", 2.6), ENTROPY: ("--", 1.6)}
    for name in (MAP, ENTROPY, "φ₁", "φ₂", "φ₃"):
        style, width = styles.get(name, ("-", 1.4))
        D = _scaled(law, name, degree, x[:, None])[:, 0, 0]
        ax.plot(x, D, style, color=COLORS[name], linewidth=width, label=name, zorder=3 if name in styles else 2)
    ax.set(title="interval: exponential cut at 1", xlabel="x", ylabel="D(x), scaled to E D = Var x", ylim=(0.0, None))
    ax.legend(frameon=False, fontsize="x-small")


def _disc(ax: Any, law: Law, degree: int) -> None:
    r = np.linspace(0.0, 1.0, 401)[1:-1]
    X = np.stack([r, np.zeros_like(r)], axis=1)
    for name in (MAP, STEIN, "φ₁", LOG):
        D = _scaled(law, name, degree, X)
        width = 2.4 if name == MAP else 1.4
        ax.plot(r, D[:, 0, 0], "-", color=COLORS[name], linewidth=width, label=name)
        ax.plot(r, D[:, 1, 1], "--", color=COLORS[name], linewidth=width)
    ax.plot([], [], "-", color="0.5", label="along the radius")
    ax.plot([], [], "--", color="0.5", label="across it")
    ax.set(title="disc: Gaussian", xlabel="|x|", ylabel="eigenvalues of D, scaled alike", ylim=(0.0, None))
    ax.legend(frameon=False, fontsize="x-small")


def _rounds(ax: Any, found: Mapping[str, Any]) -> None:
    for (law, record), color in zip(found.items(), COLORS.values(), strict=True):
        path = np.maximum(record["path"], 1e-17)
        ax.semilogy(path, "o-", markersize=3.5, linewidth=1.4, color=color, label=law)
    ax.set(
        title="D built again at its own estimate",
        xlabel="round",
        ylabel="distance from the MLE, in standard errors",
    )
    ax.grid(axis="y", color="0.92", zorder=0)
    ax.legend(frameon=False, fontsize="x-small")


def _triangle(ax: Any, law: Law, name: str, degree: int) -> None:
    side = np.linspace(0.0, 1.0, 161)[1:-1]
    first, second = np.meshgrid(side, side)
    inside = first + second < 1.0
    points = np.stack([first, second], axis=-1).reshape(-1, 2)
    precision, theta = getattr(law, "precision", 0.0), np.array(law.theta)
    height = np.exp(points @ theta - 0.5 * precision * np.sum(points**2, axis=1)).reshape(first.shape)
    shades = [str(grey) for grey in np.linspace(1.0, 0.82, 9)]
    ax.contourf(
        first, second, np.where(inside, height, np.nan), levels=np.linspace(0, height[inside].max(), 10), colors=shades
    )
    lattice = np.array([(i, j) for i in range(8) for j in range(8 - i)]) / 8.4 + 0.043
    for x, D in zip(lattice, _scaled(law, name, degree, lattice), strict=True):
        ax.fill(*_ellipse(x, D), facecolor=COLORS[name], edgecolor=COLORS[name], alpha=0.4, linewidth=1.1)
    if name == MAP:
        for x, D in zip(lattice, _scaled(law, STEIN, degree, lattice), strict=True):
            ax.plot(*_ellipse(x, D), "--", color=COLORS[STEIN], linewidth=1.2)
    ax.plot([0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], color="0.3", linewidth=1.2)
    ax.set(xlabel="x₁", ylabel="x₂", aspect="equal")
    ax.set_title(f"triangle: Gaussian, {name}", fontsize="medium")


def _ellipse(x: Array, D: Array) -> Array:
    """Points of {x + v : vᵀD⁻¹v = const}, shape (2, N)."""
    angle = np.linspace(0.0, 2.0 * np.pi, 61)
    values, vectors = np.linalg.eigh(D)
    ellipse: Array = x[:, None] + 0.28 * (vectors * np.sqrt(values)) @ np.stack([np.cos(angle), np.sin(angle)])
    return ellipse
