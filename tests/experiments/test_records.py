"""Damaged lines of the file of trials: set aside by number, computed again, never a traceback."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from zfree.errors import DamagedFileWarning, DataError
from zfree.experiments import EXPERIMENTS, run
from zfree.experiments.autoencoders import GRID, pack
from zfree.experiments.records import anything, fits, read_trials, to_line
from zfree.experiments.runner import run_trial

SMALL = replace(EXPERIMENTS["dirichlet"](), sizes=(60,), trials=4)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run(SMALL, folder, jobs=1, figures=False)
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def _edited(line, change):
    record = json.loads(line)
    change(record)
    return json.dumps(record).encode()


DAMAGED = {
    "not JSON": lambda line: b"garbage",
    "cut in the middle": lambda line: line[:40],
    "not text": lambda line: b"\xff\xfe\x00" + line,
    "an empty object": lambda line: b"{}",
    "a list": lambda line: b"[1, 2]",
    "a number": lambda line: b"7",
    "nothing": lambda line: b"null",
    "deep": lambda line: b"[" * 100_000,
    "no trial": lambda line: _edited(line, lambda r: r.pop("trial")),
    "another trial": lambda line: _edited(line, lambda r: r.update(trial=[60, 99])),
    "a trial of fractions": lambda line: _edited(line, lambda r: r.update(trial=[60, 1.0])),
    "a trial of truths": lambda line: _edited(line, lambda r: r.update(trial=[60, True])),
    "a nested trial": lambda line: _edited(line, lambda r: r.update(trial=[[60, 1]])),
    "text for a trial": lambda line: _edited(line, lambda r: r.update(trial="60, 1")),
    "no errors": lambda line: _edited(line, lambda r: r.pop("errors")),
    "a missing contender": lambda line: _edited(line, lambda r: r["errors"].pop("auto")),
    "a missing block": lambda line: _edited(line, lambda r: r["errors"]["auto"].pop("α")),
    "text for a number": lambda line: _edited(line, lambda r: r["errors"]["auto"].update(α="0.5")),
    "a truth for a number": lambda line: _edited(line, lambda r: r["errors"]["auto"].update(α=True)),
    "NaN": lambda line: _edited(line, lambda r: r["errors"]["auto"].update(α=float("nan"))),
    "infinity": lambda line: _edited(line, lambda r: r["errors"]["auto"].update(α=float("inf"))),
    "infinity in digits": lambda line: _edited(line, lambda r: r["errors"]["auto"].update(α=0.5)).replace(
        b"0.5}", b"1e999}"
    ),
    "a whole number of 400 digits": lambda line: _edited(line, lambda r: r["errors"]["auto"].update(α=10**400)),
    "nested": lambda line: _edited(line, lambda r: r["errors"]["auto"].update(α=[0.5])),
    "an object for a number": lambda line: _edited(line, lambda r: r["errors"]["auto"].update(α={"α": 0.5})),
    "a list for an object": lambda line: _edited(line, lambda r: r.update(errors=[1])),
    "more than was written": lambda line: _edited(line, lambda r: r.update(more=1)),
    "a name twice": lambda line: line[:-1] + b', "errors": {}}',
    "a name twice inside": lambda line: line.replace(b'"auto": {', b'"auto": {"\xce\xb1": 1.0, ', 1),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_line_is_set_aside_and_computed_again(tmp_path, whole, name):
    lines = whole["trials.jsonl"].splitlines()
    damaged = DAMAGED[name](lines[1])
    assert damaged != lines[1]
    (tmp_path / "config.json").write_bytes(whole["config.json"])
    (tmp_path / "trials.jsonl").write_bytes(b"\n".join([lines[0], damaged, *lines[2:]]) + b"\n")
    told, seen = [], []
    run(SMALL, tmp_path, jobs=1, figures=False, notice=told.append, progress=lambda done, total: seen.append(done))
    assert told == [
        f"line 2 of {tmp_path / 'trials.jsonl'} cannot be used: kept in trials.damaged.jsonl, and computed again."
    ]
    assert seen == [3, 4]
    assert (tmp_path / "trials.damaged.jsonl").read_bytes() == damaged + b"\n"
    found = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.name != "trials.damaged.jsonl"}
    assert found == whole


def test_all_damage_is_told_once_and_kept(tmp_path, whole):
    lines = whole["trials.jsonl"].splitlines(keepends=True)
    (tmp_path / "config.json").write_bytes(whole["config.json"])
    (tmp_path / "trials.damaged.jsonl").write_bytes(b"earlier\n")
    (tmp_path / "trials.jsonl").write_bytes(b"first\n\n" + lines[2] + b"fourth\n" * 12 + lines[0][:30])
    with pytest.warns(DamagedFileWarning, match=r"lines 1, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 3 more of"):
        run(SMALL, tmp_path, jobs=1, figures=False)
    assert (tmp_path / "trials.damaged.jsonl").read_bytes() == b"earlier\nfirst\n" + b"fourth\n" * 12
    assert (tmp_path / "trials.jsonl").read_bytes() == whole["trials.jsonl"]
    run(SMALL, tmp_path, jobs=1, figures=False)  # nothing more to say


def test_a_trial_twice(tmp_path, whole):
    """The same twice is one; two that differ are both set aside."""
    path, lines = tmp_path / "trials.jsonl", whole["trials.jsonl"].splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1], lines[0]]))
    found, damaged = read_trials(path, SMALL.plan(), SMALL.record())
    assert list(found) == [(60, 0), (60, 1)]
    assert not damaged
    other = _edited(lines[0], lambda r: r["errors"]["auto"].update(α=0.125)) + b"\n"
    path.write_bytes(b"".join([lines[0], lines[1], other, lines[0]]))
    found, damaged = read_trials(path, SMALL.plan(), SMALL.record())
    assert list(found) == [(60, 1)]
    assert list(damaged) == [1, 3, 4]


def test_without_a_pattern_a_line_must_still_be_json(tmp_path):
    path = tmp_path / "trials.jsonl"
    path.write_text('{"trial": [0], "a": NaN}\n{"trial": [1], "a": {"b": -Infinity}}\n{"trial": [2], "a": "b"}\n')
    found, damaged = read_trials(path, [(0,), (1,), (2,)], anything)
    assert found == {(2,): {"a": "b"}}
    assert list(damaged) == [1, 2]


TINY = {
    "exponential": {"sizes": (30,), "trials": 1},
    "gaussian-simplex": {"sizes": (150,), "trials": 1, "dimension": 2},
    "gaussian-orthant": {"sizes": (150,), "trials": 1, "dimension": 2},
    "dirichlet": {"sizes": (150,), "trials": 1},
    "robustness-gaussian-simplex": {"truths": 1, "trials": 1, "size": 150, "dimension": 2},
    "robustness-gaussian-orthant": {"truths": 1, "trials": 1, "size": 150, "dimension": 2},
    "robustness-dirichlet": {"truths": 1, "trials": 1, "size": 150},
    "exponent": {"trials": 1, "size": 150, "dimension": 2},
    "nonconvex": {"sizes": (50,), "trials": 1},
    "ranking": {"trials": 1, "size": 200},
    "limit": {"rows": 4, "soft": (0.03, 0.01), "hard": (0.1, 0.05), "cube": (0.2, 0.1)},
    "recover-mle": {"rows": 40, "degrees": (4, 8), "rounds": 2},
}


def _leaves(value, path=()):
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _leaves(value[key], (*path, key))
    else:
        yield path


def _broken(record, path, value):
    copied = json.loads(json.dumps(record))
    part = copied
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return copied


@pytest.mark.parametrize("name", TINY)
def test_every_experiment_knows_its_own_records(name, monkeypatch):
    monkeypatch.setattr("zfree.experiments.settings.MOMENTS", 100_000)
    experiment = replace(EXPERIMENTS[name](), **TINY[name])
    for key in experiment.plan():
        record = json.loads(to_line(key, run_trial(experiment, key, Path("unused"))[1]))
        del record["trial"]
        assert fits(record, experiment.record())
        leaves = list(_leaves(record))
        for path in leaves[:: max(1, len(leaves) // 5)]:
            for wrong in ("0.5", [1.0], {}, True, float("inf")):
                assert not fits(_broken(record, path, wrong), experiment.record()), (path, wrong)
        for field in record:
            assert not fits({k: v for k, v in record.items() if k != field}, experiment.record())


def test_records_of_the_autoencoders():
    grid = pack(np.zeros((GRID**2, 64)))
    mnist = {
        **dict.fromkeys(("nll", "standard_error", "effective_size", "half_square", "identity", "seconds"), 1.5),
        "method": "m",
        "source": "s",
        "curve": [[10, 1.0], [20, 2.0]],
        "samples": grid,
        "density": [0.0] * 120,
        "mean_score": [None] * 120,
    }
    celeba = {"curve": [[1, 2.0]], "samples": pack(np.zeros((GRID**2, 192))), "count": 5, "source": "ab"}
    for name, record in (("vae-mnist", mnist), ("vae-celeba", celeba)):
        pattern = EXPERIMENTS[name]().record()
        assert fits(record, pattern)
        for field in record:
            assert not fits({k: v for k, v in record.items() if k != field}, pattern)
            assert not fits({**record, field: {}}, pattern)
        for wrong in ({"samples": "%%%"}, {"samples": grid[:-8]}, {"samples": "é"}, {"curve": [[1]]}, {"curve": []}):
            assert not fits({**record, **wrong}, pattern), wrong


def test_a_number_that_is_not_finite_is_not_written():
    with pytest.raises(DataError, match=r"trial \[60, 1\] found a number that is not finite"):
        to_line((60, 1), {"error": float("nan")})
