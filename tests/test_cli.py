"""The command line as a user meets it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from typer.testing import CliRunner

import zfree
from zfree import experiments
from zfree.cli import app
from zfree.experiments import EXPERIMENTS, Finding, Number, Report
from zfree.experiments.base import Experiment


def invoke(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(a) for a in arguments])


@dataclass(frozen=True)
class Coin(Experiment):
    """Heads or tails."""

    trials: int = 5
    name = "coin"
    title = "A coin [x1]"
    place = "nowhere"
    small: ClassVar[dict[str, Any]] = {"trials": 2}

    def check(self):
        pass

    def plan(self):
        return [(k,) for k in range(self.trials)]

    def trial(self, key, scratch):
        return {"heads": bool(self.stream(*key).uniform() < 0.5)}

    def report(self, records):
        share = sum(r["heads"] for _, r in records) / len(records)
        return Report(
            [Number("Heads", "K[x1,x1]", "share", share, 0.5)], [Finding("fair", True, "so-so")], lambda: None
        )


@pytest.fixture
def coin(monkeypatch):
    monkeypatch.setattr(experiments, "EXPERIMENTS", {"coin": Coin})


def test_list_names_every_experiment():
    result = invoke("reproduce", "list")
    assert result.exit_code == 0
    assert all(name in result.output for name in EXPERIMENTS)


def test_version_and_help():
    assert invoke("--version").output.strip() == f"zfree {zfree.__version__}"
    for arguments in (["--help"], ["reproduce", "-h"], ["demo", "-h"]):
        assert invoke(*arguments).exit_code == 0


def test_a_run_prints_settings_table_findings_and_folder(coin, tmp_path):
    result = invoke("reproduce", "coin", "-o", tmp_path, "--jobs", 1, "--no-figures", "--quick", "--seed", 3)
    assert result.exit_code == 0, result.output
    for text in (
        "A coin [x1]",
        "coin seed=3 trials=2",
        "K[x1,x1]",
        "paper",
        "yes fair (so-so)",
        str(tmp_path / "coin"),
    ):
        assert text in result.output
    assert (tmp_path / "coin" / "trials.jsonl").read_text().count("\n") == 2


def test_all_prints_the_times(coin, tmp_path):
    result = invoke("reproduce", "all", "-o", tmp_path, "--jobs", 1, "--no-figures")
    assert result.exit_code == 0, result.output
    assert "1 of 1" in result.output
    assert "together" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["coins"], "no experiment 'coins'; there are coin, and all"),
        (["coin", "--set", "trials"], "NAME=VALUE"),
        (["coin", "--set", "trials=many"], "JSON"),
        (["coin", "--set", "heads=1"], "no setting 'heads'"),
        (["coin", "--jobs", "0"], "--jobs must be"),
        (["coin", "--seed", "-1"], "seed"),
        (["all", "--set", "trials=1"], "one experiment"),
    ],
)
def test_mistakes_are_named(coin, tmp_path, arguments, message):
    result = invoke("reproduce", *arguments, "-o", tmp_path)
    assert result.exit_code == 2
    assert message in result.output
    assert not list(tmp_path.iterdir())


def test_a_folder_with_other_settings_is_refused(coin, tmp_path):
    first = ["reproduce", "coin", "-o", tmp_path, "--jobs", 1, "--no-figures"]
    assert invoke(*first).exit_code == 0
    refused = invoke(*first, "--seed", 1)
    assert refused.exit_code == 2
    assert "--fresh" in refused.output
    assert invoke(*first, "--seed", 1, "--fresh").exit_code == 0


@pytest.mark.parametrize("more", [[], ["--fresh"]])
@pytest.mark.parametrize("name", ["table.md", "config.json", "notes.txt"])
def test_a_strangers_file_is_neither_overwritten_nor_deleted(coin, tmp_path, name, more):
    (tmp_path / "coin").mkdir()
    (tmp_path / "coin" / name).write_text("mine")
    result = invoke("reproduce", "coin", "-o", tmp_path, "--jobs", 1, "--no-figures", *more)
    assert result.exit_code == 2
    assert f"holds what no run wrote ({name})" in result.output
    assert [p.name for p in (tmp_path / "coin").iterdir()] == [name]
    assert (tmp_path / "coin" / name).read_text() == "mine"


def test_fresh_keeps_a_strangers_file_beside_a_run(coin, tmp_path):
    command = ["reproduce", "coin", "-o", tmp_path, "--jobs", 1, "--no-figures"]
    assert invoke(*command).exit_code == 0
    (tmp_path / "coin" / "scratch").mkdir()
    (tmp_path / "coin" / "scratch" / "notes.txt").write_text("mine")
    refused = invoke(*command, "--fresh")
    assert refused.exit_code == 2
    assert "scratch/notes.txt" in refused.output
    assert (tmp_path / "coin" / "scratch" / "notes.txt").read_text() == "mine"
    assert (tmp_path / "coin" / "table.md").exists()


def test_damaged_lines_are_told_and_computed_again(coin, tmp_path):
    command = ["reproduce", "coin", "-o", tmp_path, "--jobs", 1, "--no-figures"]
    assert invoke(*command).exit_code == 0
    path = tmp_path / "coin" / "trials.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"trial": [3]', b'"trial": "3"'))
    result = invoke(*command)
    assert result.exit_code == 0
    assert f"note: line 4 of {path} cannot be used: kept in trials.damaged.jsonl" in result.output
    assert path.read_bytes() == whole


def test_more_trials_than_memory_are_refused_before_it_is_taken(coin, tmp_path):
    for value, message in (
        ("999999999", "999,999,999 trials"),
        ("9" * 30, "positive whole number"),
        ("-5", "positive"),
    ):
        result = invoke("reproduce", "coin", "-o", tmp_path, "--set", f"trials={value}", "--no-figures")
        assert result.exit_code == 2
        assert message in result.output
    assert invoke("reproduce", "coin", "-o", tmp_path, "--jobs", 99_999, "--no-figures").exit_code == 2
    assert not list(tmp_path.iterdir())


def test_memory_that_ran_out_is_a_sentence(coin, tmp_path, monkeypatch):
    def fail(self, records):
        raise MemoryError

    monkeypatch.setattr(Coin, "report", fail)
    result = invoke("reproduce", "coin", "-o", tmp_path, "--jobs", 1, "--no-figures")
    assert result.exit_code == 2
    assert "memory ran out" in result.output


def test_a_file_in_place_of_the_folder_is_named(coin, tmp_path):
    (tmp_path / "taken").write_text("")
    result = invoke("reproduce", "coin", "-o", tmp_path / "taken", "--jobs", 1, "--no-figures")
    assert result.exit_code == 2
    assert "taken" in result.output


def test_a_demo_that_cannot_be_written_is_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("mine")
    monkeypatch.setattr("zfree.demo.main", lambda arguments: (tmp_path / "taken").mkdir())
    result = invoke("demo", "--output", tmp_path / "taken")
    assert result.exit_code == 2
    assert "taken" in result.output


def test_a_console_without_greek_letters(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "zfree.cli", "reproduce", "list"]
    result = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    assert b"gaussian-orthant" in result.stdout


def test_without_typer_the_command_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; import zfree.cli"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "pip install zfree[cli]" in result.stderr
