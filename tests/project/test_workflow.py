"""What runs elsewhere is what runs at home: the workflow and the hooks call what the Makefile has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORKFLOW = (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z][\w-]*):(?!=)", MAKEFILE, flags=re.MULTILINE))


def commands(workflow: str) -> list[str]:
    """What the steps of a workflow run. Text is enough, as long as every step has one line."""
    found = re.findall(r"^ *(?:- )?run: *(.*)$", workflow, flags=re.MULTILINE)
    assert not any(command[:1] in ("|", ">", "") for command in found), "a step of several lines"
    return found


def strangers(workflow: str) -> list[str]:
    """Commands that are not one target of the Makefile."""
    return [c for c in commands(workflow) if c.split()[0] != "make" or c.split()[1:] not in [[t] for t in TARGETS]]


def recipe(target: str) -> list[str]:
    """The lines of a target, with the folder of programs written out."""
    (lines,) = re.findall(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, flags=re.MULTILINE)
    return [line.strip().replace("$(BIN)", ".venv/bin") for line in lines.splitlines()]


def test_the_workflow_calls_targets_that_exist():
    assert strangers(WORKFLOW) == []
    assert {"make lint", "make test", "make docs"} <= set(commands(WORKFLOW))


def test_strangers_are_found():
    assert strangers("      - run: make lint\n      - run: make nothing\n        run: pytest\n") == [
        "make nothing",
        "pytest",
    ]
    with pytest.raises(AssertionError, match="several lines"):
        commands("      - run: |\n          pytest\n")


def test_the_workflow_runs_every_python_that_the_package_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    (matrix,) = re.findall(r"^ *python: \[(.*)\]$", WORKFLOW, flags=re.MULTILINE)
    assert re.findall(r"3\.\d+", matrix) == named
    assert project["requires-python"] == f">={named[0]}"


def test_the_hooks_run_what_lint_runs():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"^ *entry: *(.*)$", hooks, flags=re.MULTILINE) == recipe("lint")


def test_every_target_is_phony():
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, flags=re.MULTILINE)
    assert set(phony.split()) == TARGETS


def test_what_people_are_told_to_make_exists():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / ".ci/run", *(ROOT / ".github").rglob("*.md")]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        told = re.findall(r"(?:^|`)make ([a-z][\w-]*)", text, flags=re.MULTILINE)
        assert set(told) <= TARGETS, page
