"""Dirichlet, exponential and gamma."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zfree.domains import Domain, Orthant, Simplex
from zfree.errors import DataError, SpecificationError
from zfree.estimators.base import ScoreMatchingEstimator
from zfree.estimators.choice import GeneratorLike
from zfree.estimators.data import Data
from zfree.generators import Barrier, Generator
from zfree.inference import FitResult, Target
from zfree.models import DirichletModel, ExponentialModel, GammaModel, Model
from zfree.solvers import Restriction


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

    _one_dimensional = False  # a composition has at least two parts

    def __init__(
        self,
        generator: GeneratorLike = "auto",
        *,
        domain: Simplex | None = None,
        fixed: Mapping[str, float] | None = None,
        ridge: float = 0.0,
        target: Target = "information",
        boundary: str = "raise",
        boundary_eps: float | None = None,
        standard_errors: str = "auto",
        check: bool = True,
    ) -> None:
        self.generator = generator
        self.domain = domain
        self.fixed = fixed
        self.ridge = ridge
        self.target = target
        self.boundary = boundary
        self.boundary_eps = boundary_eps
        self.standard_errors = standard_errors
        self.check = check

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
        self.alpha_se_ = result.standard_errors

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class _OrthantEstimator(ScoreMatchingEstimator):
    """Positive columns."""

    def __init__(
        self,
        generator: GeneratorLike = "auto",
        *,
        fixed: Mapping[str, float] | None = None,
        ridge: float = 0.0,
        target: Target = "information",
        boundary: str = "raise",
        boundary_eps: float | None = None,
        standard_errors: str = "auto",
        check: bool = True,
    ) -> None:
        self.generator = generator
        self.fixed = fixed
        self.ridge = ridge
        self.target = target
        self.boundary = boundary
        self.boundary_eps = boundary_eps
        self.standard_errors = standard_errors
        self.check = check

    def _domain(self, n_columns: int) -> Domain:
        return Orthant(n_columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class Exponential(_OrthantEstimator):
    r"""Independent exponential columns, :math:`p(x) \propto \exp(-\sum_j \lambda_j x_j)`.

    In one dimension ``Barrier(power=4/3)`` gives the maximum-likelihood estimate N/Σx exactly (paper, "1D data").

    Parameters
    ----------
    generator : {"auto", "search"}, Generator, str, list of Generator or Combined
        ``"auto"`` is h(x) = x, which is maximum likelihood; ``"search"`` chooses a Barrier(p, γ) from the data; or a generator or its name
        (:func:`zfree.named`); or a list of them to choose from; or several combined.
    fixed, ridge, target, boundary, boundary_eps, standard_errors, check
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

    def _known_best(self) -> Generator:
        return Barrier(power=1.0, det_power=0.0)  # h(x) = x gives 1 / mean(x)

    def _specify(self, data: Data) -> tuple[Model, Restriction]:
        model = ExponentialModel(data.columns)
        return model, Restriction.none(model.n_parameters)

    def _learn(self, result: FitResult) -> None:
        self.rate_ = result.theta
        self.rate_se_ = result.standard_errors


class Gamma(_OrthantEstimator):
    r"""Independent gamma columns, :math:`p(x) \propto \prod_j x_j^{k_j - 1} e^{-\lambda_j x_j}`.

    Parameters
    ----------
    generator : {"auto", "search"}, Generator, str, list of Generator or Combined
        ``"auto"`` is :class:`~zfree.SteinMoments`, which comes close to maximum likelihood (with a ridge, as ``"search"``); ``"search"`` chooses a
        Barrier(p, γ) from the data; or a generator or its name (:func:`zfree.named`); or a list of them to choose from; or several
        combined.
    fixed, ridge, target, boundary, boundary_eps, standard_errors, check
        See :class:`Dirichlet`.

    Attributes
    ----------
    shape_, rate_, shape_se_, rate_se_ : ndarray of shape (n_columns,)
    result_ : FitResult
    """

    def _specify(self, data: Data) -> tuple[Model, Restriction]:
        model = GammaModel(data.columns)
        return model, Restriction.none(model.n_parameters)

    def _learn(self, result: FitResult) -> None:
        self.shape_, self.rate_ = result.theta.reshape(2, -1)
        self.shape_se_, self.rate_se_ = result.standard_errors.reshape(2, -1)
