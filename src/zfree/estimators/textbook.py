"""Dirichlet, exponential, gamma and generalized gamma."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from zfree.arrays import Array
from zfree.conversion import real_number, shown
from zfree.domains import Domain, Orthant, Simplex
from zfree.errors import DataError, SpecificationError
from zfree.estimators.base import ScoreMatchingEstimator
from zfree.estimators.data import Data
from zfree.generators import Barrier, Generator
from zfree.inference import FitResult
from zfree.models import DirichletModel, ExponentialModel, GammaModel, GeneralizedGammaModel, Model
from zfree.selection import GeneratorLike
from zfree.solvers import Restriction


@dataclass(eq=False, repr=False)
class Dirichlet(ScoreMatchingEstimator):
    r"""Dirichlet distribution of compositions, :math:`p(x) \propto \prod_j x_j^{\alpha_j - 1}` on the simplex.

    Parameters
    ----------
    generator : {"auto", "search"}, Generator, str, list of Generator or Combined
        ``"auto"`` is :class:`~zfree.SteinMoments`, which comes close to maximum likelihood (with a ridge, as ``"search"``); ``"search"`` chooses a
        Barrier(p, γ) from the data; or a generator or its name (:func:`zfree.named`); or a list of them to choose from; or several
        combined.
    domain : Simplex, optional
        The simplex of as many parts as there are columns; pass one to set the tolerance on the sums.
    fixed : dict, optional
        Known parameters by name, for example ``{"alpha[x1]": 1.0}``.
    ridge : float
        Multiplies the diagonal of Γ by 1 + ridge.
    target : str or array_like
        What the choice minimises: ``"information"`` (scale-free), ``"natural"``, another parametrisation of the model, or a matrix.
    boundary : {"raise", "drop", "clip"}
        What to do with rows that contain zeros.
    boundary_eps : float, optional
        With ``"clip"``: in rows that contain zeros, parts below it are raised to it and the row is closed again.
    standard_errors : {"auto", "jackknife", "sandwich"}
        The jackknife, by exact leave-one-out, corrects intervals for bias and for few rows; ``"auto"`` uses the sandwich of Theorem 5.1 where
        rows are so many that both agree.
    covariance : {"auto", "full", "diagonal"} or None
        How much of the covariance is computed. ``"auto"`` goes by size: all of it up to 1000 parameters, beyond that standard errors of what the summary
        shows; ``"full"``; ``"diagonal"``; None for the estimate alone, fastest.
    check : bool
        Whether a fit with a generator chosen from the data is compared with draws of the fitted model (``result_.fit_check``).

    Attributes
    ----------
    alpha_ : ndarray of shape (n_parts,)
    alpha_se_ : ndarray of shape (n_parts,)
        Standard errors.
    result_ : FitResult

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> P = np.random.default_rng(0).dirichlet([2.0, 3.0, 4.0], size=2000)
    >>> zf.Dirichlet(generator=zf.Barrier.entropy()).fit(P).alpha_.round(1)
    array([2. , 3. , 3.9])
    """

    generator: GeneratorLike = "auto"
    _: KW_ONLY
    domain: Simplex | None = None

    _one_dimensional = False  # a composition has at least two parts

    def _domain(self, n_columns: int) -> Domain:
        if n_columns < 2:
            raise DataError("n_features=1: a composition has at least 2 parts. Add the remainder 1 - x as a column.")
        if self.domain is not None and not isinstance(self.domain, Simplex):
            raise SpecificationError(f"a Dirichlet lives on a Simplex, got domain={self.domain!r}.")
        return Simplex(n_columns) if self.domain is None else self.domain

    def _specify(self, data: Data) -> tuple[Model, Restriction]:
        model = DirichletModel(data.columns)
        return model, Restriction.none(model.n_parameters)

    def _learn(self, result: FitResult) -> None:
        self.alpha_ = result.theta

    @property
    def alpha_se_(self) -> Array:
        """Standard errors of `alpha_`."""
        return self.result_.standard_errors

    @property
    def _positive_only(self) -> bool:
        return True


class _OrthantEstimator(ScoreMatchingEstimator):
    """Positive columns."""

    def _domain(self, n_columns: int) -> Domain:
        return Orthant(n_columns)

    @property
    def _positive_only(self) -> bool:
        return True


@dataclass(eq=False, repr=False)
class Exponential(_OrthantEstimator):
    r"""Independent exponential columns, :math:`p(x) \propto \exp(-\sum_j \lambda_j x_j)`.

    In one dimension ``Barrier(power=4/3)`` gives the maximum-likelihood estimate N/Σx exactly (paper, "1D data").

    Parameters
    ----------
    generator : {"auto", "search"}, Generator, str, list of Generator or Combined
        ``"auto"`` is h(x) = x, which is maximum likelihood; ``"search"`` chooses a Barrier(p, γ) from the data; or a generator or its name
        (:func:`zfree.named`); or a list of them to choose from; or several combined.
    fixed, ridge, target, boundary, boundary_eps, standard_errors, covariance, check
        See :class:`Dirichlet`.

    Attributes
    ----------
    rate_, rate_se_ : ndarray of shape (n_columns,)
    result_ : FitResult

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> x = np.array([0.5, 1.0, 1.5])
    >>> zf.Exponential().fit(x).rate_
    array([1.])
    """

    generator: GeneratorLike = "auto"

    def _known_best(self) -> Generator:
        return Barrier(power=1.0, det_power=0.0)  # h(x) = x gives 1 / mean(x)

    def _specify(self, data: Data) -> tuple[Model, Restriction]:
        model = ExponentialModel(data.columns)
        return model, Restriction.none(model.n_parameters)

    def _learn(self, result: FitResult) -> None:
        self.rate_ = result.theta

    @property
    def rate_se_(self) -> Array:
        """Standard errors of `rate_`."""
        return self.result_.standard_errors


class _ShapeAndRate(_OrthantEstimator):
    """Gammas."""

    def _learn(self, result: FitResult) -> None:
        self.shape_, self.rate_ = result.theta.reshape(2, -1)

    @property
    def shape_se_(self) -> Array:
        """Standard errors of `shape_`."""
        shapes: Array = self.result_.standard_errors.reshape(2, -1)[0]
        return shapes

    @property
    def rate_se_(self) -> Array:
        """Standard errors of `rate_`."""
        rates: Array = self.result_.standard_errors.reshape(2, -1)[1]
        return rates


@dataclass(eq=False, repr=False)
class Gamma(_ShapeAndRate):
    r"""Independent gamma columns, :math:`p(x) \propto \prod_j x_j^{k_j - 1} e^{-\lambda_j x_j}`.

    Parameters
    ----------
    generator : {"auto", "search"}, Generator, str, list of Generator or Combined
        ``"auto"`` is :class:`~zfree.SteinMoments`, which comes close to maximum likelihood (with a ridge, as ``"search"``); ``"search"`` chooses a
        Barrier(p, γ) from the data; or a generator or its name (:func:`zfree.named`); or a list of them to choose from; or several
        combined.
    fixed, ridge, target, boundary, boundary_eps, standard_errors, covariance, check
        See :class:`Dirichlet`.

    Attributes
    ----------
    shape_, rate_, shape_se_, rate_se_ : ndarray of shape (n_columns,)
    result_ : FitResult

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> x = np.random.default_rng(0).gamma(2.0, 1.0, size=2000)
    >>> zf.Gamma(check=False).fit(x).shape_.round(1)
    array([2.])
    """

    generator: GeneratorLike = "auto"

    def _specify(self, data: Data) -> tuple[Model, Restriction]:
        model = GammaModel(data.columns)
        return model, Restriction.none(model.n_parameters)


@dataclass(eq=False, repr=False)
class GeneralizedGamma(_ShapeAndRate):
    r"""Independent generalized gamma columns with a given exponent, :math:`p(x) \propto \prod_j x_j^{\kappa_j - 1} e^{-\lambda_j x_j^a}`.

    a = 1 is :class:`Gamma`. κ = a is a Weibull distribution; a = 2 with κ = 1 is the half-normal of variance 1/(2λ), with κ = 2 the Rayleigh and with κ = 3
    the Maxwell distribution.

    Parameters
    ----------
    exponent : float
        a > 0, the same for all columns.
    generator : {"auto", "search"}, Generator, str, list of Generator or Combined
        ``"auto"`` is :class:`~zfree.SteinMoments` with the test functions of the gamma that :math:`x^a` is (with a ridge, as ``"search"``); otherwise as
        for :class:`Gamma`.
    fixed, ridge, target, boundary, boundary_eps, standard_errors, covariance, check
        See :class:`Dirichlet`.

    Attributes
    ----------
    shape_, rate_, shape_se_, rate_se_ : ndarray of shape (n_columns,)
        κ and λ.
    result_ : FitResult

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> speeds = np.linalg.norm(np.random.default_rng(0).standard_normal((20_000, 3)), axis=1)  # Maxwell: κ = 3, λ = 1/2
    >>> maxwell = zf.GeneralizedGamma(exponent=2.0, check=False).fit(speeds)
    >>> maxwell.shape_.round(1), maxwell.rate_.round(1)
    (array([3.]), array([0.5]))
    """

    exponent: float = 1.0
    generator: GeneratorLike = "auto"

    def _specify(self, data: Data) -> tuple[Model, Restriction]:
        a = real_number(self.exponent, "exponent")
        if not 0.0 < a < np.inf:
            raise SpecificationError(
                f"exponent must be positive and finite, got {shown(self.exponent)}; with a negative one, fit 1/x with its opposite."
            )
        largest = data.source.statistics.highest
        with np.errstate(over="ignore", under="ignore"):
            square = largest ** (2.0 * a)
        bad = np.flatnonzero(~((square > 0.0) & np.isfinite(square)))
        if bad.size:
            j = int(bad[0])
            raise DataError(
                f"column {data.columns[j]!r} reaches {largest[j]:.3g}, and the square of {largest[j]:.3g}^{a:g} is out of the range of floating "
                "point. Divide the column by its mean, or take a smaller exponent."
            )
        model = GeneralizedGammaModel(data.columns, a)
        return model, Restriction.none(model.n_parameters)
