"""How much memory there is, asked before it is needed."""

from __future__ import annotations

import os
from pathlib import Path

UNKNOWN = 8 * 2**30
"""Bytes assumed where the system does not tell."""


def available_bytes() -> int:
    """Memory that a new array could get: what the machine has left, or what the container or the shell leaves of it."""
    limits = [_machine(), *_container(), *_process()]
    return max(0, min(limits))


def _machine() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        pass
    try:  # not Linux: all of it, for want of a better figure
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return UNKNOWN


def _container() -> list[int]:
    """What a control group leaves; nothing where there is none, or no limit in it."""
    root = Path("/sys/fs/cgroup")
    for limit, usage in (
        (root / "memory.max", root / "memory.current"),
        (root / "memory/memory.limit_in_bytes", root / "memory/memory.usage_in_bytes"),
    ):
        try:
            return [int(limit.read_text()) - int(usage.read_text())]
        except (OSError, ValueError):  # "max" is no limit
            continue
    return []


def _process() -> list[int]:
    """The address space that ulimit allows."""
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        return [] if soft == resource.RLIM_INFINITY else [soft]
    except (ImportError, OSError, ValueError):
        return []


def in_words(n_bytes: float) -> str:
    """1.5 GB, 12 MB."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= size:
            return f"{n_bytes / size:,.3g} {unit}"
    return f"{n_bytes / 1e3:.3g} kB"
