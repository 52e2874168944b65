"""BLAS threads: on small matrices starting them costs several times more than the product itself."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

SMALL = 400
"""Matrices with fewer rows than this are multiplied by one thread."""


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def blas_threads_for(size: int) -> AbstractContextManager[Any]:
    """Limit BLAS to one thread while products of `size` × `size` matrices are formed, if they are small."""
    return _controller().limit(limits=1, user_api="blas") if size < SMALL else nullcontext()
