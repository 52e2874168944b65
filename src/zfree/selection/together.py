"""Several candidates in one pass: a block of rows is read once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from zfree.data import Block, Together
from zfree.errors import ZfreeError
from zfree.moments import Moments
from zfree.solvers import Objective


class _Attempt:
    """A sum, or the first error that was met on the way."""

    def __init__(self, compute: Callable[[], Any]) -> None:
        self.value: Any = None
        self.error: ZfreeError | None = None
        try:
            self.value = compute()
        except ZfreeError as error:
            self.error = error

    def __add__(self, other: _Attempt) -> _Attempt:
        failed = self if self.error else other if other.error else None
        return failed or _Attempt(lambda: self.value + other.value)


def _moments(objective: Objective, block: Block) -> Moments:
    with block.naming_rows():
        return objective.problem.evaluated(block).moments()


def sum_together(objectives: Sequence[Objective]) -> list[ZfreeError | None]:
    """Form the moments of objectives over the same rows in one pass; the error of each that has none."""
    if not objectives:
        return []
    problem = objectives[0].problem

    def pass_over(block: Block) -> Together:
        return Together(_Attempt(partial(_moments, o, block)) for o in objectives)

    found = problem.source.reduce(pass_over, problem.model.doubles_per_row)
    for objective, attempt in zip(objectives, found, strict=True):
        if attempt.error is None:
            objective.take(attempt.value)
    return [attempt.error for attempt in found]
