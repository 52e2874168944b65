"""Handwritten digits: from a file, from OpenML, or the small ones that come with scikit-learn."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zfree.errors import DataError


class Digits(NamedTuple):
    """Training and test images as rows of bytes, their height, and where they came from."""

    train: NDArray[np.uint8]
    test: NDArray[np.uint8]
    side: int
    source: str


def load_mnist(data: str = "") -> Digits:
    """MNIST from an ``.npz`` file (x_train, x_test), a folder of idx files, or OpenML; offline, scikit-learn's 8 × 8 digits."""
    if data:
        path = Path(data)
        if path.is_dir():
            return _digits(_idx(path, "train-images"), _idx(path, "t10k-images"), str(path.name))
        if not path.exists():
            raise DataError(f"there is no file or folder {data!r} with MNIST.")
        try:
            with np.load(path) as content:
                return _digits(content["x_train"], content["x_test"], path.name)
        except (KeyError, ValueError, OSError) as error:
            raise DataError(f"{data!r} is no MNIST archive with arrays x_train and x_test ({error}).") from error
    from sklearn.datasets import fetch_openml, load_digits

    try:
        pixels = fetch_openml("mnist_784", version=1, as_frame=False).data.astype(np.uint8)
        return _digits(pixels[:60_000], pixels[60_000:], "OpenML")
    except OSError:  # no network
        small = np.round(load_digits().data * (255 / 16)).astype(np.uint8)
        return Digits(
            small[:1500],
            small[1500:],
            8,
            "the 8 × 8 digits of scikit-learn, a demonstration: MNIST could not be fetched",
        )


def _digits(train: NDArray[np.uint8], test: NDArray[np.uint8], source: str) -> Digits:
    for images in (train, test):
        if images.dtype != np.uint8 or images[0].size != 784:
            raise DataError(f"MNIST has bytes in images of 28 × 28; {source} has {images.dtype} in {images.shape[1:]}.")
    return Digits(train.reshape(len(train), -1), test.reshape(len(test), -1), 28, source)


def _idx(folder: Path, start: str) -> NDArray[np.uint8]:
    """The images of an idx file, packed or not: 16 bytes of header, then pixels."""
    found = sorted(folder.glob(f"{start}*"))
    if not found:
        raise DataError(f"{folder} has no file {start}-idx3-ubyte.")
    content = found[0].read_bytes()
    content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    n, height, width = np.frombuffer(content[4:16], dtype=">i4")
    if len(content) != 16 + n * height * width:
        raise DataError(f"{found[0]} is cut off or no idx file.")
    return np.frombuffer(content, dtype=np.uint8, offset=16).reshape(n, height, width)
