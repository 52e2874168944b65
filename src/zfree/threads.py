"""BLAS threads: on small matrices starting them costs several times more than the product itself.

The number of threads belongs to the whole process, and with another number sums are rounded otherwise. So fits in several Python threads
share one limit: the first that needs it saves the number, the last that leaves puts it back, and a fit that wants every thread
waits for those that want one, and they for it. A fit then rounds as it does alone.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Literal

SMALL = 400
"""Matrices below this size are multiplied by one thread."""

Mode = Literal["one", "all"]
OTHER: dict[Mode, Mode] = {"one": "all", "all": "one"}


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread. Inside another context of the same thread this changes nothing: the outermost decides."""
    return _ONE


def blas_threads_for(size: int) -> AbstractContextManager[None]:
    """Limit BLAS to one thread while products of `size` × `size` matrices are formed, if they are small."""
    return _ONE if size < SMALL else _ALL


class _This(threading.local):
    """What one Python thread holds."""

    depth = 0
    mode: Mode = "one"

    def __init__(self) -> None:
        self.found: dict[str, int] = {}
        """Counts of libraries that keep one for every Python thread, before it entered."""


_this = _This()
_turn = threading.Condition()
_queue: deque[object] = deque()
_holders: dict[Mode, int] = {"one": 0, "all": 0}
_found: dict[str, int] = {}
"""Counts of libraries that keep one for the process, before the first thread entered."""


class _Inside(AbstractContextManager[None]):
    """What can be entered again and again, in several threads too: all that changes is kept above."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode

    def __enter__(self) -> None:
        if _this.depth == 0:
            _enter(self._mode)
        _this.depth += 1

    def __exit__(self, *_: object) -> None:
        _this.depth -= 1
        if _this.depth == 0:
            _leave()


_ONE, _ALL = _Inside("one"), _Inside("all")


def _enter(mode: Mode) -> None:
    ticket = object()
    with _turn:
        _queue.append(ticket)  # in the order they came: neither kind can keep the other out
        try:
            _turn.wait_for(lambda: _queue[0] is ticket and not _holders[OTHER[mode]])
            if mode == "one":
                _limit()
            _this.mode = mode
            _holders[mode] += 1
        finally:
            _queue.remove(ticket)
            _turn.notify_all()


def _leave() -> None:
    with _turn:
        _holders[_this.mode] -= 1
        _restore(_this.found)
        if not _holders["one"]:
            _restore(_found)
        _turn.notify_all()


def _limit() -> None:
    """One thread for every library; a number that somebody set since the first thread entered is the one to put back."""
    for library in _libraries():
        count = library.num_threads
        if count is not None and count > 1:
            found = _this.found if _is_local(library) else _found
            found[library.filepath] = count
            _set(library, 1)


def _restore(found: dict[str, int]) -> None:
    """The counts as they were, except those that somebody changed meanwhile."""
    for library in _libraries() if found else ():
        if library.filepath in found and library.num_threads == 1:
            _set(library, found[library.filepath])
    found.clear()


def _is_local(library: Any) -> bool:
    """Whether the library keeps a count for every Python thread."""
    return library.internal_api == "mkl" or getattr(library, "threading_layer", "") == "openmp"


def _set(library: Any, count: int) -> None:
    # threadpoolctl from 3.8 on lets only one Python thread set the count of a common pool, and ignores others without a word.
    # Here a lock decides instead, and the thread that leaves last need not be the one that came first.
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(count)
    release(force=True)


@cache
def _libraries() -> list[Any]:
    import scipy.linalg  # noqa: F401  (its BLAS is its own, and is found only when it is loaded)
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _after_fork() -> None:
    """In the child only the thread that forked goes on."""
    global _turn
    _turn = threading.Condition()
    _queue.clear()
    for mode in _holders:
        _holders[mode] = int(_this.depth > 0 and _this.mode == mode)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
