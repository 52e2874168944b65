"""BLAS threads: on small matrices starting them costs several times more than the product itself."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

TINY, SMALL = 16, 400
"""Matrices between these sizes are multiplied by one thread. Below, BLAS starts no threads by itself."""


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread."""
    return _controller().limit(limits=1, user_api="blas")


def blas_threads_for(size: int) -> AbstractContextManager[Any]:
    """Limit BLAS to one thread while products of `size` × `size` matrices are formed, if they are small."""
    return one_blas_thread() if TINY <= size < SMALL else nullcontext()
