"""Checkpoints of a training: written whole, and refused for any other training."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from zfree.errors import SpecificationError
from zfree.files import write_whole


def identity(settings: str, networks: list[nn.Module], rows: Tensor) -> str:
    """What is trained on what: settings, layers with their activations, and a digest of the data."""
    shapes = [(name, tuple(p.shape)) for network in networks for name, p in network.named_parameters()]
    layers = " ".join(" ".join(str(network).split()) for network in networks)
    content = np.ascontiguousarray(rows.detach().cpu().numpy())
    digest = hashlib.sha256(content.data).hexdigest()  # a memory map is not copied
    return f"{settings} {shapes} {layers} {digest}"


def save_checkpoint(path: Path, what: str, content: dict[str, Any]) -> None:
    """Write `content`, labelled with the identity of its training."""
    buffer = io.BytesIO()
    torch.save({"what": what, **content}, buffer)
    write_whole(path, buffer.getvalue())


def load_checkpoint(path: Path, what: str) -> dict[str, Any]:
    """The content of a checkpoint of the same training; an error for one of another."""
    content: dict[str, Any] = torch.load(path, weights_only=False, map_location="cpu")
    if content.get("what") != what:
        raise SpecificationError(
            f"the checkpoint {path} is of another training: it had other settings, networks or other data. Use the same, or another "
            "file."
        )
    return content
