"""What is minimised: one object per loss, each a function of a batch of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.generators import Generator
from zfree.neighbourhoods import Neighbourhood, SoftNeighbourhood
from zfree.neural.contrasts import CONTRASTS, Contrast, contrast_rule
from zfree.neural.matching import EnergyFunction, ScoreFunction, gsm_rule, hutchinson_rule, score_of
from zfree.neural.weight_tensors import WeightTensors, as_array


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows with the weight at them, and where random numbers come from."""

    X: Tensor
    weight: WeightTensors
    domain: Domain
    generator: Generator
    noise: torch.Generator
    rng: np.random.Generator
    log_scale: float = 0.0
    """D is divided by the exponential of this, in `weight` and in soft neighbourhoods."""

    def rows(self, index: Tensor) -> Batch:
        """Some of the rows, with the same sources of random numbers."""
        return replace(self, X=self.X[index], weight=self.weight.rows(index))


class Loss(ABC):
    """The mean of :meth:`of` over rows is minimised."""

    @abstractmethod
    def of(self, model: EnergyFunction | ScoreFunction, batch: Batch, *, energy: bool) -> Tensor:
        """The scoring rule of every row (N,), for an energy or (``energy=False``) a score network."""


@dataclass(frozen=True)
class Exact(Loss):
    """Generalized score matching with the exact trace; d derivatives of the score."""

    def of(self, model: EnergyFunction | ScoreFunction, batch: Batch, *, energy: bool) -> Tensor:
        return gsm_rule(score_of(model) if energy else model, batch.X, batch.weight)


@dataclass(frozen=True)
class Hutchinson(Loss):
    """Generalized score matching with random probes for the trace, for many columns.

    Parameters
    ----------
    probes : int
    kind : {"rademacher", "gaussian"}
    """

    probes: int = 1
    kind: str = "rademacher"

    def of(self, model: EnergyFunction | ScoreFunction, batch: Batch, *, energy: bool) -> Tensor:
        return hutchinson_rule(
            score_of(model) if energy else model,
            batch.X,
            batch.weight,
            probes=self.probes,
            kind=self.kind,
            generator=batch.noise,
        )


@dataclass(frozen=True)
class Flow(Loss):
    """Minimum probability flow and its relatives: energies at neighbours, no derivatives with respect to x.

    Parameters
    ----------
    epsilon : float
        Size of the soft neighbourhood, which uses the generator of the fit: 0.01 are moves of about a tenth of the spread of
        the data.
    contrast : Contrast or str
        ``"mpf"``, ``"kl"``, ``"logistic"``, or one made from your own convex f.
    count : int
        Neighbours of every row in each step (pairs, if `antithetic`).
    antithetic : bool
        Use y = m ± δ together. The term of order 1/√ε, which is all noise, then cancels.
    neighbourhood : Neighbourhood, optional
        Another one, such as :class:`~zfree.neighbourhoods.BregmanBall`; `epsilon` and the generator of the fit are then ignored.
    channel_ratio : bool
        Put q(x | y)/q(y | x) into the ratio of the densities (f-CondNCE, eq. 19). The loss is then least at the truth for every
        `epsilon`, where without it D that is not constant leaves a bias of order ε; the price is D at the neighbours as well. A
        :class:`~zfree.neighbourhoods.BregmanBall` has no q, and refuses.
    """

    epsilon: float = 0.01
    contrast: Contrast | str = "mpf"
    count: int = 1
    antithetic: bool = True
    neighbourhood: Neighbourhood | None = None
    channel_ratio: bool = False

    def of(self, model: EnergyFunction | ScoreFunction, batch: Batch, *, energy: bool) -> Tensor:
        if not energy:
            raise SpecificationError("flow losses compare energies: a score network has none. Use Exact or Hutchinson.")
        contrast = CONTRASTS.get(self.contrast) if isinstance(self.contrast, str) else self.contrast
        if contrast is None:
            raise SpecificationError(f"no contrast is called {self.contrast!r}; there are {', '.join(CONTRASTS)}.")
        unit = float(np.exp(-batch.log_scale)) if self.neighbourhood is None else 1.0
        where = self.neighbourhood or SoftNeighbourhood(batch.generator, unit * self.epsilon)
        X, domain = as_array(batch.X), batch.domain
        neighbours = where.draw(domain, X, batch.rng, count=self.count, antithetic=self.antithetic)
        ratio = where.log_ratio(domain, X, neighbours.points) if self.channel_ratio else None
        return unit * contrast_rule(model, batch.X, neighbours, contrast=contrast, domain=domain, log_ratio=ratio)


LOSSES: dict[str, Loss] = {
    "exact": Exact(),
    "hutchinson": Hutchinson(),
    "mpf": Flow(),
    "logistic": Flow(contrast="logistic"),
}


def as_loss(loss: Loss | str) -> Loss:
    """A loss, or the one of that name."""
    if isinstance(loss, Loss):
        return loss
    if loss not in LOSSES:
        raise SpecificationError(
            f"no loss is called {loss!r}; there are {', '.join(LOSSES)}, and objects such as Flow(0.01)."
        )
    return LOSSES[loss]
