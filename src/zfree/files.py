"""Files are written whole or not at all, and a folder by one process at a time."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zfree.errors import SpecificationError


def write_whole(path: Path, content: bytes) -> None:
    """Write beside, then rename: an interruption leaves the old file or the new one, never half of it."""
    with write_beside(path) as beside:
        beside.write_bytes(content)


@contextmanager
def write_beside(path: Path) -> Iterator[Path]:
    """A name to write to, in pieces if need be; it becomes `path` at the end, unless there is an error."""
    beside = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


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
