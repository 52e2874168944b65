"""The folder of a run: what is in it, that nothing else is touched, and that one process at a time writes to it."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from zfree import __version__
from zfree.errors import SpecificationError
from zfree.experiments.base import Experiment

CONFIG = "config.json"
FILES = (
    CONFIG,
    "trials.jsonl",
    "trials.damaged.jsonl",
    "table.md",
    "table.csv",
    "figure.png",
    "figure.pdf",
)
"""All that a run writes, besides the state of its trials in the folder ``scratch``."""
SCRATCH = ("[0-9]-[0-9].pt", "[0-9]-[0-9].csv", "[0-9]-[0-9].png", "faces-*.npy", "reference-*.npz")
"""What trials write there: a state, losses and their picture for each training; reduced photographs and their features."""
LARGEST = 1_000_000
"""Bytes of a configuration; a larger file is something else."""


def check_folder(experiment: Experiment, folder: Path, *, fresh: bool = False) -> str:
    """The configuration as text; an error if `folder` holds a run with another one, or anything that no run wrote."""
    text = json.dumps({"zfree": __version__, **experiment.config()}, indent=2, ensure_ascii=False) + "\n"
    if not folder.exists():
        return text
    if not folder.is_dir():
        raise SpecificationError(f"{folder} is a file. Choose another --output.")
    there = _config(folder / CONFIG)
    others = _strangers(folder, ours=there is not None)
    if others:
        shown = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        raise SpecificationError(
            f"{folder} holds what no run wrote ({shown}). Choose another --output, or move that away; nothing was changed."
        )
    if there is None or fresh:
        return text
    here = json.loads(text)
    other = [f"{k} = {json.dumps(there.get(k))}" for k in {**here, **there} if there.get(k) != here.get(k)]
    if other:
        raise SpecificationError(
            f"{folder} holds a run with other settings ({', '.join(other)}). Choose another --output, or pass --fresh to throw "
            "that run away."
        )
    return text


def clear(folder: Path, *, fresh: bool) -> None:
    """Delete what writing left behind when it was stopped; if `fresh`, all that a run wrote, and nothing else."""
    scratch = folder / "scratch"
    for path in [*_entries(folder), *_entries(scratch)]:
        names = FILES if path.parent == folder else SCRATCH
        # The configuration stays until a new one takes its place: without it the rest would be a stranger's.
        if (fresh and path.name != CONFIG and _is_file(path, names)) or _is_file(path, _parts(names)):
            path.unlink()
    if fresh:
        with suppress(OSError):  # not there, or not empty
            scratch.rmdir()


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other processes that ask out of `folder`; an error if one of them has it.

    The system gives the folder back when the process ends, however it ends. Where it knows no such locks (Windows, some network
    disks) nothing is kept out.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise SpecificationError(
                    f"another run is writing to {folder}. Wait until it has ended, or choose another folder."
                ) from error
        yield
    finally:
        os.close(handle)


def _strangers(folder: Path, ours: bool) -> list[str]:
    """Names that no run wrote. Without a configuration of ours even a table is somebody else's."""
    names = (*FILES, *_parts(FILES)) if ours else _parts((CONFIG,))
    others = [p.name for p in _entries(folder) if not _is_file(p, names) and not (ours and p.name == "scratch")]
    if ours:
        known = (*SCRATCH, *_parts(SCRATCH))
        others += [f"scratch/{p.name}" for p in _entries(folder / "scratch") if not _is_file(p, known)]
        others += ["scratch"] if (folder / "scratch").is_file() else []
    return others


def _entries(folder: Path) -> Iterator[Path]:
    """What is in a folder, in order; hidden files of the system are neither counted nor touched."""
    if folder.is_dir():
        yield from sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _is_file(path: Path, names: tuple[str, ...]) -> bool:
    return any(fnmatch(path.name, name) for name in names) and not path.is_dir()


def _parts(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names under which these files are written, before they are renamed."""
    return tuple(f"{name}.[0-9]*.part" for name in names)


def _config(path: Path) -> dict[str, Any] | None:
    """The configuration that a run wrote; None for anything else."""
    if not path.is_file() or path.stat().st_size > LARGEST:
        return None
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    ours = isinstance(found, dict) and isinstance(found.get("zfree"), str) and isinstance(found.get("experiment"), str)
    return found if ours else None
