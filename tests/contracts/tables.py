"""One row per domain and per generator: adding a class here gives it every contract test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import zfree as zf
from tests.reference import curved, exact, facets

_rng = np.random.default_rng(7)
_A = _rng.standard_normal((9, 3))
_A[:4] = np.vstack([np.eye(3), -np.ones(3)])  # bounded whatever the rest


class Row(NamedTuple):
    """A domain, and the potential φ(x, p, units) of its barrier with ψ'' = s^(p−2); None where there is no barrier."""

    domain: zf.Domain
    potential: Callable[..., Any] | None = None


def _flat(domain: zf.Domain) -> Row:
    """Cut out by half-spaces."""
    return Row(domain, facets(*domain.inequalities, getattr(domain, "redundant", ())))


def _ball(radius: float, center: list[float]) -> Row:
    slack = lambda x: exact([radius])[0] ** 2 - (x - exact(center)) @ (x - exact(center))  # noqa: E731
    return Row(zf.Ball(radius, center), curved(slack, radius**2))


def _ellipsoid(shape: Any, center: list[float]) -> Row:
    S = np.array([exact(row) for row in np.asarray(shape, dtype=float)])
    slack = lambda x: 1 - (x - exact(center)) @ S @ (x - exact(center))  # noqa: E731
    return Row(zf.Ellipsoid(shape, center), curved(slack, 1.0))


def _product(*rows: Row) -> Row:
    """φ of each factor at its own columns, in its own units."""
    domain = zf.Product([row.domain for row in rows])
    if any(row.potential is None for row in rows):
        return Row(domain)

    def potential(x: Any, p: float, units: zf.Units | None = None) -> Any:
        total, column, slack = 0, 0, 0
        for factor, own in rows:
            columns = slice(column, column + factor.dimension)
            slacks = slice(slack, slack + factor.n_slacks)
            inner = None if units is None else zf.Units(units.slacks[slacks], units.spread[columns])
            total += own(x[columns], p, inner)
            column, slack = columns.stop, slacks.stop
        return total

    return Row(domain, potential)


ROWS = {
    "RealSpace": _flat(zf.RealSpace(3)),
    "Orthant": _flat(zf.Orthant(4)),
    "Orthant-1d": _flat(zf.Orthant(1)),
    "Box": _flat(zf.Box([0.0, -1.0, 2.0], [1.0, 3.0, 2.5])),
    "Box-half-infinite": _flat(zf.Box([0.0, -np.inf, -np.inf, 1.0], [np.inf, 2.0, np.inf, 4.0])),
    "HalfSpace": _flat(zf.HalfSpace([1.0, -2.0, 0.5], 0.7)),
    "Polytope": _flat(zf.Polytope(_A, np.linspace(0.5, 2.0, 9))),
    "Polytope-unbounded": _flat(zf.Polytope([[-1.0, 0.3, 0.0], [0.2, -1.0, 0.0]], [0.0, 1.0])),
    "SolidSimplex": _flat(zf.SolidSimplex(4)),
    "SolidSimplex-1d": _flat(zf.SolidSimplex(1)),
    "Simplex": Row(zf.Simplex(4), facets(-np.eye(4), np.zeros(4))),
    "Simplex-drop-first": Row(zf.Simplex(3, drop=0), facets(-np.eye(3), np.zeros(3))),
    "Ball": _ball(1.5, [0.3, -0.2, 0.1]),
    "Ball-1d": _ball(2.0, [0.0]),
    "Ellipsoid": _ellipsoid([[2.0, 0.6, -0.3], [0.6, 0.5, 0.1], [-0.3, 0.1, 1.0]], [0.3, -0.2, 0.1]),
    "Ellipsoid-diagonal": _ellipsoid(np.diag([0.3, 2.0, 1.0]), [0.3, -0.2, 0.1]),
    "Ellipsoid-1d": _ellipsoid([[0.25]], [0.5]),
    "Shells": Row(zf.Shells([0.4, 0.9, 1.5], center=[0.3, -0.2, 0.1])),
    "Shells-1d": Row(zf.Shells([0.5, 1.0, 2.0], d=1)),
    "Annulus": Row(zf.Shells([0.5, 1.5], d=2)),
    "Product": _product(_flat(zf.Orthant(2)), _ball(1.0, [0.0, 0.0]), _flat(zf.SolidSimplex(2))),
    "Product-of-diagonals": _product(_flat(zf.Orthant(2)), _flat(zf.Box([0.0], [1.0]))),
    "Product-with-simplex": _product(Row(zf.Simplex(3), facets(-np.eye(3), np.zeros(3))), _flat(zf.Orthant(1))),
    "Product-with-annulus": _product(_flat(zf.Orthant(1)), Row(zf.Shells([0.5, 1.0], d=2))),
    "Product-with-ellipsoid": _product(_flat(zf.Orthant(1)), _ellipsoid([[1.0, 0.4], [0.4, 0.5]], [0.1, 0.2])),
}
DOMAINS = {name: row.domain for name, row in ROWS.items()}
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
