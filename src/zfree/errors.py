"""Exceptions and warnings. Each message says what is wrong, where, and what to do about it."""

from __future__ import annotations

import os
import sys
import warnings

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class ZfreeError(Exception):
    """Base class of every error raised by zfree."""


class DataError(ZfreeError, ValueError):
    """The data cannot be used as they are (missing, infinite, text, too few rows, constant columns, …)."""


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


class ImproperDensityError(SpecificationError):
    """The density cannot be normalised on its domain at these parameters: there is no distribution to draw from."""


class MissingDependencyError(ZfreeError, ImportError):
    """An optional dependency is needed for this and is not installed."""


class ZfreeWarning(UserWarning):
    """Base class of every warning issued by zfree."""


class InconsistentGeneratorWarning(ZfreeWarning):
    """The generator does not vanish on the boundary: the estimate does not converge to the truth."""


class InfiniteVarianceWarning(ZfreeWarning):
    """The generator vanishes too slowly for this model: standard errors do not exist."""


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


def warn(message: str, category: type[ZfreeWarning]) -> None:
    """Warn at the line of the caller outside zfree."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
