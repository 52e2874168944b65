"""Data on a domain, a model and a generator: all that sums over rows need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from zfree.arrays import Array
from zfree.data import Block, Source
from zfree.data.source import Summand
from zfree.domains import Domain, Units
from zfree.errors import SpecificationError
from zfree.generators import Generator
from zfree.models import Model
from zfree.moments.rows import Rows
from zfree.moments.sums import Moments
from zfree.penalties import NO_PENALTY, Penalty


class Shared:
    """What problems share that differ in the generator only, where all rows are one block: nothing is computed twice."""

    def __init__(self, model: Model, domain: Domain, source: Source) -> None:
        self.model, self.domain, self.source = model, domain, source
        self.prepared: Model | None = None
        self.tested: Rows | None = None  # all generators that ask for test functions of the model's own have the same D

    def serves(self, problem: Problem) -> bool:
        """Whether a problem is about the same rows."""
        return (problem.source, problem.model, problem.domain) == (self.source, self.model, self.domain)

    def model_at(self, block: Block, whole: bool) -> Model:
        """The model, with what it knows about the rows where these are all of them."""
        if not whole:
            return self.model
        if self.prepared is None:
            self.prepared = self.model.at(block.X)
        return self.prepared


@dataclass(frozen=True, eq=False)
class Problem:
    """Data on a domain, a model and a generator: all that is needed to form moments, in bounded memory.

    `units` are those that natural scales measure in: of these rows, unless they are given. They stay when rows or the generator are
    replaced, so that parts of the data and other candidates are weighted alike.
    """

    model: Model
    generator: Generator
    domain: Domain
    source: Source
    units: Units | None = None
    shared: Shared | None = None

    def __post_init__(self) -> None:
        if self.units is None:
            object.__setattr__(self, "units", Units.of_source(self.domain, self.source))
        if self.shared is None or not self.shared.serves(self):
            object.__setattr__(self, "shared", Shared(self.model, self.domain, self.source))

    def with_generator(self, generator: Generator) -> Problem:
        """The same rows and model with another weight."""
        return replace(self, generator=generator)

    def on(self, source: Source) -> Problem:
        """Other rows, measured in the units of these."""
        return replace(self, source=source, shared=None)

    @cached_property
    def _measuring(self) -> Generator:
        """The generator in the units of the data."""
        assert self.units is not None
        return self.generator.in_units(self.units)

    @cached_property
    def tests(self) -> Model | None:
        """Test functions of the model's own, where the generator asks for them; None for the statistics."""
        if not self.generator.own_tests:
            return None
        assert self.units is not None
        pilot, r = self.generator.tests_pilot(), self.model.n_parameters
        if pilot is not None and pilot.size != r:
            raise SpecificationError(f"the pilot of {self.generator!r} must have the {r} parameters of this model.")
        found = self.model.test_functions(self.domain, self.units, pilot)
        if found is None:
            raise SpecificationError(
                f"{self.generator!r} needs a model with test functions of its own, a Dirichlet or a gamma: this one has none on "
                f"{self.domain!r}. Use a Barrier."
            )
        return found

    def evaluated(self, block: Block) -> Rows:
        """A block with the generator evaluated on it. Where it is all there is, it is evaluated once and kept."""
        if len(block.X) != self.source.n_rows:
            return Rows(self.model, self._measuring, self.domain, block, self.tests)
        kept: Rows | None = self.__dict__.get("_kept")
        if kept is None:
            kept = self._all_rows(block)
            self.__dict__["_kept"] = kept
        return kept

    def _all_rows(self, block: Block) -> Rows:
        assert self.shared is not None
        known = self.shared.tested
        if self.tests is not None and known is not None:
            return known.retested(self.tests)
        model = self.shared.model_at(block, True)
        rows = Rows(model, self._measuring, self.domain, block, self.tests, prepared=True)
        if self.tests is not None:
            self.shared.tested = rows
        return rows

    def release(self) -> None:
        """Forget what was evaluated and kept."""
        self.__dict__.pop("_kept", None)

    def model_at(self, block: Block) -> Model:
        """The model, prepared if these are all rows."""
        assert self.shared is not None
        return self.shared.model_at(block, len(block.X) == self.source.n_rows)

    def reduce(
        self, kernel: Callable[[Rows], Summand], doubles_per_row: int | None = None, least_rows: int = 1
    ) -> Summand:
        """The sum of a kernel over all blocks, with the generator evaluated; see :meth:`zfree.data.Source.reduce`."""
        doubles = self.model.doubles_per_row if doubles_per_row is None else doubles_per_row
        return self.source.reduce(lambda block: kernel(self.evaluated(block)), doubles, least_rows)

    def moments(self) -> Moments:
        """Γ and g summed over all rows."""
        return self.reduce(Rows.moments)

    def influence_gram(self, theta: Array, log_scale: float, penalty: Penalty = NO_PENALTY) -> Array:
        """Σ ψ_i ψ_iᵀ over all rows, in units of e^(2 log_scale)."""
        return self.reduce(
            lambda rows: rows.influence_gram(theta, log_scale, penalty), least_rows=self.model.n_parameters
        )
