"""Interrupted or not, on one process or several: the same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, fields, replace

import numpy as np
import pytest

from zfree.errors import DamagedFileWarning, MissingDependencyError, SpecificationError
from zfree.experiments import EXPERIMENTS, run

FILES = ("config.json", "trials.jsonl", "table.md", "table.csv", "figure.png", "figure.pdf")
SMALL = replace(EXPERIMENTS["dirichlet"](), sizes=(60, 90), trials=3)


def contents(folder, files=FILES):
    assert sorted(p.name for p in folder.iterdir()) == sorted(files)
    return {name: (folder / name).read_bytes() for name in files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    run(SMALL, folder, jobs=1)
    return contents(folder)


def test_the_number_of_processes_changes_nothing(tmp_path, undisturbed):
    run(SMALL, tmp_path, jobs=2)
    assert contents(tmp_path) == undisturbed


def test_a_run_stopped_in_the_middle_of_a_line_goes_on(tmp_path, undisturbed):
    lines = undisturbed["trials.jsonl"].splitlines(keepends=True)
    (tmp_path / "config.json").write_bytes(undisturbed["config.json"])
    (tmp_path / "trials.jsonl").write_bytes(lines[4] + b"garbage\n\n{}\n" + lines[1] + lines[2][:50])
    seen = []
    with pytest.warns(DamagedFileWarning, match=r"lines 2, 4 of .*trials\.jsonl cannot be used"):
        run(SMALL, tmp_path, jobs=1, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(2, 6), (3, 6), (4, 6), (5, 6), (6, 6)]
    assert (tmp_path / "trials.damaged.jsonl").read_bytes() == b"garbage\n{}\n"
    (tmp_path / "trials.damaged.jsonl").unlink()
    assert contents(tmp_path) == undisturbed


def test_a_finished_run_is_not_run_again(tmp_path, undisturbed):
    for name in ("config.json", "trials.jsonl"):
        (tmp_path / name).write_bytes(undisturbed[name])
    seen = []
    run(SMALL, tmp_path, jobs=1, progress=lambda done, total: seen.append(done))
    assert seen == [6]
    assert contents(tmp_path) == undisturbed


def test_kill_minus_nine_and_start_again(tmp_path):
    """A process killed with SIGKILL half-way, then the same command again."""
    command = [sys.executable, "-m", "zfree.cli", "reproduce", "dirichlet", "--jobs", "2", "--no-figures"]
    command += ["--set", "trials=40", "--set", "sizes=[150]"]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}

    def start(folder):
        return subprocess.Popen([*command, "--output", str(folder)], stdout=subprocess.DEVNULL, env=environment)

    assert start(tmp_path / "whole").wait() == 0
    process = start(tmp_path / "killed")
    results = tmp_path / "killed" / "dirichlet" / "trials.jsonl"
    deadline = time.monotonic() + 60
    while not (results.exists() and results.read_bytes().count(b"\n") >= 5):
        assert process.poll() is None, "finished before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = results.read_bytes().count(b"\n")
    assert 5 <= kept < 40
    assert not (tmp_path / "killed" / "dirichlet" / "table.md").exists()
    assert start(tmp_path / "killed").wait() == 0
    killed, whole = (contents(tmp_path / name / "dirichlet", FILES[:4]) for name in ("killed", "whole"))
    assert killed == whole


def test_nonsense_does_not_touch_an_earlier_run(tmp_path, undisturbed):
    for name, content in undisturbed.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SpecificationError, match="alpha"):
        run(replace(SMALL, alpha=(-1.0, 2.0)), tmp_path, jobs=1, fresh=True)
    assert contents(tmp_path) == undisturbed


def test_without_matplotlib_the_run_does_not_start(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match="--no-figures"):
        run(SMALL, tmp_path / "new", jobs=1)
    assert not (tmp_path / "new").exists()


def test_other_settings_are_refused_unless_fresh(tmp_path):
    run(SMALL, tmp_path, jobs=1)
    other = replace(SMALL, seed=1)
    with pytest.raises(SpecificationError, match=r"other settings \(seed = 0\).*--fresh"):
        run(other, tmp_path, jobs=1, figures=False)
    run(other, tmp_path, jobs=1, fresh=True, figures=False)
    config = json.loads((tmp_path / "config.json").read_text())
    assert not (tmp_path / "figure.png").exists()  # of the run that was thrown away
    assert config["seed"] == 1
    assert config["truth"] == SMALL.truth


def test_every_trial_has_its_own_stream():
    draws = {key: SMALL.stream(*key).uniform() for key in SMALL.plan()}
    assert len(set(draws.values())) == len(draws)
    assert draws[60, 1] == SMALL.stream(60, 1).uniform()
    assert replace(SMALL, seed=1).stream(60, 1).uniform() != draws[60, 1]


def test_settings_are_checked():
    assert SMALL.with_settings({"trials": "7", "alpha": "[1, 2.5]"}).alpha == (1, 2.5)
    for settings, message in [
        ({"trails": "7"}, "no setting 'trails'.*trials"),
        ({"trials": "seven"}, "JSON"),
        ({"trials": "7.5"}, "whole number"),
        ({"trials": "0"}, "positive"),
        ({"sizes": "[60, 60]"}, "different"),
        ({"alpha": "[NaN, 1]"}, "JSON"),
        ({"sizes": "[]"}, "a list of different positive whole numbers"),
        ({"sizes": "[10.5]"}, "a list of different positive whole numbers"),
        ({"alpha": "3"}, "a list"),
        ({"alpha": '["1"]'}, "a list of numbers"),
    ]:
        with pytest.raises(SpecificationError, match=message):
            SMALL.with_settings(settings)
    gaussian = EXPERIMENTS["gaussian-orthant"]()
    assert gaussian.with_settings({"precision": "100"}) == replace(gaussian, precision=100.0)  # 100 is 100.0
    with pytest.raises(
        SpecificationError, match=r"precision=k is not a number or a list in JSON, such as precision=0\.5"
    ):
        gaussian.with_settings({"precision": "k"})
    assert np.array_equal(gaussian.with_settings({"precision": "7"}).setting().precision, 7 * np.eye(10))


def test_other_defaults_of_a_parents_settings_keep_their_place_and_kind():
    parent = EXPERIMENTS["dirichlet"]

    @dataclass(frozen=True)
    class Longer(parent, trials=7):
        extra: int = 1

    kinds, theirs = ({f.name: f.type for f in fields(cls)} for cls in (Longer, parent))
    assert list(kinds.items()) == [*theirs.items(), ("extra", "int")]
    assert (Longer().trials, Longer(trials=2).trials, parent().trials) == (7, 2, 50)
    with pytest.raises(TypeError, match="Wrong inherits no setting trails"):

        class Wrong(parent, trails=7): ...
