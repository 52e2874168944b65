"""Two questions to a fitted estimator: do the data contradict the model, and do generators agree?"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator

from zfree.arrays import Seed
from zfree.estimators.checking import MORE_DRAWS, OptionAndMethod, check_fit, content_seed
from zfree.estimators.combined import opposed
from zfree.generators import Generator
from zfree.inference import FitResult, GoodnessOfFit, JTest, j_test
from zfree.inference.goodness import Rows, pool_size
from zfree.moments import Problem
from zfree.solvers import Restriction
from zfree.threads import blas_threads_for


class AnswersDoubts(BaseEstimator):
    """`check(X)` and `j_test(X)` of an estimator, and the option `check=`."""

    result_: FitResult
    generator_: Generator
    ridge: float

    @abstractmethod
    def _reread(self, X: Any, sample_weight: Any) -> Any:
        """Rows as the fit reads them."""

    @abstractmethod
    def _pose(self, data: Any) -> tuple[Problem, Restriction]:
        """The model on these rows."""

    @OptionAndMethod
    def check(self, X: Any, sample_weight: Any = None, random_state: Seed = None) -> GoodnessOfFit:
        """Do the data contradict the model? The check of :meth:`fit`, with more draws and for every generator.

        Parameters
        ----------
        X : array_like of shape (n_rows, n_columns)
            The rows of the fit, or others.
        sample_weight : array_like of shape (n_rows,), optional
        random_state : int, Generator or None
            Of the draws; by default a seed that is a function of the data, so that the same data give the same answer.

        Returns
        -------
        GoodnessOfFit
        """
        rows: Rows = self._reread(X, sample_weight).rows
        size = MORE_DRAWS * pool_size(len(rows.X), rows.X.shape[1], int(self.result_.free.sum()))
        return check_fit(self.result_, rows, content_seed(rows) if random_state is None else random_state, size)

    def j_test(self, X: Any, sample_weight: Any = None) -> JTest:
        """Hansen's J: does another generator, one that vanishes faster, give the same estimate up to chance?

        It needs neither the normalising constant nor draws, but sees only what moves the two estimates apart, and with tails that
        are exponential or heavier it rejects too often. :meth:`check` is the test of the model.

        Parameters
        ----------
        X : array_like of shape (n_rows, n_columns)
            The rows of the fit.
        sample_weight : array_like of shape (n_rows,), optional
        """
        problem, restriction = self._pose(self._reread(X, sample_weight))
        with blas_threads_for(problem.model.n_parameters):
            return j_test(opposed(replace(problem, generator=self.generator_), restriction, self.ridge))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of this estimator, as scikit-learn wants them; `check` is the option, not the method."""
        params: dict[str, Any] = super().get_params(deep)
        return params | {"check": vars(self)["check"]} if "check" in params else params
