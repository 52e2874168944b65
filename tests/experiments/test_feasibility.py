"""Absurd settings are refused with the reason, before memory is taken."""

from __future__ import annotations

import tracemalloc
from dataclasses import fields, replace

import pytest

from zfree.errors import SpecificationError, ZfreeError
from zfree.experiments import EXPERIMENTS, feasibility, run
from zfree.experiments.feasibility import check_feasible

QUICK = [name for name, experiment in EXPERIMENTS.items() if not experiment.by_itself]
ABSURD = [
    *("-1", "0", "999999999", "1" + "0" * 40, "1" * 5000, "1e400", "1e308", "1e-320", "-1e300", "NaN", "Infinity"),
    *("[]", "[[]]", "[0]", "[-1]", "[1e400]", "[999999999999]", "[1,1]", "[" * 5000, "[" * 900 + "]" * 900),
    *("true", "null", '"a"', '["a"]', "{}", '{"a": 1}', "[true]", "[null]"),
]


@pytest.fixture
def little_memory():
    """Nothing large is made meanwhile."""
    tracemalloc.start()
    yield
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2e8


@pytest.mark.parametrize("name", QUICK)
def test_any_value_of_any_setting_is_taken_or_refused_in_a_sentence(name, little_memory, monkeypatch):
    monkeypatch.setattr(feasibility, "machine_memory", lambda: 1e9)
    experiment, refused = EXPERIMENTS[name](), 0
    for field in fields(experiment):
        for value in ABSURD:
            try:
                changed = experiment.with_settings({field.name: value})
                check_feasible(changed, 1)
                changed.check()
                assert len(changed.plan()) <= feasibility.MOST_TRIALS
            except ZfreeError as error:
                refused += 1
                text = str(error)
                assert len(text) < 700
                assert "\n" not in text
    assert refused > 0.7 * len(ABSURD) * len(fields(experiment))


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        (
            "dirichlet",
            {"trials": 999_999_999},
            r"dirichlet with trials=999999999 has 2,999,999,997 trials, more than the 100,000",
        ),
        ("robustness-dirichlet", {"truths": 5000, "trials": 5000}, "has 25,000,000 trials"),
        ("ranking", {"trials": 50_000}, "has 150,000 trials"),
        (
            "gaussian-orthant",
            {"dimension": 100_000},
            "dimension=100000 needs about .* PB of memory in 2 processes",
        ),
        ("gaussian-simplex", {"sizes": (10**10,)}, r"needs about 6.4 TB of memory"),
        ("exponent", {"size": 10**10}, "of memory"),
        ("exponential", {"sizes": (10**12,)}, "of memory"),
        ("nonconvex", {"sizes": (10**11,)}, "of memory"),
        ("robustness-gaussian-orthant", {"size": 10**10}, "of memory"),
        ("limit", {"rows": 10**9}, "of memory"),
        ("recover-mle", {"rows": 10**9}, "of memory"),
        ("vae-mnist", {"latent": 10**10}, "of memory"),
        ("vae-celeba", {"width": 10**6}, "of memory"),
        ("vae-celeba", {"side": 16 * 10**5}, "of memory"),
        ("vae-celeba", {"learning_rate": (1.0, 2.0)}, "learning_rate must be a number"),
        ("dirichlet", {"trials": 2.5}, "trials must be a positive whole number"),
        ("dirichlet", {"sizes": [60]}, "sizes must be a list of different positive whole numbers"),
        ("dirichlet", {"seed": -1}, "seed must be"),
        ("vae-mnist", {"data": 5}, "data must be text"),
    ],
)
def test_the_reason_is_told(tmp_path, little_memory, name, settings, message):
    with pytest.raises(SpecificationError, match=message):
        run(replace(EXPERIMENTS[name](), **settings), tmp_path / "run", jobs=2, figures=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("jobs", [0, -2, 10**6])
def test_processes(tmp_path, jobs):
    with pytest.raises(SpecificationError, match="--jobs must be -1"):
        run(EXPERIMENTS["dirichlet"](), tmp_path / "run", jobs=jobs, figures=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_as_it_is_is_allowed(name, monkeypatch):
    monkeypatch.setattr(feasibility, "machine_memory", lambda: 4e9)
    for experiment in (EXPERIMENTS[name](), EXPERIMENTS[name]().quick()):
        check_feasible(experiment, 1)
        assert experiment.count() == len(experiment.plan()) or name == "limit" or name.startswith("vae-")


def test_a_fraction_beyond_one_is_no_coupling():
    with pytest.raises(SpecificationError, match="coupling must be between -1 and 1"):
        replace(EXPERIMENTS["robustness-gaussian-orthant"](), coupling=-1.5).check()
    for wrong in ({"power": 1e5}, {"soft": (0.1, 0.1)}, {"hard": (0.1,)}, {"cube": (0.1, -0.1)}, {"cube": (0.1,)}):
        with pytest.raises(SpecificationError, match="must be"):
            replace(EXPERIMENTS["limit"](), **wrong).check()


def test_memory_that_ran_out_after_all(tmp_path, monkeypatch):
    def fail(experiment, key, scratch):
        raise MemoryError

    kind = EXPERIMENTS["exponential"]
    monkeypatch.setattr(kind, "trial", fail)
    with pytest.raises(ZfreeError, match="memory ran out"):
        run(replace(kind(), sizes=(30,), trials=2), tmp_path / "run", jobs=1, figures=False)
