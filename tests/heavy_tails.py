"""Families whose densities fall like a power of x, and generators that grow, for tests."""

from __future__ import annotations

import numpy as np

import zfree as zf
from zfree.models import CustomModel


def lomax(d=1, unit=1.0, matrix=None):
    """Π (1 + y_j)^(−θ_j) with y = B⁻¹x, each y_j > 0."""
    inverse = np.eye(d) / unit if matrix is None else np.linalg.inv(matrix)

    def y(X):
        return X @ inverse.T

    return CustomModel(
        d,
        [f"theta[{j}]" for j in range(d)],
        lambda X: -np.log1p(y(X)),
        lambda X: -inverse / (1 + y(X))[:, :, None],
        lambda X: np.einsum("nj,jk,jl->njkl", (1 + y(X)) ** -2.0, inverse, inverse),
    )


def student(d):
    """(1 + |x|²)^(−θ), θ = (ν + d)/2."""

    def hessian(X):
        u = 1 + (X**2).sum(axis=1)
        return (-2 / u[:, None, None] * np.eye(d) + 4 / u[:, None, None] ** 2 * X[:, :, None] * X[:, None, :])[:, None]

    return CustomModel(
        d,
        ["theta"],
        lambda X: -np.log1p((X**2).sum(axis=1, keepdims=True)),
        lambda X: (-2 * X / (1 + (X**2).sum(axis=1, keepdims=True)))[:, None],
        hessian,
    )


def inverse_gamma(alpha):
    """x^(−α−1) exp(−θ/x) with α known."""
    return CustomModel(
        1,
        ["rate"],
        lambda X: -1 / X,
        lambda X: (X**-2.0)[:, None],
        lambda X: (-2.0 * X**-3.0)[:, None, None],
        lambda X: -(alpha + 1) * np.log(X[:, 0]),
        lambda X: -(alpha + 1) / X,
        lambda X: (alpha + 1) * (X**-2.0)[:, :, None],
    )


def radial(q):
    """D = (1 + |x|²)^(q/2) I."""
    return zf.Custom(
        lambda X: (1 + (X**2).sum(axis=1)) ** (q / 2),
        lambda X: q * X * (1 + (X**2).sum(axis=1, keepdims=True)) ** (q / 2 - 1),
        vanishing_at_boundary=True,
    )


def power(q):
    return zf.CoordinateWeight(lambda x: x**q, derivative=lambda x: q * x ** (q - 1))


def growing(rate):
    """D = e^(rate x) − 1."""
    return zf.CoordinateWeight(lambda x: np.expm1(rate * x), derivative=lambda x: rate * np.exp(rate * x))
