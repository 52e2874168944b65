"""Gaussians restricted to a domain: rejection where it accepts, Gibbs where it does not."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array, Seed
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.samplers.draws import Draws
from zfree.samplers.truncated_normal import truncated_normal

PILOT = 8192
ENOUGH = 0.001
"""Share of the first proposals that must fall inside for rejection to be used."""
BATCH = 500_000
"""Proposals drawn at a time."""
CHAINS, BURN_IN, THIN = 1024, 200, 5
"""Gibbs: chains run side by side, sweeps thrown away, sweeps between draws that are kept."""


def sample_gaussian(
    domain: Domain,
    mean: ArrayLike,
    precision: ArrayLike,
    n: int,
    random_state: Seed = None,
) -> Array:
    """Draw from the density proportional to exp(−½ (x − μ)ᵀ K (x − μ)) on a domain.

    Parameters
    ----------
    domain : Domain
        Full-dimensional (for a simplex, its chart's domain).
    mean : array_like of shape (d,)
    precision : array_like of shape (d, d)
        K. It may be indefinite on a bounded domain, as long as its diagonal is positive.
    n : int
    random_state : int, Generator or None

    Returns
    -------
    ndarray of shape (n, d)
        Exact and independent if rejection is possible. Otherwise the states of many Gibbs chains, whose full
        conditionals are exact truncated normals on each coordinate's section of the domain. On a domain that is not
        convex the chains run on its convex hull, and the states inside the domain are kept.
    """
    mu, K = np.asarray(mean, dtype=float), np.asarray(precision, dtype=float)
    if n < 1 or K.shape != (domain.dimension, domain.dimension) or mu.shape != (domain.dimension,):
        raise SpecificationError(
            f"sampling needs n ≥ 1, a mean of shape ({domain.dimension},) and a precision of shape "
            f"({domain.dimension}, {domain.dimension}); got n = {n}, {mu.shape} and {K.shape}."
        )
    rng = np.random.default_rng(random_state)
    if np.linalg.eigvalsh(K)[0] > 0:
        root = np.linalg.inv(np.linalg.cholesky(K))  # rows of z @ root have covariance K⁻¹
        pilot = mu + rng.standard_normal((PILOT, len(mu))) @ root
        kept = [pilot[domain.contains(pilot)]]
        rate = len(kept[0]) / PILOT
        if rate >= ENOUGH:
            while (missing := n - sum(map(len, kept))) > 0:
                draws = mu + rng.standard_normal((_batch(missing, rate), len(mu))) @ root
                kept.append(draws[domain.contains(draws)])
            return np.concatenate(kept)[:n]
    elif not domain.is_bounded:
        raise SpecificationError(
            f"K is not positive definite and {domain!r} is unbounded: there may be nothing to sample from. "
            "Fit with positive_definite=True."
        )
    return _gibbs(domain, mu, K, n, rng) if domain.is_convex else _gibbs_on_hull(domain, mu, K, n, rng)


def gaussian_draws(
    domain: Domain,
    center: Array,
    K: Array,
    slope: Array,
    n: int,
    rng: np.random.Generator,
    start: Array | None = None,
) -> Draws:
    """Draws from exp(−½ (x − c)ᵀK(x − c) + ηᵀ(x − c)) on a domain."""
    mean = center + np.linalg.solve(K, slope)
    return Draws(sample_gaussian(domain, mean, K, n, rng), False, "Gibbs")


def _batch(missing: int, rate: float) -> int:
    """How many proposals to draw so that, most likely, `missing` of them are kept."""
    return min(int(1.1 * missing / rate) + 100, BATCH)


def _gibbs_on_hull(domain: Domain, mean: Array, K: Array, n: int, rng: np.random.Generator) -> Array:
    """Chains that move one coordinate at a time could not leave a piece of the domain; on its convex hull they can."""
    hull = domain.hull
    pilot = _gibbs(hull, mean, K, max(n, PILOT), rng)
    kept = [pilot[domain.contains(pilot)]]
    rate = len(kept[0]) / len(pilot)
    if not rate:
        raise SpecificationError(
            f"none of {len(pilot)} draws on the convex hull of {domain!r} falls inside it: nearly all of this Gaussian is "
            "in the gaps. Check the mean, the precision and the domain, or sample from one piece of it."
        )
    while (missing := n - sum(map(len, kept))) > 0:
        draws = _gibbs(hull, mean, K, _batch(missing, rate), rng)
        kept.append(draws[domain.contains(draws)])
    return np.concatenate(kept)[:n]


def _gibbs(domain: Domain, mean: Array, K: Array, n: int, rng: np.random.Generator) -> Array:
    d = len(mean)
    diagonal = np.diagonal(K)
    if not np.all(diagonal > 0):
        j = int(np.argmin(diagonal))
        raise SpecificationError(
            f"K[{j},{j}] = {diagonal[j]:.4g} is not positive: its conditional is no truncated normal. "
            "Fit with positive_definite=True to sample from the fit."
        )
    chains = min(n, CHAINS)
    X = np.repeat(domain.interior_point()[None], chains, axis=0)
    sd = 1.0 / np.sqrt(diagonal)
    kept: list[Array] = []
    sweeps = BURN_IN + THIN * -(-n // chains)
    for sweep in range(1, sweeps + 1):
        for j in range(d):
            below, above = domain.sections(X)
            x = X[:, j]
            centre = x - (X - mean) @ K[:, j] / diagonal[j]
            low, high = x - below[:, j], x + above[:, j]
            new = truncated_normal(centre, np.full(chains, sd[j]), low, high, rng)
            # A draw rounded onto an end of its section would leave the open domain.
            X[:, j] = np.where((new > low) & (new < high), new, x)
        if sweep > BURN_IN and (sweep - BURN_IN) % THIN == 0:
            kept.append(X.copy())
    return np.concatenate(kept)[:n]
