"""A block of rows with a generator evaluated on it once, and what a model makes of the two."""

from __future__ import annotations

from copy import copy
from functools import cached_property, partial
from math import isfinite

import numpy as np

from zfree.arrays import Array
from zfree.data import Block
from zfree.domains import Domain
from zfree.errors import SpecificationError
from zfree.generators import Generator, GeneratorValue
from zfree.models import Model
from zfree.moments.sums import Moments
from zfree.penalties import NO_PENALTY, Penalty


class Rows:
    """A block of rows with the generator evaluated on it once."""

    def __init__(
        self,
        model: Model,
        generator: Generator,
        domain: Domain,
        block: Block,
        tests: Model | None = None,
        *,
        prepared: bool = False,
    ) -> None:
        self._given = (model, generator, domain, tests)
        self.block, self.X, self.weight = block, block.X, block.weights
        self.model = model if prepared else model.at(self.X)
        self.tests = self.model if tests is None else tests
        self.value: GeneratorValue = generator.evaluate(domain, self.X)
        self.short = None if tests is None else tests.equations(self.X, self.value.field, None)
        self.log_scale = float(self.value.log_weight.max())
        if not isfinite(self.log_scale):
            row = int(np.flatnonzero(~np.isfinite(self.value.log_weight))[0])
            raise SpecificationError(
                f"{generator!r} is not finite at row {block.number(row)} (x = {self.X[row].tolist()}): the row is too close to the boundary. "
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
        return Rows(model, generator, domain, self.block.only(row), tests)

    @cached_property
    def row_weight(self) -> Array:
        """w_i e^(log_weight_i − log_scale)."""
        if self.value.log_weight.min() == self.log_scale:
            return self.weight
        return self.weight * np.exp(self.value.log_weight - self.log_scale)

    def weights_in(self, log_scale: float) -> Array:
        """w_i e^(log_weight_i) in units of e^log_scale."""
        return self.row_weight if log_scale == self.log_scale else self.row_weight * np.exp(self.log_scale - log_scale)

    @cached_property
    def _push(self) -> Array:
        """∇·D + D∇b."""
        gradient = self.model.base_gradient(self.X)
        return self.value.divergence if gradient is None else self.value.divergence + self.value.field.apply(gradient)

    def moments(self) -> Moments:
        """The sums over these rows."""
        weight, field = self.row_weight, self.value.field
        if self.short is not None:
            gamma, g = self.short.moments(weight)
        else:
            gram = self.model.gram if self.tests is self.model else partial(self.tests.cross_gram, model=self.model)
            gamma, g = gram(self.X, field, weight), self.tests.stein_total(self.X, self._push, field, weight)
        return Moments(len(self.X), float(self.weight.sum()), self.log_scale, gamma, g)

    def products(self, thetas: Array) -> Array:
        """Γ_i θ_i = J D (Jᵀθ_i) in units of the row's own weight; θ_i for each row are laid out (r, N), one for all (r, 1)."""
        if self.short is not None:
            return self.short.products(thetas)
        one = thetas.shape[1] == 1
        slope = self.model.statistic_gradient if one else self.model.statistic_gradients
        V = slope(self.X, thetas[:, 0] if one else thetas)
        return self.tests.apply_jacobian(self.X, self.value.field.apply(V))

    def _flow(self, theta: Array) -> Array:
        """∇·D + D s_θ, of which the equations are J times it, plus the traces."""
        V = self.value.field.apply(self.model.statistic_gradient(self.X, theta))
        V += self._push
        return V

    def equations(self, theta: Array) -> Array:
        """Γ_i θ + g_i in units of the row's own weight, laid out (r, N)."""
        if self.short is not None:
            rows = self.short.products(theta[:, None])
            rows += self.short.constants()
            return rows
        return self.tests.stein(self.X, self._flow(theta), self.value.field)

    def influence(self, theta: Array, log_scale: float, penalty: Penalty = NO_PENALTY) -> Array:
        """ψ_i = w_i (Γ_i θ + g_i) in units of e^log_scale, laid out (r, N); with what a penalty adds."""
        rows = self.equations(theta)
        if penalty.share:
            rows += penalty.pull(theta, self.model.gram_diagonal(self.X, self.value.field))
        rows *= self.weights_in(log_scale)
        return rows

    def influence_gram(self, theta: Array, log_scale: float, penalty: Penalty = NO_PENALTY) -> Array:
        """Σ ψ_i ψ_iᵀ in units of e^(2 log_scale)."""
        if penalty.share or self.short is not None:
            psi = self.influence(theta, log_scale, penalty)
            return psi @ psi.T
        return self.tests.stein_gram(self.X, self._flow(theta), self.value.field, self.weights_in(log_scale))

    def scores(self, theta: Array, log_scale: float) -> Array:
        """The scoring rule S(x_i; θ) = ½ sᵀDs + ∇·(Ds) of each row (paper, eq. 12), in units of e^log_scale."""
        field, s = self.value.field, self.model.score(self.X, theta)
        trace = theta @ self.model.trace_hessian(self.X, field)
        total = np.einsum("nj,nj->n", s, 0.5 * field.apply(s) + self.value.divergence) + trace
        base = self.model.base_trace(self.X, field)
        if base is not None:
            total = total + base
        scores: Array = total * np.exp(self.value.log_weight - log_scale)
        return scores
