"""From the table that a user passes to rows strictly inside the domain, in the coordinates of the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from zfree.arrays import Array
from zfree.data import Table
from zfree.domains import Domain
from zfree.errors import BoundaryRowsWarning, warn
from zfree.estimators.boundary_rows import keep_inside
from zfree.estimators.data import Data
from zfree.estimators.options import Options
from zfree.estimators.validation import check_domain, check_rows, check_weight, column_names, read_table


class ReadsRows(Options, BaseEstimator, ABC):
    """Reads tables, at the fit and after it."""

    _one_dimensional: ClassVar[bool] = True
    """Whether a vector or a series is read as one column."""
    _full_dimensional: ClassVar[bool] = False
    """Whether the model has one parameter too many on a flat domain, and is written in its chart instead."""

    @abstractmethod
    def _domain(self, n_columns: int) -> Domain:
        """The domain for data with this many columns."""

    @property
    def _positive_only(self) -> bool:
        """Whether the data must be positive, for scikit-learn's tags."""
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self._positive_only
        return tags

    def _table(self, X: Any, *, reset: bool = False) -> Array:
        """The numbers as they were given; those of a fit say which columns there are."""
        return read_table(self, X, reset=reset, one_dimensional=self._one_dimensional)

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

    def _uses_chart(self, data: Data) -> bool:
        """Whether the model for these columns is written in the chart of a flat domain."""
        return self._full_dimensional

    def _in_chart(self, data: Data) -> Data:
        chart = data.domain.chart
        if chart is None or not self._uses_chart(data):
            return data
        names = tuple(data.columns[j] for j in chart.kept)
        return Data(replace(data.source, X=chart.pull(data.source.X), columns=names), chart.domain, data.dropped)

    def _as_data(self, draws: Array) -> Array:
        """Draws with the columns of the data: a model written in a chart gets back the part that the chart drops."""
        d = self.n_features_in_
        chart = self._domain(d).for_columns(d).chart
        return draws if chart is None or draws.shape[1] == d else chart.push(draws)

    def _read_new(self, X: Any, boundary: str) -> Data:
        check_is_fitted(self, "result_")
        return self._rows_inside(self._table(X), None, boundary)[0]

    def _read_every(self, X: Any) -> Array:
        # One value per row is returned, so no row may be dropped.
        return self._read_new(X, "raise" if self.boundary == "drop" else self.boundary).source.X

    def _reread(self, X: Any, sample_weight: Any) -> Data:
        check_is_fitted(self, "result_")
        array = self._table(X)
        return self._rows_inside(array, check_weight(sample_weight, len(array)), self.boundary)[0]
