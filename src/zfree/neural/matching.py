r"""The scoring rule of generalized score matching for scores that are networks, exactly and by random probes.

.. math:: S(x;\theta) = \tfrac12 s_\theta^\top D s_\theta + \nabla\cdot(D s_\theta)
          = \tfrac12 s_\theta^\top D s_\theta + s_\theta\cdot(\nabla\cdot D) + \mathrm{tr}(D\,\partial s_\theta)

with :math:`s_\theta = \nabla\log p_\theta = -\nabla E_\theta` (paper, eqs. 4 and 12). The trace takes d derivatives of the score. A random
probe v with :math:`E[vv^\top] = I` replaces it by :math:`v^\top \partial s\, D v`, one derivative (Hutchinson; appendix, "Implicit Variational
Autoencoders"); with D = I that is sliced score matching with variance reduction (Song et al. 2019).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from zfree.errors import SpecificationError
from zfree.neural.weight_tensors import WeightTensors

EnergyFunction = Callable[[Tensor], Tensor]
"""Rows (N, d) to energies (N,) or (N, 1): −log p up to a constant."""
ScoreFunction = Callable[[Tensor], Tensor]
"""Rows (N, d) to ∇ log p (N, d)."""


def energies(energy: EnergyFunction, X: Tensor) -> Tensor:
    """E at the rows of `X`, as a vector."""
    values = energy(X)
    if values.numel() != len(X):
        raise SpecificationError(f"an energy maps (N, d) to (N,): got {tuple(values.shape)} for {tuple(X.shape)}.")
    return values.reshape(len(X))


def score_of(energy: EnergyFunction) -> ScoreFunction:
    """The score −∇E of an energy, itself differentiable."""

    def score(X: Tensor) -> Tensor:
        X = X if X.requires_grad else X.detach().requires_grad_(True)
        (gradient,) = torch.autograd.grad(energies(energy, X).sum(), X, create_graph=True)
        return -gradient

    return score


def gsm_rule(score: ScoreFunction, X: Tensor, weight: WeightTensors) -> Tensor:
    """S(x; θ) of every row (N,), with the exact trace: d derivatives of the score."""
    X = X.detach().requires_grad_(True)
    s = score(X)
    trace = torch.zeros(len(X), dtype=X.dtype, device=X.device)
    for j in range(X.shape[1]):
        row = _slope(s[:, j], X, torch.ones_like(s[:, j]))  # ∂ s_j, a row of the Jacobian
        trace = trace + weight.apply(row)[:, j]
    return _first_order(s, weight) + trace


def hutchinson_rule(
    score: ScoreFunction,
    X: Tensor,
    weight: WeightTensors,
    *,
    probes: int = 1,
    kind: str = "rademacher",
    generator: torch.Generator | None = None,
) -> Tensor:
    """S(x; θ) of every row (N,), the trace estimated with `probes` random probes.

    Parameters
    ----------
    score : callable
    X : Tensor of shape (N, d)
    weight : WeightTensors
    probes : int
        One Jacobian-vector product each.
    kind : {"rademacher", "gaussian"}
    generator : torch.Generator, optional
        Of the random numbers.
    """
    if probes < 1:
        raise SpecificationError(f"probes must be at least 1, got {probes!r}.")
    X = X.detach().requires_grad_(True)
    s = score(X)
    trace = torch.zeros(len(X), dtype=X.dtype, device=X.device)
    for _ in range(probes):
        v = probe(X, kind, generator)
        trace = trace + (_slope(s, X, weight.apply(v)) * v).sum(dim=1)
    return _first_order(s, weight) + trace / probes


def probe(X: Tensor, kind: str, generator: torch.Generator | None = None) -> Tensor:
    """Random directions v with E[v vᵀ] = I, one per row."""
    if kind == "gaussian":
        return torch.randn(X.shape, dtype=X.dtype, device=X.device, generator=generator)
    if kind == "rademacher":
        coin = torch.randint(0, 2, X.shape, device=X.device, generator=generator)
        return (2 * coin - 1).to(X.dtype)
    raise SpecificationError(f'probes are "rademacher" or "gaussian", got {kind!r}.')


def _first_order(s: Tensor, weight: WeightTensors) -> Tensor:
    return (s * (0.5 * weight.apply(s) + weight.divergence)).sum(dim=1)


def _slope(values: Tensor, X: Tensor, direction: Tensor) -> Tensor:
    """Gradient of the product of `values` with `direction`, in X."""
    if not values.requires_grad:
        return torch.zeros_like(X)
    (slope,) = torch.autograd.grad(values, X, direction, create_graph=True, allow_unused=True)
    return torch.zeros_like(X) if slope is None else slope
