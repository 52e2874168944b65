"""Mean, precision and covariance of a pairwise model as functions of θ = (K, η), with their Jacobians."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zfree.arrays import Array, symmetric_pairs
from zfree.models.base import Derived
from zfree.models.linear_maps import Jacobian, Leading, Nothing, Scaling
from zfree.models.moment_jacobians import CovarianceMap, MeanMap

if TYPE_CHECKING:
    from zfree.models.pairwise import PairwiseModel


def _inverse(model: PairwiseModel, theta: Array) -> Array:
    K = model.matrix(theta)
    try:
        return np.asarray(np.linalg.inv(K), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(K, np.nan)


def _inverse_map(model: PairwiseModel, theta: Array) -> Jacobian:
    """K⁻¹, by its diagonal where there is no more to K."""
    if not model.is_separable:
        return _inverse(model, theta)
    K = _diagonals(model, theta[None])[0]
    return Scaling(1.0 / K if K.all() else np.full_like(K, np.nan))


def _diagonals(model: PairwiseModel, thetas: Array) -> Array:
    """The diagonals (n, d) of K, for θ given as rows."""
    K = np.zeros((len(thetas), model.dimension))
    K[:, model.rows] = thetas[:, : model.n_pairs]
    return K


def mean_parameters(model: PairwiseModel, theta: Array) -> Derived:
    """μ = c + K⁻¹η_c, dμ = K⁻¹(dη_c − dK (μ − c))."""
    names = tuple(f"mean[{c}]" for c in model.columns)
    if not model.linear:
        return Derived(names, model.center.copy(), Nothing(model.dimension, model.n_parameters))
    S = _inverse_map(model, theta)
    shift = S @ model.vector(theta)
    return Derived(names, model.center + shift, MeanMap(S, model.shear(-shift)))


def precision_parameters(model: PairwiseModel, theta: Array) -> Derived:
    """K itself, at its free entries."""
    return Derived(model.names[: model.n_pairs], theta[: model.n_pairs], Leading(model.n_pairs, model.n_parameters))


def covariance_parameters(model: PairwiseModel, theta: Array) -> Derived:
    """S = K⁻¹, dS = −S dK S."""
    S, c = _inverse(model, theta), model.columns
    p, q = symmetric_pairs(model.dimension)
    names = tuple(f"cov[{c[a]},{c[b]}]" for a, b in zip(p, q, strict=True))
    return Derived(names, S[p, q], CovarianceMap(S, model.pairs, model.n_parameters))


def moments_of_each(model: PairwiseModel, which: str, thetas: Array) -> Array:
    """Means, or covariances, of many θ given as rows; NaN where K is singular."""
    d, eta = model.dimension, thetas[:, model.n_pairs :]
    if model.is_separable and which == "mean":
        K = _diagonals(model, thetas)
        return np.asarray(model.center + np.divide(eta, K, out=np.full_like(K, np.nan), where=K != 0.0))
    K = np.zeros((len(thetas), d, d))
    K[:, model.rows, model.cols] = K[:, model.cols, model.rows] = thetas[:, : model.n_pairs]
    try:
        S = np.asarray(np.linalg.inv(K), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full((len(thetas), d if which == "mean" else d * (d + 1) // 2), np.nan)
    if which == "mean":
        means: Array = model.center + np.einsum("njk,nk->nj", S, eta)
        return means
    p, q = symmetric_pairs(d)
    return S[:, p, q]
