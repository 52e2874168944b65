"""The path every estimator walks: table → domain → moments → estimate → result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from zfree.arrays import Array
from zfree.domains import Domain
from zfree.errors import (
    BoundaryRowsWarning,
    DataError,
    InconsistentGeneratorWarning,
    SpecificationError,
    warn,
)
from zfree.estimators.validation import check_columns, check_weight, column_names, keep_inside, read_table
from zfree.generators import Generator
from zfree.inference import FitResult, estimate
from zfree.models import Model
from zfree.moments import Problem
from zfree.solvers import Restriction
from zfree.threads import blas_threads_for


class Data(NamedTuple):
    """Rows strictly inside the domain, in the coordinates the model is written in."""

    X: Array
    weight: Array | None
    columns: tuple[str, ...]
    domain: Domain


class ScoreMatchingEstimator(BaseEstimator, ABC):
    """A scikit-learn estimator fitted by generalized score matching.

    Subclasses set the parameters in ``__init__`` and say which model to build (:meth:`_specify`).
    """

    generator: Generator | None
    ridge: float
    fixed: Mapping[str, float] | None
    boundary: str
    boundary_eps: float | None

    _one_dimensional: ClassVar[bool] = False
    _full_dimensional: ClassVar[bool] = False
    """Whether the model has one parameter too many on a flat domain, and is written in its chart instead."""

    @abstractmethod
    def _domain(self, n_columns: int) -> Domain:
        """The domain for data with this many columns."""

    @abstractmethod
    def _default_generator(self) -> Generator:
        """The weight used when none is given."""

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
            Importance weights. They do not change the number of rows that the standard errors are based on.

        Returns
        -------
        self
        """
        data, notes = self._read(X, sample_weight)
        generator = self._resolve_generator()
        vanishing = generator.check(data.domain)
        if not vanishing.holds:
            message = (
                f"{generator!r} does not vanish on the boundary of {data.domain!r} ({vanishing.reason}): the estimate is "
                "inconsistent, it does not converge to the truth however many rows there are. Use a Barrier."
            )
            warn(message, InconsistentGeneratorWarning)
            notes = (*notes, "inconsistent: the generator does not vanish on the boundary.")
        model, restriction = self._specify(data)
        restriction = restriction & Restriction.from_names(self.fixed or {}, model.names)
        self._check_size(data, model, restriction)
        problem = Problem(model, generator, data.domain, data.X, data.weight)
        with blas_threads_for(model.n_parameters):
            self.result_ = self._estimate(problem, restriction, notes)
        self.domain_, self.generator_ = data.domain, generator
        self._learn(self.result_)
        return self

    def _estimate(self, problem: Problem, restriction: Restriction, notes: tuple[str, ...]) -> FitResult:
        return estimate(problem, restriction, ridge=self.ridge, notes=notes)

    def _read(self, X: Any, sample_weight: Any) -> tuple[Data, tuple[str, ...]]:
        array = read_table(self, X, reset=True, one_dimensional=self._one_dimensional)
        if not (np.isfinite(self.ridge) and self.ridge >= 0):
            raise SpecificationError(f"ridge must be a number ≥ 0, got {self.ridge!r}.")
        domain = self._domain(array.shape[1]).for_columns(array.shape[1])
        check_columns(domain, self, array.shape[1])
        names = column_names(self, array.shape[1])
        weight = check_weight(sample_weight, len(array))
        rows, weight, note = keep_inside(domain, array, weight, names, self.boundary, self.boundary_eps)
        if note:
            warn(note, BoundaryRowsWarning)
        return self._in_chart(Data(rows, weight, names, domain)), ((note,) if note else ())

    def _in_chart(self, data: Data) -> Data:
        chart = data.domain.chart if self._full_dimensional else None
        if chart is None:
            return data
        names = tuple(data.columns[int(np.argmax(column))] for column in chart.matrix.T)
        return Data(chart.pull(data.X), data.weight, names, chart.domain)

    def _resolve_generator(self) -> Generator:
        generator = self._default_generator() if self.generator is None else self.generator
        if not isinstance(generator, Generator):
            raise SpecificationError(f"generator must be a generator such as zf.Barrier(power=4/3), got {generator!r}.")
        return generator

    @staticmethod
    def _check_size(data: Data, model: Model, restriction: Restriction) -> None:
        n, d = data.X.shape
        n_free = int(restriction.free.sum())
        if n < 2 or n * d < n_free:
            raise DataError(
                f"n_samples={n}: {n} row{'s' if n != 1 else ''} of {d} columns cannot determine {n_free} parameters "
                f"(at least {max(2, -(-n_free // d))} rows are needed, many more for useful standard errors). "
                "Collect more rows, or leave parameters out (mask=, fixed=)."
            )

    def _read_new(self, X: Any) -> Array:
        check_is_fitted(self, "result_")
        array = read_table(self, X, reset=False, one_dimensional=self._one_dimensional)
        names = column_names(self, array.shape[1])
        domain = self._domain(array.shape[1]).for_columns(array.shape[1])
        rows, _, _ = keep_inside(domain, array, None, names, "raise", None)
        return self._in_chart(Data(rows, None, names, domain)).X

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean scoring rule of new rows: larger is better, comparable under one generator only."""
        rows = self._read_new(X)
        return -self.result_.score(rows)

    def log_density(self, X: Any) -> Array:
        """log p of each row up to the unknown constant log Z."""
        rows = self._read_new(X)
        return self.result_.model.log_density(rows, self.result_.working_theta)

    def density_gradient(self, X: Any) -> Array:
        """∇ log p of each row, shape (n_rows, n_columns)."""
        rows = self._read_new(X)
        return self.result_.model.score(rows, self.result_.working_theta)
