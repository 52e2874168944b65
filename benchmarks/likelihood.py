"""Likelihood baselines: exact where they exist, Monte-Carlo and pseudo-likelihood for truncated Gaussians."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_ndtr

from benchmarks.settings import Setting
from zfree.likelihood import dirichlet_mle, exponential_mle, gamma_mle, monte_carlo_mle
from zfree.models import DirichletModel, ExponentialModel, GammaModel

DRAWS = 100_000


def maximum_likelihood(setting: Setting, X: np.ndarray) -> np.ndarray:
    """Exact for Dirichlet, exponential and gamma; Monte-Carlo for a Gaussian, with draws at the truth (the best possible pilot)."""
    if isinstance(setting.model, DirichletModel):
        return dirichlet_mle(X)
    if isinstance(setting.model, ExponentialModel):
        return exponential_mle(X)
    if isinstance(setting.model, GammaModel):
        return gamma_mle(X).ravel()
    return monte_carlo_mle(setting.model, X, setting.big[:DRAWS], setting.theta)


def pseudo_likelihood(setting: Setting, X: np.ndarray) -> np.ndarray:
    """Maximise the product of the full conditionals, truncated normals on each coordinate's section (Besag 1975)."""
    n, d = X.shape
    rows, cols = np.triu_indices(d)
    below, above = setting.domain.sections(X)
    low, high = X - below, X + above
    scale = setting.theta  # only to bring the parameters to order one

    unit = np.concatenate(
        [np.full(len(rows), np.abs(scale[: len(rows)]).max()), np.full(d, np.abs(scale[len(rows) :]).max())]
    )

    def loss(z):
        theta = z * unit
        K = np.zeros((d, d))
        K[rows, cols] = K[cols, rows] = theta[: len(rows)]
        eta, k = theta[len(rows) :], np.diagonal(K)
        if np.any(k <= 0):
            return 1e10, np.zeros_like(z)
        mean = X - (X @ K - eta) / k
        root = np.sqrt(k)
        a, b = (low - mean) * root, (high - mean) * root
        log_z = _log_mass(a, b)
        value = 0.5 * k * (X - mean) ** 2 - 0.5 * np.log(k) + log_z
        pa, pb = (
            np.where(np.isfinite(v), np.exp(-0.5 * np.where(np.isfinite(v), v, 0) ** 2 - log_z), 0.0) for v in (a, b)
        )
        c = np.sqrt(2 * np.pi)
        first = (pa - pb) / c  # E of the standardised variable
        second = 1 + (np.where(np.isfinite(a), a, 0) * pa - np.where(np.isfinite(b), b, 0) * pb) / c
        y_mean = mean + first / root
        y_square = mean**2 + 2 * mean * first / root + second / k
        by_zeta = y_mean - X  # ζ_j = η_j − Σ_{k≠j} K_jk x_k
        by_diag = 0.5 * (X**2 - y_square)
        G = -(by_zeta.T @ X)
        gK = G + G.T
        gK[np.diag_indices(d)] = by_diag.sum(axis=0)
        gradient = np.concatenate([gK[rows, cols], by_zeta.sum(axis=0)])
        return value.sum() / n, gradient * unit / n

    start = setting.theta / unit
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return found.x * unit


def _log_mass(a, b):
    """log(Φ(b) − Φ(a)), by whichever tail keeps the digits."""
    flip = a > 0
    low, high = np.where(flip, -b, a), np.where(flip, -a, b)
    top, bottom = log_ndtr(high), log_ndtr(low)
    return top + np.log1p(-np.exp(np.minimum(bottom - top, -1e-16)))
