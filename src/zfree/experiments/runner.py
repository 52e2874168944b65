"""Run the trials of an experiment on all cores, keep each as it finishes, and write the tables and figures.

A folder holds one run: ``config.json``, ``trials.jsonl`` (one line per trial), ``table.md``, ``table.csv``, ``figure.png`` and
``figure.pdf``. Starting again in the same folder continues where the last run stopped; the final files are the same, byte for
byte, however often it was interrupted and on however many processes it ran.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from zfree import __version__
from zfree.errors import MissingDependencyError, SpecificationError, collected_warnings
from zfree.experiments.base import Experiment, Key, Progress, Record
from zfree.experiments.report import Report
from zfree.files import write_whole
from zfree.threads import one_blas_thread

FILES = ("config.json", "trials.jsonl", "table.md", "table.csv", "figure.png", "figure.pdf")


def run(
    experiment: Experiment,
    folder: Path,
    *,
    jobs: int = -1,
    fresh: bool = False,
    figures: bool = True,
    progress: Progress = lambda done, total: None,
    preparing: Progress = lambda done, total: None,
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
    preparing : callable
        The same for what some experiments do before the first trial.
    """
    experiment.check()
    if figures:
        check_matplotlib()
    config = check_folder(experiment, folder, fresh=fresh)
    folder.mkdir(parents=True, exist_ok=True)
    if fresh:
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder / "scratch", ignore_errors=True)
    write_whole(folder / "config.json", config.encode())
    results = folder / "trials.jsonl"
    keys = experiment.plan()
    wanted = set(keys)
    done = {key: record for key, record in _read(results) if key in wanted}
    missing = [key for key in keys if key not in done]
    progress(len(done), len(keys))
    if missing:
        experiment.prepare(folder / "scratch", preparing)
        with results.open("a", encoding="utf-8") as file:
            for key, record in _trials(experiment, missing, folder / "scratch", jobs):
                file.write(_line(key, record))
                file.flush()
                done[key] = record
                progress(len(done), len(keys))
    # Lines were written as trials finished; put them in their own order, so that the file depends on nothing else.
    write_whole(results, "".join(_line(key, done[key]) for key in keys).encode())
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


def _trials(experiment: Experiment, keys: list[Key], scratch: Path, jobs: int) -> Iterable[tuple[Key, Record]]:
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise MissingDependencyError("experiments need joblib: run `pip install zfree[cli]`.") from error
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="4*n_jobs")
    return parallel(delayed(run_trial)(experiment, key, scratch, os.getpid()) for key in keys)


@cache
def _end_with(main: int) -> None:
    """End this worker when the main process is gone: killed, it cannot tell its workers."""

    def watch() -> None:
        while os.getppid() == main:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the main process speaks for it


def check_folder(experiment: Experiment, folder: Path, *, fresh: bool = False) -> str:
    """The configuration as text; an error if `folder` holds a run with another one."""
    config = {"zfree": __version__, **experiment.config()}
    text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    path = folder / "config.json"
    if fresh or not path.exists() or path.read_text(encoding="utf-8") == text:
        return text
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        there = {}
    here = json.loads(text)
    other = [f"{k} = {json.dumps(there.get(k))}" for k in here if there.get(k) != here[k]]
    raise SpecificationError(
        f"{folder} holds a run with other settings ({', '.join(other)}). Choose another --output, or pass --fresh to throw "
        "that run away."
    )


def check_matplotlib() -> None:
    """Say at once, not after all trials, that figures cannot be drawn."""
    from zfree.plotting.trials import panels

    try:
        panels(1)
    except MissingDependencyError as error:
        raise MissingDependencyError(f"{error} Or leave figures out with --no-figures.") from error


def _read(path: Path) -> list[tuple[Key, Record]]:
    """Finished trials. A line that cannot be read, cut off while it was written or damaged since, is a trial to run again."""
    if not path.exists():
        return []
    content = path.read_bytes()
    found, lines = [], content.splitlines(keepends=True)
    kept = []
    for line in lines:
        try:
            record = json.loads(line)
            found.append((tuple(record.pop("trial")), record))
        except (ValueError, KeyError, AttributeError, TypeError):
            continue
        if line.endswith(b"\n"):
            kept.append(line)
        else:
            found.pop()
    if len(kept) < len(lines):
        write_whole(path, b"".join(kept))
    return found


def _line(key: Key, record: Record) -> str:
    return json.dumps({"trial": key, **record}, ensure_ascii=False, allow_nan=False) + "\n"


def _draw(report: Report, folder: Path) -> None:
    from zfree.plotting.trials import save

    figure = report.draw()
    for name in ("figure.png", "figure.pdf"):
        save(figure, folder / name)
