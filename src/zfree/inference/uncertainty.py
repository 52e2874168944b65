"""What is known of the error of an estimate: its covariance, its standard errors only, or nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array, Mask
from zfree.errors import SpecificationError
from zfree.inference.parameters import check_variances, mapped
from zfree.inference.sandwich import sandwich, variances
from zfree.models import Model
from zfree.models.linear_maps import Jacobian, moved_by
from zfree.solvers import Objective, Solution

KINDS = ("auto", "full", "diagonal", None)
CHEAP = 1000
"""Parameters up to which "auto" computes the whole covariance."""


class Uncertainty(ABC):
    """What can be asked of the sandwich."""

    kind: str | None

    def refusal(self, which: str) -> str:
        """Why nothing is known of the error of a parametrisation, and what to do; empty where something is."""
        return ""

    @property
    def matrix(self) -> Array | None:
        """The covariance of the working parameters, if all of it is known."""
        return None

    @abstractmethod
    def covariance(self, jacobian: Jacobian | None) -> Array | None:
        """J C Jᵀ; None where that is not known."""

    @abstractmethod
    def variances(self, which: str, jacobian: Jacobian | None) -> Array:
        """Its diagonal, for a parametrisation by name; refused where nothing is known of it."""


@dataclass(frozen=True, eq=False)
class Full(Uncertainty):
    """All of the covariance."""

    working: Array
    free: Mask
    kind = "full"

    def __post_init__(self) -> None:
        self.working.flags.writeable = False

    @property
    def matrix(self) -> Array:
        return self.working

    def covariance(self, jacobian: Jacobian | None) -> Array:
        return mapped(self.working, jacobian, self.free)

    def variances(self, which: str, jacobian: Jacobian | None) -> Array:
        return self.covariance(jacobian).diagonal()


@dataclass(frozen=True, eq=False)
class VariancesOnly(Uncertainty):
    """Variances of the parametrisations that a summary shows."""

    known: Mapping[str, Array]
    kind = "diagonal"

    def refusal(self, which: str) -> str:
        if which in self.known:
            return ""
        return f'this fit has standard errors of {", ".join(self.known)} only, not of {which}: pass covariance="full" to the estimator.'

    def covariance(self, jacobian: Jacobian | None) -> None:
        return None

    def variances(self, which: str, jacobian: Jacobian | None) -> Array:
        if which not in self.known:
            raise SpecificationError(self.refusal(which))
        return self.known[which]


@dataclass(frozen=True, eq=False)
class Absent(Uncertainty):
    """Nothing, as it was asked for."""

    kind = None

    def refusal(self, which: str) -> str:
        return 'no standard errors were computed for this fit (covariance=None): pass covariance="diagonal" or "full" to the estimator.'

    def covariance(self, jacobian: Jacobian | None) -> None:
        return None

    def variances(self, which: str, jacobian: Jacobian | None) -> Array:
        raise SpecificationError(self.refusal(which))


def check_covariance(asked: object) -> None:
    """The option must be known."""
    if asked is not None and (not isinstance(asked, str) or asked not in KINDS):
        raise SpecificationError(f'covariance must be "auto", "full", "diagonal" or None, got {asked!r}.')


def how_much(asked: str | None, n_parameters: int) -> str | None:
    """ "full", "diagonal" or None, from what was asked and what it costs."""
    if asked == "auto":
        return "full" if n_parameters <= CHEAP else "diagonal"
    return asked


def uncertainty(objective: Objective, solution: Solution, kind: str | None) -> Uncertainty:
    """As much of the sandwich as is wanted."""
    if kind is None:
        return Absent()
    if kind == "full":
        return Full(sandwich(objective, solution), solution.restriction.free)
    model = objective.problem.model
    found = variances(objective, solution, shown_maps(model, solution.theta))
    return VariancesOnly(found)


def unknown(objective: Objective, solution: Solution, kind: str | None) -> Uncertainty:
    """As much as is wanted of a covariance that does not exist: NaN, and zero for what is known."""
    free, model = solution.restriction.free, objective.problem.model
    if kind is None:
        return Absent()
    if kind == "full":
        return Full(np.where(np.multiply.outer(free, free), np.nan, 0.0), free)
    maps = shown_maps(model, solution.theta)
    return VariancesOnly({which: np.where(moves(J, free), np.nan, 0.0) for which, J in maps.items()})


def moves(jacobian: Jacobian | None, free: Mask) -> Mask:
    """Which functions with this Jacobian change with the free parameters; these themselves without one."""
    return free if jacobian is None else moved_by(jacobian, free)


def shown_maps(model: Model, theta: Array) -> dict[str, Jacobian | None]:
    """Jacobians of the natural parameters and of those that a summary shows."""
    derived = model.derived(theta)
    shown = {name: derived[name]().jacobian for name in model.reported if name != "natural"}
    return {"natural": model.natural_map(), **shown}


def check_uncertainty(found: Uncertainty, solution: Solution, objective: Objective) -> None:
    """Variances that rounding has destroyed are refused, never made zero."""
    variances, free = working_variances(found), solution.restriction.free
    if variances is None or (variances[free] >= 0.0).all():
        return
    measured = f" (1/κ ≈ {solution.reciprocal_condition:.1e} after scaling)"
    check_variances(variances, free, objective.names, measured)


def working_variances(found: Uncertainty) -> Array | None:
    """Variances to hold against zero."""
    if isinstance(found, Full):
        return np.asarray(found.working.diagonal())
    return found.known["natural"] if isinstance(found, VariancesOnly) else None
