"""The command line: ``zfree reproduce NAME``, ``zfree demo``."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from zfree import __version__
from zfree.errors import ZfreeError

if TYPE_CHECKING:
    from zfree.experiments import Experiment, Report

try:
    import typer
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Table
except ImportError:  # pragma: no cover - the message is tested in a process without them
    sys.exit("the zfree command needs typer and rich: run `pip install zfree[cli]`.")

app = typer.Typer(
    help="Fit probability models without their normalising constant; reproduce the experiments of the paper.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
console = Console()


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"zfree {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Folder for the figure sheet.")] = Path("demo-output"),
) -> None:
    """Fit the built-in data on three domains, print the summaries, draw a sheet of figures."""
    from zfree.demo import main as run_demo

    try:
        code = run_demo(["--output", str(output)])
    except (ZfreeError, OSError) as error:
        _fail(str(error))
    raise typer.Exit(code)


@app.command()
def reproduce(
    name: Annotated[str, typer.Argument(help="An experiment, [bold]list[/] or [bold]all[/].")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Results go to OUTPUT/NAME.")] = Path("zfree-results"),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer trials: a taste in a minute.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 is one per core.")] = -1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the trials.")] = 0,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Change a setting, such as [bold]--set trials=20 --set precision=50[/]. Repeatable."
        ),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="File or folder with the data, for experiments that need some.")
    ] = None,
    latent: Annotated[int | None, typer.Option(help="Latent dimension, for the autoencoders.")] = None,
    diffusion: Annotated[
        str | None, typer.Option(help="Some D instead of all, with commas between, for the autoencoders.")
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Training iterations, for the autoencoders.")] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Throw away an earlier run in the folder, and nothing else.")
    ] = False,
    figures: Annotated[bool, typer.Option(help="Draw figures (needs matplotlib).")] = True,
) -> None:
    """Run an experiment of the paper again: tables beside the paper's own numbers, and its figure.

    A run that was interrupted continues where it stopped when the same command is given again.
    """
    from zfree.experiments import EXPERIMENTS, check_folder

    if name == "list":
        _print_list()
        return
    if name != "all" and name not in EXPERIMENTS:
        _fail(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}, and all.")
    if name == "all" and (setting or any(v is not None for v in (data, latent, diffusion, iterations))):
        _fail("settings change one experiment; name it instead of all.")
    if jobs == 0 or jobs < -1:
        _fail(f"--jobs must be -1 (every core) or at least 1, got {jobs}.")
    own = {"data": data, "latent": latent, "diffusion": diffusion, "iterations": iterations}
    settings = _settings(setting or []) | {key: str(value) for key, value in own.items() if value is not None}
    times = {}
    try:
        chosen = {}
        for each in [e for e, kind in EXPERIMENTS.items() if not kind.by_itself] if name == "all" else [name]:
            experiment = EXPERIMENTS[each](seed=seed)
            experiment = (experiment.quick() if quick else experiment).with_settings(settings)
            check_folder(experiment, output / each, fresh=fresh)
            chosen[each] = experiment
        for each, experiment in chosen.items():
            start = time.perf_counter()
            report = _run(experiment, output / each, jobs=jobs, fresh=fresh, figures=figures)
            times[each] = (time.perf_counter() - start, report)
    except (ZfreeError, OSError) as error:
        _fail(str(error))
    except MemoryError:
        _fail("memory ran out. Use fewer --jobs or smaller settings; the trials that finished are kept.")
    except KeyboardInterrupt:
        console.print("\nstopped; the trials that finished are kept. Run the same command again to go on.")
        raise typer.Exit(130) from None
    if name == "all":
        _print_times(times)


def _run(experiment: Experiment, folder: Path, **options: Any) -> Report:
    from zfree.experiments import run

    console.print(f"\n[bold]{escape(experiment.title)}[/]  ({escape(experiment.place)})")
    console.print(escape(str(experiment)), style="dim", soft_wrap=True)
    if experiment.by_itself:
        text = f"the losses of each training are in {folder}/scratch/ as it goes on (*.csv, *.png)"
        console.print(escape(text), style="dim", soft_wrap=True, highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    with Progress(*columns, console=console, transient=True, speed_estimate_period=120) as bar:
        task = bar.add_task("trials", total=None)
        before = bar.add_task("preparing", visible=False)
        report = run(
            experiment,
            folder,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
            preparing=lambda done, total: bar.update(before, completed=done, total=total, visible=done < total),
            notice=lambda text: console.print(f"[yellow]note:[/] {escape(text)}", highlight=False, soft_wrap=True),
            **options,
        )
    _print_report(report)
    console.print(f"written to {folder}/", style="dim", soft_wrap=True, highlight=False)
    return report


def _print_report(report: Report) -> None:
    for title, (header, *rows) in report.tables().items():
        table = Table(box=None, pad_edge=False)
        for k, column in enumerate(header):
            style = "dim" if column == "paper" else None
            table.add_column(escape(column), justify="right" if k else "left", style=style, no_wrap=not k)
        for row in rows:
            table.add_row(*map(escape, row))
        console.print(f"\n[bold]{escape(title)}[/]", highlight=False)
        console.print(table)
    console.print()
    for finding in report.findings:
        mark = "[green]yes[/]" if finding.holds else "[red]NO [/]"
        console.print(f"{mark} {escape(finding.statement)} [dim]({escape(finding.detail)})[/]", highlight=False)


def _print_list() -> None:
    from zfree.experiments import EXPERIMENTS

    table = Table(box=None, pad_edge=False)
    table.add_column("experiment", no_wrap=True)
    table.add_column("what")
    table.add_column("where in the paper")
    for name, experiment in EXPERIMENTS.items():
        table.add_row(name, experiment.title, experiment.place)
    console.print(table)


def _print_times(times: dict[str, tuple[float, Report]]) -> None:
    table = Table("experiment", "seconds", "findings that hold", title="All experiments", box=None, pad_edge=False)
    for name, (seconds, report) in times.items():
        held = sum(finding.holds for finding in report.findings)
        table.add_row(name, f"{seconds:.0f}", f"{held} of {len(report.findings)}")
    table.add_row("together", f"{sum(seconds for seconds, _ in times.values()):.0f}", "")
    console.print()
    console.print(table)


def _settings(pairs: list[str]) -> dict[str, str]:
    wrong = [pair for pair in pairs if "=" not in pair]
    if wrong:
        _fail(f"--set takes NAME=VALUE, got {wrong[0]!r}.")
    return dict(pair.split("=", 1) for pair in pairs)


def _fail(message: str) -> None:
    Console(stderr=True).print(f"[red]error:[/] {escape(message)}", highlight=False, soft_wrap=True)
    raise typer.Exit(2)


def main() -> None:
    """Entry point of the ``zfree`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a console without Greek letters shows question marks instead of a crash
    app()


if __name__ == "__main__":
    main()
