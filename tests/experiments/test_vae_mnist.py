"""The autoencoder experiment on generated images: data in, table and figure out, without a network."""

from __future__ import annotations

import gzip
import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets

from zfree.errors import DataError, SpecificationError
from zfree.experiments import EXPERIMENTS, run
from zfree.experiments.records import read_trials
from zfree.neural.images import load_mnist

PAGES = Path(__file__).resolve().parents[2] / "docs" / "reproduction"
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
    assert sorted(p.name for p in (tmp_path / "out" / "scratch").glob("*.csv")) == [f"{k}-0.csv" for k in range(5)]
    first = json.loads((tmp_path / "out" / "trials.jsonl").read_text().splitlines()[0])
    assert [iteration for iteration, _ in first["curve"]] == [1, 2]
    assert sum(first["density"]) * 0.25 == pytest.approx(1.0)
    again = run(replace(experiment, diffusion="sigmoid"), tmp_path / "again", jobs=1, figures=False)
    assert again.numbers[0] == rows["sigmoid"]


def test_one_diffusion_and_the_papers_numbers(archive):
    experiment = replace(EXPERIMENTS["vae-mnist"](), data=archive, diffusion="I")
    record = RECORD
    report = experiment.report([((0, 0), record)])
    assert report.numbers[0].paper == 96.17
    assert [(n.column, n.ours) for n in report.numbers if n.column in ("seeds", "processor minutes")] == [
        ("seeds", 1),
        ("processor minutes", 1.5),
    ]
    assert [f.holds for f in report.findings] == [True]
    assert not experiment.report([((0, 0), {**record, "nll": 99.0})]).findings[0].holds


RECORD = {
    "nll": 97.0,
    "standard_error": 0.2,
    "effective_size": 300.0,
    "method": "m",
    "source": "s",
    "half_square": 4.0,
    "identity": 1.0,
    "seconds": 90.0,
}


def reported(archive, nll, **changes):
    """The report on given likelihoods: name → one for each seed."""
    experiment = replace(EXPERIMENTS["vae-mnist"](), data=archive, diffusion=", ".join(nll), **changes)
    names = ("I", "sigmoid", "exp(-|z|)", "exp(-z^2)")
    return experiment.report(
        [((names.index(n), seed), {**RECORD, "nll": v}) for n, values in nll.items() for seed, v in enumerate(values)]
    )


def test_seeds_become_a_mean_and_a_deviation(archive):
    report = reported(archive, {"I": [96.03, 96.23, 96.43], "sigmoid": [97.0]}, seeds="3, 1")
    found = {(n.row, n.column): (n.ours, n.paper) for n in report.numbers}
    assert found["I", "NLL"] == (pytest.approx(96.23), 96.17)
    assert found["I", "± over seeds"] == (pytest.approx(0.2), 0.10)
    assert ("sigmoid", "± over seeds") not in found
    assert "I 96.03, 96.23, 96.43; sigmoid 97.00" in report.remarks[1]
    assert [cells[1] for cells in next(iter(report.tables().values()))[1:]] == [
        "96.23",
        "97",
    ]  # hundredths of a nat are shown


def test_the_order_is_the_papers_up_to_two_standard_errors(archive):
    def order(**nll):
        likelihoods = dict(zip(("I", "sigmoid", "exp(-|z|)", "exp(-z^2)"), nll.values(), strict=True))
        return reported(archive, likelihoods).findings[0]

    assert order(a=[96.0], b=[96.7], c=[99.0], d=[130.0]).holds
    assert "sigmoid − I = 0.70 ± 0.40" in order(a=[96.0], b=[96.7], c=[99.0], d=[130.0]).detail
    assert order(a=[96.5], b=[96.0], c=[99.0], d=[130.0]).holds  # within what the paper's own deviations allow
    assert not order(a=[97.0], b=[96.0], c=[99.0], d=[130.0]).holds
    assert not order(a=[96.5] * 4, b=[96.0] * 4, c=[99.0], d=[130.0]).holds  # more seeds tell more
    assert order(a=[96.5, 99.0], b=[96.0, 96.0], c=[99.0], d=[130.0]).holds  # and a wide spread less


def test_every_training_has_its_own_seed_and_files(archive, tmp_path):
    experiment = replace(EXPERIMENTS["vae-mnist"](), data=archive, diffusion="sigmoid, I", seeds="1, 2")
    assert experiment.plan() == [(1, 0), (0, 0), (0, 1)]
    first, second = (experiment.training(key, tmp_path) for key in ((0, 0), (0, 1)))
    assert (first["random_state"], second["random_state"]) == (0, 1)
    assert first["checkpoint"] != second["checkpoint"]
    assert replace(experiment, seeds="2").plan() == [(1, 0), (0, 0), (1, 1), (0, 1)]
    for wrong in ("0", "10", "1, 2, 3", "two", ""):
        with pytest.raises(SpecificationError, match="seeds must be a number from 1 to 9, or one for each of the 2 D"):
            replace(experiment, seeds=wrong).check()


FOUR = "I, sigmoid, exp(-|z|), exp(-z^2)"
PUBLISHED = {
    "vae-mnist": {"diffusion": FOUR, "seeds": "3,3,2,2", "iterations": 100_000},
    "latent-32-vae-mnist": {"latent": 32, "diffusion": FOUR, "seeds": "2,2,2,2", "iterations": 100_000},
    "floor-vae-mnist": {"diffusion": "0.25 + exp(-z^2)", "iterations": 50_000},
}


@pytest.mark.parametrize("page", PUBLISHED)
def test_the_published_tables_are_those_of_the_published_trials(page):
    experiment = EXPERIMENTS["vae-mnist"](data="mnist.npz", **PUBLISHED[page])
    keys = experiment.plan()
    done, damaged = read_trials(PAGES / "trials" / f"{page}.jsonl", keys, experiment.record())
    assert sorted(done) == sorted(keys)
    assert not damaged
    report = experiment.report([(key, done[key]) for key in keys])
    written = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    assert written == report.to_markdown(experiment.title, str(experiment))


def test_every_published_table_of_autoencoders_has_its_trials():
    assert {p.stem for p in PAGES.glob("*vae-mnist.md")} == set(PUBLISHED)
    assert {p.stem for p in (PAGES / "trials").iterdir()} == set(PUBLISHED)


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
    record = {**RECORD, "source": digits.source}
    assert not EXPERIMENTS["vae-mnist"](diffusion="I").report([((0, 0), record)]).findings


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
