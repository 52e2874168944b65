"""Times measured side by side."""

from __future__ import annotations

import time

import numpy as np


def interleaved_medians(calls, repeats, clock=time.perf_counter):
    """Median seconds of each call, the calls taking turns so that a slow moment hits all of them."""
    times = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(repeats):
        for record, call in zip(times, calls, strict=True):
            start = clock()
            call()
            record.append(clock() - start)
    return [float(np.median(record)) for record in times]
