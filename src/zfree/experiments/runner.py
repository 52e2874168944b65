"""Run the trials of an experiment on all cores, keep each as it finishes, and write the tables and figures.

A folder holds one run and nothing else: ``config.json``, ``trials.jsonl`` (one line per trial), ``table.md``, ``table.csv``,
``figure.png`` and ``figure.pdf``, and damaged lines of the trials in ``trials.damaged.jsonl``, if there ever were any. Starting again in the same folder continues where the last run stopped; the final files are the same, byte for
byte, however often it was interrupted and on however many processes it ran.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from functools import cache
from pathlib import Path

from zfree.errors import DamagedFileWarning, DataError, MissingDependencyError, collected_warnings, warn
from zfree.experiments.base import Experiment, Progress
from zfree.experiments.feasibility import check_feasible
from zfree.experiments.folder import CONFIG, check_folder, clear, held
from zfree.experiments.records import Key, Record, damaged_file, read_trials, set_aside, to_line
from zfree.experiments.report import Report
from zfree.files import write_whole
from zfree.threads import one_blas_thread


def run(
    experiment: Experiment,
    folder: Path,
    *,
    jobs: int = -1,
    fresh: bool = False,
    figures: bool = True,
    progress: Progress = lambda done, total: None,
    preparing: Progress = lambda done, total: None,
    notice: Callable[[str], None] = lambda text: warn(text, DamagedFileWarning),
) -> Report:
    """Run what is missing of an experiment in `folder` and report on all of it.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
    jobs : int
        Processes; -1 for one per core.
    fresh : bool
        Throw away what the folder holds of an earlier run, and nothing else.
    figures : bool
        Draw the figure too (needs matplotlib).
    progress : callable
        Called after every trial with the number done and the number of all.
    preparing : callable
        The same for what some experiments do before the first trial.
    notice : callable
        Called with a sentence if lines of ``trials.jsonl`` were damaged; a warning by default.
    """
    check_feasible(experiment, jobs)
    experiment.check()
    if figures:
        check_matplotlib()
    check_folder(experiment, folder, fresh=fresh)
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder):
        config = check_folder(experiment, folder, fresh=fresh)  # again: it is ours only now
        clear(folder, fresh=fresh)
        write_whole(folder / CONFIG, config.encode())
        return _run(experiment, folder, jobs, figures, progress, preparing, notice)


def _run(
    experiment: Experiment,
    folder: Path,
    jobs: int,
    figures: bool,
    progress: Progress,
    preparing: Progress,
    notice: Callable[[str], None],
) -> Report:
    results = folder / "trials.jsonl"
    keys = experiment.plan()
    done, damaged = read_trials(results, keys, experiment.record())
    set_aside(results, damaged, done)
    if damaged:
        notice(_damage(results, list(damaged)))
    missing = [key for key in keys if key not in done]
    progress(len(done), len(keys))
    if missing:
        experiment.prepare(folder / "scratch", preparing)
        with results.open("a", encoding="utf-8") as file:
            for key, record in _trials(experiment, missing, folder / "scratch", jobs):
                file.write(to_line(key, record))
                file.flush()
                done[key] = record
                progress(len(done), len(keys))
    # Lines were written as trials finished; put them in their own order, so that the file depends on nothing else.
    write_whole(results, "".join(to_line(key, done[key]) for key in keys).encode())
    # Numbers as the file has them, whether they were computed now or read.
    with one_blas_thread():
        report = experiment.report([(key, json.loads(json.dumps(done[key]))) for key in keys])
        write_whole(folder / "table.md", report.to_markdown(experiment.title, str(experiment)).encode())
        write_whole(folder / "table.csv", report.to_csv().encode())
        if figures:
            _draw(report, folder)
    return report


def run_trial(experiment: Experiment, key: Key, scratch: Path, main: int | None = None) -> tuple[Key, Record]:
    """One trial, with one BLAS thread: faster for small matrices, and the same digits everywhere.

    `main` is the process that collects the trials, if that is another one.
    """
    if main is not None and main != os.getpid():
        _end_with(main)
    # Baselines that are inconsistent or have no variance are part of the comparison: their warnings are not news.
    with one_blas_thread(), collected_warnings():
        return key, experiment.trial(key, scratch)


def _trials(experiment: Experiment, keys: list[Key], scratch: Path, jobs: int) -> Iterator[tuple[Key, Record]]:
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise MissingDependencyError("experiments need joblib: run `pip install zfree[cli]`.") from error
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="4*n_jobs")
    try:
        yield from parallel(delayed(run_trial)(experiment, key, scratch, os.getpid()) for key in keys)
    except (BrokenExecutor, MemoryError) as error:
        raise DataError(
            "a process ended before its trial did, most likely because memory ran out. Use fewer --jobs or smaller settings; the "
            "trials that finished are kept."
        ) from error


def _damage(path: Path, lines: list[int]) -> str:
    shown = ", ".join(map(str, lines[:10])) + (f" and {len(lines) - 10} more" if len(lines) > 10 else "")
    word = "line" if len(lines) == 1 else "lines"
    return f"{word} {shown} of {path} cannot be used: kept in {damaged_file(path).name}, and computed again."


@cache
def _end_with(main: int) -> None:
    """End this worker when the main process is gone: killed, it cannot tell its workers."""

    def watch() -> None:
        while os.getppid() == main:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the main process speaks for it


def check_matplotlib() -> None:
    """Say at once, not after all trials, that figures cannot be drawn."""
    from zfree.plotting.trials import panels

    try:
        panels(1)
    except MissingDependencyError as error:
        raise MissingDependencyError(f"{error} Or leave figures out with --no-figures.") from error


def _draw(report: Report, folder: Path) -> None:
    from zfree.plotting.trials import save

    figure = report.draw()
    for name in ("figure.png", "figure.pdf"):
        save(figure, folder / name)
