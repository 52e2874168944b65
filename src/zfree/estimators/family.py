"""Any exponential family on any domain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from zfree.arrays import Array
from zfree.conversion import check_callable, shown, values_of
from zfree.domains import Domain, RealSpace
from zfree.errors import SpecificationError
from zfree.estimators.base import ScoreMatchingEstimator
from zfree.estimators.data import Data
from zfree.inference import FitResult
from zfree.models import CustomModel, Model
from zfree.selection import GeneratorLike
from zfree.solvers import Restriction


@dataclass(eq=False, repr=False)
class ExponentialFamily(ScoreMatchingEstimator):
    r""":math:`\log p(x) = \theta^\top t(x) + b(x) - \log Z(\theta)` for your own t and b.

    Parameters
    ----------
    statistic : callable
        t, batched: (n, d) → (n, r). Written with torch operations it is differentiated automatically; or pass
        `jacobian` and `hessian`, and then numpy will do.
    base : callable, optional
        b: (n, d) → (n,).
    domain : Domain, optional
        ℝᵈ by default.
    generator : {"auto", "search"}, Generator, str, list of Generator or Combined
        ``"auto"`` chooses a Barrier(p, γ) or a :class:`~zfree.SteinBarrier` from the data, ``"search"`` the former only; or a generator or
        its name (:func:`zfree.named`); or a list of them to choose from; or several combined.
    jacobian, hessian : callable, optional
        Derivatives of t: (n, r, d) and (n, r, d, d).
    base_gradient, base_hessian : callable, optional
        Derivatives of b: (n, d) and (n, d, d).
    names : sequence of str, optional
        Names of the r parameters; theta[0], theta[1], … by default.
    fixed, ridge, target, boundary, boundary_eps, standard_errors, covariance, check
        See :class:`Dirichlet`.

    Notes
    -----
    The estimate is consistent if :math:`p\,D\nabla t` vanishes at the facets and at infinity. Both are looked at after the fit, at θ̂: rows are moved
    towards the boundary (:mod:`zfree.inference.facets`), and points followed far out where the domain is unbounded (:mod:`zfree.inference.tails`). A density that falls
    like a power of x bears no D that grows much faster than \|x\|²; if yours does, the fit warns.

    Attributes
    ----------
    theta_, theta_se_ : ndarray of shape (r,)
    result_ : FitResult

    Examples
    --------
    A gamma distribution, derivatives given:

    >>> import numpy as np, zfree as zf
    >>> x = np.random.default_rng(0).gamma(3.0, 1 / 2.0, size=(4000, 1))
    >>> est = zf.ExponentialFamily(
    ...     statistic=lambda X: np.concatenate([np.log(X), -X], axis=1),
    ...     jacobian=lambda X: np.stack([1 / X, -np.ones_like(X)], axis=1),
    ...     hessian=lambda X: np.stack([-1 / X**2, np.zeros_like(X)], axis=1)[..., None],
    ...     names=["shape - 1", "rate"],
    ...     domain=zf.Orthant(1),
    ...     generator=zf.Barrier.entropy(),
    ... ).fit(x)
    >>> est.theta_.round(1)
    array([2. , 1.9])
    """

    statistic: Callable[[Any], Any] | None = None
    base: Callable[[Any], Any] | None = None
    _: KW_ONLY
    domain: Domain | None = None
    generator: GeneratorLike = "auto"
    jacobian: Callable[[Any], Any] | None = None
    hessian: Callable[[Any], Any] | None = None
    base_gradient: Callable[[Any], Any] | None = None
    base_hessian: Callable[[Any], Any] | None = None
    names: Sequence[str] | None = None

    def _domain(self, n_columns: int) -> Domain:
        return RealSpace(n_columns) if self.domain is None else self.domain

    def _specify(self, data: Data) -> tuple[Model, Restriction]:
        if self.statistic is None:
            raise SpecificationError("ExponentialFamily needs statistic=, the function t(x).")
        check_callable(self.statistic, "statistic")
        n_parameters = self._count_parameters(data)
        names = [f"theta[{k}]" for k in range(n_parameters)] if self.names is None else _names(self.names)
        if len(names) != n_parameters:
            raise SpecificationError(f"{len(names)} names given for {n_parameters} statistics.")
        model = CustomModel(
            len(data.columns),
            names,
            self.statistic,
            self.jacobian,
            self.hessian,
            self.base,
            self.base_gradient,
            self.base_hessian,
        )
        return model, Restriction.none(n_parameters)

    def _count_parameters(self, data: Data) -> int:
        assert self.statistic is not None
        if self.jacobian is not None:
            t = values_of(self.statistic, data.source.first().X, "the statistic")
        else:
            from zfree.autodiff import evaluate

            t = evaluate(self.statistic, data.source.first().X, "the statistic")
        if t.ndim != 2 or t.shape[0] != 1 or t.shape[1] == 0:
            raise SpecificationError(
                f"the statistic must map (n, {len(data.columns)}) to (n, r); for one row it returned shape {t.shape}."
            )
        return int(t.shape[1])

    def _learn(self, result: FitResult) -> None:
        self.theta_ = result.theta

    @property
    def theta_se_(self) -> Array:
        """Standard errors of `theta_`."""
        return self.result_.standard_errors


def _names(names: Any) -> list[str]:
    """Different names of parameters."""
    if isinstance(names, str | bytes) or not hasattr(names, "__iter__"):
        raise SpecificationError(f"names must be a list of names, one per statistic, got {shown(names)}.")
    given = [str(name) for name in names]
    if len(set(given)) < len(given):
        raise SpecificationError(f"names must differ from each other, got {shown(given)}.")
    return given
