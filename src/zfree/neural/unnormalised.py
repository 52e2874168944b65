"""What every density on a domain that is known up to its constant can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from zfree.arrays import Array, Seed
from zfree.deprecation import renamed_attributes
from zfree.domains import Domain, RealSpace
from zfree.estimators.boundary_rows import keep_inside
from zfree.estimators.validation import check_domain, column_names, read_table
from zfree.samplers import Chains, Draws, sample_langevin

KEPT_STARTS = 1024
"""Rows of the data kept to start the chains of a sampler from."""


@renamed_attributes("0.3", log_prob_unnormalised="log_density")
class UnnormalisedDensity(BaseEstimator, ABC):
    """Reads rows on a domain, evaluates log p up to a constant, draws by Langevin chains. Fitting is the subclass's affair."""

    domain: Domain | None
    domain_: Domain
    _starts: Array

    @abstractmethod
    def _evaluate(self, X: Array) -> tuple[Array, Array]:
        """log p up to a constant (N,) and ∇ log p (N, d) at rows inside the domain."""

    def _rows(self, X: Any, *, reset: bool) -> Array:
        array = read_table(self, X, reset=reset, one_dimensional=True)
        d = array.shape[1]
        domain = check_domain(RealSpace(d) if self.domain is None else self.domain, self, d)
        if reset:
            self.domain_ = domain
        return keep_inside(domain, array, None, column_names(self, d, domain.columns), "raise", None)[0]

    def log_density(self, X: Any) -> Array:
        """log p of each row up to the unknown constant: minus the energy."""
        check_is_fitted(self, "generator_")
        return self._evaluate(self._rows(X, reset=False))[0]

    def density_gradient(self, X: Any) -> Array:
        """∇ log p of each row."""
        check_is_fitted(self, "generator_")
        return self._evaluate(self._rows(X, reset=False))[1]

    def chains(self, n: int, random_state: Seed = None, **options: Any) -> Chains:
        """Draws with their diagnostics; `options` are those of :func:`zfree.samplers.sample_langevin`."""
        check_is_fitted(self, "generator_")
        options = {"start": self._starts, "random_state": random_state, **options}
        return sample_langevin(self._evaluate, self.domain_, n, **options)

    def sample(self, n: int, random_state: Seed = None, **options: Any) -> Array:
        """`n` draws from the fitted density by preconditioned Langevin chains, started from rows of the data.

        A :class:`~zfree.errors.SamplingWarning` says when the chains have not mixed; :meth:`chains` returns their diagnostics.
        """
        found = self.chains(n, random_state, **options)
        return Draws(found.draws, False, "Langevin chains", found.rhat, found.effective_size).or_warn().draws
