"""Handwritten digits: from a file, from OpenML, or the small ones that come with scikit-learn."""

from __future__ import annotations

import gzip
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zfree.errors import DataError

DEMONSTRATION = "the 8 × 8 digits of scikit-learn, a demonstration: MNIST could not be fetched"
"""Where digits came from that are not MNIST."""
MOST_IMAGES = 1_000_000
"""In one file; MNIST has 60,000, its extensions 814,255."""


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
        return _digits(*_arrays(path), path.name)
    from sklearn.datasets import fetch_openml, load_digits

    try:
        pixels = fetch_openml("mnist_784", version=1, as_frame=False).data.astype(np.uint8)
        return _digits(pixels[:60_000], pixels[60_000:], "OpenML")
    except OSError:  # no network
        small = np.round(load_digits().data * (255 / 16)).astype(np.uint8)
        return Digits(small[:1500], small[1500:], 8, DEMONSTRATION)


def _arrays(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
            return content["x_train"], content["x_test"]
    except Exception as error:  # a foreign or damaged file can fail anywhere in numpy and zipfile
        raise DataError(
            f"{str(path)!r} is no MNIST archive with arrays x_train and x_test ({error}). Download it again, or give another."
        ) from error


def _digits(train: NDArray[Any], test: NDArray[Any], source: str) -> Digits:
    for images in (train, test):
        if images.dtype != np.uint8 or images.ndim not in (2, 3) or not len(images) or images[0].size != 784:
            raise DataError(f"MNIST has bytes in images of 28 × 28; {source} has {images.dtype} in {images.shape}.")
    return Digits(train.reshape(len(train), -1), test.reshape(len(test), -1), 28, source)


def _idx(folder: Path, start: str) -> NDArray[np.uint8]:
    """The images of an idx file, packed or not: 16 bytes of header, then pixels."""
    found = sorted(path for path in folder.glob(f"{start}*") if path.is_file())
    if not found:
        raise DataError(f"{folder} has no file {start}-idx3-ubyte.")
    with found[0].open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(found[0]) if packed else found[0].open("rb") as opened:
            _, n, height, width = struct.unpack(">4I", opened.read(16))
            size = n * height * width if n <= MOST_IMAGES and max(height, width) <= 28 else -1
            # No more than the header says is unpacked, so that a small file cannot fill the memory.
            content = opened.read(size + 1) if size >= 0 else b""
    except (OSError, EOFError, zlib.error, struct.error) as error:
        raise DataError(f"{found[0]} is cut off or no idx file ({error}). Download it again.") from error
    if len(content) != size:
        raise DataError(f"{found[0]} is cut off or no idx file of MNIST. Download it again.")
    return np.frombuffer(content, dtype=np.uint8).reshape(n, height, width)
