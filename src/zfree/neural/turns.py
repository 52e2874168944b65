"""What torch has once in a process, its random numbers and its number of threads: trainings in several Python threads take turns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import torch

SMALL = 200_000
"""Networks with fewer parameters are trained by one thread: alone on the machine two are hardly faster, beside anything else ten
times slower, because they wait for each other in loops."""

_turn = RLock()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's own random numbers (initial values, dropout), and leave the caller's as they were."""
    with _turn, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


@contextmanager
def torch_threads(n_parameters: int) -> Iterator[None]:
    """One thread for a small network."""
    with _turn:
        before = torch.get_num_threads()
        torch.set_num_threads(1 if n_parameters < SMALL else before)
        try:
            yield
        finally:
            torch.set_num_threads(before)
