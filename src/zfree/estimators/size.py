"""Fits too large for the memory there is: said beforehand, with the size and what to use instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from zfree.domains import Domain, Polytope, Product
from zfree.errors import SpecificationError
from zfree.memory import available_bytes, in_words

COPIES = 8
"""Matrices of the size of Γ that are alive at once: Γ, its inverse, Σ, the covariance in two parametrisations, the map between
them, and what is between two of them. Measured on the orthant between d = 40 and d = 60: 6.9."""

SMALL = 2**20
"""Bytes that need no question to the system."""

_INSTEAD = 'Use structure="diagonal", a mask= with fewer entries of K, or fewer columns (a selection, or their leading principal components).'


def check_pairs(domain: Domain, n_pairs: int) -> None:
    """Refuse a precision matrix with `n_pairs` free entries that does not fit into memory."""
    d = domain.dimension
    r = n_pairs + d
    folded = d**4 if _has_dense_barrier(domain) else d**3  # sums over rows before the symmetry of K is used
    check_memory(r, 2 * folded, f"K over {d} columns", _INSTEAD)


def check_memory(n_parameters: int, doubles: int, what: str, instead: str) -> None:
    """Refuse a fit whose Γ, and `doubles` further numbers, do not fit into memory."""
    needed = 8 * (COPIES * n_parameters**2 + doubles)
    if needed < SMALL:
        return
    there = available_bytes()
    if needed > there:
        raise SpecificationError(
            f"{what} needs about {in_words(needed)} of memory, and {in_words(there)} are available: with {n_parameters:,} "
            f"parameters Γ alone, {n_parameters:,} × {n_parameters:,}, takes {in_words(8 * n_parameters**2)}. {instead}"
        )


@contextmanager
def enough_memory(n_rows: int, n_columns: int) -> Iterator[None]:
    """Say what is too large where an allocation fails all the same."""
    try:
        yield
    except MemoryError as error:
        raise SpecificationError(
            f"the memory does not suffice for this fit of {n_rows} rows and {n_columns} columns ({error}). {_INSTEAD}"
        ) from error


def _has_dense_barrier(domain: Domain) -> bool:
    if isinstance(domain, Product):
        return any(_has_dense_barrier(factor) for factor in domain.factors)
    return isinstance(domain, Polytope)
