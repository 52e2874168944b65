"""A model that is given, fitted without an estimator of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.conversion import shown
from zfree.domains import Domain
from zfree.errors import DataError, SpecificationError, ZfreeError
from zfree.estimators.base import ScoreMatchingEstimator
from zfree.estimators.data import Data
from zfree.inference import FitResult
from zfree.models import Model, PairwiseModel
from zfree.selection import GeneratorLike
from zfree.solvers import Restriction

GivenModel = Model | Callable[[tuple[str, ...]], Model]
"""A model, or what makes one from the names of the columns, such as its class."""


@dataclass(eq=False, repr=False)
class ModelEstimator(ScoreMatchingEstimator):
    """Any :class:`zfree.models.Model` as a scikit-learn estimator: what :func:`zfree.fit` returns.

    Parameters
    ----------
    model : Model or callable
        A model; or what makes one from the names of the columns, such as its class. On a :class:`~zfree.Simplex` a model with an interaction matrix K is
        written in the parts that the chart keeps, and so is a model of one column less than the data have.
    domain : Domain
        Where the data live.
    generator : {"auto", "search"}, Generator, str, list of Generator or Combined
        ``"auto"`` takes the weight that theory names for the model, otherwise it chooses a Barrier(p, γ) from the data; ``"search"`` always does; or a
        generator or its name (:func:`zfree.named`); or a list of them to choose from; or several combined.
    fixed, ridge, target, boundary, boundary_eps, standard_errors, covariance, check
        See :class:`~zfree.Dirichlet`.

    Attributes
    ----------
    theta_, theta_se_ : ndarray of shape (r,)
        Natural parameters, in the order of ``result_.names``.
    result_ : FitResult
    domain_, generator_
    """

    model: GivenModel | None = None
    domain: Domain | None = None
    generator: GeneratorLike = "auto"

    def _domain(self, n_columns: int) -> Domain:
        if self.domain is None:
            raise SpecificationError(
                f"a model needs the domain that the data live in, such as zf.RealSpace({n_columns})."
            )
        return self.domain

    def _uses_chart(self, data: Data) -> bool:
        model = self._model(data.columns)
        return isinstance(model, PairwiseModel) or model.dimension == len(data.columns) - 1

    def _model(self, columns: tuple[str, ...]) -> Model:
        """The model for columns of these names."""
        found: object = self.model
        if not isinstance(found, Model) and callable(found):
            try:
                found = found(columns)
            except ZfreeError:
                raise
            except Exception as error:  # it is the user's and may do anything
                raise SpecificationError(
                    f"{shown(self.model)} makes no model of the names of the columns, {shown(columns)} ({type(error).__name__}: "
                    f"{str(error)[:200]}). Pass a model, or a function of these names alone."
                ) from error
        if not isinstance(found, Model):
            raise SpecificationError(
                f"model must be a zfree.models.Model, or a function that makes one from the names of the columns, got {shown(found)}."
            )
        return found

    def _specify(self, data: Data) -> tuple[Model, Restriction]:
        model = self._model(data.columns)
        if model.dimension != len(data.columns):
            raise DataError(
                f"X has {len(data.columns)} columns but the model {model.title!r} has {model.dimension}. Select the columns that it is about, "
                "or pass its class, which takes their names from X."
            )
        self._check_names(model, data)
        _check_positive(model, data)
        return model, Restriction.none(model.n_parameters)

    def _check_names(self, model: Model, data: Data) -> None:
        """Where both the model and the data name the columns, they must agree: another order would be another model."""
        written = getattr(model, "columns", None)
        if written is None or not hasattr(self, "feature_names_in_") or tuple(written) == data.columns:
            return
        place = next(j for j, (a, b) in enumerate(zip(data.columns, written, strict=True)) if a != b)
        raise DataError(
            f"column {place} of X is {data.columns[place]!r}, but the model was written for {written[place]!r} there. Reorder or rename the "
            "columns, or pass the class of the model, which takes their names from X."
        )

    def _learn(self, result: FitResult) -> None:
        self.theta_ = result.theta

    @property
    def theta_se_(self) -> Array:
        """Standard errors of `theta_`."""
        return self.result_.standard_errors


def _check_positive(model: Model, data: Data) -> None:
    """A model of powers or logarithms needs a domain of positive columns."""
    domain = data.domain
    if not model.positive or domain.chart is not None:
        return
    inside = domain.interior_point()
    below = domain.sections(inside[None]).below[0]
    bad = np.flatnonzero(~(below <= inside * (1.0 + 1e-9)))
    if bad.size:
        column = data.columns[int(bad[0])]
        raise SpecificationError(
            f"{model.title} is about positive columns, and {domain!r} lets {column!r} be negative. Pass domain=zf.Orthant({len(data.columns)}), or another "
            "domain of positive columns."
        )


def fit(
    model: GivenModel,
    X: Any,
    *,
    domain: Domain,
    generator: GeneratorLike = "auto",
    sample_weight: Any = None,
    **options: Any,
) -> ModelEstimator:
    """Fit a model of your own, without writing an estimator.

    Parameters
    ----------
    model : Model or callable
        A :class:`zfree.models.Model`; or what makes one from the names of the columns, such as its class.
    X : array_like of shape (n_rows, n_columns)
        A numpy array, pandas or polars frame, whose names of columns the model gets.
    domain : Domain
        Where the data live.
    generator : {"auto", "search"}, Generator, str, list of Generator or Combined
        As for every estimator.
    sample_weight : array_like of shape (n_rows,), optional
    **options
        What all estimators share, by name: ``fixed``, ``ridge``, ``target``, ``boundary``, ``boundary_eps``, ``standard_errors``, ``covariance`` and
        ``check``; see :class:`Dirichlet`.

    Returns
    -------
    ModelEstimator
        Fitted, with ``result_``, ``theta_`` and ``theta_se_``, and the methods of every estimator: ``sample``, ``score``, ``check``, ``log_density``, …

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> from zfree.models import GammaModel
    >>> X = np.random.default_rng(0).gamma(2.0, 1.0, size=(2000, 1))
    >>> zf.fit(GammaModel, X, domain=zf.Orthant(1), check=False).theta_.round(1)
    array([2., 1.])
    """
    estimator = ModelEstimator(model, domain, generator, **options)
    return estimator.fit(X, sample_weight=sample_weight)
