"""Processor times of calls that take turns; one that is too slow is not repeated, and one that does not end is stopped."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

SLOW = 10.0
"""Seconds beyond which a call is measured once."""
BUDGET = 6.0
"""Seconds that the repeated calls of a case may take together, more if that is fewer than three turns."""
TURNS = (3, 201)


@dataclass(frozen=True)
class Timed:
    """Median seconds of a call; of one that was stopped, how long it had been running."""

    seconds: float
    runs: int
    stopped: bool = False

    def __str__(self) -> str:
        shown = f"{1e3 * self.seconds:.3f}" if self.seconds < 1.0 else f"{1e3 * self.seconds:.0f}"
        if self.stopped:
            return f"> {shown}, stopped"
        return f"{shown}, once" if self.runs == 1 else shown


class TooLong(Exception):  # noqa: N818 - no error, a limit
    """The limit is reached."""


def in_turns(calls: list[Callable[[], object]], limit: float) -> list[Timed]:
    """The time of each call. Those of one case take turns, so that a slow moment hits all of them."""
    first = [_once(call, limit) for call in calls]
    quick = [k for k, timed in enumerate(first) if timed.seconds <= SLOW and not timed.stopped]
    if not quick:
        return first
    round_trip = sum(first[k].seconds for k in quick)
    turns = int(np.clip(BUDGET / max(round_trip, 1e-9), *TURNS))
    records: dict[int, list[float]] = {k: [] for k in quick}
    for _ in range(turns):
        for k in quick:
            start = time.process_time()
            calls[k]()
            records[k].append(time.process_time() - start)
    return [Timed(float(np.median(records[k])), turns) if k in records else first[k] for k in range(len(calls))]


def _once(call: Callable[[], object], limit: float) -> Timed:
    start = time.process_time()
    try:
        with _stopping(limit):
            call()
    except TooLong:
        return Timed(time.process_time() - start, 1, stopped=True)
    return Timed(time.process_time() - start, 1)


@contextmanager
def _stopping(limit: float):
    """Raise :class:`TooLong` after so many seconds of processor time, where the system has such a clock."""
    if not hasattr(signal, "SIGPROF"):
        yield
        return

    def stop(*_):
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
