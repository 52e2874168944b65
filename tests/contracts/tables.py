"""One row per domain and per generator: adding a class here gives it every contract test."""

from __future__ import annotations

import numpy as np

import zfree as zf

_rng = np.random.default_rng(7)
_A = _rng.standard_normal((9, 3))
_A[:4] = np.vstack([np.eye(3), -np.ones(3)])  # bounded whatever the rest

DOMAINS = {
    "RealSpace": zf.RealSpace(3),
    "Orthant": zf.Orthant(4),
    "Orthant-1d": zf.Orthant(1),
    "Box": zf.Box([0.0, -1.0, 2.0], [1.0, 3.0, 2.5]),
    "Box-half-infinite": zf.Box([0.0, -np.inf, -np.inf, 1.0], [np.inf, 2.0, np.inf, 4.0]),
    "HalfSpace": zf.HalfSpace([1.0, -2.0, 0.5], 0.7),
    "Polytope": zf.Polytope(_A, np.linspace(0.5, 2.0, 9)),
    "Polytope-unbounded": zf.Polytope([[-1.0, 0.3, 0.0], [0.2, -1.0, 0.0]], [0.0, 1.0]),
    "SolidSimplex": zf.SolidSimplex(4),
    "SolidSimplex-1d": zf.SolidSimplex(1),
    "Simplex": zf.Simplex(4),
    "Simplex-drop-first": zf.Simplex(3, drop=0),
    "Ball": zf.Ball(1.5, center=[0.3, -0.2, 0.1]),
    "Ball-1d": zf.Ball(2.0, d=1),
    "Shells": zf.Shells([0.4, 0.9, 1.5], center=[0.3, -0.2, 0.1]),
    "Shells-1d": zf.Shells([0.5, 1.0, 2.0], d=1),
    "Annulus": zf.Shells([0.5, 1.5], d=2),
    "Product": zf.Product([zf.Orthant(2), zf.Ball(1.0, d=2), zf.SolidSimplex(2)]),
    "Product-of-diagonals": zf.Product([zf.Orthant(2), zf.Box([0.0], [1.0])]),
    "Product-with-simplex": zf.Product([zf.Simplex(3), zf.Orthant(1)]),
    "Product-with-annulus": zf.Product([zf.Orthant(1), zf.Shells([0.5, 1.0], d=2)]),
}
CONVEX = [name for name, domain in DOMAINS.items() if domain.is_convex]
"""Where there are barriers, and where all of the domain can be seen from one point."""

POWERS = [-0.5, 0.0, 0.4, 1.0, 4 / 3, 1.8]
DET_POWERS = [0.0, 0.5, 1.0]

GENERATORS = {
    "Identity": zf.Identity(),
    "x": zf.CoordinateWeight("x"),
    "x^2": zf.CoordinateWeight("x^2"),
    "log(1+x)": zf.CoordinateWeight("log(1+x)"),
    "min(x, 0.2)": zf.CoordinateWeight("x", cap=0.2),
    "function": zf.CoordinateWeight(lambda x: x**1.5, derivative=lambda x: 1.5 * x**0.5),
    "sigmoid": zf.CoordinateWeight("sigmoid"),
    "exp(-|x|)": zf.CoordinateWeight("exp(-|x|)"),
    "exp(-x^2)": zf.CoordinateWeight("exp(-x^2)"),
    "BoundaryDistance": zf.BoundaryDistance(),
    "BoundaryDistance-cap": zf.BoundaryDistance(cap=0.05),
    "SectionDistance": zf.SectionDistance("x"),
    "SectionDistance-square-cap": zf.SectionDistance("x^2", cap=0.01),
    "Custom": zf.Custom(
        lambda X: X[:, :, None] * X[:, None, :] + np.eye(X.shape[1]),
        divergence=lambda X: X * (X.shape[1] + 1),
    ),
    "Custom-automatic": zf.Custom(lambda X: 1 + X**2),
    "Barrier": zf.Barrier(scale="raw"),
    "SteinMoments": zf.SteinMoments(),
}
