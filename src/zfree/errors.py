"""Exceptions and warnings. Each message says what is wrong, where, and what to do about it."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class ZfreeError(Exception):
    """Base class of every error raised by zfree."""


class DataError(ZfreeError, ValueError):
    """The data cannot be used as they are (missing, infinite, text, too few rows, constant columns, …)."""


class DataTypeError(DataError, TypeError):
    """A cell of the table that is no kind of number: a list, a dictionary, a complex number."""


class DomainError(DataError):
    """Some rows lie outside the domain."""


class BoundaryError(DomainError):
    """Some rows lie exactly on the boundary of the domain, where the score of a model need not exist."""


class InvalidDomainError(ZfreeError, ValueError):
    """A domain that does not exist: empty interior, contradictory inequalities, malformed text."""


class NotConvexError(ZfreeError, ValueError):
    """A potential whose Hessian is not positive definite at a point where it is used."""


class SingularMomentsError(ZfreeError, ValueError):
    """Γ_N is singular: the data do not determine the parameters."""


class SpecificationError(ZfreeError, ValueError):
    """Arguments that contradict each other or do not fit the model or the domain."""


class AtRowError(ZfreeError):
    """Something is wrong at a row of the block that was looked at. Who knows where the block stands says so: see :meth:`renumbered`."""

    def __init__(self, tell: Callable[[int], str], row: int) -> None:
        super().__init__(tell(row))
        self._tell, self._row = tell, row

    def renumbered(self, number: Callable[[int], int]) -> ZfreeError:
        """The error with the number that the row has in the user's table; there is nothing left to renumber in it."""
        return _plain_error(type(self).__mro__[2], self._tell(number(self._row)))

    def __reduce__(self) -> tuple[object, ...]:
        return _plain_error, (type(self).__mro__[2], str(self))


def _plain_error(kind: type[ZfreeError], message: str) -> ZfreeError:
    return kind(message)


class SpecificationAtRowError(AtRowError, SpecificationError):
    """A weight, a potential or a statistic of the user's fails at a row."""


class NotConvexAtRowError(AtRowError, NotConvexError):
    """A potential is not convex at a row."""


class ImproperDensityError(SpecificationError):
    """The density cannot be normalised on its domain at these parameters: there is no distribution to draw from."""


class MissingDependencyError(ZfreeError, ImportError):
    """An optional dependency is needed for this and is not installed."""


class ZfreeWarning(UserWarning):
    """Base class of every warning issued by zfree."""


class InconsistentGeneratorWarning(ZfreeWarning):
    """The generator does not vanish on the boundary, or outgrows the density far out: the estimate does not converge to the truth."""


class InfiniteVarianceWarning(ZfreeWarning):
    """The generator vanishes too slowly at the boundary, or grows too fast far out, for this model: standard errors do not exist."""


class UnitsWarning(ZfreeWarning):
    """The generator counts slacks or columns as they are written, and their sizes differ so much that the estimate suffers."""


class SelectionWarning(ZfreeWarning):
    """The automatic choice of a generator ended at the edge of what was searched."""


class MisfitWarning(ZfreeWarning):
    """The data differ from draws of the fitted model by more than chance: they contradict the model."""


class IllConditionedWarning(ZfreeWarning):
    """Γ_N is close to singular: estimates and standard errors lose digits."""


class NotPositiveDefiniteWarning(ZfreeWarning):
    """An estimated precision matrix is not positive definite."""


class ImproperDensityWarning(ZfreeWarning):
    """The fitted density cannot be normalised on its domain: it is no distribution."""


class SamplingWarning(ZfreeWarning):
    """Draws that cannot be trusted: the chains they come from have not mixed."""


class BoundaryRowsWarning(ZfreeWarning):
    """Rows on the boundary were dropped or moved, as asked."""


class DamagedFileWarning(ZfreeWarning):
    """Parts of a file could not be used and were set aside."""


class ZfreeDeprecationWarning(ZfreeWarning, FutureWarning):
    """An old spelling that goes in a later release; the message has the new one. A FutureWarning, because users should see it."""


class Remark(NamedTuple):
    """A warning that was collected instead of being issued."""

    message: str
    category: type[ZfreeWarning]


_collector: ContextVar[list[Remark] | None] = ContextVar("collector", default=None)


@contextmanager
def collected_warnings() -> Iterator[list[Remark]]:
    """Collect the library's own warnings inside, instead of issuing them.

    The filters of :mod:`warnings` belong to the whole process: two threads that change and restore them leave them changed. Here
    each thread, or asynchronous task, has its own list, and filters are not touched.
    """
    remarks: list[Remark] = []
    token = _collector.set(remarks)
    try:
        yield remarks
    finally:
        _collector.reset(token)


def warn(message: str, category: type[ZfreeWarning]) -> None:
    """Warn at the line of the caller outside zfree, or tell who collects warnings (:func:`collected_warnings`)."""
    remarks = _collector.get()
    if remarks is not None:
        remarks.append(Remark(message, category))
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
