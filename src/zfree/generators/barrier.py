"""The paper's generator, and the family it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zfree.arrays import Array
from zfree.conversion import is_number, shown
from zfree.domains import BarrierHessian, Domain, Units
from zfree.errors import NotConvexAtRowError, SpecificationError
from zfree.fields import Dense
from zfree.generators.base import Decay, GeneratorValue, Vanishing
from zfree.generators.scale import Scale, ScaledGenerator, ratio_of_sizes
from zfree.potentials import ConvexFunction, Power, SlackPotential


@dataclass(frozen=True)
class Barrier(ScaledGenerator):
    r""":math:`G_{\phi,\gamma} = \det(H_\phi)^{-\gamma} H_\phi^{-1}` for a convex potential φ built from the domain's slacks.

    Parameters
    ----------
    power : float, optional
        p of :math:`\psi''(s) = s^{p-2}`: 4/3 (the default) is that of the paper's φ₁, 1 of its entropy φ₂, 0 of its log barrier φ₃.
    det_power : float
        γ. One half is the paper (eq. 9); 0 drops the determinant, and then p = 1 and p = 0 on the orthant, with raw slacks, are the weights
        h(x) = x and h(x) = x² of Yu, Drton and Shojaie (2019).
    potential : SlackPotential or ConvexFunction, optional
        Another φ, instead of a power.
    scale : {"natural", "raw"} or Units
        ``"natural"``: :math:`\phi = \sum_k \psi(s_k/\sigma_k)` with σ_k the mean of slack k over the rows (one on a simplex), and in directions that no facet limits the
        columns' variances as the unit. The estimate then does not depend on how the domain is written, nor on the units of the columns.
        ``"raw"``: :math:`\phi = \sum_k \psi(s_k)` as the paper has it, slacks as they are written. :class:`~zfree.Units`: those of some data set.

    Notes
    -----
    With a power, natural units multiply the term of slack k in H by :math:`\sigma_k^{-p}`: none at p = 0, where both scales are one. A
    :class:`ConvexFunction` has no slacks and is always taken as it is written.

    For every φ in C³ and every γ

    .. math:: \nabla\cdot G_{\phi,\gamma} = -(1+\gamma)\, G_{\phi,\gamma} \nabla\log\det H_\phi ,

    because :math:`\partial_k H_{ij}` is symmetric in all three indices. No derivative of an inverse is ever taken.

    Examples
    --------
    >>> import zfree as zf
    >>> zf.Barrier.entropy()
    Barrier(power=1, det_power=0.5)
    """

    power: float | None = 4 / 3
    det_power: float = 0.5
    potential: SlackPotential | ConvexFunction | None = None
    scale: Scale = "natural"

    intrinsic = True

    def __post_init__(self) -> None:
        if self.potential is not None:
            self._take_potential()
        elif self.power is None:
            raise SpecificationError("a barrier needs a power, such as 4/3, or a potential.")
        self._check_scale()
        if not is_number(self.det_power) or not -np.inf < self.det_power < np.inf:
            raise SpecificationError(f"det_power must be a finite number, got {shown(self.det_power)}.")
        self._phi  # noqa: B018 - a power that is none is refused here

    def _take_potential(self) -> None:
        """A power is one object, however it is spelled; another potential has none."""
        if not isinstance(self.potential, SlackPotential | ConvexFunction):
            raise SpecificationError(
                f"potential must be a Power, a SlackFunction or a ConvexFunction, got {shown(self.potential)}. "
                "Wrap a function of one point: zf.ConvexFunction(f)."
            )
        if self.power not in (None, 4 / 3):
            raise SpecificationError(
                f"a barrier has a power or a potential: leave out power={self.power!r} or potential=."
            )
        power = self.potential.p if isinstance(self.potential, Power) else None
        object.__setattr__(self, "power", power)
        if power is not None:
            object.__setattr__(self, "potential", None)

    def __repr__(self) -> str:
        phi = f"potential={self.potential!r}" if self.power is None else f"power={self.power:.6g}"
        return f"Barrier({phi}, det_power={self.det_power:.6g}{self._scale_text('natural')})"

    @classmethod
    def entropy(cls, det_power: float = 0.5, scale: Scale = "natural") -> Barrier:
        """p = 1, the paper's φ₂ = Σ s log s."""
        return cls(1.0, det_power, scale=scale)

    @classmethod
    def log(cls, det_power: float = 0.5, scale: Scale = "natural") -> Barrier:
        """p = 0, the paper's φ₃ = −Σ log s."""
        return cls(0.0, det_power, scale=scale)

    @cached_property
    def _phi(self) -> SlackPotential | ConvexFunction:
        """φ, or the ψ that it is made of."""
        if self.potential is not None:
            return self.potential
        assert self.power is not None
        return Power(self.power)

    def on_domain(self, domain: Domain, X: Array) -> GeneratorValue:
        phi = self._phi
        hessian = (
            _convex_hessian(phi, domain, X)
            if isinstance(phi, ConvexFunction)
            else domain.barrier(phi, X, self._units_for(domain))
        )
        inverse, grad_logdet, logdet = hessian
        gamma = self.det_power
        log_weight = -gamma * logdet() if gamma else np.zeros(len(X))
        divergence = inverse.apply(grad_logdet)
        divergence *= -(1.0 + gamma)
        return GeneratorValue(log_weight, inverse, divergence)

    def _units_for(self, domain: Domain) -> Units | None:
        units = self._units()
        if units is not None and (units.slacks.size, units.spread.size) != (domain.n_slacks, domain.dimension):
            raise SpecificationError(
                f"the units are those of {units.slacks.size} slacks and {units.spread.size} columns; {domain!r} has "
                f"{domain.n_slacks} and {domain.dimension}. Measure them there: zf.Units.of(domain, X)."
            )
        return units

    def imbalance(self, domain: Domain, units: Units, separable: bool) -> float:
        phi = self._phi
        apart = separable and domain.coordinate_facets() is not None  # a factor per column changes nothing
        if not self.is_raw or isinstance(phi, ConvexFunction) or apart or not domain.is_convex:
            return 1.0
        # Raw slacks give facet k a weight of σ² ψ''(σ), and a free direction one of τ², relative to natural units.
        facets = phi.terms(units.slacks).log_curvature() + 2.0 * np.log(units.slacks)
        return ratio_of_sizes(np.concatenate([facets, 2.0 * np.log(units.spread[domain.unlimited])]))

    @cached_property
    def tempered(self) -> bool:
        return self.power is not None

    def decay(self, domain: Domain) -> Decay | None:
        phi = self._phi
        facets = [] if isinstance(phi, ConvexFunction) else domain.facet_exponents(phi.decay)
        if not facets:
            return None
        gamma = self.det_power
        return Decay(
            min(e.across + gamma * e.det for e in facets),
            min(e.along + gamma * e.det for e in facets),
        )

    def vanishing(self, domain: Domain) -> Vanishing:
        phi = self._phi
        if not domain.is_convex and not isinstance(phi, ConvexFunction):
            return Vanishing(False, "a barrier needs a convex domain")
        decays = phi.vanishing if isinstance(phi, ConvexFunction) else phi.decay * (1.0 + self.det_power) > 0
        if decays:
            return Vanishing(True)
        why = (
            "its potential is not declared vanishing"
            if self.power is None
            else f"power {self.power:.6g} with det_power {self.det_power:.6g} does not decay (needs power < 2, det_power > −1)"
        )
        return Vanishing(False, why)


def _convex_hessian(phi: ConvexFunction, domain: Domain, X: Array) -> BarrierHessian:
    """Dense Hessian of a custom φ, restricted to the domain's own directions."""
    H, third = phi.evaluate(X)
    d = domain.dimension
    if H.shape != (len(X), d, d) or third.shape != (len(X), d, d, d):
        raise SpecificationError(
            f"the potential's derivatives have shapes {H.shape} and {third.shape}; "
            f"expected {(len(X), d, d)} and {(len(X), d, d, d)}."
        )
    C = domain.chart.matrix if domain.chart is not None else np.eye(d)
    inner = C.T @ H @ C
    try:
        factor = np.linalg.inv(np.linalg.cholesky(inner))
    except np.linalg.LinAlgError:
        smallest = np.linalg.eigvalsh(inner)[:, 0]
        row = int(np.argmin(np.where(np.isnan(smallest), -np.inf, smallest)))
        value = smallest[row]
        raise NotConvexAtRowError(
            lambda number: (
                f"the potential is not strictly convex at row {number}: the smallest eigenvalue of its Hessian there is "
                f"{value:.3g}. Use a φ that is strictly convex on the whole domain."
            ),
            row,
        ) from None
    inverse = C @ (np.swapaxes(factor, 1, 2) @ factor) @ C.T
    logdet = -2.0 * np.log(np.einsum("njj->nj", factor)).sum(axis=1)
    return BarrierHessian(Dense(inverse), np.einsum("nij,nijk->nk", inverse, third), lambda: logdet)
