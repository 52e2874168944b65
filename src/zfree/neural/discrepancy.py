r"""Energy discrepancy (paper, appendix, "Energy Discrepancy"): the energy of a row against the contrastive potential of its neighbours.

.. math:: \mathrm{ED}_q = \tfrac12\bigl(E_p[E(x)] - E_{p,q}[E_q(y)]\bigr), \qquad E_q(y) = -\log\int q(y|x)\,e^{-E(x)}\,dx

The paper replaces :math:`E_q` by E. For the soft neighbourhood, whose channel leaves Lebesgue's measure alone to first order,

.. math:: E_q = E + \tfrac\varepsilon2\bigl(\nabla\cdot(D\nabla E) - \nabla E^\top D\nabla E\bigr) + O(\varepsilon^2),

so the error of the surrogate is of order ε like the discrepancy itself:

.. math:: \mathrm{ED}_q = \tfrac\varepsilon2\,E_p\bigl[\tfrac12\nabla E^\top D\nabla E - \nabla\cdot(D\nabla E)\bigr] + O(\varepsilon^2), \qquad
          \hat{\mathrm{ED}}_q = -\tfrac\varepsilon4\,E_p[\nabla\cdot(D\nabla E)] + O(\varepsilon^2).

The first is generalized score matching; the second lacks its quadratic term and has no minimum. The bound by Jensen's inequality,
which is minimum probability flow, brings the term back, with half of the discrepancy in all: :math:`\mathcal K = 1 + \tfrac12\mathrm{ED}_q + O(\varepsilon^2)`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from zfree.errors import SpecificationError
from zfree.neighbourhoods import Neighbours, Origins
from zfree.neural.matching import EnergyFunction, energies
from zfree.neural.weight_tensors import as_tensor


def energy_discrepancy(
    energy: EnergyFunction, X: Tensor, neighbours: Neighbours, *, potential: Tensor | None = None
) -> Tensor:
    """½(E(x) − E_q(y)) of every row, averaged over its neighbours (N,).

    The exponential of the mean of the surrogate is at most the minimum probability flow of the same neighbours (Jensen), which is
    why that is minimised instead.

    Parameters
    ----------
    energy : callable
    X : Tensor of shape (N, d)
    neighbours : Neighbours
        Of the same rows, from a channel: :class:`~zfree.neighbourhoods.SoftNeighbourhood` or :class:`~zfree.neighbourhoods.Cube`.
    potential : Tensor of shape (k, N), optional
        E_q at the neighbours, from :func:`contrastive_potential`. Without it E itself stands there: the paper's surrogate.
    """
    k, n, d = neighbours.points.shape
    if potential is None:
        potential = energies(energy, as_tensor(neighbours.points.reshape(k * n, d), X)).reshape(k, n)
    elif potential.shape != (k, n):
        raise SpecificationError(
            f"potential must have one value per neighbour, shape {(k, n)}; got {tuple(potential.shape)}."
        )
    return 0.5 * (energies(energy, X) - potential.mean(dim=0))


def contrastive_potential(energy: EnergyFunction, origins: Origins, like: Tensor) -> Tensor:
    """E_q at the neighbours (k, N): minus the log of the weighted mean of exp(−E) over the points they may have come from.

    The mean is unbiased, its logarithm is not: with m origins the potential is too large by about Var(v)/(2m), where v is a term of
    the mean divided by the mean, and the discrepancy too small by half of that.

    Parameters
    ----------
    energy : callable
    origins : Origins
        From :meth:`Neighbourhood.draw_origins <zfree.neighbourhoods.Neighbourhood.draw_origins>`.
    like : Tensor
        The rows, for their precision and device.

    Examples
    --------
    A Gaussian energy ½kx² and q = N(x, ε): E_q is ½ log(1 + kε) + ½kx²/(1 + kε).

    >>> import numpy as np, torch, zfree as zf
    >>> from zfree.neighbourhoods import SoftNeighbourhood
    >>> from zfree.neural import contrastive_potential
    >>> X, rng, q = np.ones((1, 1)), np.random.default_rng(0), SoftNeighbourhood(zf.Identity(), 0.5)
    >>> origins = q.draw_origins(zf.RealSpace(1), X, X[None], rng, count=100_000)
    >>> found = contrastive_potential(lambda x: x[:, 0] ** 2, origins, torch.as_tensor(X))
    >>> print(f"{float(found):.2f} {0.5 * np.log(2) + 1 / 2:.2f}")
    0.85 0.85
    """
    m, k, n, d = origins.points.shape
    log_weight = as_tensor(origins.log_weight, like)
    lost = int(torch.isneginf(log_weight).all(dim=0).sum())
    if lost:
        raise SpecificationError(
            f"{lost} of {k * n} neighbours have no origin inside the domain among {m}: their potential is infinite. "
            "Draw more origins, or use a smaller epsilon."
        )
    values = energies(energy, as_tensor(origins.points.reshape(-1, d), like)).reshape(m, k, n)
    return math.log(m) - torch.logsumexp(log_weight - values, dim=0)
