"""The slow, dense way to do everything: full matrices, finite differences, no structure. For tests and benchmarks only."""

from __future__ import annotations

import mpmath as mp
import numpy as np

import zfree as zf
from zfree.domains.polyhedral import Polyhedral

mp.mp.dps = 60


RAW = None
"""Slacks and columns as they are written."""


def slack_hessian(domain, p, x, units=RAW):
    """H of φ = Σ ψ(s_k/σ_k) at one point of a polyhedral domain, plus what the metric of the columns adds along directions no facet limits."""
    A, b = domain.inequalities
    sigma = np.ones(len(b)) if units is RAW else units.slacks
    spread = np.ones(x.size) if units is RAW else units.spread
    H = np.zeros((x.size, x.size), dtype=x.dtype)
    idle = () if units is RAW else getattr(domain, "redundant", ())  # rows of the text that are no facets of the set
    for a, level, unit in [row for k, row in enumerate(zip(A, b, sigma, strict=True)) if k not in idle]:
        H = H + ((level - a @ x) / unit) ** (p - 2) * np.outer(a, a) / unit**2
    return H + unseen_metric(A, spread).astype(x.dtype)


def unseen_metric(A, spread):
    """M − Aᵀ(A M⁻¹ Aᵀ)⁻¹A with M = diag(1/spread²), over a largest set of independent rows: the metric that no facet sees."""
    rows = []
    for a in A:
        if np.linalg.matrix_rank(np.array([*rows, a / np.linalg.norm(a)]), tol=1e-9) > len(rows):
            rows.append(a / np.linalg.norm(a))
    M = mp.diag([mp.mpf(float(t)) ** -2 for t in spread])
    if rows:
        B = mp.matrix([[mp.mpf(float(v)) for v in row] for row in rows])
        M = M - B.T * mp.inverse(B * mp.inverse(M) * B.T) * B
    return np.array(M.tolist(), dtype=object)


def ball_hessian(domain, p, x, units=RAW):
    """H of the shifted power of (c² − ‖x − m‖²)/σ, by differentiating its gradient."""
    sigma = 1.0 if units is RAW else units.slacks[0]
    if units is not RAW:
        return sigma**-p * ball_hessian(domain, p, x)  # φ(u/σ) is σ^(−p) φ(u) for a power, up to a constant
    c = domain.radius**2

    def gradient(y):
        offset = y - domain.center
        u = c - offset @ offset
        slope = -(c ** (p - 1)) * (1 + (mp.log(c / u) if p == 1 else (1 - (u / c) ** (p - 1)) / (p - 1)))
        return -2 * slope * offset

    return derivative(gradient, x)


TINY = mp.mpf(10) ** -20


def derivative(f, x, step=TINY):
    """Derivatives of f along each coordinate (last axis), by a central difference in 60 digits."""
    return np.stack([(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(x.size, dtype=int)], axis=-1)


def hessian(domain, p, x, units=RAW):
    if isinstance(domain, zf.Product):
        blocks, start, slack = np.zeros((x.size, x.size), dtype=x.dtype), 0, 0
        for factor in domain.factors:
            part, own = slice(start, start + factor.dimension), slice(slack, slack + factor.n_slacks)
            inner = RAW if units is RAW else zf.Units(units.slacks[own].copy(), units.spread[part].copy())
            blocks[part, part] = hessian(factor, p, x[part], inner)
            start, slack = part.stop, own.stop
        return blocks
    if isinstance(domain, Polyhedral):
        return slack_hessian(domain, p, x, units)
    assert isinstance(domain, zf.Ball), f"no reference for {domain!r}"
    return ball_hessian(domain, p, x, units)


def chart_units(domain, units):
    """Units in the order of the chart's own slacks: on a simplex the kept parts, then the dropped one."""
    if isinstance(domain, zf.Product):
        slacks, spreads, start, slack = [], [], 0, 0
        for factor in domain.factors:
            part, own = slice(start, start + factor.dimension), slice(slack, slack + factor.n_slacks)
            inner = chart_units(factor, zf.Units(units.slacks[own].copy(), units.spread[part].copy()))
            slacks, spreads = [*slacks, inner.slacks], [*spreads, inner.spread]
            start, slack = part.stop, own.stop
        return zf.Units(np.concatenate(slacks), np.concatenate(spreads))
    if domain.chart is None:
        return units
    kept = domain.chart.kept
    return zf.Units(np.r_[units.slacks[kept], np.delete(units.slacks, kept)], units.spread[kept])


def exact(x):
    """A float vector as one of 60 digits: close to a boundary, differences of doubles have none left."""
    return np.array([mp.mpf(float(v)) for v in x], dtype=object)


def barrier_matrix(domain, p, gamma, x, units=RAW):
    """G = det(H)^(−γ) H⁻¹ at one point, in the precision of `x`."""
    H = hessian(domain, p, x, units)
    if x.dtype == float:
        return np.exp(-gamma * np.linalg.slogdet(H)[1]) * np.linalg.inv(H)
    H = mp.matrix(H.tolist())
    G = mp.det(H) ** (-gamma) * mp.inverse(H)
    return np.array(G.tolist(), dtype=object)


def column_divergence(matrix, x, **step):
    """(∇·D)_j = Σ_i ∂D_ij/∂x_i of a function x ↦ D(x), by finite differences."""
    d = derivative(matrix, x, **step)
    return np.array([sum(d[i, j, i] for i in range(x.size)) for j in range(x.size)])


def gaussian_moments(X, D, divergence):
    """Γ_N and g_N of the full Gaussian (K upper triangle, then η), one row at a time with dense Jacobians."""
    n, d = X.shape
    pairs = [(j, k) for j in range(d) for k in range(j, d)]
    r = len(pairs) + d
    gamma, g = np.zeros((r, r)), np.zeros(r)
    for i in range(n):
        J, trace = np.zeros((r, d)), np.zeros(r)
        for p, (j, k) in enumerate(pairs):
            J[p, j] -= X[i, k]
            trace[p] -= D[i, j, k]
            if j != k:
                J[p, k] -= X[i, j]
                trace[p] -= D[i, k, j]
        J[len(pairs) :] = np.eye(d)
        gamma += J @ D[i] @ J.T / n
        g += (trace + J @ divergence[i]) / n
    return gamma, g


def dense_truncated_gaussian_fit(X, domain, p=4 / 3, gamma=0.5):
    """θ̂ and its covariance the obvious way: dense G as it is written, its divergence by differences, dense J, a loop over rows."""
    n = len(X)
    D, divergence = [], []
    for x in X:
        step = 1e-4 * float(domain.boundary_distance(x[None])[0][0])
        D.append(barrier_matrix(domain, p, gamma, x))
        divergence.append(column_divergence(lambda y: barrier_matrix(domain, p, gamma, y), x, step=step))
    D, divergence = np.array(D), np.array(divergence)
    G, g = gaussian_moments(X, D, divergence)
    theta = -np.linalg.solve(G, g)
    meat = np.zeros_like(G)
    for i in range(n):
        G_i, g_i = gaussian_moments(X[i : i + 1], D[i : i + 1], divergence[i : i + 1])
        psi = G_i @ theta + g_i
        meat += np.outer(psi, psi) / n
    inverse = np.linalg.inv(G)
    return theta, inverse @ meat @ inverse / n
