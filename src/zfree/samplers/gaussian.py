r"""Gaussians restricted to a domain: exact where rejection accepts or coordinates are independent, chains along lines where not.

On a line x + t v the density :math:`\exp(-\tfrac12 (x-c)^\top K (x-c) + \eta^\top (x-c))` is :math:`\exp(g t - \tfrac12 q t^2)` with
:math:`q = v^\top K v` and :math:`g = v^\top(\eta - K(x - c))`, on the segment that the domain leaves of the line. It is drawn from exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array, Seed
from zfree.conversion import random_generator, real_array
from zfree.domains import Domain
from zfree.errors import ImproperDensityError, SpecificationError
from zfree.models.normalisable import quadratic
from zfree.samplers.draws import Draws, check_domain, check_number, refuse_improper
from zfree.samplers.lines import Run, block, learnt_root, number_of_chains, run, spread_evenly
from zfree.samplers.segments import quadratic_on_segment
from zfree.samplers.starts import choose, first_root
from zfree.samplers.unfolding import coordinate_intervals
from zfree.threads import blas_threads_for

PILOT = 8192
ENOUGH = 0.001
"""Share of the first proposals that must fall inside for rejection to be used."""
OFTEN, AFFORDABLE = 0.05, 4e6
"""A smaller share than the first is used only as long as the proposals take no more than that many numbers."""
BATCH = 500_000
"""Proposals drawn at a time."""
MOST_MOVES = 40_000
"""Moves along lines before chains that do not mix are given up."""
MOST_NUMBERS = 5e7
"""Numbers drawn on the convex hull of a domain, at most."""
HEAT = 16.0
"""Chains start from the density to the power 1/16: four times as wide, or nearly uniform on a bounded domain."""
HOT_ROUNDS = 4
MOST_ROUNDED = 0.5
"""Share of the moves that may be rounded onto the boundary, and so come to nothing. Chains beyond it stay where they started."""


class _Restricted(NamedTuple):
    """exp(−½ (x − c)ᵀK(x − c) + ηᵀ(x − c)) on a domain."""

    domain: Domain
    center: Array
    K: Array
    eta: Array


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
        K. It may be indefinite where the density can be normalised all the same: always on a bounded domain.
    n : int
    random_state : int, Generator or None

    Returns
    -------
    ndarray of shape (n, d)
        Exact and independent if rejection accepts or the coordinates are independent. Otherwise states of many chains that move
        along lines (:mod:`zfree.samplers.lines`). On a domain that is not convex the chains run on its convex hull, and the
        states inside the domain are kept.

    Warns
    -----
    SamplingWarning
        When the chains have not mixed (:attr:`Draws.doubt <zfree.samplers.Draws.doubt>`).
    """
    check_domain(domain)
    if domain.chart is not None:
        raise SpecificationError(
            f"{domain!r} is flat: draw on domain.chart.domain, and map the draws by domain.chart.push."
        )
    n = check_number(n, domain.dimension)
    mu, K = real_array(mean, "the mean"), real_array(precision, "the precision")
    if K.shape != (domain.dimension, domain.dimension) or mu.shape != (domain.dimension,):
        raise SpecificationError(
            f"sampling needs a mean of shape ({domain.dimension},) and a precision of shape "
            f"({domain.dimension}, {domain.dimension}); got {mu.shape} and {K.shape}."
        )
    if not (np.isfinite(mu).all() and np.isfinite(K).all()):
        raise SpecificationError("sampling needs a finite mean and a finite symmetric precision.")
    half, unit = 0.5 * K, np.sqrt(np.abs(np.diagonal(K)))  # halves: the sum of two large entries would overflow
    if np.any(np.abs(half - half.T) > 1e-8 * (np.abs(half) + 0.5 * np.outer(unit, unit))):
        raise SpecificationError("sampling needs a finite mean and a finite symmetric precision.")
    K = half + half.T
    refuse_improper(quadratic(K, domain.recession()), domain)
    rng = random_generator(random_state)
    return gaussian_draws(domain, mu, K, np.zeros(len(mu)), n, rng).or_warn().draws


def gaussian_draws(
    domain: Domain,
    center: Array,
    K: Array,
    eta: Array,
    n: int,
    rng: np.random.Generator,
    start: Array | None = None,
    patience: float = 1.0,
) -> Draws:
    """Draws from exp(−½ (x − c)ᵀK(x − c) + ηᵀ(x − c)) on a domain; chains start from rows of `start`, if it is given."""
    law = _Restricted(domain, center, K, eta)
    with blas_threads_for(domain.dimension):  # many small products
        found = _by_rejection(law, n, rng)
        if found is not None:
            return Draws(found, True, "rejection")
        intervals = coordinate_intervals(domain)
        if intervals is not None and not np.any(K - np.diag(np.diagonal(K))):
            return Draws(_independent(law, intervals, n, rng), True, "independent coordinates")
        if domain.is_convex:
            states, rhat, size = _chains(law, n, rng, start, patience)
            return Draws(spread_evenly(states, n), False, "chains along lines", rhat, size)
        return _on_hull(law, n, rng, start, patience)


def _independent(law: _Restricted, intervals: tuple[Array, Array], n: int, rng: np.random.Generator) -> Array:
    (_, center, K, eta), (lower, upper) = law, intervals
    k = np.diagonal(K)
    _check_ends(k, eta, lower - center, upper - center)
    # Measured from the end that the mode lies beyond, draws next to it keep their digits.
    mode = center + np.divide(eta, k, out=np.zeros_like(eta), where=k > 0)
    origin = np.where(mode < lower, lower, np.where(mode > upper, upper, center))
    slope, below, above = (
        np.broadcast_to(v, (n, len(k))) for v in (eta - k * (origin - center), lower - origin, upper - origin)
    )
    draws = quadratic_on_segment(slope, np.broadcast_to(k, slope.shape), below, above, rng)
    return np.clip(origin + draws, np.nextafter(lower, np.inf), np.nextafter(upper, -np.inf))


def _by_rejection(law: _Restricted, n: int, rng: np.random.Generator) -> Array | None:
    """Draws of the Gaussian that fall inside; None where K has no inverse or hardly any do."""
    domain, center, K, eta = law
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(K), 1e-300))
    if np.any(np.diagonal(K) <= 0) or np.linalg.eigvalsh(K * scale[:, None] * scale)[0] <= 1e-12:
        return None
    root = np.linalg.inv(np.linalg.cholesky(K * scale[:, None] * scale)) * scale  # rows of z @ root have covariance K⁻¹
    mean = center + root.T @ (root @ eta)
    pilot = mean + rng.standard_normal((PILOT, len(mean))) @ root
    kept = [pilot[domain.contains(pilot)]]
    rate = len(kept[0]) / PILOT
    if rate < ENOUGH or (rate < OFTEN and n * len(mean) > AFFORDABLE * rate):
        return None
    while (missing := n - sum(map(len, kept))) > 0:
        draws = mean + rng.standard_normal((min(int(1.1 * missing / rate) + 100, BATCH), len(mean))) @ root
        kept.append(draws[domain.contains(draws)])
    return np.concatenate(kept)[:n]


def _chains(law: _Restricted, n: int, rng: np.random.Generator, start: Array | None, patience: float) -> Run:
    """Chains on a convex domain."""
    domain, center, K, eta = law
    chains = number_of_chains(n)
    if start is None:
        x = center if domain.contains(center[None])[0] else domain.interior_point()
        X, root = np.repeat(x[None], chains, axis=0), first_root(domain, x, K)
        X = block(_Move(law._replace(K=K / HEAT, eta=eta / HEAT)), X, root, HOT_ROUNDS, 1, rng)[-1]
    else:
        X = choose(start, chains, rng)
        root = learnt_root(start[None], first_root(domain, X[0], K))
    move = _Move(law)
    found = run(move, X, root, n, rng, int(patience * MOST_MOVES))
    if move.rounded > MOST_ROUNDED * move.moves:
        raise SpecificationError(
            f"the Gaussian is narrower at the boundary of {domain!r} than floating point is there: {move.rounded / move.moves:.0%} of the "
            "moves were rounded onto it. Check the mean and the precision, or move the origin to that part of the boundary."
        )
    return found


class _Move:
    """An exact draw on the line through every state."""

    def __init__(self, law: _Restricted) -> None:
        self._domain, self._center, self._K, self._eta = law
        self.moves = self.rounded = 0

    def __call__(self, X: Array, v: Array, rng: np.random.Generator) -> Array:
        Kv = self._K @ v
        q, g = float(v @ Kv), self._eta @ v - (X - self._center) @ Kv
        below, above = self._domain.chord(X, v)
        if q <= 0:
            _check_ends(q, g, -below, above)
        new = X + quadratic_on_segment(g, q, -below, above, rng)[:, None] * v
        # A draw rounded onto the boundary would leave the open domain.
        outside = ~(self._domain.margins(new).min(axis=1, initial=np.inf) > 0)
        self.moves += len(X)
        if outside.any():
            self.rounded += int(outside.sum())
            new[outside] = X[outside]
        return new


def _check_ends(q: Array | float, g: Array, low: Array, high: Array) -> None:
    """Along a line without an end the density must fall."""
    rises = (np.isinf(high) & ((q < 0) | (g >= 0))) | (np.isinf(low) & ((q < 0) | (g <= 0)))
    if np.any((q <= 0) & rises):
        raise ImproperDensityError(
            "the density does not fall along a line that never leaves the domain (vᵀKv ≤ 0): it cannot be normalised. "
            "Fit with positive_definite=True."
        )


def _on_hull(law: _Restricted, n: int, rng: np.random.Generator, start: Array | None, patience: float) -> Draws:
    """Chains along lines may not find their way between the pieces of the domain; on its convex hull they do."""
    domain, d, asked = law.domain, len(law.center), n
    while True:
        states, rhat, size = _chains(law._replace(domain=domain.hull), asked, rng, start, patience)
        every = states.reshape(-1, d)
        draws = every[domain.contains(every)]
        share = len(draws) / len(every)
        if len(draws) >= n:
            apart = np.linspace(0, len(draws) - 1, n).astype(np.intp)
            return Draws(draws[apart], False, "chains along lines of the convex hull", rhat, size * share)
        needed = n / max(share, 1e-12)
        if needed * d > MOST_NUMBERS:
            raise SpecificationError(
                f"{len(draws)} of {len(every)} draws on the convex hull of {domain!r} fall inside it: nearly all of this Gaussian is "
                "in the gaps. Check the mean, the precision and the domain, or sample from one piece of it."
            )
        asked = int(1.2 * needed) + 100
