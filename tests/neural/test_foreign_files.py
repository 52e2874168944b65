"""Data files that are not what their name says: no code in them is run, and each is refused in a sentence that names it."""

from __future__ import annotations

import gzip
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from zfree.errors import DataError
from zfree.neural import FeatureStatistics, load_faces
from zfree.neural.images import load_mnist

IMAGES = np.arange(3 * 784, dtype=np.uint8).reshape(3, 28, 28)


class Hostile:
    """Makes a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return Path.touch, (Path(self.marker),)


def _archive(path, **arrays):
    with path.open("wb") as file:
        np.savez(file, **arrays)


def _array(path):
    with path.open("wb") as file:
        np.save(file, IMAGES)


def _zeros(path, name, shape):
    """An archive whose header promises more than it holds."""
    with zipfile.ZipFile(path, "w") as archive, archive.open(name, "w") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": shape})


FOREIGN = {
    "empty": lambda path, marker: path.write_bytes(b""),
    "text": lambda path, marker: path.write_text("x_train\n"),
    "noise": lambda path, marker: path.write_bytes(np.random.default_rng(0).bytes(3000)),
    "pickle": lambda path, marker: path.write_bytes(pickle.dumps(Hostile(marker))),
    "objects": lambda path, marker: _archive(
        path,
        **{
            name: np.array([Hostile(marker)], dtype=object)
            for name in ("x_train", "x_test", "count", "mean", "scatter")
        },
    ),
    "an array alone": lambda path, marker: _array(path),
    "numbers": lambda path, marker: _archive(
        path, **{name: np.array(3) for name in ("x_train", "x_test", "count", "mean", "scatter")}
    ),
    "no rows": lambda path, marker: _archive(
        path, **{name: np.zeros((0, 784), np.uint8) for name in ("x_train", "x_test", "count", "mean", "scatter")}
    ),
    "a huge promise": lambda path, marker: _zeros(path, "x_train.npy", (10**9, 784)),
}
READERS = {"digits": lambda path: load_mnist(str(path)), "statistics": FeatureStatistics.load}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", FOREIGN)
def test_archives(tmp_path, name, reader):
    path, marker = tmp_path / "data.npz", tmp_path / "marker"
    FOREIGN[name](path, marker)
    with pytest.raises(DataError, match=r"data\.npz"):
        READERS[reader](path)
    assert not marker.exists()


def test_a_cut_archive_and_a_folder(tmp_path):
    path = tmp_path / "data.npz"
    _archive(path, x_train=IMAGES, x_test=IMAGES)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match=r"data\.npz"):
        load_mnist(str(path))
    with pytest.raises(DataError, match="no statistics"):
        FeatureStatistics.load(tmp_path)


def test_statistics_come_back_as_they_were(tmp_path):
    whole = FeatureStatistics.of(np.random.default_rng(0).normal(size=(9, 3)))
    whole.save(tmp_path / "a.npz")
    again = FeatureStatistics.load(tmp_path / "a.npz")
    assert again.count == 9
    assert np.array_equal(again.scatter, whole.scatter)
    for wrong in ({"count": 0}, {"count": 1.5}, {"mean": np.array([np.nan] * 3)}, {"scatter": np.eye(2)}):
        _archive(tmp_path / "b.npz", **{"count": 9, "mean": whole.mean, "scatter": whole.scatter, **wrong})
        with pytest.raises(DataError, match="no statistics"):
            FeatureStatistics.load(tmp_path / "b.npz")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 10,
        struct.pack(">iiii", 2051, 2, 28, 28) + b"\x00" * 100,
        struct.pack(">iiii", 2051, 3, 28, 28) + IMAGES.tobytes() + b"\x00",
        struct.pack(">iiii", 2051, -1, 28, 28),
        struct.pack(">iiii", 2051, 65536, 65536, 1),  # the product of these overflows 32 bits to zero
        b"\x1f\x8b" + b"\x00" * 50,
        gzip.compress(struct.pack(">iiii", 2051, 3, 28, 28) + IMAGES.tobytes())[:-20],
        gzip.compress(b"\x00" * 16 + b"\x00" * 10**7),
    ],
)
def test_idx_files(tmp_path, content):
    for name in ("train", "t10k"):
        (tmp_path / f"{name}-images-idx3-ubyte").write_bytes(content)
    with pytest.raises(DataError, match=r"train-images-idx3-ubyte is cut off or no idx file"):
        load_mnist(str(tmp_path))


def test_the_file_of_reduced_photographs(tmp_path):
    folder = tmp_path / "photographs"
    folder.mkdir()
    for k in range(3):
        Image.fromarray(np.full((40, 36, 3), 50 * k, dtype=np.uint8)).save(folder / f"{k}.png")
    marker = tmp_path / "marker"

    def read():
        return load_faces(folder, tmp_path / "faces.npy", side=8, crop=32)

    assert read().shape == (3, 192)
    (cache,) = tmp_path.glob("faces-*.npy")
    right = cache.read_bytes()
    for content in (b"", right[:-5], pickle.dumps(Hostile(marker)), b"text"):
        cache.write_bytes(content)
        with pytest.raises(DataError, match="Delete it, and it is made again"):
            read()
    for array in (np.ones((3, 192)), np.ones((2, 192), np.uint8), np.array([Hostile(marker)] * 3, dtype=object)):
        with cache.open("wb") as file:
            np.save(file, array)
        with pytest.raises(DataError, match="Delete it, and it is made again"):
            read()
    assert not marker.exists()
    cache.unlink()
    assert read().shape == (3, 192)
