"""Random points of a domain, for tests."""

from __future__ import annotations

import numpy as np

import zfree as zf


def interior(domain, n, seed=0):
    """Points spread over the interior, from the centre outwards along random rays (those of the hull that are inside)."""
    rng = np.random.default_rng(seed)
    if isinstance(domain, zf.Simplex):
        return rng.dirichlet(np.full(domain.d, 2.0), size=n)
    if isinstance(domain, zf.Product):
        return np.concatenate([interior(f, n, seed + k) for k, f in enumerate(domain.factors)], axis=1)
    if not domain.is_convex:
        points = interior(domain.hull, 20 * n + 50, seed)
        return points[domain.contains(points)][:n]
    centre = domain.interior_point()
    directions = rng.standard_normal((n, domain.dimension))
    return centre + directions * (reach(domain, centre, directions) * rng.uniform(0.05, 0.9, n))[:, None]


def near_boundary(domain, n, distance, seed=0):
    """Points whose smallest margin is about `distance` times that of the centre."""
    rng = np.random.default_rng(seed)
    if isinstance(domain, zf.Product):
        return np.concatenate([near_boundary(f, n, distance, seed + k) for k, f in enumerate(domain.factors)], axis=1)
    if not domain.has_boundary:
        return interior(domain, n, seed)
    if isinstance(domain, zf.Simplex):
        inner = near_boundary(domain.chart.domain, n, distance, seed)
        return domain.chart.push(inner)
    if not domain.is_convex:
        points = interior(domain, n, seed)
        room, gradient = domain.boundary_distance(points)
        return points - (1.0 - distance) * room[:, None] * gradient
    centre = domain.interior_point()
    directions = rng.standard_normal((50 * n + 50, domain.dimension))
    directions = directions[~domain.contains(centre + 1e3 * directions)][:n]  # rays that do hit the boundary
    return centre + directions * (reach(domain, centre, directions, 1e3) * (1.0 - distance))[:, None]


def reach(domain, centre, directions, largest=3.0):
    """How far one can go from the centre along each direction, at most `largest` (by bisection)."""
    low, high = np.zeros(len(directions)), np.full(len(directions), largest)
    inside = domain.contains(centre + high[:, None] * directions)
    for _ in range(80):
        middle = (low + high) / 2
        ok = domain.contains(centre + middle[:, None] * directions)
        low, high = np.where(ok, middle, low), np.where(ok, high, middle)
    return np.where(inside, np.minimum(high, 1.0), low)


def truncated_gaussian(domain, mean, precision, n, seed=0):
    """Exact draws by rejection from the untruncated Gaussian."""
    rng = np.random.default_rng(seed)
    covariance = np.linalg.inv(precision)
    kept, total = [], 0
    while total < n:
        draws = rng.multivariate_normal(mean, covariance, size=20_000)
        kept.append(draws[domain.contains(draws)])
        total += len(kept[-1])
    return np.concatenate(kept)[:n]
