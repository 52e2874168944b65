"""The experiment on rendered scenes, from start to table, at tiny sizes."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from zfree.errors import SpecificationError
from zfree.experiments import EXPERIMENTS, run
from zfree.experiments.autoencoders import GRID, PAPERS, pack
from zfree.experiments.records import fits
from zfree.neural.vae_training import AutoencoderTrainer

GREY = pack(np.full((GRID**2, 768), 0.5))


def small(**changes):
    settings = {
        "iterations": 4,
        "images": 120,
        "width": 2,
        "batch_size": 10,
        "side": 16,
        "scenes": 150,
        "features": "blocks",
        "every": 1,
        "diffusion": "I, exp(-z^2)",
    }
    return replace(EXPERIMENTS["vae-scenes"](), **{**settings, **changes})


def record(first, last, **changes):
    curve = [[2000, first], [4000, last]]
    told = {"anew": 20.0, "blurred": 70.0, "half_square": 4.9, "off_centre": 0.25}
    return {"curve": curve, "samples": GREY, "count": 9, "source": "a", **told, **changes}


def test_from_the_seed_to_a_table_and_a_figure(tmp_path):
    experiment = small(features="wavelets", iterations=2)
    report = run(experiment, tmp_path / "out", jobs=1)
    assert len(report.numbers) == 4
    assert [n.row for n in report.numbers if n.column == "I"] == ["1", "2"]
    assert all(n.paper is None and n.ours > 0 for n in report.numbers)
    page = (tmp_path / "out" / "table.md").read_text()
    assert "rendered scenes, not CelebA" in page
    assert "no FID" in page
    figure = report.draw()
    assert len(figure.axes) == 4  # curves, scenes, and samples of two D
    assert figure.axes[1].get_title() == "rendered scenes, not CelebA"
    assert (tmp_path / "out" / "figure.png").exists()
    assert not experiment.stated  # nothing of it is the paper's


def test_a_training_that_was_stopped_ends_the_same(tmp_path, monkeypatch):
    experiment = small(diffusion="sigmoid", seeds="2")
    run(experiment, tmp_path / "whole", jobs=1, figures=False)
    save, saved = AutoencoderTrainer._save, []

    def stop(trainer, path):
        save(trainer, path)
        saved.append(trainer.iteration)
        if len(saved) == 6:  # in the middle of the second training
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(AutoencoderTrainer, "_save", stop)
        with pytest.raises(KeyboardInterrupt):
            run(experiment, tmp_path / "cut", jobs=1, figures=False)
    assert len((tmp_path / "cut" / "trials.jsonl").read_text().splitlines()) == 1
    run(experiment, tmp_path / "cut", jobs=1, figures=False)
    for name in ("trials.jsonl", "table.md"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_seeds_start_from_networks_of_their_own(tmp_path):
    experiment = small(
        diffusion="I", seeds="2", iterations=1, learning_rate=1e-9
    )  # samples of the networks as they start
    report = run(experiment, tmp_path / "out", jobs=1, figures=False)
    assert {n.column for n in report.numbers} == {"I", "± I"}
    first, second = (json.loads(line) for line in (tmp_path / "out" / "trials.jsonl").read_text().splitlines())
    assert first["samples"] != second["samples"]
    assert first["anew"] == second["anew"]


def test_the_distance_falls_in_a_real_training(tmp_path):
    experiment = small(iterations=100, every=10, diffusion="I", width=4, learning_rate=2e-3)
    numbers = run(experiment, tmp_path / "out", jobs=1, figures=False).numbers
    assert numbers[-1].ours < 0.7 * numbers[0].ours
    assert (tmp_path / "out" / "scratch" / "0-0.pt").exists()


def test_findings_say_what_fell_and_in_which_order():
    experiment = EXPERIMENTS["vae-scenes"]()
    assert experiment.names() == list(PAPERS)  # I, sigmoid, exp(-|z|), exp(-z^2)

    def found(*ends):
        records = [((k, 0), record(200.0, end)) for k, end in enumerate(ends)]
        return [finding.holds for finding in experiment.report(records).findings]

    assert found(50.0, 80.0, 70.0, 60.0) == [True, True, True]
    assert found(50.0, 60.0, 70.0, 80.0) == [True, True, False]
    assert found(65.0, 80.0, 70.0, 60.0) == [True, False, False]
    assert found(50.0, 120.0, 70.0, 60.0) == [False, True, True]
    alone = replace(experiment, diffusion="I").report([((0, 0), record(200.0, 50.0))])
    assert [finding.holds for finding in alone.findings] == [True]
    assert "from 200.0 to 50.0" in str(alone.findings[0])


def test_the_page_says_how_far_scenes_are_from_scenes():
    remarks = " ".join(EXPERIMENTS["vae-scenes"]().report([((k, 0), record(9.0, 5.0)) for k in range(4)]).remarks)
    assert "anew are at 20.0, and blurred by a pixel at 70.0" in remarks
    assert "half a mean square of 16 and a mean of norm 0. The encoder's z have I 4.9 and 0.25; sigmoid 4.9" in remarks
    assert fits(record(9.0, 5.0), EXPERIMENTS["vae-scenes"]().record())


def test_scenes_anew_are_near_and_blurred_ones_are_not(tmp_path):
    experiment = small(side=32, images=200, scenes=200, iterations=1, features="wavelets")
    experiment.prepare(tmp_path, lambda done, total: None)
    drawn = np.concatenate(list(experiment._anew()))
    assert drawn.shape == (200, 3072)
    assert not (drawn[:, None] == experiment.load(tmp_path)[None, :50]).all(axis=2).any()
    found = experiment.trial((0, 0), tmp_path)
    assert 1.2 * found["anew"] < found["blurred"] < found["curve"][-1][1]
    assert (
        0 < found["off_centre"] ** 2 <= 2 * found["half_square"]
    )  # the mean of squares is above the square of the mean


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"data": "faces"}, "renders its images"),
        ({"scenes": 9}, "9 images, fewer than a batch of 10"),
        ({"side": 20}, "multiple of 16"),
        ({"features": "resnet"}, "features must be"),
        ({"learning_rate": -1.0}, "learning_rate must be"),
        ({"scenes": 10**12}, "of memory"),
    ],
)
def test_refusals_come_before_any_training(tmp_path, changes, text):
    with pytest.raises(SpecificationError, match=text):
        run(small(**changes), tmp_path / "out", jobs=1)
    assert not (tmp_path / "out").exists()


def test_it_is_run_by_itself():
    assert EXPERIMENTS["vae-scenes"].by_itself
