"""The arithmetic of fits on simplices and nothing else: a barrier, and the distance to the boundary (see :mod:`benchmarks.bare`)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from benchmarks.bare import Estimate, Pairs, solved


def leave_one_out(linear: np.ndarray, A: np.ndarray, pull, weigh, push) -> np.ndarray:
    """How θ changes without each row, (r, n), by one step of conjugate gradients from the influences; and degrees of freedom."""
    residual = pull(linear)
    p = weigh(residual)
    energy = np.einsum("jn,jn->n", residual, p)
    pushed = push(p)
    image = A @ pushed
    image *= energy / (energy - np.einsum("rn,rn->n", pushed, image))
    image += linear
    square = linear * linear
    total, n = square.sum(axis=1), linear.shape[1]
    2.0 * total**2 / ((square * square).sum(axis=1) - total**2 / n)
    return image


def gaussian(X: np.ndarray, delta, divergence, u=None, sigma=None) -> tuple[Estimate, np.ndarray]:
    """A Gaussian with D = diag(δ) + σ u uᵀ, weights multiplied in; all (d, n), σ (n,). Also how θ changes without each row."""
    n, d = X.shape
    pairs, U = Pairs(d), np.ascontiguousarray((X - X.mean(axis=0)).T)
    spare = np.empty((d, n))
    trace = np.diag(delta.sum(axis=1))
    gamma = pairs.gram(delta @ pairs.products(U, np.empty((pairs.size, n))).T, delta @ U.T, delta.sum(axis=1))
    if u is not None:
        root = np.sqrt(-sigma) * u
        q = pairs.pushed(U, root, np.empty((pairs.size + d, n)), spare)
        gamma -= q @ q.T
        trace -= root @ root.T
    theta, A = solved(gamma, pairs.constants(trace, U @ divergence.T, divergence.sum(axis=1)))

    def weigh(V):
        return delta * V if u is None else delta * V + (sigma * np.einsum("jn,jn->n", u, V)) * u

    def push(V):
        return pairs.pushed(U, V, np.empty((pairs.size + d, n)), spare)

    psi = push(divergence + weigh(theta[pairs.size :, None] - pairs.matrix(theta) @ U))
    psi[pairs.starts[:-1]] -= delta if u is None else delta + sigma * u * u
    if u is not None:
        entries = pairs.products(u, np.empty((pairs.size, n)))
        entries *= -2.0 * sigma
        entries[pairs.starts[:-1]] = 0.0
        psi[: pairs.size] += entries
    linear = A @ psi
    changes = leave_one_out(linear, A, lambda t: pairs.pulled(U, t), weigh, push)
    return Estimate(theta, linear @ linear.T), changes


def barrier(X: np.ndarray, power: float, det_power: float) -> tuple[Estimate, np.ndarray]:
    """A Gaussian on the solid simplex with det(H)^(−γ) H⁻¹, slacks in units of their means."""
    d = X.shape[1]
    slacks = np.empty((d + 1, len(X)))
    slacks[:d] = X.T
    slacks[d] = 1.0 - X.sum(axis=1)
    mean = slacks.mean(axis=1)
    logs = np.log(slacks)
    w = np.exp((2.0 - power) * logs) * (mean**power)[:, None]
    total = w.sum(axis=0)
    log_det = (power - 2.0) * logs.sum(axis=0) + np.log(total)
    weight = np.exp(-det_power * (log_det - log_det.min()))
    grad = (power - 2.0) / slacks * (1.0 - w / total)
    grad = grad[:d] - grad[d]
    delta, u, sigma = w[:d] * weight, w[:d], -weight / total
    divergence = -(1.0 + det_power) * (delta * grad + (sigma * np.einsum("jn,jn->n", u, grad)) * u)
    return gaussian(X, delta, divergence, u, sigma)


def distance(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distance to the boundary of the solid simplex (n,), and its gradient (d, n)."""
    n, d = X.shape
    column, slanted = X.argmin(axis=1), (1.0 - X.sum(axis=1)) / np.sqrt(d)
    nearest = X[np.arange(n), column]
    gradient = np.zeros((d, n))
    gradient[column, np.arange(n)] = 1.0
    last = slanted < nearest
    gradient[:, last] = -1.0 / np.sqrt(d)
    return np.where(last, slanted, nearest), gradient


def gaussian_by_distance(X: np.ndarray) -> tuple[Estimate, np.ndarray]:
    """A Gaussian on the solid simplex with D = dist · I."""
    room, gradient = distance(X)
    return gaussian(X, np.broadcast_to(room, gradient.shape), gradient)


def dirichlet_by_distance(P: np.ndarray) -> tuple[Estimate, np.ndarray]:
    """A Dirichlet with D = dist · C Cᵀ, C the chart that drops the last part."""
    d = P.shape[1]
    room, inner = distance(P[:, :-1])
    C = np.vstack([np.eye(d - 1), -np.ones(d - 1)])
    M, inverse = C @ C.T, np.ascontiguousarray(1.0 / P.T)
    push = C @ inner

    def weigh(V):
        return room * (M @ V)

    root = inverse * np.sqrt(room)
    gamma = M * (root @ root.T)
    constants = inverse * (push - weigh(inverse)) - np.diagonal(M)[:, None] * root * root
    scale = 1.0 / np.sqrt(gamma.diagonal())
    factor, _ = lapack.dpotrf(gamma * scale[:, None] * scale)
    theta = -scale * lapack.dpotrs(factor, scale * constants.sum(axis=1))[0]
    A = lapack.dpotri(factor)[0]
    A += np.triu(A, 1).T
    A *= scale[:, None] * scale
    psi = constants + inverse * weigh(theta[:, None] * inverse)
    linear = A @ psi
    changes = leave_one_out(linear, A, lambda t: inverse * t, weigh, lambda v: inverse * v)
    return Estimate(theta, linear @ linear.T), changes
