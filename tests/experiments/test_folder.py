"""The folder of a run: nothing of a stranger's is overwritten or deleted, and two runs do not share one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from zfree.errors import SpecificationError
from zfree.experiments import EXPERIMENTS, check_folder, run
from zfree.experiments.folder import FILES

SMALL = replace(EXPERIMENTS["exponential"](), sizes=(30,), trials=2)
WRITTEN = ["config.json", "table.csv", "table.md", "trials.jsonl"]


def go(folder, experiment=SMALL, **options):
    return run(experiment, folder, jobs=1, figures=False, **options)


def listing(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def finished(tmp_path):
    folder = tmp_path / "run"
    go(folder)
    assert sorted(listing(folder)) == WRITTEN
    return folder


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("name", [*FILES, "notes.txt", "scratch/0-0.pt", "trials.jsonl.bak", "table.md.1.part"])
def test_without_a_configuration_everything_is_a_strangers(tmp_path, name, fresh):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(SpecificationError, match=r"holds what no run wrote \((\w|[./])+\).*another --output"):
        go(tmp_path, fresh=fresh)
    assert listing(tmp_path) == {name: b"mine"}


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize(
    "content", [b"{}", b"[1]", b"5", b"\xff\xfe", b"", b"[" * 100_000, b'{"zfree": 1, "experiment": "exponential"}']
)
def test_a_configuration_of_something_else(tmp_path, content, fresh):
    (tmp_path / "config.json").write_bytes(content)
    (tmp_path / "table.md").write_text("mine")
    with pytest.raises(SpecificationError, match=r"config\.json, table\.md"):
        go(tmp_path, fresh=fresh)
    assert listing(tmp_path) == {"config.json": content, "table.md": b"mine"}


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize(
    "name", ["notes.txt", "scratch/notes.txt", "scratch/10-0.pt", "more/0-0.pt", "scratch/more/0-0.pt"]
)
def test_a_strangers_file_beside_a_run_is_named_and_kept(finished, name, fresh):
    (finished / name).parent.mkdir(parents=True, exist_ok=True)
    (finished / name).write_text("mine")
    before = listing(finished)
    with pytest.raises(SpecificationError, match=f"holds what no run wrote \\({name.split('/0')[0]}"):
        go(finished, fresh=fresh)
    assert listing(finished) == before


def test_a_folder_with_the_name_of_a_file(finished):
    (finished / "figure.png").mkdir()
    with pytest.raises(SpecificationError, match=r"figure\.png"):
        go(finished, fresh=True)
    assert (finished / "figure.png").is_dir()


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(SpecificationError, match="is a file"):
        go(tmp_path / "run", fresh=True)
    assert (tmp_path / "run").read_text() == "mine"


def test_fresh_deletes_what_a_run_wrote_and_leaves_hidden_files(finished):
    scratch = finished / "scratch"
    scratch.mkdir()
    for name in ("0-0.pt", "1-0.csv", "faces-140-64-ab.npy", "reference-ab.npz", "0-0.pt.77-8.part"):
        (scratch / name).write_text("old")
    for name in ("figure.png", "trials.damaged.jsonl", "table.md.12-34.part", ".hidden"):
        (finished / name).write_text("old")
    go(finished, replace(SMALL, seed=1), fresh=True)
    assert sorted(listing(finished)) == [".hidden", *WRITTEN]
    assert not scratch.exists()
    assert json.loads((finished / "config.json").read_text())["seed"] == 1


def test_what_a_stop_left_behind_is_cleared_away(finished):
    (finished / "trials.jsonl.4242.part").write_text("half")
    go(finished)
    assert sorted(listing(finished)) == WRITTEN
    (finished / "config.json").rename(finished / "config.json.77-8.part")  # stopped before the first file had its name
    for name in WRITTEN[1:]:
        (finished / name).unlink()
    go(finished)
    assert sorted(listing(finished)) == WRITTEN


@pytest.mark.parametrize("deleted", [1, 2, 3])
def test_a_stop_in_the_middle_of_fresh_can_be_made_good(finished, monkeypatch, deleted):
    """However many files were deleted by then, the same command still knows its folder."""
    unlink, calls = Path.unlink, []

    def stop(path, missing_ok=False):
        unlink(path, missing_ok)
        calls.append(path.name)
        if len(calls) == deleted:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", stop)
        with pytest.raises(KeyboardInterrupt):
            go(finished, replace(SMALL, seed=1), fresh=True)
    assert len(listing(finished)) == len(WRITTEN) - deleted
    go(finished, replace(SMALL, seed=1), fresh=True)
    assert sorted(listing(finished)) == WRITTEN


def test_other_settings_of_the_same_run(finished):
    with pytest.raises(SpecificationError, match=r"other settings \(trials = 2\)"):
        check_folder(replace(SMALL, trials=3), finished)
    check_folder(replace(SMALL, trials=3), finished, fresh=True)


@pytest.mark.skipif(os.name == "nt", reason="no such locks")
def test_two_runs_do_not_share_a_folder(finished):
    """A process that has the folder keeps others out; when it is killed, the folder is free."""
    code = """
    import sys, time
    from pathlib import Path
    from zfree.experiments.folder import held
    with held(Path(sys.argv[1])):
        print("held", flush=True)
        time.sleep(60)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(finished)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout.readline() == "held\n"
            before = listing(finished)
            with pytest.raises(SpecificationError, match="another run is writing"):
                go(finished, fresh=True)
            assert listing(finished) == before
        finally:
            other.kill()
    go(finished)
    assert listing(finished) == before
