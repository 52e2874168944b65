"""The slow, dense way to do everything: full matrices, finite differences, no structure. For tests and benchmarks only.

A domain is known here by its potential φ(x) alone, a function of one point that a row of the contract table gives: its derivatives are taken by
differences in 60 digits, and H, D, ∇·D, log det H and its gradient follow from them.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations_with_replacement, permutations, product

import mpmath as mp
import numpy as np

from zfree.fields import Parts

mp.mp.dps = 60

RAW = None
"""Slacks and columns as they are written."""
TINY = mp.mpf(10) ** -20
STEP = mp.mpf(10) ** -12
"""Of differences up to the third: rounding 1e-24, and 1e-18 left out at a distance of 1e-3 from the boundary."""


def flat_power(s, p):
    """ψ with ψ'' = s^(p−2)."""
    if p == 0:
        return -mp.log(s)
    return s * mp.log(s) - s if p == 1 else s**p / (p * (p - 1))


def curved_power(u, largest, p):
    """ψ of a concave slack: ψ'' = u^(p−2), and a slope that is shifted so that it is −largest^(p−1) where u is largest."""
    c, v = mp.mpf(largest), u / largest
    if p == 0:
        return -mp.log(v)
    return -(c**p) * (2 * v - v * mp.log(v) if p == 1 else v + (v - v**p / p) / (p - 1))


def facets(A, b, idle=()):
    """φ = Σ ψ(s_k/σ_k) of {A x < b}, plus what the metric of the columns adds along directions no facet limits.

    `idle` are rows of the text that are no facets of the set; in units they do not count.
    """

    def potential(x, p, units=RAW):
        sigma = np.ones(len(b)) if units is RAW else units.slacks
        M = unseen_metric(A, np.ones(x.size) if units is RAW else units.spread)
        rows = [k for k in range(len(b)) if units is RAW or k not in idle]
        slacks = [(mp.mpf(float(b[k])) - exact(A[k]) @ x) / mp.mpf(float(sigma[k])) for k in rows]
        return sum((flat_power(s, p) for s in slacks), mp.mpf(0)) + x @ M @ x / 2

    return potential


def unseen_metric(A, spread):
    """M − Aᵀ(A M⁻¹ Aᵀ)⁻¹A with M = diag(1/spread²), over a largest set of independent rows: the metric that no facet sees."""
    rows = []
    for a in A:
        if np.linalg.matrix_rank(np.array([*rows, a / np.linalg.norm(a)]), tol=1e-9) > len(rows):
            rows.append(a / np.linalg.norm(a))
    if len(rows) == len(spread):
        return np.zeros((len(spread),) * 2, dtype=object)
    M = mp.diag([mp.mpf(float(t)) ** -2 for t in spread])
    if rows:
        B = mp.matrix([[mp.mpf(float(v)) for v in row] for row in rows])
        M = M - B.T * mp.inverse(B * mp.inverse(M) * B.T) * B
    return np.array(M.tolist(), dtype=object)


def curved(slack, largest):
    """φ = ψ(u/σ) of one concave slack u(x), at most `largest`."""

    def potential(x, p, units=RAW):
        sigma = 1 if units is RAW else mp.mpf(float(units.slacks[0]))
        return curved_power(slack(x) / sigma, mp.mpf(largest) / sigma, p)

    return potential


class Differences:
    """Derivatives of a function of one point, in 60 digits, up to the third."""

    def __init__(self, potential, x):
        self.x, self.d = exact(x), len(x)
        self._values, self._potential = {}, potential

    def _at(self, moves):
        """φ moved by some steps along each coordinate."""
        if moves not in self._values:
            self._values[moves] = self._potential(self.x + STEP * np.array(moves))
        return self._values[moves]

    def _mixed(self, axes):
        """∂φ/∂x_axes: the mean over all signs of steps along each of them."""
        total = mp.mpf(0)
        for signs in product((1, -1), repeat=len(axes)):
            moves = np.zeros(self.d, dtype=int)
            np.add.at(moves, list(axes), signs)
            total += int(np.prod(signs)) * self._at(tuple(moves.tolist()))
        return total / (2 * STEP) ** len(axes)

    def _symmetric(self, order):
        out = np.zeros((self.d,) * order, dtype=object)
        for axes in combinations_with_replacement(range(self.d), order):
            value = self._mixed(axes)
            for turned in permutations(axes):
                out[turned] = value
        return out

    @cached_property
    def hessian(self):
        """H."""
        return self._symmetric(2)

    @cached_property
    def third(self):
        """∂_k H_ij."""
        return self._symmetric(3)

    @cached_property
    def inverse(self):
        """H⁻¹."""
        return np.array(mp.inverse(mp.matrix(self.hessian.tolist())).tolist(), dtype=object)

    @cached_property
    def logdet(self):
        """log det H."""
        return mp.log(mp.det(mp.matrix(self.hessian.tolist())))

    @cached_property
    def grad_logdet(self):
        """∂_k log det H = tr(H⁻¹ ∂_k H)."""
        return np.einsum("ij,jik->k", self.inverse, self.third)

    def generator(self, gamma):
        """G = det(H)^(−γ) H⁻¹."""
        return mp.exp(-gamma * self.logdet) * self.inverse

    def divergence(self, gamma):
        """Σ_i ∂_i G_ij, with ∂_i H⁻¹ = −H⁻¹ ∂_i H H⁻¹ and ∂_i det(H)^(−γ) = −γ det(H)^(−γ) ∂_i log det H."""
        bent = np.einsum("ia,abi->b", self.inverse, self.third) @ self.inverse
        return -mp.exp(-gamma * self.logdet) * (gamma * self.grad_logdet @ self.inverse + bent)


def derivative(f, x, step=TINY):
    """Derivatives of f along each coordinate (last axis), by a central difference in 60 digits."""
    return np.stack([(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(x.size, dtype=int)], axis=-1)


def exact(x):
    """A float vector as one of 60 digits: close to a boundary, differences of doubles have none left."""
    return np.array([mp.mpf(float(v)) for v in x], dtype=object)


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


def facet_generator(A, b, p, gamma, x):
    """G at one point of {A x < b}, bounded, in doubles: facet by facet, then a dense inverse."""
    H = sum(s ** (p - 2) * np.outer(a, a) for a, s in zip(A, b - A @ x, strict=True))
    return np.exp(-gamma * np.linalg.slogdet(H)[1]) * np.linalg.inv(H)


def dense_truncated_gaussian_fit(X, domain, p=4 / 3, gamma=0.5):
    """θ̂ and its covariance on a polytope the obvious way: dense G as it is written, its divergence by differences, dense J, a loop over rows."""
    n = len(X)
    D, divergence = [], []
    A, b = domain.inequalities
    for x in X:
        step = 1e-4 * float(domain.boundary_distance(x[None])[0][0])
        D.append(facet_generator(A, b, p, gamma, x))
        divergence.append(column_divergence(lambda y: facet_generator(A, b, p, gamma, y), x, step=step))
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


def check_field(field, dense):
    """Every method of a field against the matrices (N, d, d) that it stands for."""
    n, d, _ = dense.shape
    v = np.random.default_rng(1).standard_normal((n, d))
    rows, cols = np.indices((d, d)).reshape(2, -1)  # both triangles
    assert np.allclose(field.dense(), dense)
    assert np.allclose(field.apply(v), np.einsum("njk,nk->nj", dense, v))
    assert np.allclose(field.diagonal(), np.einsum("njj->nj", dense))
    assert np.allclose(field.entries(rows, cols), dense[:, rows, cols].T)
    for scale in (v, v[:1]):
        scaled = scale[:, :, None] * dense * scale[:, None, :]
        assert np.allclose(field.rescale(scale).dense(), scaled)
        assert np.allclose(sum_of_parts(field.rescale(scale).parts, d), scaled)
    assert np.allclose(sum_of_parts(field.parts, d), dense)
    directions, delta, rank_ones, full = field.along()
    assert np.allclose(sum_of_parts(Parts(None, rank_ones, full), d) + _squares(directions, delta, d), dense)


def sum_of_parts(parts, d):
    """The matrices (N, d, d) that a field's parts add up to."""
    total = 0.0 if parts.dense is None else parts.dense.copy()
    if parts.diagonal is not None:
        total = total + parts.diagonal[:, :, None] * np.eye(d)
    for sigma, u in parts.rank_ones:
        total = total + sigma[:, None, None] * u[:, :, None] * u[:, None, :]
    return total


def _squares(directions, delta, d):
    """Σ δ_m c_m c_mᵀ."""
    if delta is None:
        return 0.0
    if directions is None:
        return delta[:, :, None] * np.eye(d)
    C = np.zeros((len(directions.columns), d))
    for c, columns, coefficients in zip(C, *directions, strict=True):
        np.add.at(c, columns, coefficients)
    return np.einsum("nm,mj,mk->njk", delta, C, C)
