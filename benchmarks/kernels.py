"""Weights for many columns: how much of the bound does a diagonal one reach on an orthant, and what does it cost?

Correlated Gaussians on the positive orthant, K taken from the truth. All weights but h(x) = x are nearly the Stein kernel of the Gaussian, K⁻¹
far from the boundary: the dense one solves a d × d system a row, the diagonal ones look at one column at a time. For information: no bar.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

import zfree as zf
from benchmarks.settings import Setting, correlated, gaussian
from benchmarks.shares import share
from benchmarks.table import print_table
from benchmarks.timing import interleaved_medians
from zfree.fields import Dense, Diagonal
from zfree.generators import Generator
from zfree.generators.base import Decay, GeneratorValue, Vanishing

KEEP, COLUMNS, TIMED_ROWS = 0.8, 12, 2000
HEADER = ["setting", "weight", "share for K", "ms for 2000 rows"]


@dataclass(frozen=True, eq=False)
class Weight(Generator):
    """D and ∇·D from a function of the points."""

    of: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

    def on_domain(self, domain, X):
        D, divergence = self.of(X)
        return GeneratorValue(np.zeros(len(X)), Dense(D) if D.ndim == 3 else Diagonal(D), divergence)

    def vanishing(self, domain):
        return Vanishing(True)

    def decay(self, domain):
        return Decay(1.0, 0.0)


def diagonal_barrier(X, K, sizes):
    """D_jj = 1/(ρ K_jj + 1/(s̄_j s_j))."""
    D = 1 / (KEEP * np.diagonal(K) + 1 / (sizes * X))
    return D, D**2 / (sizes * X**2)


def dense_barrier(X, K, sizes):
    """D = (ρ K + diag(1/(s̄_j s_j)))⁻¹, ∇·D = −D ∇ log det H."""
    H = np.tile(KEEP * K, (len(X), 1, 1))
    own = np.arange(X.shape[1])
    H[:, own, own] += 1 / (sizes * X)
    D = np.linalg.inv(H)
    return D, np.einsum("nij,nj->ni", D, D[:, own, own] / (sizes * X**2))


def conditional_kernel(X, K, eta):
    """D_jj = τ(x_j), the Stein kernel of x_j given the others: of a normal truncated at zero, by its Mills ratio."""
    k = np.diagonal(K)
    root = np.sqrt(k)
    center = X - (X @ K - eta) / k
    z, edge = (X - center) * root, -center * root
    log_phi = lambda u: -0.5 * (u * u + np.log(2 * np.pi))  # noqa: E731
    mean = np.exp(log_phi(edge) - log_ndtr(-edge))  # of z above its edge
    mills = np.exp(log_ndtr(-z) - log_phi(z))
    tau = np.maximum(1 - mean * mills, 1e-14)  # rounding, next to the boundary
    return tau / k, mean * (1 - z * mills) / root


def weights(setting: Setting) -> dict[str, Generator]:
    K, eta = setting.model.matrix(setting.theta), setting.model.vector(setting.theta)
    sizes = setting.big.mean(axis=0)
    return {
        "h = x": zf.CoordinateWeight("x"),
        "diagonal barrier": Weight(lambda X: diagonal_barrier(X, K, sizes)),
        "conditional Stein kernel": Weight(lambda X: conditional_kernel(X, K, eta)),
        "dense barrier": Weight(lambda X: dense_barrier(X, K, sizes)),
    }


def rows(correlation: float) -> list[list[str]]:
    d = COLUMNS
    name = f"Gaussian, Orthant({d}), correlation {correlation}"
    setting = gaussian(name, zf.Orthant(d), np.full(d, 0.1), correlated(d, 0.01, correlation))
    X, found = setting.big[:TIMED_ROWS], weights(setting)
    calls = [lambda g=g: g.evaluate(setting.domain, X) for g in found.values()]
    times = interleaved_medians(calls, 15, time.process_time)
    return [
        [name, label, f"{share(setting, g).value:.4f}", f"{1e3 * seconds:.2f}"]
        for (label, g), seconds in zip(found.items(), times, strict=True)
    ]


def show(table: list[list[str]]) -> None:
    print_table(
        "Weights for many columns (no bar): share of the bound at the truth, time to evaluate D and ∇·D", HEADER, table
    )


def main() -> int:
    show([row for correlation in (0.3, 0.6) for row in rows(correlation)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
