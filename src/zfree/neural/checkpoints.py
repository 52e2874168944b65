"""Checkpoints of a training: plain data, written whole, read without running anything, and refused for any other training."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from zfree.errors import SpecificationError
from zfree.files import write_whole
from zfree.neural.plain_data import UnfitError, check_plain

FORMAT = 2
"""Of the files. Before there were numbers a file could hold classes; one that holds plain data is still read."""
REMEDY = "Delete it to train from the start, or name another file."


def identity(settings: str, networks: list[nn.Module], rows: Tensor) -> str:
    """What is trained on what: settings, layers with their activations, and a digest of the data."""
    shapes = [(name, tuple(p.shape)) for network in networks for name, p in network.named_parameters()]
    layers = " ".join(" ".join(str(network).split()) for network in networks)
    content = np.ascontiguousarray(rows.detach().cpu().numpy())
    digest = hashlib.sha256(content.data).hexdigest()  # a memory map is not copied
    return f"{settings} {shapes} {layers} {digest}"


def check_place(path: Path) -> None:
    """Refuse a name under which no file can be written, before there is anything to write."""
    if path.is_dir():
        raise SpecificationError(f"checkpoint={str(path)!r} is a folder. Give the name of a file.")
    if not path.absolute().parent.is_dir():
        raise SpecificationError(f"checkpoint={str(path)!r} is in a folder that does not exist. Make it first.")


def save_checkpoint(path: Path, what: str, content: dict[str, Any]) -> None:
    """Write `content`, labelled with the identity of its training."""
    try:
        check_plain(content, "checkpoint")
    except UnfitError as error:
        raise SpecificationError(
            f"no checkpoint can be written to {path}: {error}, and only plain data can be read again safely. Train without "
            "checkpoint=, or keep tensors, numbers and text only in the state of the network."
        ) from None
    buffer = io.BytesIO()
    torch.save({"format": FORMAT, "what": what, **content}, buffer)
    write_whole(path, buffer.getvalue())


def load_checkpoint(path: Path, what: str) -> dict[str, Any]:
    """The content of a checkpoint of the same training, not yet compared with it; an error for one of another."""
    content = _read(path)
    if not isinstance(content, dict) or not isinstance(content.get("what"), str):
        raise SpecificationError(f"{path} is no checkpoint of zfree. {REMEDY}")
    if content.get("format", 1) not in range(1, FORMAT + 1):
        raise SpecificationError(
            f"the checkpoint {path} was written by another version of zfree (format {content['format']!r}; this version reads "
            f"up to {FORMAT}). Use that version, or delete the file to train from the start."
        )
    if content["what"] != what:
        raise SpecificationError(
            f"the checkpoint {path} is of another training: it had other settings, networks or other data. Use the same, or another "
            "file."
        )
    return content


@contextmanager
def restoring(path: Path) -> Iterator[None]:
    """Say which file it is that holds something else than it should."""
    try:
        yield
    except UnfitError as error:
        raise SpecificationError(f"the checkpoint {path} is damaged or was altered: {error}. {REMEDY}") from error


def _read(path: Path) -> Any:
    if path.is_dir():
        raise SpecificationError(f"the checkpoint {path} is a folder. Name a file.")
    try:
        with zipfile.ZipFile(path) as archive:  # torch reads altered numbers without a word
            if archive.testzip() is not None:
                raise UnfitError("its checksums do not match")
        # Tensors, numbers, text and collections: a file that names anything else is refused before that is looked up.
        return torch.load(path, weights_only=True, map_location="cpu")
    except OSError as error:
        raise SpecificationError(f"the checkpoint {path} cannot be read ({error.strerror}). {REMEDY}") from error
    except Exception as error:  # a foreign file can fail anywhere in torch
        found = re.search(r"GLOBAL ([\w.]+)", str(error))
        more = f" (it asks for {found[1]}, and nothing that a file asks for is run)" if found else ""
        raise SpecificationError(
            f"the checkpoint {path} cannot be read as plain data{more}: it is cut off or damaged, of an early version of zfree, or no "
            f"checkpoint at all. {REMEDY}"
        ) from error
