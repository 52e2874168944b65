"""Where networks live, and how they behave outside of training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from zfree.errors import SpecificationError


def as_device(name: str) -> torch.device:
    """A device of torch that is there; an error that says so if it is not."""
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise SpecificationError(f'there is no device {name!r} ({reason}). device="cpu" always works.') from error


@contextmanager
def evaluating(*networks: nn.Module) -> Iterator[None]:
    """Layers such as dropout and batch normalisation in their evaluation mode, and back: a monitor must not change a training."""
    modes = [network.training for network in networks]
    for network in networks:
        network.eval()
    try:
        yield
    finally:
        for network, mode in zip(networks, modes, strict=True):
            network.train(mode)
