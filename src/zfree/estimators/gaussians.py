"""Gaussian, truncated Gaussian, log-normal and power interactions: models with a precision matrix K."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array
from zfree.conversion import check_flag
from zfree.domains import Domain, Orthant, RealSpace
from zfree.errors import DataError, NotPositiveDefiniteWarning, SpecificationError, warn
from zfree.estimators.base import ScoreMatchingEstimator
from zfree.estimators.data import Data
from zfree.estimators.known_precision import chosen_pairs, known_entries
from zfree.estimators.validation import as_numbers
from zfree.generators import Combined, as_powers
from zfree.inference import FitResult
from zfree.models import Model, PairwiseModel
from zfree.penalties import Penalty, PositiveDefinite
from zfree.selection import GeneratorLike
from zfree.solvers import Objective, Restriction


@dataclass(eq=False, repr=False, kw_only=True)
class _PairwiseEstimator(ScoreMatchingEstimator):
    """A model with a symmetric interaction matrix K, of which entries may be masked or known."""

    structure: str = "full"
    mask: ArrayLike | None = None
    precision: ArrayLike | None = None
    positive_definite: bool = False

    _full_dimensional = True

    @abstractmethod
    def _model(self, data: Data, pairs: tuple[Any, Any], center: Array) -> PairwiseModel:
        """The model over these entries of K."""

    @property
    def _exponent(self) -> float:
        """Of the powers of the columns that K sees, 0 for logarithms."""
        return 1.0

    def _known_mean(self, d: int) -> Array | None:
        return None

    def _specify(self, data: Data) -> tuple[Model, Restriction]:
        seen, d = data.source.statistics, len(data.columns)
        constant = np.flatnonzero(seen.lowest == seen.highest)
        if constant.size:
            j = int(constant[0])
            raise DataError(
                f"column {data.columns[j]!r} is constant ({seen.lowest[j]:.6g} in all {seen.n_rows} rows): its precision "
                "is not determined. Drop the column."
            )
        check_flag(self.positive_definite, "positive_definite")
        if self.positive_definite and isinstance(self.generator, Combined):
            raise SpecificationError(
                'positive_definite=True needs one objective to minimise: give one generator, a list or "auto", not Combined.'
            )
        pairs = chosen_pairs(data.domain, self.structure, self.mask, self.covariance)
        mean = self._known_mean(d)
        if mean is not None:
            center = mean
        elif any(name.startswith("eta[") for name in self.fixed or {}):
            center = np.zeros(d)
        else:
            center = self._center(data)
        model = self._model(data, pairs, center)
        return model, known_entries(self.precision, model)

    def _center(self, data: Data) -> Array:
        """The mean of the columns as K sees them."""
        if self._exponent == 1.0:
            return data.source.statistics.mean
        total: Array = data.source.reduce(lambda b: b.weights @ as_powers(b.X, self._exponent), len(data.columns))
        return total / data.source.statistics.total

    def _penalty(self, objective: Objective) -> Penalty:
        if not self.positive_definite:
            return objective.penalty
        problem, model = objective.problem, objective.problem.model
        assert isinstance(model, PairwiseModel)
        square = problem.source.reduce(lambda b: b.weights @ model.centered(b.X) ** 2, model.dimension)
        return PositiveDefinite(np.sqrt(square / problem.source.statistics.total), objective.penalty)

    def _remark_on_estimate(self, result: FitResult, data: Data) -> FitResult:
        """Say when K is not positive definite, and whether that matters on this domain."""
        model = result.model
        assert isinstance(model, PairwiseModel)
        # The signs of the eigenvalues do not depend on the units of the columns; the sizes do, and with them what rounding leaves.
        K = model.scaled_matrix(result.theta)
        values = np.sort(np.diagonal(K)) if model.is_separable else np.linalg.eigvalsh(K)
        if values[0] > 0:
            return super()._remark_on_estimate(result, data)
        normalisable = model.normalisable(result.working_theta, result.domain, data.source.X).holds
        verdict = {
            True: f"the density is still normalisable on {result.domain!r}, so this is a legitimate estimate",
            False: f"the density cannot be normalised on {result.domain!r}, so this is no distribution",
            None: f"whether the density can be normalised on {result.domain!r} could not be decided",
        }[normalisable]
        note = (
            f"the estimated K is not positive definite ({int((values <= 0).sum())} of {values.size} eigenvalues are not positive, "
            f"the smallest is {values[0]:.4g} with K scaled to a diagonal of one); {verdict}. Pass positive_definite=True for the best positive-definite K."
        )
        warn(note, NotPositiveDefiniteWarning)
        return result.with_remark(note) if normalisable else result.with_note(note)

    def _learn(self, result: FitResult) -> None:
        model = result.model
        assert isinstance(model, PairwiseModel)
        self.precision_ = model.matrix(result.theta)

    def _matrix_of(self, which: str) -> Array:
        p = self.result_.parameters(which)
        model = self.result_.model
        assert isinstance(model, PairwiseModel)
        se = np.zeros((model.dimension, model.dimension))
        rows, cols = (model.rows, model.cols) if which == "precision" else np.triu_indices(model.dimension)
        se[rows, cols] = se[cols, rows] = p.standard_errors
        return se

    @property
    def precision_se_(self) -> Array:
        """Standard errors of `precision_` (0 where an entry is known)."""
        return self._matrix_of("precision")


class _GaussianEstimator(_PairwiseEstimator):
    """Adds the mean and the covariance, by the delta method."""

    @property
    def mean_(self) -> Array:
        """Location μ = K⁻¹η of the untruncated Gaussian."""
        return self.result_.parameters("mean").values

    @property
    def mean_se_(self) -> Array:
        """Standard errors of `mean_`."""
        return self.result_.parameters("mean").standard_errors

    @property
    def covariance_(self) -> Array:
        """K⁻¹, the covariance of the untruncated Gaussian."""
        return np.asarray(np.linalg.inv(self.precision_), dtype=np.float64)

    @property
    def covariance_se_(self) -> Array:
        """Standard errors of `covariance_`."""
        return self._matrix_of("covariance")


@dataclass(eq=False, repr=False)
class TruncatedGaussian(_GaussianEstimator):
    r"""Gaussian restricted to a domain, :math:`p(x) \propto \exp(-\tfrac12 (x-\mu)^\top K (x-\mu))` on Ω.

    Parameters
    ----------
    domain : Domain, optional
        Where the data live; the positive orthant by default. On :class:`~zfree.Simplex` the Gaussian is in the parts that
        its chart keeps.
    generator : {"auto", "search"}, Generator, str, list of Generator or Combined
        ``"auto"`` takes the weight that theory names, :class:`~zfree.SteinBarrier`; ``"search"`` chooses a Barrier(p, γ) from the data; or
        a generator or its name (:func:`zfree.named`); or a list of them to choose from; or several combined.
    structure : {"full", "diagonal"}
        Which entries of K are free.
    mask : array_like of bool of shape (d, d), optional
        True where K may differ from zero (symmetric; the diagonal is always included).
    mean : array_like of shape (d,), optional
        The mean, if it is known.
    precision : array_like of shape (d, d), optional
        Known entries of K; NaN where an entry is to be estimated.
    fixed : dict, optional
        Known natural parameters by name: ``{"K[x1,x2]": 0.5, "eta[x1]": 0.0}`` with η = Kμ.
    positive_definite : bool
        Minimise the same objective over positive-definite K only.
    ridge : float
        Multiplies the diagonal of Γ by 1 + ridge, which shrinks K towards 0 and the mean towards that of the data.
    target : str or array_like
        What the choice minimises: ``"information"`` (scale-free), ``"natural"``, another parametrisation of the model, or a matrix.
    boundary : {"raise", "drop", "clip"}
        What to do with rows exactly on the boundary.
    boundary_eps : float, optional
        How far inside ``"clip"`` moves them.
    standard_errors : {"auto", "jackknife", "sandwich"}
        See :class:`Dirichlet`.
    covariance : {"auto", "full", "diagonal"} or None
        How much of the covariance is computed. ``"auto"`` goes by size: all of it up to 1000 parameters, beyond that standard errors of what the summary
        shows; ``"full"``; ``"diagonal"``; None for the estimate alone, fastest.
    check : bool
        Whether a fit with a generator chosen from the data is compared with draws of the fitted model (``result_.fit_check``).

    Attributes
    ----------
    mean_, precision_, covariance_ : ndarray
        μ, K and K⁻¹: parameters of the Gaussian *before* truncation.
    mean_se_, precision_se_, covariance_se_ : ndarray
        Their standard errors, by the delta method.
    result_ : FitResult
    domain_, generator_

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal([1.0, 0.5], 1.0, size=(40_000, 2))
    >>> X = X[(X > 0).all(axis=1)]
    >>> est = zf.TruncatedGaussian(domain=zf.Orthant(2), generator=zf.Barrier(power=4/3)).fit(X)
    >>> est.mean_.round(1)
    array([1. , 0.5])
    """

    domain: Domain | None = None
    generator: GeneratorLike = "auto"
    _: KW_ONLY
    mean: ArrayLike | None = None

    def _domain(self, n_columns: int) -> Domain:
        return Orthant(n_columns) if self.domain is None else self.domain

    def _known_mean(self, d: int) -> Array | None:
        if self.mean is None:
            return None
        mean = as_numbers(self.mean, "a known mean")
        if mean.shape != (d,) or not np.isfinite(mean).all():
            raise SpecificationError(f"a known mean must be {d} finite numbers, one per column; got {self.mean!r}.")
        return mean

    def _model(self, data: Data, pairs: tuple[Any, Any], center: Array) -> PairwiseModel:
        return PairwiseModel(data.columns, pairs=pairs, linear=self.mean is None, center=center)

    @property
    def _positive_only(self) -> bool:
        return self.domain is None


@dataclass(eq=False, repr=False)
class Gaussian(TruncatedGaussian):
    """Gaussian on the whole of ℝᵈ; with D = I the estimate is the sample mean and inverse covariance.

    Parameters are those of :class:`TruncatedGaussian` without a domain and its boundary.
    """

    domain: Domain | None = field(default=None, init=False)
    boundary: str = field(default="raise", init=False)
    boundary_eps: float | None = field(default=None, init=False)

    def _domain(self, n_columns: int) -> Domain:
        return RealSpace(n_columns)

    @property
    def _positive_only(self) -> bool:
        return False
