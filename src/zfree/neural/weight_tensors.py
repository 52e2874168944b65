"""Generators as torch sees them: numbers.

D(x) and ∇·D(x) are functions of the data alone, never of the parameters. So they are evaluated by the code that serves closed-form
estimates, in NumPy and double precision, and handed over as tensors: no formula of a domain or a potential exists twice, and a
network in single precision still gets a weight that is right next to the boundary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import InconsistentGeneratorWarning, SpecificationError, warn
from zfree.generators import Barrier, BoundaryDistance, Generator, named


@dataclass(frozen=True, eq=False)
class WeightTensors:
    """D and ∇·D at N points, in the structure of the generator's field.

    Attributes
    ----------
    divergence : Tensor of shape (N, d)
    diagonal : Tensor of shape (N, d), optional
    rank_ones : tuple of (Tensor (N,), Tensor (N, d))
        Terms σ u uᵀ beside the diagonal.
    dense : Tensor of shape (N, d, d), optional
        The matrices, when they have no such structure.
    """

    divergence: Tensor
    diagonal: Tensor | None
    rank_ones: tuple[tuple[Tensor, Tensor], ...]
    dense: Tensor | None

    @classmethod
    def at(cls, generator: Generator, domain: Domain, X: Tensor | Array, *, log_scale: float = 0.0) -> WeightTensors:
        """Evaluate a generator at the rows of `X`, divided by exp(`log_scale`), as tensors of the kind of `X`."""
        like = X if isinstance(X, Tensor) else torch.zeros((), dtype=torch.float64)
        points = as_array(X)
        value = generator.evaluate(domain, points)
        scale = np.exp(value.log_weight - log_scale)
        parts = value.field.parts
        return cls(
            as_tensor(scale[:, None] * value.divergence, like),
            None if parts.diagonal is None else as_tensor(scale[:, None] * parts.diagonal, like),
            tuple((as_tensor(scale * sigma, like), as_tensor(u, like)) for sigma, u in parts.rank_ones),
            None if parts.dense is None else as_tensor(scale[:, None, None] * parts.dense, like),
        )

    def apply(self, V: Tensor) -> Tensor:
        """D v for each row v of `V` (N, d)."""
        if self.dense is not None:
            return torch.einsum("njk,nk->nj", self.dense, V)
        assert self.diagonal is not None
        out = self.diagonal * V
        for sigma, u in self.rank_ones:
            out = out + (sigma * (u * V).sum(dim=1))[:, None] * u
        return out

    def to(self, like: Tensor) -> WeightTensors:
        """With the precision and device of `like`."""
        return WeightTensors(
            self.divergence.to(like),
            None if self.diagonal is None else self.diagonal.to(like),
            tuple((sigma.to(like), u.to(like)) for sigma, u in self.rank_ones),
            None if self.dense is None else self.dense.to(like),
        )

    def rows(self, index: Tensor) -> WeightTensors:
        """The weight at some of the points."""
        return WeightTensors(
            self.divergence[index],
            None if self.diagonal is None else self.diagonal[index],
            tuple((sigma[index], u[index]) for sigma, u in self.rank_ones),
            None if self.dense is None else self.dense[index],
        )


def as_generator(asked: Generator | str | None, domain: Domain) -> Generator:
    """The generator that was asked for, by itself or by name; a good one for densities with mass at the boundary otherwise.

    The closed-form estimators choose theirs from the data. A network has no criterion to choose by, and takes Barrier(1.2, 0), which
    decays like s^0.8: faster than √s, which a finite variance needs, and not much faster, so that rows at the boundary count.
    """
    if asked is None or (isinstance(asked, str) and asked == "auto"):
        return Barrier(1.2, det_power=0.0) if domain.is_convex else BoundaryDistance()
    generator = named(asked) if isinstance(asked, str) else asked
    if not isinstance(generator, Generator):
        raise SpecificationError(
            f"generator must be a generator such as zf.Barrier(1.2, 0), or its name; got {asked!r}."
        )
    vanishing = generator.check(domain)
    if not vanishing.holds:
        warn(
            f"{generator!r} does not vanish on the boundary of {domain!r} ({vanishing.reason}): what is learned does not converge to "
            "the truth however many rows there are. Use a Barrier, or BoundaryDistance() where the domain is not convex.",
            InconsistentGeneratorWarning,
        )
    return generator


def log_unit(generator: Generator, domain: Domain, X: Array) -> float:
    """The log-scale that makes the mean of tr D the total variance of the data.

    The estimate does not depend on the scale of D. Learning rates and the size of neighbourhoods do, and in this unit they
    mean the same for every domain and whatever the units of the columns.
    """
    value = generator.evaluate(domain, X)
    top = float(value.log_weight.max())
    trace = np.mean(np.exp(value.log_weight - top) * value.field.diagonal().sum(axis=1))
    return top + float(np.log(trace) - np.log(X.var(axis=0).sum()))


def as_array(X: Any) -> Array:
    """Rows as a NumPy array in double precision."""
    return X.detach().cpu().numpy().astype(np.float64) if isinstance(X, Tensor) else np.asarray(X, dtype=np.float64)


def as_tensor(values: Array, like: Tensor) -> Tensor:
    """An array as a tensor with the precision and device of `like`."""
    return torch.as_tensor(np.ascontiguousarray(values), dtype=like.dtype, device=like.device)
