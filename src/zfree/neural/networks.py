"""A plain network for energies and scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from zfree.arrays import Array
from zfree.deprecation import renamed_attributes
from zfree.errors import SpecificationError

ACTIVATIONS: dict[str, type[nn.Module]] = {"silu": nn.SiLU, "softplus": nn.Softplus, "tanh": nn.Tanh, "gelu": nn.GELU}
"""Smooth ones only: the loss takes two derivatives, and those of a ReLU are zero or nowhere."""


@renamed_attributes("0.3", centre="center")
class Perceptron(nn.Module):
    """Fully connected layers on standardised columns.

    Parameters
    ----------
    n_columns : int
    n_outputs : int
        1 for an energy, `n_columns` for a score.
    hidden : sequence of int
        Widths of the hidden layers.
    activation : {"silu", "softplus", "tanh", "gelu"}
    """

    center: Tensor
    scale: Tensor

    def __init__(
        self, n_columns: int, n_outputs: int = 1, hidden: Sequence[int] = (64, 64), activation: str = "silu"
    ) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise SpecificationError(f"no activation is called {activation!r}; there are {', '.join(ACTIVATIONS)}.")
        self.register_buffer("center", torch.zeros(n_columns))
        self.register_buffer("scale", torch.ones(n_columns))
        widths = [n_columns, *hidden]
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers += [nn.Linear(before, after), ACTIVATIONS[activation]()]
        self.layers = nn.Sequential(*layers, nn.Linear(widths[-1], n_outputs))

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        if f"{prefix}centre" in state_dict:  # of an earlier release; goes with that spelling
            state_dict[f"{prefix}center"] = state_dict.pop(f"{prefix}centre")
        super()._load_from_state_dict(state_dict, prefix, *args)

    def standardise(self, X: Array) -> Perceptron:
        """Remember the mean and the spread of the columns of `X`."""
        self.center.copy_(torch.as_tensor(X.mean(axis=0)))
        self.scale.copy_(torch.as_tensor(X.std(axis=0)))
        return self

    def forward(self, X: Tensor) -> Tensor:
        """(N, n_columns) to (N, n_outputs)."""
        out: Tensor = self.layers((X - self.center) / self.scale)
        return out
