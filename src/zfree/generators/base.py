"""A generator D(x) and its column divergence ∇·D(x): the weight of generalized score matching."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple, Self

from zfree.arrays import Array, Index
from zfree.curvatures import Energy
from zfree.domains import Domain, Units
from zfree.fields import Carried, Field


class GeneratorValue(NamedTuple):
    r"""A generator at N points: :math:`D_i = e^{\text{log\_weight}_i}\,\text{field}_i`, and ∇·D in the same unit.

    The weight is carried as a logarithm because :math:`\det(H)^{-\gamma}` leaves the range of floating point in high
    dimension, while the estimate does not change when D is multiplied by a constant.
    """

    log_weight: Array
    field: Field
    divergence: Array


class Vanishing(NamedTuple):
    """Whether D n → 0 on the boundary (Proposition 3.2's condition), and why not."""

    holds: bool
    reason: str = ""


class Decay(NamedTuple):
    """D at distance s from the boundary: n·D n ~ s^across, and ~ s^along in the other directions."""

    across: float
    along: float


class Pilot(NamedTuple):
    """A first estimate on the rows, for weights that are built from one.

    The expectation of the estimating function is zero for every weight that vanishes on the boundary, so to first order the error
    of the pilot does not touch the estimate, and the sandwich covariance stands.
    """

    theta: Array | None
    """Working parameters of the model; None before there is an estimate."""
    energy: Energy | None
    """−log p there, of a model that is a Gaussian in some coordinates; None for other models."""
    mean: Array
    """Mean (d,) of the rows, in the coordinates of the energy."""
    covariance: Array
    """Their covariance (d, d), in the same coordinates. Both are empty for a generator that does not want them."""


class Generator(ABC):
    """A symmetric positive-definite matrix field D on a domain."""

    intrinsic: bool = False
    """Whether :meth:`on_domain` works on a flat domain itself; otherwise it is called in the domain's chart."""
    reason: str = ""
    """Why theory names it, for the record of a choice; empty for one that has to be searched for."""
    wants_pilot: bool = False
    """Whether the weight is built from a first estimate, which :func:`zfree.selection.pilot.settled` makes."""
    wants_covariance: bool = True
    """Whether the pilot is to have the mean and the covariance of the rows."""
    own_tests: bool = False
    """Whether the equations are those of test functions of the model's own, and not of its statistics."""

    def __getstate__(self) -> dict[str, Any]:
        """All but what it remembers of itself."""
        kind = type(self)
        return {n: v for n, v in self.__dict__.items() if not isinstance(getattr(kind, n, None), cached_property)}

    @abstractmethod
    def on_domain(self, domain: Domain, X: Array) -> GeneratorValue:
        """D and ∇·D at the rows of `X`, all strictly inside `domain`."""

    @abstractmethod
    def vanishing(self, domain: Domain) -> Vanishing:
        """Whether D vanishes across the boundary of `domain`, so that the estimate is consistent."""

    @abstractmethod
    def decay(self, domain: Domain) -> Decay | None:
        """How fast D vanishes at the boundary of `domain`; None where that is not known."""

    @cached_property
    def tempered(self) -> bool:
        """Whether D and ∇·D grow no faster than some power of ‖x‖ far out; False also where that is not known."""
        return False

    def in_units(self, units: Units) -> Self:
        """The generator that measures in these units, if it was to measure in those of the data; itself otherwise."""
        return self

    def informed(self, pilot: Pilot) -> Generator:
        """The generator built from a first estimate, or from what is known before there is one. It wants none any more."""
        return self

    def tests_pilot(self) -> Array | None:
        """The parameters that test functions of the model's own are built from; None without any."""
        return None

    def imbalance(self, domain: Domain, units: Units, separable: bool) -> float:
        """How many times too much some slacks or columns count because of the units they are written in; 1 if they do not.

        `separable` says that the model treats every column by itself.
        """
        return 1.0

    def _for_columns(self, kept: Index) -> Self:
        """The generator for some of the columns."""
        return self

    def evaluate(self, domain: Domain, X: Array) -> GeneratorValue:
        """D and ∇·D in the coordinates of the data.

        On a flat domain x = C y + c a generator of the chart is carried over as :math:`C D C^\\top`; models then work with
        all columns, and no Jacobian of the chart appears anywhere else.
        """
        chart = None if self.intrinsic else domain.chart
        if chart is None:
            return self.on_domain(domain, X)
        inner = self._for_columns(chart.kept).on_domain(chart.domain, chart.pull(X))
        field = Carried(inner.field, chart.matrix, chart.kept)
        return GeneratorValue(inner.log_weight, field, inner.divergence @ chart.matrix.T)

    def check(self, domain: Domain) -> Vanishing:
        """:meth:`vanishing`, in the chart where the generator works there."""
        if not domain.has_boundary:
            return Vanishing(True)
        chart = None if self.intrinsic else domain.chart
        return self.vanishing(domain if chart is None else chart.domain)
