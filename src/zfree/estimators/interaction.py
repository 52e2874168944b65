"""Interactions of powers or logarithms of positive columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zfree.arrays import Array
from zfree.domains import Domain, Orthant
from zfree.estimators.data import Data
from zfree.estimators.gaussians import _GaussianEstimator, _PairwiseEstimator
from zfree.estimators.validation import check_not_negative
from zfree.generators import Barrier, Generator
from zfree.inference import FitResult
from zfree.models import LogNormalModel, PairwiseModel
from zfree.selection import GeneratorLike


@dataclass(eq=False, repr=False)
class LogNormal(_GaussianEstimator):
    r"""Multivariate log-normal: log x is Gaussian with mean μ and precision K.

    Parameters
    ----------
    generator : {"auto", "search"}, Generator, str, list of Generator or Combined
        ``"auto"`` takes the weight that theory names: that of maximum likelihood where all of K is free, else :class:`~zfree.SteinBarrier`;
        ``"search"`` chooses a Barrier(p, γ) from the data; or a generator or its name (:func:`zfree.named`); or a list of them to choose
        from; or several combined.
    structure, mask, precision, fixed, positive_definite, ridge, target, boundary, boundary_eps, standard_errors, covariance, check
        See :class:`TruncatedGaussian`.

    Attributes
    ----------
    mean_, precision_, covariance_ : ndarray
        Of log x.
    mean_se_, precision_se_, covariance_se_ : ndarray
    result_ : FitResult
    """

    generator: GeneratorLike = "auto"

    def _domain(self, n_columns: int) -> Domain:
        return Orthant(n_columns)

    def _known_best(self) -> Generator | None:
        full = self.structure == "full" and self.mask is None and self.precision is None and not self.fixed
        return Barrier.log(det_power=0.0) if full else None  # h(x) = x²: the sample moments of log x

    @property
    def _exponent(self) -> float:
        return 0.0

    def _model(self, data: Data, pairs: tuple[Any, Any], center: Array) -> PairwiseModel:
        return LogNormalModel(data.columns, pairs=pairs, center=center)

    @property
    def _positive_only(self) -> bool:
        return True


@dataclass(eq=False, repr=False)
class PowerInteraction(_PairwiseEstimator):
    r"""The a–b family of Yu, Drton and Shojaie (2019) on the positive orthant,

    .. math:: p(x) \propto \exp\bigl(-\tfrac{1}{2a} (x^a)^\top K x^a + \tfrac1b \eta^\top x^b\bigr), \quad x^0/0 := \log x .

    a = b = 1 is the truncated Gaussian, a = b = ½ the exponential square-root model, a = ½, b = 0 the gamma model.

    Parameters
    ----------
    a, b : float
        Exponents ≥ 0; 0 stands for the logarithm.
    generator : {"auto", "search"}, Generator, str, list of Generator or Combined
        ``"auto"`` takes the weight that theory names, :class:`~zfree.SteinBarrier`; ``"search"`` chooses a Barrier(p, γ) from the data; or
        a generator or its name (:func:`zfree.named`); or a list of them to choose from; or several combined.
    structure, mask, precision, fixed, positive_definite, ridge, target, boundary, boundary_eps, standard_errors, covariance, check
        See :class:`TruncatedGaussian`.

    Attributes
    ----------
    precision_, precision_se_ : ndarray of shape (d, d)
        K.
    eta_, eta_se_ : ndarray of shape (d,)
    result_ : FitResult
    """

    a: float = 1.0
    b: float = 1.0
    generator: GeneratorLike = "auto"

    def _domain(self, n_columns: int) -> Domain:
        return Orthant(n_columns)

    @property
    def _exponent(self) -> float:
        return self._exponents()[0]

    def _exponents(self) -> tuple[float, float]:
        for name, value in (("a", self.a), ("b", self.b)):
            check_not_negative(value, f"the exponent {name}")
        return self.a, self.b

    def _model(self, data: Data, pairs: tuple[Any, Any], center: Array) -> PairwiseModel:
        a, b = self._exponents()
        return PairwiseModel(data.columns, a=a, b=b, pairs=pairs, center=center if a == b else np.zeros_like(center))

    def _learn(self, result: FitResult) -> None:
        super()._learn(result)
        self.eta_ = result.theta[-result.model.dimension :]

    @property
    def eta_se_(self) -> Array:
        """Standard errors of `eta_`."""
        return self.result_.standard_errors[-self.result_.model.dimension :]

    @property
    def _positive_only(self) -> bool:
        return True
