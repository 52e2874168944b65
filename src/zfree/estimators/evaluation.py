"""What a fitted estimator says of the density: its logarithm and score at new rows, and draws from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, overload

from sklearn.utils.validation import check_is_fitted

from zfree.arrays import Array, Seed
from zfree.conversion import check_flag
from zfree.data import Table
from zfree.domains import Domain
from zfree.estimators.data import Data
from zfree.estimators.extremes import within_range
from zfree.estimators.reading import ReadsRows
from zfree.estimators.validation import column_names
from zfree.generators import default_generator
from zfree.inference import FitResult
from zfree.samplers import Draws, sample_model


class HasDensity(ReadsRows):
    """The methods of a fitted estimator that take new rows, or make some."""

    result_: FitResult
    domain_: Domain

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean scoring rule of new rows: larger is better.

        The rule is taken with one generator whatever the fit's own was, the log barrier without its determinant (the distance to the
        boundary on a domain that is not convex), in the units of the rows that were fitted. So estimators fitted to the same rows can
        be compared, also if they differ in `generator`, as in a cross-validated search. Rows on the boundary are treated as in
        :meth:`fit`, so that cross-validation works where fitting does.
        """
        rows = self._read_new(X, self.boundary)
        return -self.result_.score(rows.source, generator=default_generator(self.result_.domain, "score"))

    def log_density(self, X: Any) -> Array:
        """log p of each row up to the unknown constant log Z; −∞ where that is beyond floating point."""
        rows = self._read_every(X)
        with within_range(Data(Table(rows, None, self._column_names()), self.domain_)):
            return self.result_.model.log_density(rows, self.result_.working_theta)

    def density_gradient(self, X: Any) -> Array:
        """∇ log p of each row, shape (n_rows, n_columns); a Gaussian on a simplex has the columns its chart keeps."""
        rows = self._read_every(X)
        with within_range(Data(Table(rows, None, self._column_names()), self.domain_)):
            return self.result_.model.score(rows, self.result_.working_theta)

    def _column_names(self) -> tuple[str, ...]:
        """Names of the columns that the model is written in."""
        d = self.domain_.dimension
        return tuple(getattr(self.result_.model, "columns", column_names(self, d, self.domain_.columns)))

    @overload
    def sample(self, n: int, random_state: Seed = None) -> Array: ...

    @overload
    def sample(self, n: int, random_state: Seed = None, *, return_diagnostics: Literal[False]) -> Array: ...

    @overload
    def sample(self, n: int, random_state: Seed = None, *, return_diagnostics: Literal[True]) -> Draws: ...

    def sample(self, n: int, random_state: Seed = None, *, return_diagnostics: bool = False) -> Array | Draws:
        """`n` draws from the fitted distribution, see :func:`zfree.samplers.sample_model`.

        Parameters
        ----------
        n : int
        random_state : int, Generator or None
        return_diagnostics : bool
            Return the draws with their split-R̂ and effective size, a :class:`zfree.samplers.Draws`.

        Returns
        -------
        ndarray of shape (n, n_columns) or Draws

        Warns
        -----
        SamplingWarning
            When the chains behind the draws have not mixed: a split-R̂ above 1.05, or an effective size below 400 (or n).
        """
        check_is_fitted(self, "result_")
        check_flag(return_diagnostics, "return_diagnostics")
        result = self.result_
        found = sample_model(result.model, result.domain, result.working_theta, n, random_state=random_state).or_warn()
        found = replace(found, draws=self._as_data(found.draws))
        return found if return_diagnostics else found.draws
