"""The autoencoder experiment on generated images: data in, table and figure out, without a network."""

from __future__ import annotations

import gzip
import json
import struct
from dataclasses import replace

import numpy as np
import pytest
import sklearn.datasets

from zfree.errors import DataError, SpecificationError
from zfree.experiments import EXPERIMENTS, run
from zfree.neural.images import load_mnist

RNG = np.random.default_rng(0)
TRAIN = (255 * (RNG.uniform(size=(200, 28, 28)) < 0.2)).astype(np.uint8)
TEST = TRAIN[:20]


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "mnist.npz"
    np.savez(path, x_train=TRAIN, x_test=TEST)
    return str(path)


def test_from_a_file_to_a_table_and_a_figure(archive, tmp_path):
    experiment = replace(EXPERIMENTS["vae-mnist"](), data=archive, iterations=2, images=6)
    report = run(experiment, tmp_path / "out", jobs=1)
    rows = {n.row: n for n in report.numbers if n.column == "NLL"}
    assert list(rows) == ["I", "sigmoid", "exp(-|z|)", "exp(-z^2)", "0.25 + exp(-z^2)"]
    assert all(0 < n.ours < 784 for n in rows.values())
    assert all(n.paper is None for n in rows.values())  # two iterations are not the paper's
    assert len(report.draw().axes) == 8
    assert sorted(p.name for p in (tmp_path / "out" / "scratch").glob("*.csv")) == [f"{k}.csv" for k in range(5)]
    first = json.loads((tmp_path / "out" / "trials.jsonl").read_text().splitlines()[0])
    assert [iteration for iteration, _ in first["curve"]] == [1, 2]
    assert sum(first["density"]) * 0.25 == pytest.approx(1.0)
    again = run(replace(experiment, diffusion="sigmoid"), tmp_path / "again", jobs=1, figures=False)
    assert again.numbers[0] == rows["sigmoid"]


def test_one_diffusion_and_the_papers_numbers(archive):
    experiment = replace(EXPERIMENTS["vae-mnist"](), data=archive, diffusion="I")
    record = {
        "nll": 97.0,
        "standard_error": 0.2,
        "effective_size": 300.0,
        "method": "m",
        "source": "s",
        "half_square": 4.0,
        "identity": 1.0,
    }
    report = experiment.report([((0,), record)])
    assert report.numbers[0].paper == 96.17
    assert [f.holds for f in report.findings] == [True]
    assert not experiment.report([((0,), {**record, "nll": 99.0})]).findings[0].holds


def test_idx_files_packed_and_plain(tmp_path):
    for name, images, pack in (("train", TRAIN, gzip.compress), ("t10k", TEST, bytes)):
        content = struct.pack(">iiii", 2051, *images.shape) + images.tobytes()
        (tmp_path / f"{name}-images-idx3-ubyte").write_bytes(pack(content))
    digits = load_mnist(str(tmp_path))
    assert np.array_equal(digits.train, TRAIN.reshape(200, 784))
    assert np.array_equal(digits.test, TEST.reshape(20, 784))
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(b"\0" * 40)
    with pytest.raises(DataError, match="cut off"):
        load_mnist(str(tmp_path))


def test_offline_the_small_digits_are_a_labelled_demonstration(monkeypatch):
    def offline(*arguments, **options):
        raise OSError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    digits = load_mnist()
    assert digits.train.shape[1] == 64
    assert digits.side == 8
    assert "demonstration" in digits.source
    record = {
        "nll": 97.0,
        "standard_error": 0.2,
        "effective_size": 3.0,
        "method": "m",
        "source": digits.source,
        "half_square": 4.0,
        "identity": 1.0,
    }
    assert not EXPERIMENTS["vae-mnist"]().report([((0,), record)]).findings


def test_refusals(tmp_path, archive):
    with pytest.raises(DataError, match="no file or folder"):
        load_mnist(str(tmp_path / "nothing.npz"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="train-images"):
        load_mnist(str(tmp_path / "empty"))
    np.savez(tmp_path / "other.npz", x=TRAIN)
    with pytest.raises(DataError, match="x_train"):
        load_mnist(str(tmp_path / "other.npz"))
    np.savez(tmp_path / "wrong.npz", x_train=TRAIN.astype(float), x_test=TEST)
    with pytest.raises(DataError, match="bytes"):
        load_mnist(str(tmp_path / "wrong.npz"))
    with pytest.raises(SpecificationError, match="diffusion must be"):
        replace(EXPERIMENTS["vae-mnist"](), data=archive, diffusion="z").check()
