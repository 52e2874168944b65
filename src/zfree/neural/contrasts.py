r"""Losses that compare energies at a data point and at its neighbours: no derivative of the energy is taken.

For a strictly convex f the contrast of :math:`L = E(x) - E(y)`, with :math:`\rho = e^L = p_\theta(y)/p_\theta(x)`, is

.. math:: h_f(L) = -f'(1/\rho) + \rho f'(\rho) - f(\rho) + f(1)

(appendix, "Conditional Noise Contrastive Estimation" and the section on generalizations). Divided by f''(1) and averaged over the
neighbours of :mod:`zfree.neighbourhoods` it tends to generalized score matching, whatever f. :math:`f = -\sqrt z` is minimum probability flow.

With a channel q that is not symmetric, f-CondNCE (eq. 19) has :math:`\rho = p_\theta(y)\,q(x|y)\,/\,(p_\theta(x)\,q(y|x))`. Then the loss is least at
the truth for every size of the neighbourhood, not only in the limit, because :math:`p(x)q(y|x)` and its mirror image are compared as they are.
For the soft neighbourhood the limit is the same, apart from a term without θ:
:math:`S(x;\theta) - \tfrac34\|T\|_D^2` with T the symmetric part of :math:`\partial_k D^{-1}_{ij}` and all its indices contracted with D.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.neighbourhoods import Neighbours
from zfree.neural.matching import EnergyFunction, energies
from zfree.neural.weight_tensors import as_array, as_tensor


@dataclass(frozen=True)
class Contrast:
    """h_f as a function of L, and f''(1).

    Parameters
    ----------
    name : str
    of : callable
        L ↦ h_f(L), with h_f(0) = 0.
    curvature : float
        f''(1).
    at_zero : float
        h_f at ρ = 0: the value for a neighbour outside the domain. Minus infinity for some f.
    """

    name: str
    of: Callable[[Tensor], Tensor]
    curvature: float
    at_zero: float = -math.inf

    def __call__(self, L: Tensor) -> Tensor:
        return self.of(L)

    @classmethod
    def from_function(cls, f: Callable[[Tensor], Tensor], name: str = "custom", at_zero: float = -math.inf) -> Contrast:
        """From f itself, written with torch operations; f' and f''(1) by automatic differentiation."""
        one = torch.ones((), dtype=torch.float64, requires_grad=True)
        (first,) = torch.autograd.grad(f(one), one, create_graph=True)
        (second,) = torch.autograd.grad(first, one)
        if not float(second) > 0:
            raise SpecificationError(f"f must be strictly convex; f''(1) = {float(second):.4g}.")

        def slope(z: Tensor) -> Tensor:
            wanted = torch.is_grad_enabled()
            with torch.enable_grad():  # f' is a derivative also where none of the energy is asked for
                z = z if z.requires_grad else z.detach().requires_grad_(True)
                (gradient,) = torch.autograd.grad(f(z).sum(), z, create_graph=wanted)
            return gradient

        def of(L: Tensor) -> Tensor:
            # Far below 1, ρ is kept where f'' is still in the range of numbers: infinity times 0 would be NaN.
            rho = torch.exp(L.clamp(min=0.25 * math.log(torch.finfo(L.dtype).tiny)))
            return -slope(1.0 / rho) + rho * slope(rho) - f(rho) + f(torch.ones_like(rho))

        return cls(name, of, float(second), at_zero)


MPF = Contrast("mpf", lambda L: torch.expm1(0.5 * L), 0.25, -1.0)
"""f = −√z: minimum probability flow."""
KL = Contrast("kl", lambda L: torch.expm1(L) + L, 1.0)
"""f = z log z."""
LOGISTIC = Contrast(
    "logistic", lambda L: 2.0 * (torch.nn.functional.softplus(L) - math.log(2.0)), 0.5, -2.0 * math.log(2.0)
)
"""f = z log z − (1 + z) log(1 + z): conditional noise-contrastive estimation. Bounded gradients, whatever the energies do."""
CONTRASTS = {contrast.name: contrast for contrast in (MPF, KL, LOGISTIC)}


def contrast_rule(
    energy: EnergyFunction,
    X: Tensor,
    neighbours: Neighbours,
    *,
    contrast: Contrast = MPF,
    domain: Domain | None = None,
    log_ratio: Array | None = None,
) -> Tensor:
    """The contrast of every row with its neighbours (N,), in the units of its limit, the scoring rule of score matching.

    Parameters
    ----------
    energy : callable
    X : Tensor of shape (N, d)
    neighbours : Neighbours
        Of the same rows, from a :class:`~zfree.neighbourhoods.Neighbourhood`.
    contrast : Contrast
    domain : Domain, optional
        Where the density is zero outside. A neighbour outside has ρ = 0; without a domain the energy is asked everywhere.
    log_ratio : ndarray of shape (k, N), optional
        log q(x | y) − log q(y | x) of the channel (:meth:`Neighbourhood.log_ratio <zfree.neighbourhoods.Neighbourhood.log_ratio>`), to be
        part of ρ as in eq. (19). Without it the channel counts as symmetric, eq. (20).
    """
    k, n, d = neighbours.points.shape
    points = neighbours.points.reshape(k * n, d)
    inside = np.ones(k * n, dtype=bool) if domain is None else domain.contains(points)
    if not inside.all():
        if math.isinf(contrast.at_zero):
            raise SpecificationError(
                f"{int((~inside).sum())} neighbours fell outside {domain!r}, where the contrast {contrast.name!r} is infinite. "
                "Use MPF or LOGISTIC, a generator that vanishes faster, a smaller epsilon, or BregmanBall."
            )
        # The row itself in their place: an energy need not be finite out there, and a gradient of NaN times 0 is NaN.
        points = np.where(inside[:, None], points, np.tile(as_array(X), (k, 1)))
    L = energies(energy, X)[None, :] - energies(energy, as_tensor(points, X)).reshape(k, n)
    if log_ratio is not None:
        L = L + as_tensor(log_ratio, X)
    there = torch.as_tensor(inside.reshape(k, n), device=X.device)
    values = torch.where(there, contrast(L), L.new_tensor(contrast.at_zero))
    coefficients = as_tensor(neighbours.coefficients, X)
    return (coefficients * values).mean(dim=0) / contrast.curvature
