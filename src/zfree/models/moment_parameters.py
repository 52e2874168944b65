"""Mean, precision and covariance of a pairwise model as functions of θ = (K, η), with their Jacobians."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zfree.arrays import Array, symmetric_pairs
from zfree.models.base import Derived
from zfree.models.linear_maps import Leading

if TYPE_CHECKING:
    from zfree.models.pairwise import PairwiseModel


def _inverse(model: PairwiseModel, theta: Array) -> Array:
    K = model.matrix(theta)
    try:
        return np.asarray(np.linalg.inv(K), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(K, np.nan)


def mean_parameters(model: PairwiseModel, theta: Array) -> Derived:
    """μ = c + K⁻¹η_c, dμ = K⁻¹(dη_c − dK (μ − c))."""
    names = tuple(f"mean[{c}]" for c in model.columns)
    d = model.dimension
    if not model.linear:
        return Derived(names, model.center.copy(), np.zeros((d, model.n_parameters)))
    S = _inverse(model, theta)
    shift = S @ model.vector(theta)
    by_K = -model.once * (S[:, model.rows] * shift[model.cols] + S[:, model.cols] * shift[model.rows])
    return Derived(names, model.center + shift, np.concatenate([by_K, S], axis=1))


def precision_parameters(model: PairwiseModel, theta: Array) -> Derived:
    """K itself, at its free entries."""
    return Derived(model.names[: model.n_pairs], theta[: model.n_pairs], Leading(model.n_pairs, model.n_parameters))


def covariance_parameters(model: PairwiseModel, theta: Array) -> Derived:
    """S = K⁻¹, dS = −S dK S."""
    S = _inverse(model, theta)
    p, q = (index[:, None] for index in symmetric_pairs(model.dimension))
    j, k = model.rows[None, :], model.cols[None, :]
    jacobian = np.zeros((p.size, model.n_parameters))
    jacobian[:, : model.n_pairs] = -model.once * (S[p, j] * S[k, q] + S[p, k] * S[j, q])
    c = model.columns
    names = tuple(f"cov[{c[a]},{c[b]}]" for a, b in zip(p[:, 0], q[:, 0], strict=True))
    return Derived(names, S[p[:, 0], q[:, 0]], jacobian)


def moments_of_each(model: PairwiseModel, which: str, thetas: Array) -> Array:
    """Means, or covariances, of many θ given as rows; NaN where K is singular."""
    d = model.dimension
    K = np.zeros((len(thetas), d, d))
    K[:, model.rows, model.cols] = K[:, model.cols, model.rows] = thetas[:, : model.n_pairs]
    try:
        S = np.asarray(np.linalg.inv(K), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full((len(thetas), d if which == "mean" else d * (d + 1) // 2), np.nan)
    if which == "mean":
        means: Array = model.center + np.einsum("njk,nk->nj", S, thetas[:, model.n_pairs :])
        return means
    p, q = symmetric_pairs(d)
    return S[:, p, q]
