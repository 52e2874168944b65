"""Networks of two inputs, one of them large and used twice: its half of the first layer is computed once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from zfree.neural.networks import ACTIVATIONS
from zfree.neural.sparse_rows import SparseRows


class Pair(nn.Module, ABC):
    """A network of (x, z) whose first layer is linear in x: what it needs of x can be kept while z changes.

    Attributes
    ----------
    n_second : int
        Columns of z.
    """

    n_second: int
    takes_sparse: ClassVar[bool] = False
    """Whether the first input may be :class:`~zfree.neural.sparse_rows.SparseRows` too."""

    @abstractmethod
    def image(self, x: Tensor | SparseRows) -> Tensor:
        """What :meth:`join` needs of the first input."""

    @abstractmethod
    def join(self, image: Tensor, z: Tensor) -> Tensor:
        """The output for a first input seen through :meth:`image`."""

    def forward(self, x: Tensor | SparseRows, z: Tensor) -> Tensor:
        """The output for (x, z)."""
        return self.join(self.image(x), z)


class Networks(NamedTuple):
    """The three networks of an implicit autoencoder."""

    encoder: Pair
    decoder: nn.Module
    score: Pair


class PairNetwork(Pair):
    """Fully connected layers on (x, z) joined together, with the product W [x, z] split into W_x x + W_z z.

    Parameters
    ----------
    n_first, n_second, n_outputs : int
        Columns of x, of z and of the output.
    hidden : sequence of int
    activation : str
    """

    takes_sparse = True

    def __init__(
        self, n_first: int, n_second: int, n_outputs: int, hidden: Sequence[int] = (256, 256), activation: str = "tanh"
    ) -> None:
        super().__init__()
        self.n_second = n_second
        linear = nn.Linear(n_first, hidden[0])
        self.first = nn.Parameter(linear.weight.detach().T.contiguous())  # a row for each column of x: sums of rows
        self.bias = linear.bias
        self.second = nn.Linear(n_second, hidden[0], bias=False)
        layers: list[nn.Module] = [ACTIVATIONS[activation]()]
        for before, after in pairwise(hidden):
            layers += [nn.Linear(before, after), ACTIVATIONS[activation]()]
        self.rest = nn.Sequential(*layers, nn.Linear(hidden[-1], n_outputs))

    def image(self, x: Tensor | SparseRows) -> Tensor:
        return x.product(self.first) + self.bias if isinstance(x, SparseRows) else torch.addmm(self.bias, x, self.first)

    def join(self, image: Tensor, z: Tensor) -> Tensor:
        out: Tensor = self.rest(image + self.second(z))
        return out


def decoder_network(
    latent: int, n_outputs: int, hidden: Sequence[int] = (256, 256), activation: str = "tanh"
) -> nn.Sequential:
    """z to logits: plain layers, the mirror of :class:`PairNetwork`."""
    layers: list[nn.Module] = []
    for before, after in pairwise([latent, *hidden]):
        layers += [nn.Linear(before, after), ACTIVATIONS[activation]()]
    return nn.Sequential(*layers, nn.Linear(hidden[-1], n_outputs))
