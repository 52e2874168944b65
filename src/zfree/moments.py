r"""Where a model and a generator meet: the sums over rows from which the estimate follows.

For an exponential family the empirical loss is the quadratic :math:`\tfrac12\theta^\top\Gamma_N\theta + g_N^\top\theta + C`
(Proposition 5.1) with

.. math::
   \Gamma_i = J_t D J_t^\top, \qquad g_i = \mathrm{tr}(D\nabla^2 t) + J_t(\nabla\cdot D + D\nabla b) .

Other test functions h in place of the statistics (:class:`~zfree.SteinMoments`) give linear equations :math:`\Gamma_N\theta + g_N = 0` too, with
:math:`J_h` and :math:`\nabla^2 h` for the left :math:`J_t` and for :math:`\nabla^2 t`: no quadratic, as Γ is not symmetric.

Both are sums over rows, so they are added up in chunks and can be merged. Each carries a common factor
:math:`e^{\text{log\_scale}}`, because the weight of a row may not be representable by itself.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from math import isfinite

import numpy as np

from zfree.arrays import Array, chunk_rows, row_chunks
from zfree.domains import Domain, Units
from zfree.errors import SpecificationError
from zfree.generators import Generator, GeneratorValue
from zfree.models import Model
from zfree.quadratic import LowRank, Quadratic


@dataclass(frozen=True, eq=False)
class Moments:
    r"""Sums :math:`\sum w_i\Gamma_i` and :math:`\sum w_i g_i` in units of :math:`e^{\text{log\_scale}}`.

    Attributes
    ----------
    n : int
        Number of rows.
    weight : float
        Σ w_i.
    log_scale : float
        Logarithm of the unit of the two sums.
    gamma_sum : Quadratic
        The sum of the Γ_i, in the structure that it has.
    g_sum : ndarray
        The sum of the g_i.
    """

    n: int
    weight: float
    log_scale: float
    gamma_sum: Quadratic
    g_sum: Array

    @classmethod
    def zero(cls, n_parameters: int) -> Moments:
        """No rows."""
        r = n_parameters
        return cls(0, 0.0, -np.inf, LowRank(np.zeros((r, 0)), np.zeros(0)), np.zeros(r))

    def __add__(self, other: Moments) -> Moments:
        """Merge the sums of two sets of rows."""
        if other.n == 0:
            return self
        if self.n == 0:
            return other
        top = max(self.log_scale, other.log_scale)
        mine, theirs = np.exp(self.log_scale - top), np.exp(other.log_scale - top)
        return Moments(
            self.n + other.n,
            self.weight + other.weight,
            top,
            self.gamma_sum.scaled(mine) + other.gamma_sum.scaled(theirs),
            mine * self.g_sum + theirs * other.g_sum,
        )

    @property
    def symmetric(self) -> bool:
        """Whether Γ is that of a quadratic; with test functions of another kind it is not."""
        return self.gamma_sum.symmetric

    @property
    def gamma(self) -> Quadratic:
        """Γ_N in units of e^log_scale."""
        return self.gamma_sum.scaled(1.0 / self.weight)

    @property
    def g(self) -> Array:
        """g_N in units of e^log_scale."""
        return self.g_sum / self.weight


class Rows:
    """A chunk of rows with the generator evaluated on it once."""

    def __init__(
        self,
        model: Model,
        generator: Generator,
        domain: Domain,
        X: Array,
        weight: Array | None,
        tests: Model | None = None,
    ) -> None:
        self._given = (model, generator, domain, tests)
        self.model, self.X = model.at(X), X
        self.tests = self.model if tests is None else tests
        self.weight = np.ones(len(X)) if weight is None else weight
        self.value: GeneratorValue = generator.evaluate(domain, X)
        self.short = None if tests is None else tests.equations(X, self.value.field, None)
        self.log_scale = float(self.value.log_weight.max())
        if not isfinite(self.log_scale):
            row = int(np.flatnonzero(~np.isfinite(self.value.log_weight))[0])
            raise SpecificationError(
                f"{generator!r} is not finite at row {row} (x = {X[row].tolist()}): the row is too close to the boundary. "
                'Drop it or pass boundary="clip".'
            )

    def retested(self, tests: Model) -> Rows:
        """The same rows and the same D with other test functions."""
        twin = copy(self)
        twin._given = (*self._given[:3], tests)
        twin.tests, twin.short = tests, tests.equations(self.X, self.value.field, self.short)
        return twin

    def only(self, row: int) -> Rows:
        """One of the rows."""
        model, generator, domain, tests = self._given
        own = slice(row, row + 1)
        return Rows(model, generator, domain, self.X[own], self.weight[own], tests)

    @cached_property
    def row_weight(self) -> Array:
        """w_i e^(log_weight_i − log_scale)."""
        if self.value.log_weight.min() == self.log_scale:
            return self.weight
        return self.weight * np.exp(self.value.log_weight - self.log_scale)

    @cached_property
    def _push(self) -> Array:
        """∇·D + D∇b."""
        gradient = self.model.base_gradient(self.X)
        return self.value.divergence if gradient is None else self.value.divergence + self.value.field.apply(gradient)

    def _velocity(self, theta: Array) -> Array:
        """∇·D + D s_θ: with it in place of V the rows of ``stein`` are the equations Γ_i θ + g_i."""
        return self._push + self.value.field.apply(self.model.statistic_gradient(self.X, theta))

    def moments(self) -> Moments:
        """The sums over these rows."""
        weight = self.row_weight
        if self.short is not None:
            gamma, g = self.short.moments(weight)
        else:
            products = self.model.gram if self.tests is self.model else partial(self.tests.cross_gram, model=self.model)
            gamma = products(self.X, self.value.field, weight)
            g = self.tests.stein_total(self.X, self._push, self.value.field, weight)
        return Moments(len(self.X), float(self.weight.sum()), self.log_scale, gamma, g)

    def products(self, thetas: Array) -> Array:
        """Γ_i θ_i = J D (Jᵀθ_i) in units of the row's own weight; θ_i for each row are laid out (r, N), one for all (r, 1)."""
        if self.short is not None:
            return self.short.products(thetas)
        one = thetas.shape[1] == 1
        slope = self.model.statistic_gradient if one else self.model.statistic_gradients
        V = slope(self.X, thetas[:, 0] if one else thetas)
        return self.tests.apply_jacobian(self.X, self.value.field.apply(V))

    def equations(self, theta: Array) -> Array:
        """Γ_i θ + g_i in units of the row's own weight, laid out (r, N)."""
        if self.short is None:
            return self.tests.stein(self.X, self._velocity(theta), self.value.field)
        rows = self.short.products(theta[:, None])
        rows += self.short.constants()
        return rows

    def influence_gram(self, theta: Array, log_scale: float, ridge: float = 0.0) -> Array:
        """Σ ψ_i ψ_iᵀ over these rows, in units of e^(2 log_scale)."""
        if ridge or self.short is not None:
            psi = self.influence(theta, log_scale, ridge)
            return psi @ psi.T
        weight = self._weight_in(log_scale)
        return self.tests.stein_gram(self.X, self._velocity(theta), self.value.field, weight)

    def influence(self, theta: Array, log_scale: float, ridge: float = 0.0) -> Array:
        """ψ_i = w_i (Γ_i θ + g_i) in units of e^log_scale, laid out (r, N); a ridge adds ρ diag(Γ_i) θ."""
        rows = self.equations(theta)
        if ridge:
            rows += (ridge * theta)[:, None] * self.model.gram_diagonal(self.X, self.value.field)
        rows *= self._weight_in(log_scale)
        return rows

    def _weight_in(self, log_scale: float) -> Array:
        """The weights of the rows in units of e^log_scale."""
        return self.row_weight if log_scale == self.log_scale else self.row_weight * np.exp(self.log_scale - log_scale)

    def scores(self, theta: Array, log_scale: float) -> Array:
        """The scoring rule S(x_i; θ) = ½ sᵀDs + ∇·(Ds) of each row (paper, eq. 12), in units of e^log_scale."""
        field, s = self.value.field, self.model.score(self.X, theta)
        trace = theta @ self.model.trace_hessian(self.X, field)
        total = np.einsum("nj,nj->n", s, 0.5 * field.apply(s) + self.value.divergence) + trace
        base = self.model.base_trace(self.X, field)
        if base is not None:
            total = total + base
        return total * np.exp(self.value.log_weight - log_scale)


class Seen:
    """What problems share that differ in the generator only, where all rows are one chunk: nothing is computed twice."""

    def __init__(self, model: Model, domain: Domain, X: Array, weight: Array | None) -> None:
        self.model, self.domain, self.X, self.weight = model, domain, X, weight
        self.tested: Rows | None = None  # all generators that ask for test functions of the model's own have the same D

    def serves(self, problem: Problem) -> bool:
        """Whether a problem is about the same rows."""
        same_rows = problem.X is self.X and problem.weight is self.weight
        return same_rows and problem.model is self.model and problem.domain is self.domain

    @cached_property
    def prepared(self) -> Model:
        """The model with what it knows about the rows."""
        return self.model.at(self.X)


@dataclass(frozen=True, eq=False)
class Problem:
    """Data on a domain, a model and a generator: all that is needed to form moments, in bounded memory.

    `units` are those that natural scales measure in: of these rows, unless they are given. They stay when rows or the generator are
    replaced, so that parts of the data and other candidates are weighted alike.
    """

    model: Model
    generator: Generator
    domain: Domain
    X: Array
    weight: Array | None = None
    units: Units | None = None
    seen: Seen | None = None

    def __post_init__(self) -> None:
        if self.units is None:
            object.__setattr__(self, "units", Units.of(self.domain, self.X, self.weight))
        if self.seen is None or not self.seen.serves(self):
            object.__setattr__(self, "seen", Seen(self.model, self.domain, self.X, self.weight))

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

    def chunks(self) -> Iterator[tuple[Array, Array | None]]:
        """Rows and weights in pieces of bounded size."""
        for part in row_chunks(len(self.X), self.model.doubles_per_row):
            whole = part.stop - part.start == len(self.X)
            yield self.X if whole else self.X[part], None if self.weight is None else self.weight[part]

    def rows(self) -> Iterator[Rows]:
        """The same pieces with the generator evaluated. A single piece is evaluated once and kept."""
        if len(self.X) <= chunk_rows(self.model.doubles_per_row):
            yield self._only_chunk
            return
        for X, weight in self.chunks():
            yield Rows(self.model, self._measuring, self.domain, X, weight, self.tests)

    @cached_property
    def _only_chunk(self) -> Rows:
        assert self.seen is not None
        known = self.seen.tested
        if self.tests is not None and known is not None:
            return known.retested(self.tests)
        rows = Rows(self.seen.prepared, self._measuring, self.domain, self.X, self.weight, self.tests)
        if self.tests is not None:
            self.seen.tested = rows
        return rows

    def model_at(self, X: Array) -> Model:
        """The model, prepared if these are all rows, in one chunk."""
        assert self.seen is not None
        return self.seen.prepared if X is self.X and len(X) <= chunk_rows(self.model.doubles_per_row) else self.model

    def moments(self) -> Moments:
        """Γ and g summed over all rows."""
        return reduce(operator.add, (rows.moments() for rows in self.rows()))

    def influence_gram(self, theta: Array, log_scale: float, ridge: float = 0.0) -> Array:
        """Σ ψ_i ψ_iᵀ over all rows, in units of e^(2 log_scale)."""
        r = self.model.n_parameters
        total = np.zeros((r, r))
        for rows in self.rows():
            total += rows.influence_gram(theta, log_scale, ridge)
        return total
