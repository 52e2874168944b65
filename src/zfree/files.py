"""Files are written whole or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
