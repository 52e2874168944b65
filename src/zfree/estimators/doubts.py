"""Two questions to a fitted estimator: do the data contradict the model, and do generators agree?"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from zfree.arrays import Seed
from zfree.estimators.checking import MORE_DRAWS, OptionAndMethod, check_fit, content_seed, wants_check
from zfree.estimators.data import Data
from zfree.estimators.reading import ReadsRows
from zfree.generators import Generator
from zfree.inference import FitResult, GoodnessOfFit
from zfree.inference.goodness import pool_size
from zfree.selection import JTest, j_test, opposed
from zfree.solvers import Objective
from zfree.threads import blas_threads_for


class AnswersDoubts(ReadsRows):
    """`check(X)` and `j_test(X)` of an estimator. The option `check=` is declared with the others; its name is a method's from here on."""

    result_: FitResult
    generator_: Generator

    @abstractmethod
    def _pose(self, data: Data) -> Objective:
        """The model on these rows."""

    @property
    def _wants_check(self) -> bool:
        return wants_check(vars(self).get("check", True))

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
        rows = self._reread(X, sample_weight).to_check
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
        objective = self._pose(self._reread(X, sample_weight))
        with blas_threads_for(objective.problem.model.n_parameters):
            return j_test(opposed(objective.with_generator(self.generator_)))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of this estimator, as scikit-learn wants them; `check` is the option, not the method."""
        params: dict[str, Any] = super().get_params(deep)
        return params | {"check": vars(self)["check"]} if "check" in params else params
