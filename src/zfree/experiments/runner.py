"""Run the trials of an experiment on all cores, keep each as it finishes, and write the tables and figures.

A folder holds one run: ``config.json``, ``trials.jsonl`` (one line per trial), ``table.md``, ``table.csv``, ``figure.png`` and
``figure.pdf``. Starting again in the same folder continues where the last run stopped; the final files are the same, byte for
byte, however often it was interrupted and on however many processes it ran.
"""

from __future__ import annotations

import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from zfree import __version__
from zfree.errors import MissingDependencyError, SpecificationError, ZfreeWarning
from zfree.experiments.base import Experiment, Key, Record
from zfree.experiments.report import Report
from zfree.threads import one_blas_thread

Progress = Callable[[int, int], None]
"""Called with (trials done, all trials)."""


def run(
    experiment: Experiment,
    folder: Path,
    *,
    jobs: int = -1,
    fresh: bool = False,
    figures: bool = True,
    progress: Progress = lambda done, total: None,
) -> Report:
    """Run what is missing of an experiment in `folder` and report on all of it.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
    jobs : int
        Processes; -1 for one per core.
    fresh : bool
        Throw away what the folder holds of an earlier run.
    figures : bool
        Draw the figure too (needs matplotlib).
    progress : callable
        Called after every trial with the number done and the number of all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "trials.jsonl"
    if fresh:
        results.unlink(missing_ok=True)
        (folder / "config.json").unlink(missing_ok=True)
    _claim(folder / "config.json", {"zfree": __version__, **experiment.config()})
    keys = experiment.plan()
    done = {key: record for key, record in _read(results) if key in set(keys)}
    missing = [key for key in keys if key not in done]
    progress(len(done), len(keys))
    if missing:
        with results.open("a", encoding="utf-8") as file:
            for key, record in _trials(experiment, missing, jobs):
                file.write(_line(key, record))
                file.flush()
                done[key] = record
                progress(len(done), len(keys))
    # Lines were written as trials finished; put them in their own order, so that the file depends on nothing else.
    write_beside(results, "".join(_line(key, done[key]) for key in keys).encode())
    # Numbers as the file has them, whether they were computed now or read.
    with one_blas_thread():
        report = experiment.report([(key, json.loads(json.dumps(done[key]))) for key in keys])
        write_beside(folder / "table.md", report.to_markdown(experiment.title, str(experiment)).encode())
        write_beside(folder / "table.csv", report.to_csv().encode())
        if figures:
            _draw(report, folder)
    return report


def run_trial(experiment: Experiment, key: Key, main: int | None = None) -> tuple[Key, Record]:
    """One trial, with one BLAS thread: faster for small matrices, and the same digits everywhere.

    `main` is the process that collects the trials, if that is another one.
    """
    if main is not None and main != os.getpid():
        _end_with(main)
    with one_blas_thread(), warnings.catch_warnings():
        # Baselines that are inconsistent or have no variance are part of the comparison.
        warnings.simplefilter("ignore", ZfreeWarning)
        return key, experiment.trial(key)


def write_beside(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(path.name + ".part")
    beside.write_bytes(content)
    os.replace(beside, path)


def _trials(experiment: Experiment, keys: list[Key], jobs: int) -> Iterable[tuple[Key, Record]]:
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise MissingDependencyError("experiments need joblib: run `pip install zfree[cli]`.") from error
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="4*n_jobs")
    return parallel(delayed(run_trial)(experiment, key, os.getpid()) for key in keys)


@cache
def _end_with(main: int) -> None:
    """End this worker when the main process is gone: killed, it cannot tell its workers."""

    def watch() -> None:
        while os.getppid() == main:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _claim(path: Path, config: dict[str, Any]) -> None:
    """Write the configuration, or make sure that the one there is the same."""
    text = json.dumps(config, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise SpecificationError(
            f"{path.parent} holds a run with other settings (see {path.name}). Choose another --output, or pass --fresh "
            "to throw that run away."
        )
    write_beside(path, text.encode())


def _read(path: Path) -> list[tuple[Key, Record]]:
    """Finished trials; a line that was cut off while it was written is removed."""
    if not path.exists():
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        write_beside(path, whole)
    records = [json.loads(line) for line in whole.splitlines()]
    return [(tuple(record.pop("trial")), record) for record in records]


def _line(key: Key, record: Record) -> str:
    return json.dumps({"trial": key, **record}, ensure_ascii=False, allow_nan=False) + "\n"


def _draw(report: Report, folder: Path) -> None:
    from zfree.plotting.trials import save

    save(report.draw, {path: folder / path for path in ("figure.png", "figure.pdf")})
