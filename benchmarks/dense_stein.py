"""The weight from theory the slow, obvious way: matrices and tensors written out, the pilot fitted by :func:`benchmarks.dense.solve`. For `make fuzz`."""

from __future__ import annotations

import numpy as np

from benchmarks.dense import _mean, solve

KEEP, MANY, SPHERE, LEAST, MOST = 0.8, 0.85, 3.0, 0.02, 1.5


def stein_fit(parts, X, J, H, base, held, pairs, weight):
    """θ̂, covariance and condition number of a Gaussian over the entries `pairs` of K, with D built from a first fit."""
    d, (rows, cols) = X.shape[1], pairs
    S = np.cov(X.T, aweights=weight, bias=True).reshape(d, d)
    diagonal = bool(np.all(rows == cols))
    K = np.diag(1.0 / np.diagonal(S)) if diagonal else np.linalg.inv(S)
    for last in (False, True):
        D, divergence = stein(parts, X, S, K, weight)
        theta, covariance, condition = solve(J, H, base, D, divergence, held, weight)
        if last:
            return theta, covariance, condition
        K = np.zeros((d, d))
        K[rows, cols] = K[cols, rows] = theta[: len(rows)]
        K = clipped(np.diag(np.diagonal(K)) if diagonal else K, np.diag(np.diagonal(S)) if diagonal else S)
    raise AssertionError


def clipped(K, S):
    """Eigenvalues of K relative to S⁻¹, between LEAST and MOST."""
    root = np.linalg.cholesky(S)
    values, vectors = np.linalg.eigh(root.T @ K @ root)
    back = np.linalg.solve(root.T, vectors)
    return (back * np.clip(values, LEAST, MOST)) @ back.T


def stein(parts, X, S, K, weight):
    """D = (0.8 K + H₀)⁻¹ and its divergence −Σ D_ia ∂_i H_ab D_bj."""
    n, d = X.shape
    H, T, start = np.zeros((n, d, d)) + KEEP * K, np.zeros((n, d, d, d)), 0
    facets = [part for part in parts if part.kind == "facets"]
    p = 1.0 if sum(len(part.b) for part in facets) <= 2 * d else MANY
    typical = np.exp(np.mean(np.concatenate([np.log(r) for r in _ratios(parts, X, S, weight)] or [np.zeros(1)])))
    for part in parts:
        cut = slice(start, start + part.d)
        start = cut.stop
        own = X[:, cut]
        if part.kind == "ball":
            x = own - part.center
            u = part.radii[0] ** 2 - (x**2).sum(axis=1)
            c, eye = SPHERE / _mean(u, weight), np.eye(part.d)
            g = c / u
            H[:, cut, cut] += c * eye + g[:, None, None] * x[:, :, None] * x[:, None, :]
            cube = x[:, :, None, None] * x[:, None, :, None] * x[:, None, None, :]
            mixed = eye[None, :, None, :] * x[:, None, :, None] + eye[None, None, :, :] * x[:, :, None, None]
            T[:, cut, cut, cut] += (2.0 * c / u**2)[:, None, None, None] * cube + g[:, None, None, None] * mixed
            continue
        s = part.b - own @ part.A.T
        mean = _mean(s, weight)
        unit = mean if p == 1.0 else typical * np.sqrt(np.einsum("ki,ij,kj->k", part.A, S[cut, cut], part.A))
        w = mean**-2.0 * (s / unit) ** (p - 2.0)
        H[:, cut, cut] += np.einsum("nk,ki,kj->nij", w, part.A, part.A)
        T[:, cut, cut, cut] -= np.einsum("nk,ki,kj,kl->nijl", (p - 2.0) * w / s, part.A, part.A, part.A)
    scale = 1.0 / np.sqrt(np.einsum("nii->ni", H))  # pivots must not depend on the units of the columns
    D = scale[:, :, None] * np.linalg.inv(scale[:, :, None] * H * scale[:, None, :]) * scale[:, None, :]
    return D, -np.einsum("nia,nabi,nbj->nj", D, T, D, optimize=True)


def _ratios(parts, X, S, weight):
    """Mean over standard deviation of every slack."""
    start = 0
    for part in parts:
        cut = slice(start, start + part.d)
        start = cut.stop
        if part.kind == "facets" and len(part.b):
            mean = _mean(part.b - X[:, cut] @ part.A.T, weight)
            yield mean / np.sqrt(np.einsum("ki,ij,kj->k", part.A, S[cut, cut], part.A))
