"""Where chains begin, and in what frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import block_diag

from zfree.arrays import Array
from zfree.conversion import real_array
from zfree.domains import Domain, Product
from zfree.domains.polyhedral import Polyhedral
from zfree.domains.spherical import Spherical
from zfree.errors import SpecificationError
from zfree.potentials import Power


def inside_rows(domain: Domain, start: Any) -> Array:
    """Rows to start from, all of them inside the domain."""
    rows = real_array(start, "start")
    if not rows.size:
        raise SpecificationError("start has no rows; leave it out, or pass rows inside the domain.")
    outside = domain.explain(rows)
    if len(outside):
        raise SpecificationError(f"start: {outside}. Pass rows that are strictly inside the domain.")
    return domain.normalise(rows)


def choose(rows: Array, chains: int, rng: np.random.Generator) -> Array:
    """As many rows as chains: different ones, if there are enough."""
    return rows[rng.permutation(len(rows))[:chains] if len(rows) >= chains else rng.integers(len(rows), size=chains)]


def first_root(domain: Domain, x: Array, K: Array) -> Array:
    """L with (L Lᵀ)⁻¹ = |K| plus the curvature of the domain at x, before any state is known.

    For a narrow domain that is close to the covariance of what is left of the Gaussian, in any units.
    """
    shape = _curvature(domain, x)
    scale = 1.0 / np.sqrt(np.abs(np.diagonal(K)) + np.diagonal(shape) + 1e-300)
    values, vectors = np.linalg.eigh(K * scale[:, None] * scale)
    total = (vectors * np.abs(values)) @ vectors.T + shape * scale[:, None] * scale
    values, vectors = np.linalg.eigh(total)
    root: Array = scale[:, None] * vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1]))
    return root


def _curvature(domain: Domain, x: Array) -> Array:
    """The Hessian of −Σ log s, for facets Σ a aᵀ/s²; of balls and shells, the inverse square of the distance to the sphere."""
    if isinstance(domain, Polyhedral):
        scaled = domain.inequalities[0] / domain.slacks(x[None]).T
        return np.asarray(scaled.T @ scaled)
    if isinstance(domain, Product):
        ends = np.cumsum([f.dimension for f in domain.factors])
        pieces = np.split(x, ends[:-1])
        return np.asarray(block_diag(*[_curvature(f, y) for f, y in zip(domain.factors, pieces, strict=True)]))
    if not isinstance(domain, Spherical):
        return np.asarray(np.linalg.inv(domain.barrier(Power(0.0), x[None]).inverse.dense()[0]))
    return np.eye(len(x)) / float(domain.boundary_distance(x[None])[0][0]) ** 2
