"""A progress bar with the loss."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from zfree.errors import MissingDependencyError
from zfree.neural.training import Report, State


@contextmanager
def progress_bar(shown: bool, epochs: int) -> Iterator[Report]:
    """A function to call after every epoch; it draws a bar if asked to."""
    if not shown:
        yield lambda state: None
        return
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError as error:
        raise MissingDependencyError(
            "a progress bar needs rich: run `pip install zfree[cli]`, or verbose=False."
        ) from error
    columns = (
        TextColumn("epoch"),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns) as bar:
        task = bar.add_task("", total=epochs)

        def report(state: State) -> None:
            last = state.history[-1]
            text = f"loss {last['loss']:.4g}, held out {last['held_out']:.4g}, best {state.best_score:.4g}"
            bar.update(task, completed=state.epoch, description=text)

        yield report
