"""Score matching the slow, obvious way: dense matrices, tensors of derivatives, none of the library's identities. For `make fuzz`.

A set is a list of :class:`Part`: consecutive columns that lie inside half-spaces A x < b, in a ball, between spheres, or on a simplex.
Everything is computed in the columns as they are given; natural units, the charts of simplices and the divergence of D are written out
from their definitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag


@dataclass(frozen=True)
class Part:
    """Columns that share a set: `kind` is "facets" (A, b), "ball" (center, radii of length 1), "shells" or "simplex"."""

    kind: str
    d: int
    A: np.ndarray | None = None
    b: np.ndarray | None = None
    center: np.ndarray | None = None
    radii: np.ndarray | None = None


def _mean(values, weight):
    """Weighted mean over the rows."""
    w = np.ones(len(values)) if weight is None else weight
    return w @ values / w.sum()


def _spread(X, weight):
    """Standard deviations of the columns."""
    return np.sqrt(_mean((X - _mean(X, weight)) ** 2, weight))


def _facet_hessian(part, X, p, spread, natural, weight):
    """H (N, d, d) and its derivatives T (N, d, d, d) for φ = Σ ψ(s_k/σ_k) plus the metric that no facet sees."""
    A = part.A
    s = part.b - X @ A.T
    sigma = _mean(s, weight) if natural and part.kind != "chart of a simplex" else np.ones(len(part.b))
    second = sigma**-p * s ** (p - 2.0)
    third = sigma**-p * (p - 2.0) * s ** (p - 3.0)  # of ψ(s/σ) in s; ds/dx = −a
    H = np.einsum("nk,ki,kj->nij", second, A, A)
    T = -np.einsum("nk,ki,kj,kl->nijl", third, A, A, A)
    scaled = A * spread
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    _, values, vectors = np.linalg.svd(scaled / norms) if len(A) else (None, np.zeros(0), np.eye(part.d))
    free = vectors[int(np.sum(values > 1e-9)) :]
    # Orthonormal in columns divided by their spread, or in the columns as they are.
    free = free / spread if natural else np.linalg.qr((free * spread).T)[0].T
    return H + free.T @ free, T


def _ball_hessian(part, X, p, natural, weight):
    """φ = ψ̃(u/σ), u = R² − ‖x − m‖², with the shifted power ψ̃ of :meth:`Power.descent <zfree.potentials.Power.descent>`."""
    x, c = X - part.center, part.radii[0] ** 2
    u = c - (x**2).sum(axis=1)
    sigma = _mean(u, weight) if natural else 1.0
    factor = sigma**-p
    bracket = 1.0 - np.log(u / c) if p == 1.0 else 1.0 - ((u / c) ** (p - 1.0) - 1.0) / (p - 1.0)
    first, second, third = -(c ** (p - 1.0)) * bracket, u ** (p - 2.0), (p - 2.0) * u ** (p - 3.0)
    eye = np.eye(part.d)
    H = factor * (4.0 * second[:, None, None] * x[:, :, None] * x[:, None, :] - 2.0 * first[:, None, None] * eye)
    cube = x[:, :, None, None] * x[:, None, :, None] * x[:, None, None, :]
    mixed = (
        eye[None, :, :, None] * x[:, None, None, :]
        + eye[None, :, None, :] * x[:, None, :, None]
        + eye[None, None, :, :] * x[:, :, None, None]
    )
    T = factor * (-8.0 * third[:, None, None, None] * cube + 4.0 * second[:, None, None, None] * mixed)
    return H, T


def barrier(parts, X, p, gamma, natural, weight=None):
    """G = det(H)^(−γ) H⁻¹ and its divergence from ∂G, in the chart that drops the last part of every simplex; and that chart."""
    inner, C, kept = _charted(parts)
    Y = X[:, kept]
    d = Y.shape[1]
    H, T, start = np.zeros((len(X), d, d)), np.zeros((len(X), d, d, d)), 0
    for part in inner:
        cut = slice(start, start + part.d)
        own = Y[:, cut]
        spread = _spread(own, weight)
        H[:, cut, cut], T[:, cut, cut, cut] = (
            _ball_hessian(part, own, p, natural, weight)
            if part.kind == "ball"
            else _facet_hessian(part, own, p, spread, natural, weight)
        )
        start = cut.stop
    scale = 1.0 / np.sqrt(np.einsum("nii->ni", H))  # pivots must not depend on the units of the columns
    balanced = scale[:, :, None] * H * scale[:, None, :]
    inverse = scale[:, :, None] * np.linalg.inv(balanced) * scale[:, None, :]
    logdet = np.linalg.slogdet(balanced)[1] - 2.0 * np.log(scale).sum(axis=1)
    weight = np.exp(-gamma * (logdet - logdet.mean()))
    # ∂_l G = w (−γ tr(H⁻¹ ∂_l H) H⁻¹ − H⁻¹ ∂_l H H⁻¹)
    trace = np.einsum("nij,nijl->nl", inverse, T)
    turned = np.einsum("nia,nabl,nbj->nijl", inverse, T, inverse)
    derivative = weight[:, None, None, None] * (-gamma * trace[:, None, None, :] * inverse[:, :, :, None] - turned)
    divergence = np.einsum("nijj->ni", derivative)
    G = weight[:, None, None] * inverse
    return C @ G @ C.T, divergence @ C.T


def _charted(parts):
    """Simplices replaced by their charts, the solid simplex of all parts but the last: parts, x = C y + c, the columns kept."""
    inner, blocks, kept, start = [], [], [], 0
    for part in parts:
        k = part.d - (part.kind == "simplex")
        kept += range(start, start + k)
        start += part.d
        if part.kind != "simplex":
            inner.append(part)
            blocks.append(np.eye(k))
            continue
        A, b = np.vstack([-np.eye(k), np.ones(k)]), np.r_[np.zeros(k), 1.0]
        inner.append(Part("chart of a simplex", k, A, b))
        blocks.append(np.vstack([np.eye(k), -np.ones(k)]))
    return inner, block_diag(*blocks), kept


def distance(parts, X, natural, weight=None):
    """dist(x, ∂Ω) · diag(τ²) and its divergence; half-spaces, balls and shells."""
    tau = _spread(X, weight) if natural else np.ones(X.shape[1])
    candidates, start = [], 0
    for part in parts:
        cut = slice(start, start + part.d)
        own, unit = X[:, cut], tau[cut]
        if part.kind == "facets":
            for a, level in zip(part.A, part.b, strict=True):
                length = np.linalg.norm(a * unit)
                candidates.append(((level - own @ a) / length, cut, np.broadcast_to(-a / length, own.shape)))
        else:
            one = np.exp(np.log(unit).mean())
            x = own - part.center
            r = np.linalg.norm(x, axis=1)
            for radius in part.radii:  # of all spheres the nearest counts, from either side
                away = np.where(r < radius, -1.0, 1.0)
                candidates.append((np.abs(radius - r) / one, cut, (away / (one * r))[:, None] * x))
        start = cut.stop
    values = np.stack([value for value, _, _ in candidates])
    nearest = values.argmin(axis=0)
    gradient = np.zeros_like(X)
    for k, (_, cut, slope) in enumerate(candidates):
        rows = np.flatnonzero(nearest == k)
        gradient[rows, cut] = slope[rows]
    return values.min(axis=0)[:, None, None] * np.diag(tau**2), gradient * tau**2


def coordinate(h, slope, X, natural, weight=None):
    """diag(τ² h(x/τ)) and its divergence."""
    tau = _spread(X, weight) if natural else np.ones(X.shape[1])
    D = (tau**2 * h(X / tau))[:, :, None] * np.eye(X.shape[1])
    return D, tau * slope(X / tau)


def section(parts, X, natural, weight=None):
    """diag(τ ρ_j) with ρ_j the distance of x_j to the nearer end of its own section, and its divergence; half-spaces and balls."""
    tau = _spread(X, weight) if natural else np.ones(X.shape[1])
    value, slope, start = np.zeros_like(X), np.zeros_like(X), 0
    for part in parts:
        for j in range(part.d):
            own = X[:, start : start + part.d]
            up, down = np.full(len(X), np.inf), np.full(len(X), np.inf)
            if part.kind == "facets":
                for a, level in zip(part.A, part.b, strict=True):
                    if a[j] > 0:
                        up = np.minimum(up, (level - own @ a) / a[j])
                    if a[j] < 0:
                        down = np.minimum(down, (level - own @ a) / -a[j])
            else:
                x = own - part.center
                half = np.sqrt(part.radii[0] ** 2 - (x**2).sum(axis=1) + x[:, j] ** 2)
                up, down = half - x[:, j], half + x[:, j]
            rho, sign = np.minimum(up, down), np.where(down < up, 1.0, -1.0)
            endless, k = np.isinf(rho), start + j
            value[:, k] = np.where(endless, tau[k] ** 2, tau[k] * rho)
            slope[:, k] = np.where(endless, 0.0, tau[k] * sign)
        start += part.d
    return value[:, :, None] * np.eye(X.shape[1]), slope


def solve(J, hessians, base_gradient, D, divergence, held, weight=None, ridge=0.0):
    """θ̂, its sandwich covariance and the condition number of Γ scaled to unit diagonal; `held` maps known positions to values. A ridge
    multiplies the diagonals of all Γ_i.

    J is (N, r, d), `hessians` (N, r, d, d), `base_gradient` (N, d).
    """
    gamma_i = np.einsum("nri,nij,nsj->nrs", J, D, J, optimize=True)
    push = divergence + np.einsum("nij,nj->ni", D, base_gradient)
    g_i = np.einsum("nrij,nij->nr", hessians, D, optimize=True) + np.einsum("nri,ni->nr", J, push)
    r = J.shape[1]
    free = np.array([k for k in range(r) if k not in held])
    theta = np.zeros(r)
    for k, value in held.items():
        theta[k] = value
    w = np.ones(len(J)) if weight is None else weight
    if ridge:
        gamma_i = gamma_i + ridge * np.einsum("nrr->nr", gamma_i)[:, :, None] * np.eye(J.shape[1])
    G, g = np.average(gamma_i, axis=0, weights=w), np.average(g_i, axis=0, weights=w)
    block = G[np.ix_(free, free)]
    scale = 1.0 / np.sqrt(np.diagonal(block))
    scaled = block * np.multiply.outer(scale, scale)
    condition = float(np.linalg.cond(scaled))
    theta[free] = -scale * np.linalg.solve(scaled, scale * (g + G @ theta)[free])
    psi = w[:, None] * (np.einsum("nrs,s->nr", gamma_i, theta) + g_i)[:, free]
    inverse = np.multiply.outer(scale, scale) * np.linalg.inv(scaled)
    covariance = np.zeros((r, r))
    covariance[np.ix_(free, free)] = inverse @ (psi.T @ psi) @ inverse / w.sum() ** 2
    return theta, covariance, condition
