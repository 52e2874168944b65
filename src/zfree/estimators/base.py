"""The path every estimator walks: table → domain → moments → estimate → result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from zfree.arrays import Array, Seed
from zfree.conversion import check_flag
from zfree.data import Table
from zfree.domains import Domain
from zfree.errors import BoundaryRowsWarning, DataError, ImproperDensityWarning, warn
from zfree.estimators.boundary_rows import keep_inside
from zfree.estimators.checking import checked, wants_check, with_bound_note
from zfree.estimators.clipping import remark_on_clipping
from zfree.estimators.data import Data
from zfree.estimators.doubts import AnswersDoubts
from zfree.estimators.extremes import within_range
from zfree.estimators.remarks import remark_on_boundary, remark_on_units
from zfree.estimators.size import check_memory, enough_memory
from zfree.estimators.validation import (
    check_domain,
    check_fixed,
    check_not_negative,
    check_rows,
    check_target,
    check_weight,
    column_names,
    read_table,
)
from zfree.generators import Combined, Generator, Identity, default_generator
from zfree.inference import FitResult, Wanted, check_covariance, check_kind, estimate
from zfree.models import Model
from zfree.moments import Problem
from zfree.penalties import Penalty, ridge_of
from zfree.samplers import Draws, sample_model
from zfree.selection import (
    Choice,
    GeneratorLike,
    Target,
    as_generator,
    check_target_name,
    choose,
    combined_estimate,
    with_criterion,
)
from zfree.solvers import Objective, Restriction
from zfree.threads import blas_threads_for


class ScoreMatchingEstimator(AnswersDoubts, ABC):
    """A scikit-learn estimator fitted by generalized score matching.

    Subclasses set the parameters in ``__init__`` and say which model to build (:meth:`_specify`).
    """

    generator: GeneratorLike
    target: Target
    ridge: float
    fixed: Mapping[str, float] | None
    boundary: str
    boundary_eps: float | None
    standard_errors: str

    _one_dimensional: ClassVar[bool] = True
    """Whether a vector or a series is read as one column."""
    _full_dimensional: ClassVar[bool] = False
    """Whether the model has one parameter too many on a flat domain, and is written in its chart instead."""

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not there. A property of an estimator that asks for result_ ends here too.
        kind = type(self).__name__
        if name.endswith("_") and not name.startswith("_") and "result_" not in self.__dict__:
            raise NotFittedError(f"this {kind} is not fitted yet, so it has no {name}: call fit(X) first.")
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")

    @abstractmethod
    def _domain(self, n_columns: int) -> Domain:
        """The domain for data with this many columns."""

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
        check = wants_check(vars(self).get("check", True))
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
        record = with_criterion(choice.record, result, choice.objective, self.target)
        result = remark_on_units(replace(result, selection=record), choice.objective.problem)
        return self._remark_on_estimate(remark_on_boundary(result, choice.objective), data)

    def _pose(self, data: Data) -> Objective:
        """The model on the data, without a generator yet, and what is known of its parameters."""
        model, restriction = self._specify(data)
        check_target_name(self.target, model)
        check_memory(model.n_parameters, 0, f"a fit of {model.n_parameters} parameters", "Use fewer columns.")
        fixed = check_fixed(self.fixed)
        if fixed:
            restriction = restriction.combine(Restriction.from_names(fixed, model.names), model.names)
        self._check_size(data, restriction)
        return Objective(Problem(model, Identity(), data.domain, data.source), restriction, ridge_of(self.ridge))

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
        objective = choice.objective.penalised(self._penalty(choice.objective))
        if isinstance(asked, Combined):
            known_best = objective.problem.generator == self._known_best()
            return combined_estimate(asked, objective, self.target, known_best, notes, self._wanted)
        return estimate(objective, self._wanted, notes, choice.found)

    def _penalty(self, objective: Objective) -> Penalty:
        """What the last fit asks of its minimum beside the ridge that all fits have."""
        return objective.penalty

    @property
    def _wanted(self) -> Wanted:
        return Wanted(self.standard_errors, vars(self).get("covariance", "auto"))

    def _read(self, X: Any, sample_weight: Any) -> tuple[Data, tuple[str, ...]]:
        return self._use(*self._read_given(X, sample_weight))

    def _read_given(self, X: Any, sample_weight: Any) -> tuple[Array, Array | None]:
        """The numbers as they were given, and options that do not depend on them checked."""
        array = read_table(self, X, reset=True, one_dimensional=self._one_dimensional)
        check_not_negative(self.ridge, "ridge")
        check_fixed(self.fixed)
        check_kind(self.standard_errors)
        check_covariance(vars(self).get("covariance", "auto"))
        check_target(self.target)
        return array, check_weight(sample_weight, len(array))

    def _use(self, array: Array, weight: Array | None) -> tuple[Data, tuple[str, ...]]:
        """The rows that are used, and what was done to those on the boundary."""
        data, note = self._rows_inside(array, weight, self.boundary)
        check_rows(data.source.n_rows, data.source.weight, note)
        return data, ((note,) if note else ())

    def _rows_inside(self, array: Array, weight: Array | None, boundary: str) -> tuple[Data, str]:
        data, note = self._inside(array, weight, boundary, self.boundary_eps)
        if note:
            warn(note, BoundaryRowsWarning)
        return data, note

    def _inside(self, array: Array, weight: Array | None, boundary: str, epsilon: float | None) -> tuple[Data, str]:
        n_columns = array.shape[1]
        domain = check_domain(self._domain(n_columns), self, n_columns)
        names = column_names(self, n_columns, domain.columns)
        kept = keep_inside(domain, array, weight, names, boundary, epsilon)
        source = Table(kept.X, kept.weight, names, kept.numbers)
        dropped = len(array) - source.n_rows
        if kept.weight is not None and kept.weight.any():
            source = replace(source, weight=kept.weight / kept.weight.max())  # weights have no unit
            positive = np.flatnonzero(kept.weight)
            if len(positive) < source.n_rows:
                source = source.rows(positive)  # a row without weight is no row
        return self._in_chart(Data(source, domain, dropped)), kept.note

    def _in_chart(self, data: Data) -> Data:
        chart = data.domain.chart if self._full_dimensional else None
        if chart is None:
            return data
        names = tuple(data.columns[j] for j in chart.kept)
        return Data(replace(data.source, X=chart.pull(data.source.X), columns=names), chart.domain, data.dropped)

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

    def _read_new(self, X: Any, boundary: str) -> Array:
        check_is_fitted(self, "result_")
        array = read_table(self, X, reset=False, one_dimensional=self._one_dimensional)
        return self._rows_inside(array, None, boundary)[0].source.X

    def _read_every(self, X: Any) -> Array:
        # One value per row is returned, so no row may be dropped.
        return self._read_new(X, "raise" if self.boundary == "drop" else self.boundary)

    def _reread(self, X: Any, sample_weight: Any) -> Data:
        check_is_fitted(self, "result_")
        array = read_table(self, X, reset=False, one_dimensional=self._one_dimensional)
        return self._rows_inside(array, check_weight(sample_weight, len(array)), self.boundary)[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean scoring rule of new rows: larger is better.

        The rule is taken with one generator whatever the fit's own was, the log barrier without its determinant (the distance to the
        boundary on a domain that is not convex), in the units of the rows that were fitted. So estimators fitted to the same rows can
        be compared, also if they differ in `generator`, as in a cross-validated search. Rows on the boundary are treated as in
        :meth:`fit`, so that cross-validation works where fitting does.
        """
        rows = self._read_new(X, self.boundary)
        return -self.result_.score(rows, generator=default_generator(self.result_.domain, "score"))

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

    def _as_data(self, draws: Array) -> Array:
        """Draws with the columns of the data: a model written in a chart gets back the part that the chart drops."""
        chart = self._domain(self.n_features_in_).chart if self._full_dimensional else None
        return draws if chart is None else chart.push(draws)
