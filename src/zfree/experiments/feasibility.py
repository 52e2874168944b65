"""Settings that would fill the memory are refused with the reason, before any of it is taken."""

from __future__ import annotations

import math
import os
from dataclasses import fields

from zfree.errors import SpecificationError
from zfree.experiments.base import Experiment, like

MOST_TRIALS = 100_000
"""In a run: their records are kept in memory for the tables."""
MOST_PER_CORE = 8
"""Processes."""


def check_feasible(experiment: Experiment, jobs: int) -> None:
    """Refuse settings of a wrong kind, too many trials or processes, and trials that need more memory than there is."""
    for field in fields(experiment):
        like(field, getattr(experiment, field.name))
    cores = os.cpu_count() or 1
    if jobs != -1 and not 1 <= jobs <= MOST_PER_CORE * cores:
        raise SpecificationError(
            f"--jobs must be -1 (every core) or from 1 to {MOST_PER_CORE * cores} on this machine, got {jobs}."
        )
    changed = [
        f"{f.name}={getattr(experiment, f.name)}"
        for f in fields(experiment)
        if getattr(experiment, f.name) != f.default
    ]
    told = f" with {', '.join(changed)[:200]}" if changed else ""
    trials = experiment.count()
    if trials > MOST_TRIALS:
        raise SpecificationError(
            f"{experiment.name}{told} has {trials:,} trials, more than the {MOST_TRIALS:,} that a run keeps. Choose fewer."
        )
    processes = min(cores if jobs == -1 else jobs, trials)
    need, there = processes * experiment.memory(), machine_memory()
    if need > there:
        raise SpecificationError(
            f"{experiment.name}{told} needs about {_size(need)} of memory in {processes} processes, and this machine has "
            f"{_size(there)}. Choose smaller settings, or fewer --jobs."
        )


def machine_memory() -> float:
    """Bytes of memory, or infinity where the system does not tell."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # Windows
        return math.inf


def _size(count: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} PB"
