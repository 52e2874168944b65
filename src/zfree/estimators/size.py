"""Fits too large for the memory there is: said beforehand, with the size and what to use instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from zfree.domains import Domain, Polytope, Product
from zfree.errors import SpecificationError
from zfree.generators import Generator
from zfree.inference import how_much
from zfree.memory import available_bytes, in_words
from zfree.moments import Problem

COPIES = 8
"""Matrices of the size of Γ that are alive at once: Γ, its inverse, Σ, the covariance in two parametrisations, the map between
them, and what is between two of them. Measured on the orthant and the solid simplex with d = 40 and d = 60: 5.2 to 7.3."""
WITHOUT_COVARIANCE, ESTIMATE_ALONE = 7, 4
"""The same without all of the covariance (4.3 to 6.4), and of the estimate alone where D is diagonal (3.2)."""
SQUARES = 8
"""Matrices over columns where parameters are fitted column by column and nothing over parameters is formed."""

SMALL = 2**20
"""Bytes that need no question to the system."""

_INSTEAD = 'Use structure="diagonal", a mask= with fewer entries of K, or fewer columns (a selection, or their leading principal components).'


def check_pairs(domain: Domain, n_pairs: int, most: int, covariance: str | None) -> None:
    """Refuse a precision matrix with `n_pairs` free entries, at most so many in a row, that does not fit into memory."""
    d = domain.dimension
    r = n_pairs + d
    if _is_small(r, d, most):
        return
    folded = d**4 if _has_dense_barrier(domain) else d * most**2  # sums over rows before the symmetry of K is used
    apart = most <= 1 and domain.coordinate_facets() is not None
    _check_memory(r, _matrices(r, d, domain, covariance, apart) + 2 * folded, f"K over {d} columns", _INSTEAD)


def check_model(problem: Problem, covariance: str | None, asked: object) -> None:
    """Refuse a model whose matrices over parameters do not fit into memory, with the generator that was asked for."""
    model, domain = problem.model, problem.domain
    r, apart = model.n_parameters, False
    if _is_small(r, model.dimension, 1):
        return
    if model.is_separable and domain.coordinate_facets() is not None:
        # With a diagonal D the columns are fitted apart; equations with test functions are not.
        assert problem.units is not None
        own = asked.own_tests if isinstance(asked, Generator) else model.test_functions(domain, problem.units, None)
        chooses = not isinstance(asked, Generator) and asked != "auto"  # and forms Σ of every candidate
        apart = not own and not chooses
    doubles = _matrices(r, model.dimension, domain, covariance, apart)
    _check_memory(r, doubles, f"a fit of {r} parameters", "Use fewer columns.")


def _is_small(r: int, d: int, most: int) -> bool:
    """Whether it all fits, whatever is computed."""
    return 8 * (COPIES * r**2 + SQUARES * d**2 + 2 * d**2 * max(d, most) ** 2) < SMALL


def _matrices(r: int, d: int, domain: Domain, covariance: str | None, apart: bool) -> int:
    """Numbers in the matrices over r parameters, or over d columns where these are fitted apart."""
    kind = how_much(covariance, r)
    if kind == "full":
        return COPIES * r**2
    if apart:
        return SQUARES * d**2
    alone = kind is None and domain.coordinate_facets() is not None
    return (ESTIMATE_ALONE if alone else WITHOUT_COVARIANCE) * r**2


def _check_memory(n_parameters: int, doubles: int, what: str, instead: str) -> None:
    """Refuse a fit whose numbers do not fit into memory."""
    needed = 8 * doubles
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
