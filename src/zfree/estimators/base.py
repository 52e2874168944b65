"""The path every estimator walks: table → domain → moments → estimate → result."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

from sklearn.exceptions import NotFittedError

from zfree.arrays import Array
from zfree.errors import DataError, ImproperDensityWarning, warn
from zfree.estimators.checking import checked, with_bound_note
from zfree.estimators.clipping import remark_on_clipping
from zfree.estimators.data import Data
from zfree.estimators.doubts import AnswersDoubts
from zfree.estimators.evaluation import HasDensity
from zfree.estimators.extremes import within_range
from zfree.estimators.remarks import remark_on_boundary, remark_on_units
from zfree.estimators.size import check_model, enough_memory
from zfree.estimators.validation import check_fixed, check_weight
from zfree.generators import Combined, Generator, Identity
from zfree.inference import FitResult, Wanted, estimate
from zfree.models import Model
from zfree.moments import Problem
from zfree.penalties import Penalty, ridge_of
from zfree.selection import (
    Choice,
    GeneratorLike,
    as_generator,
    choose,
    combined_estimate,
    with_criterion,
)
from zfree.solvers import Objective, Restriction
from zfree.threads import blas_threads_for

_NONE_YET = Identity()
"""In the place of a generator that is still to be chosen."""


class ScoreMatchingEstimator(AnswersDoubts, HasDensity):
    """A scikit-learn estimator fitted by generalized score matching.

    Subclasses are dataclasses that declare their own parameters, `generator` among them, and say which model to build (:meth:`_specify`). Those that
    all estimators share stand in :class:`~zfree.estimators.options.Options`.
    """

    generator: GeneratorLike

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not there. A property of an estimator that asks for result_ ends here too.
        kind = type(self).__name__
        if name.endswith("_") and not name.startswith("_") and "result_" not in self.__dict__:
            raise NotFittedError(f"this {kind} is not fitted yet, so it has no {name}: call fit(X) first.")
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    def _known_best(self) -> Generator | None:
        """A generator with which score matching is maximum likelihood for this model, if there is one."""
        return None

    @abstractmethod
    def _specify(self, data: Data) -> tuple[Model, Restriction]:
        """The model for these data, and the parameters held at known values."""

    @abstractmethod
    def _learn(self, result: FitResult) -> None:
        """Set the fitted attributes that belong to this model."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array_like of shape (n_rows, n_columns)
            A numpy array, pandas or polars frame; every row strictly inside the domain (see `boundary`).
        y : ignored
        sample_weight : array_like of shape (n_rows,), optional
            Importance weights. They do not change the number of rows that the standard errors are based on: a row is left out with
            its weight, whatever that is, and constant weights change nothing.

        Returns
        -------
        self
        """
        check = self._wants_check
        asked = as_generator(self.generator)
        array, weight = self._read_given(X, sample_weight)
        data, notes = self._use(array, weight)
        with within_range(data), enough_memory(*array.shape):
            objective = self._pose(data)
            with blas_threads_for(objective.problem.model.n_parameters):
                choice = choose(asked, objective, self.target, self._known_best())
                result = self._finish(asked, choice, data, notes)
        if notes and self.boundary == "clip":
            result = remark_on_clipping(self, result, array, weight)
        result = with_bound_note(result)
        self.result_ = checked(result, data.to_check) if check and choice.record is not None else result
        self.domain_, self.generator_ = data.domain, result.generator
        self._learn(self.result_)
        return self

    def _finish(self, asked: object, choice: Choice, data: Data, notes: tuple[str, ...]) -> FitResult:
        """From a generator to the result, with what a reader must know of it."""
        result = self._estimate(asked, choice, notes)
        if choice.record is not None:
            result = replace(result, selection=with_criterion(choice.record, result, choice.objective, self.target))
        result = remark_on_units(result, choice.objective.problem)
        return self._remark_on_estimate(remark_on_boundary(result, choice.objective), data)

    def _pose(self, data: Data) -> Objective:
        """The model on the data, without a generator yet, and what is known of its parameters."""
        model, restriction = self._specify(data)
        fixed = check_fixed(self.fixed)
        if fixed:
            restriction = restriction.combine(Restriction.from_names(fixed, model.names), model.names)
        self._check_size(data, restriction)
        problem = Problem(model, _NONE_YET, data.domain, data.source)
        check_model(problem, self.covariance, self.generator)
        return Objective(problem, restriction, ridge_of(self.ridge))

    def _remark_on_estimate(self, result: FitResult, data: Data) -> FitResult:
        """What a reader must know about this model's estimate: above all, when there is no such distribution."""
        verdict = result.model.normalisable(result.working_theta, result.domain, data.source.X)
        if verdict.holds is not False:
            return result
        note = (
            f"the fitted density cannot be normalised on {result.domain!r}, so this is no distribution: {verdict.reason}. "
            "There are too few rows for this model, or it does not describe them: try another one."
        )
        warn(note, ImproperDensityWarning)
        return result.with_note(note)

    def _estimate(self, asked: object, choice: Choice, notes: tuple[str, ...]) -> FitResult:
        """The estimate with the generator that was chosen, or with several combined."""
        objective, penalty = choice.objective, self._penalty(choice.objective)
        if penalty is not objective.penalty:
            objective = objective.penalised(penalty)
        wanted = Wanted(self.standard_errors, self.covariance)
        if isinstance(asked, Combined):
            known_best = objective.problem.generator == self._known_best()
            return combined_estimate(asked, objective, self.target, known_best, notes, wanted)
        return estimate(objective, wanted, notes, choice.found)

    def _penalty(self, objective: Objective) -> Penalty:
        """What the last fit asks of its minimum beside the ridge that all fits have."""
        return objective.penalty

    def _read(self, X: Any, sample_weight: Any) -> tuple[Data, tuple[str, ...]]:
        return self._use(*self._read_given(X, sample_weight))

    def _read_given(self, X: Any, sample_weight: Any) -> tuple[Array, Array | None]:
        """The numbers as they were given, and options that do not depend on them checked."""
        array = self._table(X, reset=True)
        self._check_options(self.generator)
        return array, check_weight(sample_weight, len(array))

    def _check_size(self, data: Data, restriction: Restriction) -> None:
        n, d = data.source.X.shape
        n_free = int(restriction.free.sum())
        if data.dropped and n <= n_free and not self.ridge:
            raise DataError(
                f'boundary="drop" left {n} of {n + data.dropped} rows for {n_free} parameters: that is no estimate. Pass '
                'boundary="clip" with boundary_eps=, leave out or merge the columns that are mostly on the boundary, or add a '
                "ridge=."
            )
        if n * d < n_free and not self.ridge:  # a ridge makes any number of rows enough
            raise DataError(
                f"n_samples={n}: {n} rows of {d} columns cannot determine {n_free} parameters "
                f"(at least {-(-n_free // d)} rows are needed, many more for useful standard errors). "
                "Collect more rows, add a ridge=, or leave parameters out (mask=, fixed=)."
            )
