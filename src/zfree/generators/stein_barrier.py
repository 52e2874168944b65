"""The weight from theory: the inverse Hessian of the pilot's own energy plus a barrier in natural units."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from zfree.arrays import Array
from zfree.conversion import is_number, shown
from zfree.curvatures import Curvature, Energy, Radial
from zfree.domains import BoundaryParts, Domain, Orthant, RealSpace, Units
from zfree.errors import SpecificationError
from zfree.generators.base import Decay, Generator, GeneratorValue, Pilot, Vanishing
from zfree.generators.powers import as_powers, carried_back

FEW, MANY = 1.0, 0.85
"""Powers of the barrier with at most two facets per column, and with more: the terms of many facets add up."""
SPHERE = 3.0
"""c · mean(u) of a ball's H₀ = c (I + xxᵀ/u)."""
LEAST, MOST = 0.02, 1.5
"""Smallest and largest eigenvalue allowed to K̂, in units of the rows' inverse covariance. Truncation to a convex set makes the covariance
of a Gaussian smaller (Brascamp and Lieb 1976), so K itself is never above one, and an estimate not far."""
COUPLED_COLUMNS = 30
"""Columns up to which all of K̂ is kept; beyond, its diagonal, which keeps D diagonal where the barrier is."""
COLLINEAR = 1e-5
"""Smallest eigenvalue of the rows' correlations with which all of K̂ is kept. The condition of Γ is about its inverse square then, its inverse
with the diagonal alone."""


@dataclass(frozen=True, eq=False)
class SteinBarrier(Generator):
    r""":math:`D(x) = (\rho\hat K + H_0(x))^{-1}` for Gaussians on convex sets: nearly as good as maximum likelihood, without a search.

    Parameters
    ----------
    keep : float
        ρ, the share of the pilot's precision K̂ that is kept; 0.67 to 1 are within half a per cent of each other nearly everywhere.
    coupling : {"auto", "full", "diagonal"}
        Whether all of K̂ enters or its diagonal only, which keeps D diagonal on orthants and boxes and diagonal plus rank one on solid
        simplices and balls. ``"auto"`` keeps all of it up to 30 columns, unless some of them all but determine another one.

    Notes
    -----
    On a polyhedral set D is the inverse Hessian (γ = 0) of the convex function

    .. math:: \phi(x) = \tfrac\rho2\, x^\top\hat K x + \sum_k \frac{s_k \log s_k}{\bar s_k},
              \qquad H_0 = \sum_k \frac{a_k a_k^\top}{\bar s_k s_k},

    the pilot's own energy plus the entropic barrier with slacks in units of their means: far from the boundary it is the Stein kernel K⁻¹ of the
    Gaussian, next to a facet that of an exponential with mean :math:`\bar s_k`. A Stein kernel turns the estimating equation of a linear
    statistic into the likelihood equation. With more than two facets per column the barrier is
    :math:`H_0 = \sum_k \bar s_k^{-2} (s_k/(c\,\sigma_k))^{p-2} a_k a_k^\top` with p = 0.85, σ_k the standard deviation of slack k and c the
    geometric mean of :math:`\bar s_k/\sigma_k`. On a ball, where only the direction across the sphere must vanish and the
    others need not (so this one is no Hessian), :math:`H_0 = c\,(I + xx^\top/u)` with :math:`u = R^2 - |x|^2` and :math:`c = 3/\bar u`. On products the pieces add up.

    K̂ comes from a first fit with the same weight and the rows' inverse covariance in place of K̂, and is clipped between 0.02 and 1.5 times that. The
    expectation of the estimating function is zero for every K̂ ⪰ 0, so the pilot's error does not enter to first order. The weight is
    equivariant under affine maps of rows and domain where all of K̂ is kept, and under changes of the units always.

    Interactions of powers :math:`u = x^a` or of logarithms are Gaussians in u, and D is built there and carried back
    (:mod:`zfree.generators.powers`); where a statistic has a pole at zero, φ also gets a log term. For a family of your own K̂ is the mean Hessian of
    −log p over the rows.

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> X = np.random.default_rng(0).exponential(size=(500, 2))
    >>> zf.TruncatedGaussian(zf.Orthant(2), generator=zf.SteinBarrier()).fit(X).generator_
    SteinBarrier(keep=0.8)
    """

    keep: float = 0.8
    coupling: str = "auto"
    pilot: Pilot | None = None
    units: Units | None = None

    intrinsic = True
    tempered = True
    reason = "the pilot's own energy plus a barrier in natural units; pilot: a fit with the rows' inverse covariance in place of K; rounds: 2, that fit and this one"

    def __post_init__(self) -> None:
        if not is_number(self.keep) or not 0.0 < self.keep < np.inf:
            raise SpecificationError(f"keep must be a positive number, such as 0.8, got {shown(self.keep)}.")
        if self.coupling not in ("auto", "full", "diagonal"):
            raise SpecificationError(f'coupling must be "auto", "full" or "diagonal", got {shown(self.coupling)}.')

    def __repr__(self) -> str:
        coupling = "" if self.coupling == "auto" else f", coupling={self.coupling!r}"
        return f"SteinBarrier(keep={self.keep:.6g}{coupling})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SteinBarrier) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        if self.pilot is None:
            return self.keep, self.coupling, self.units
        energy = self.pilot.energy
        assert energy is not None
        arrays = (self.pilot.mean, self.pilot.covariance, energy.hessian, energy.log_terms)
        known = tuple(None if a is None else a.tobytes() for a in arrays)
        return self.keep, self.coupling, self.units, energy.separable, energy.exponent, *known

    @property
    def wants_pilot(self) -> bool:  # type: ignore[override]
        return self.pilot is None

    def informed(self, pilot: Pilot) -> SteinBarrier:
        if pilot.energy is None:
            raise SpecificationError(
                f"{self!r} is for models whose log-density is quadratic, or nearly; for this one take zf.Barrier(...), or "
                'generator="auto".'
            )
        return replace(self, pilot=pilot)

    def in_units(self, units: Units) -> SteinBarrier:
        return replace(self, units=units) if self.units is None else self

    def on_domain(self, domain: Domain, X: Array) -> GeneratorValue:
        if self.pilot is None or self.units is None:
            raise SpecificationError(
                f"{self!r} is built from a first estimate, and there is none: fit an estimator with it, and take its generator_ in the "
                "units of the result: est.generator_.in_units(est.result_.units)."
            )
        energy = self.pilot.energy
        assert energy is not None
        u, inner, units = as_powers(X, energy.exponent), domain, self.units
        if energy.exponent != 1.0:
            inner = self._coordinates(domain, energy.exponent)
            slacks = np.zeros(0) if energy.exponent == 0.0 else self.pilot.mean
            units = Units(slacks, np.sqrt(np.diagonal(self.pilot.covariance)))
        K = self._precision(energy, bool(len(inner.boundary_parts().flat)))
        curvature = self._barrier(inner, u, units, self.pilot.covariance, energy.log_terms)
        return carried_back(X, energy.exponent, *curvature.plus(self.keep * K))

    def _precision(self, energy: Energy, flat: bool) -> Array:
        """K̂ or its diagonal, within bounds."""
        assert self.pilot is not None
        S, free = self.pilot.covariance, self.coupling == "auto"
        if self.coupling == "diagonal" or (free and (energy.separable or len(S) > COUPLED_COLUMNS)):
            return _clipped_diagonal(energy.hessian, S)
        deviations, values, vectors = _correlations(S, flat)
        if free and values[0] < COLLINEAR:
            return _clipped_diagonal(energy.hessian, S)
        return _clipped(energy.hessian, deviations, values, vectors)

    def _coordinates(self, domain: Domain, exponent: float) -> Domain:
        """Where u lives."""
        if not isinstance(domain, Orthant):
            raise SpecificationError(
                f"{self!r} for powers of the columns needs Orthant({domain.dimension}), not {domain!r}."
            )
        return RealSpace(domain.d) if exponent == 0.0 else domain

    def _barrier(self, domain: Domain, X: Array, units: Units, covariance: Array, log_terms: Array | None) -> Curvature:
        """H₀ at the rows, and the log terms of the energy."""
        parts, slacks = domain.boundary_parts(), domain.slacks(X)
        power = _power(parts)
        if log_terms is None:
            diagonal, change = np.zeros_like(X), np.zeros_like(X)
        else:
            diagonal = self.keep * log_terms / X**2
            change = -2.0 * diagonal / X
        radials = []
        constant = None
        for columns, center, k, shape in parts.spheres:
            c, u, z = SPHERE / units.slacks[k], slacks[:, k], X[:, columns] - center
            if shape is None:
                diagonal[:, columns] += c
            else:
                constant = np.zeros((X.shape[1],) * 2) if constant is None else constant
                constant[columns, columns] += c * shape
                z = z @ shape
            radials.append(Radial(columns, z, c / u, 2.0 / u, shape))
        s, mean = slacks[:, parts.slacks], units.slacks[parts.slacks]
        unit = mean
        if power != FEW:
            deviation = np.sqrt(np.einsum("kj,kj->k", parts.normals @ covariance, parts.normals))
            unit = deviation * np.exp(np.mean(np.log(mean / deviation)))
        weights, ratios = (s / unit) ** (power - 2.0) / mean**2, (power - 2.0) / s
        oblique = np.count_nonzero(parts.normals, axis=1) != 1
        for k in map(int, np.flatnonzero(~oblique)):
            j = int(np.flatnonzero(parts.normals[k])[0])
            a = parts.normals[k, j]
            own = a**2 * weights[:, k]
            diagonal[:, j] += own
            change[:, j] -= a * own * ratios[:, k]
        ratio = np.divide(change, diagonal, out=change, where=diagonal > 0)
        oblique_facets = parts.normals[oblique], weights[:, oblique], ratios[:, oblique]
        return Curvature(diagonal, ratio, *oblique_facets, tuple(radials), parts.flat, constant)

    def decay(self, domain: Domain) -> Decay | None:
        energy = None if self.pilot is None else self.pilot.energy
        if not domain.has_boundary or not domain.is_convex or (energy is not None and energy.exponent != 1.0):
            return None
        if energy is not None and energy.log_terms is not None:
            return Decay(2.0, 0.0)
        parts = domain.boundary_parts()
        across = [2.0 - _power(parts)] * bool(len(parts.normals)) + [1.0] * bool(parts.spheres)
        return Decay(min(across), 0.0)

    def vanishing(self, domain: Domain) -> Vanishing:
        return Vanishing(domain.is_convex, "a barrier needs a convex domain")


def _power(parts: BoundaryParts) -> float:
    m, d = parts.normals.shape
    return FEW if m <= 2 * d else MANY


def _clipped_diagonal(K: Array | None, S: Array) -> Array:
    """The diagonal of K̂ between :data:`LEAST` and :data:`MOST` times the inverse variances; these themselves where there is no K̂ yet."""
    variances = np.diagonal(S)
    shares = np.ones(len(S)) if K is None else np.clip(np.diagonal(K) * variances, LEAST, MOST)
    return np.diag(shares / variances)


def _clipped(K: Array | None, deviations: Array, values: Array, vectors: Array) -> Array:
    """K̂ between :data:`LEAST` and :data:`MOST` times the inverse covariance S⁻¹ of the rows; S⁻¹ itself where there is no K̂ yet."""
    back = vectors / np.sqrt(values) / deviations[:, None]  # S⁻¹ = back backᵀ
    if K is None:
        return back @ back.T
    root = vectors * np.sqrt(values) * deviations[:, None]
    shares, turned = np.linalg.eigh(root.T @ K @ root)
    back = back @ turned
    clipped: Array = (back * np.clip(shares, LEAST, MOST)) @ back.T
    return clipped


def _correlations(S: Array, flat: bool) -> tuple[Array, Array, Array]:
    """Standard deviations, and eigenvalues and eigenvectors of the correlations; a flat set leaves out those across it."""
    deviations = np.sqrt(np.diagonal(S))
    values, vectors = np.linalg.eigh(S / np.multiply.outer(deviations, deviations))
    known = values > 1e-12 * values[-1]
    if flat:  # nothing varies across a flat set, and nothing depends on what K is there
        return deviations, values[known], vectors[:, known]
    return deviations, np.where(known, values, 1e-12 * values[-1]), vectors
