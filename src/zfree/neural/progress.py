"""Progress bars with the losses, and a log of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from zfree.errors import MissingDependencyError
from zfree.files import write_whole
from zfree.neural.training import EpochListener, State

Losses = list[dict[str, float]]


@contextmanager
def progress_bar(shown: bool, epochs: int) -> Iterator[EpochListener]:
    """A function to call after every epoch; it draws a bar if asked to."""
    with _bar(shown, "epoch", epochs) as update:

        def report(state: State) -> None:
            last = state.history[-1]
            text = f"loss {last['loss']:.4g}, held out {last['held_out']:.4g}, best {state.best_score:.4g}"
            update(state.epoch, text)

        yield report


@contextmanager
def iteration_bar(shown: bool, iterations: int) -> Iterator[Callable[[Losses], None]]:
    """A function to call with the history of an autoencoder; it draws a bar if asked to."""
    with _bar(shown, "iteration", iterations) as update:

        def report(history: Losses) -> None:
            last = history[-1]
            text = ", ".join(f"{name} {value:.4g}" for name, value in last.items() if name != "iteration")
            update(int(last["iteration"]), text)

        yield report


def save_losses(history: Losses, log: str | Path | None, plot: str | Path | None) -> None:
    """The history as a CSV file and as a picture, where there is a history and they are asked for."""
    if plot is not None and history:
        from zfree.plotting.loss_curves import draw_losses

        draw_losses(history, Path(plot))
    if log is not None and history:
        _write_table(history, Path(log))


def _write_table(history: Losses, path: Path) -> None:
    """A CSV file with a line for each entry, written whole; a number that an entry lacks is left blank."""
    text = io.StringIO()
    columns = dict.fromkeys(name for row in history for name in row)
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(history)
    write_whole(path, text.getvalue().encode())


@contextmanager
def _bar(shown: bool, unit: str, total: int) -> Iterator[Callable[[int, str], None]]:
    if not shown:
        yield lambda done, text: None
        return
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError as error:
        raise MissingDependencyError(
            "a progress bar needs rich: run `pip install zfree[cli]`, or verbose=False."
        ) from error
    columns = (
        TextColumn(unit),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns) as bar:
        task = bar.add_task("", total=total)
        yield lambda done, text: bar.update(task, completed=done, description=text)
