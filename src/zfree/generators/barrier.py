"""The paper's generator, and the family it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array
from zfree.conversion import is_number, shown
from zfree.domains import BarrierHessian, Domain
from zfree.errors import NotConvexError, SpecificationError
from zfree.fields import Dense
from zfree.generators.base import Decay, Generator, GeneratorValue, Vanishing
from zfree.potentials import ConvexFunction, Power, SlackPotential


@dataclass(frozen=True)
class Barrier(Generator):
    r""":math:`G_{\phi,\gamma} = \det(H_\phi)^{-\gamma} H_\phi^{-1}` for a convex potential φ built from the domain's slacks.

    Parameters
    ----------
    power : float
        p of :math:`\psi''(s) = s^{p-2}`: 4/3 is the paper's φ₁, 1 its entropy φ₂, 0 its log barrier φ₃.
    det_power : float
        γ. One half is the paper (eq. 9); 0 drops the determinant, and then p = 1 and p = 0 on the orthant are the weights
        h(x) = x and h(x) = x² of Yu, Drton and Shojaie (2019).
    potential : SlackPotential or ConvexFunction, optional
        Another φ; `power` is then ignored.

    Notes
    -----
    For every φ in C³ and every γ

    .. math:: \nabla\cdot G_{\phi,\gamma} = -(1+\gamma)\, G_{\phi,\gamma} \nabla\log\det H_\phi ,

    because :math:`\partial_k H_{ij}` is symmetric in all three indices. No derivative of an inverse is ever taken.

    Examples
    --------
    >>> import zfree as zf
    >>> zf.Barrier.entropy()
    Barrier(power=1, det_power=0.5)
    """

    power: float = 4 / 3
    det_power: float = 0.5
    potential: SlackPotential | ConvexFunction | None = None

    intrinsic = True

    def __post_init__(self) -> None:
        if not is_number(self.det_power) or not -np.inf < self.det_power < np.inf:
            raise SpecificationError(f"det_power must be a finite number, got {shown(self.det_power)}.")
        if self.potential is not None and not isinstance(self.potential, SlackPotential | ConvexFunction):
            raise SpecificationError(
                f"potential must be a SlackFunction, a ConvexFunction or a Power, got {shown(self.potential)}. Wrap a function: "
                "zf.ConvexFunction(value=phi, vanishing=True)."
            )
        self._phi()

    def __repr__(self) -> str:
        phi = f"power={self.power:.6g}" if self.potential is None else f"potential={self.potential!r}"
        return f"Barrier({phi}, det_power={self.det_power:.6g})"

    @classmethod
    def entropy(cls, det_power: float = 0.5) -> Barrier:
        """p = 1, the paper's φ₂ = Σ s log s."""
        return cls(1.0, det_power)

    @classmethod
    def log(cls, det_power: float = 0.5) -> Barrier:
        """p = 0, the paper's φ₃ = −Σ log s."""
        return cls(0.0, det_power)

    def _phi(self) -> SlackPotential | ConvexFunction:
        return self.potential if self.potential is not None else Power(self.power)

    def on_domain(self, domain: Domain, X: Array) -> GeneratorValue:
        phi = self._phi()
        hessian = _convex_hessian(phi, domain, X) if isinstance(phi, ConvexFunction) else domain.barrier(phi, X)
        inverse, grad_logdet, logdet = hessian
        gamma = self.det_power
        log_weight = -gamma * logdet() if gamma else np.zeros(len(X))
        return GeneratorValue(log_weight, inverse, -(1.0 + gamma) * inverse.apply(grad_logdet))

    def decay(self, domain: Domain) -> Decay | None:
        phi = self._phi()
        facets = [] if isinstance(phi, ConvexFunction) else domain.facet_exponents(phi.decay)
        if not facets:
            return None
        gamma = self.det_power
        return Decay(
            min(e.across + gamma * e.det for e in facets),
            min(e.along + gamma * e.det for e in facets),
        )

    def vanishing(self, domain: Domain) -> Vanishing:
        phi = self._phi()
        if not domain.is_convex and not isinstance(phi, ConvexFunction):
            return Vanishing(False, "a barrier needs a convex domain")
        decays = phi.vanishing if isinstance(phi, ConvexFunction) else phi.decay * (1.0 + self.det_power) > 0
        if decays:
            return Vanishing(True)
        why = (
            "its potential is not declared vanishing"
            if self.potential is not None
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
        raise NotConvexError(
            f"the potential is not strictly convex at row {row}: the smallest eigenvalue of its Hessian there is "
            f"{smallest[row]:.3g}. Use a φ that is strictly convex on the whole domain."
        ) from None
    inverse = C @ (np.swapaxes(factor, 1, 2) @ factor) @ C.T
    logdet = -2.0 * np.log(np.einsum("njj->nj", factor)).sum(axis=1)
    return BarrierHessian(Dense(inverse), np.einsum("nij,nijk->nk", inverse, third), lambda: logdet)
