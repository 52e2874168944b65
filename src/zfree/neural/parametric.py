"""Parametric densities that are no exponential families: mixtures, heavy tails, anything written as an energy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from zfree.arrays import Array
from zfree.autodiff import torch_func
from zfree.domains import Domain, Units
from zfree.errors import DataError, SingularMomentsError, SpecificationError
from zfree.generators import Generator
from zfree.inference.sandwich import from_parts
from zfree.neural.unnormalised import KEPT_STARTS, UnnormalisedDensity
from zfree.neural.weight_tensors import WeightTensors, as_generator, log_unit

NamedTensors = dict[str, Tensor]
ParametricEnergy = Callable[[Tensor, NamedTensors], Tensor]
"""One point (d,) and the parameters by name to the energy, a scalar: −log p up to a constant in x."""
CHUNK = 2048
"""Rows differentiated at a time."""


class ParametricModel(UnnormalisedDensity):
    r"""A density :math:`p(x) \propto e^{-E(x;\theta)}` on a domain with a few parameters, and their standard errors.

    All rows are used in every step, in double precision: a few parameters converge in a few dozen steps, and standard errors need the
    minimum itself. With very many rows or parameters write the energy as a ``torch.nn.Module`` and train it with
    :class:`EnergyModel`, which has minibatches, a choice of optimisers, a held-out score and checkpoints.

    Parameters
    ----------
    energy : callable
        E of *one* point, a torch vector (d,), and a dict of parameters; written with torch operations. Parameters that must be
        positive are best given by their logarithm.
    start : dict
        Where to start, by name: numbers or arrays. It fixes the shapes.
    domain : Domain, optional
        ℝᵈ by default.
    generator : Generator or str, optional
        D. By default ``Barrier(1.2, det_power=0)``, and a distance where the domain is not convex.
    restarts : int
        Further starts, scattered around `start` with a standard deviation of one half; the smallest loss is kept.
    max_iter : int
        Steps of the optimiser (L-BFGS).
    random_state : int

    Attributes
    ----------
    parameters_, standard_errors_ : dict of ndarray
        Estimates, and the square roots of the diagonal of the sandwich Γ⁻¹ΣΓ⁻¹/N with Γ the Hessian of the loss and Σ the covariance
        of the rows' gradients (the covariance of Theorem 5.1, for a loss that is not quadratic).
    covariance_ : ndarray
        Of all parameters, in the order of `start`.
    loss_ : float
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np, torch, zfree as zf
    >>> from zfree.neural import ParametricModel
    >>> def energy(x, p):  # a Laplace-like density with a smooth tip
    ...     return torch.exp(p["log_rate"]) * torch.sqrt(1 + x[0] ** 2)
    >>> x = np.random.default_rng(0).laplace(size=(500, 1))
    >>> est = ParametricModel(energy, {"log_rate": 0.0}).fit(x)
    >>> sorted(est.parameters_)
    ['log_rate']
    """

    def __init__(
        self,
        energy: ParametricEnergy,
        start: Mapping[str, ArrayLike],
        domain: Domain | None = None,
        generator: Generator | str | None = None,
        *,
        restarts: int = 0,
        max_iter: int = 500,
        random_state: int = 0,
    ) -> None:
        self.energy = energy
        self.start = start
        self.domain = domain
        self.generator = generator
        self.restarts = restarts
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Minimise the exact scoring rule over the rows of `X` in double precision."""
        rows = self._rows(X, reset=True)
        start = self._start()
        generator = as_generator(self.generator, self.domain_)
        measuring = generator.in_units(Units.of(self.domain_, rows))
        unit = log_unit(measuring, self.domain_, rows)  # the optimiser's tolerances are absolute
        rule = _Rule(self.energy, self._shapes, rows, WeightTensors.at(measuring, self.domain_, rows, log_scale=unit))
        rng = np.random.default_rng(self.random_state)
        best = None
        for k in range(self.restarts + 1):
            begin = start if k == 0 else start + 0.5 * rng.standard_normal(start.shape)
            found = minimize(
                rule.value_and_gradient, begin, jac=True, method="L-BFGS-B", options={"maxiter": self.max_iter}
            )
            if np.isfinite(found.fun) and (best is None or found.fun < best.fun):
                best = found
        if best is None:
            raise DataError(
                "the loss is not finite at any start. Choose start= where the energy is finite at every row."
            )
        self.loss_, self.n_iter_ = float(best.fun), int(best.nit)
        self.covariance_ = rule.covariance(best.x)
        self.parameters_ = self._named(best.x)
        self.standard_errors_ = self._named(np.sqrt(np.diagonal(self.covariance_)))
        self.generator_, self._measuring, self._unit = generator, measuring, unit
        self._theta, self._starts = best.x, rows[:KEPT_STARTS]
        return self

    def _start(self) -> Array:
        if not isinstance(self.start, Mapping) or not self.start:
            raise SpecificationError(f"start must map names of parameters to numbers or arrays, got {self.start!r}.")
        values = {name: np.asarray(value, dtype=float) for name, value in self.start.items()}
        self._shapes = {name: value.shape for name, value in values.items()}
        return np.concatenate([value.ravel() for value in values.values()])

    def _named(self, flat: Array) -> dict[str, Array]:
        pieces = np.split(flat, np.cumsum([int(np.prod(s)) for s in self._shapes.values()])[:-1])
        return {name: piece.reshape(shape) for (name, shape), piece in zip(self._shapes.items(), pieces, strict=True)}

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean scoring rule of new rows: larger is better, comparable under one generator only."""
        check_is_fitted(self, "parameters_")
        rows = self._rows(X, reset=False)
        rule = _Rule(
            self.energy, self._shapes, rows, WeightTensors.at(self._measuring, self.domain_, rows, log_scale=self._unit)
        )
        return -rule.value_and_gradient(self._theta)[0]

    def _evaluate(self, X: Array) -> tuple[Array, Array]:
        parameters = _unpack(torch.as_tensor(self._theta), self._shapes)
        both = torch.func.grad_and_value(lambda x: -self.energy(x, parameters))
        with torch_func():
            gradient, value = torch.func.vmap(both)(torch.as_tensor(X))
        return value.numpy(), gradient.numpy()


class _Rule:
    """The scoring rule as a function of θ, row by row, and its derivatives by torch.func."""

    def __init__(
        self, energy: ParametricEnergy, shapes: dict[str, tuple[int, ...]], X: Array, weight: WeightTensors
    ) -> None:
        self._energy, self._shapes = energy, shapes
        self._X, self._divergence = torch.as_tensor(X), weight.divergence
        self._D = torch.stack([weight.apply(e.expand(len(X), -1)) for e in torch.eye(X.shape[1]).double()], dim=1)

    def _row(self, theta: Tensor, x: Tensor, D: Tensor, divergence: Tensor) -> Tensor:
        parameters = _unpack(theta, self._shapes)

        def log_density(point: Tensor) -> Tensor:
            return -self._energy(point, parameters)

        s, hessian = torch.func.grad(log_density)(x), torch.func.hessian(log_density)(x)
        loss: torch.Tensor = s @ (0.5 * D @ s + divergence) + (D * hessian).sum()
        return loss

    def _over_rows(self, function: Callable[..., Any], theta: Tensor) -> list[Any]:
        batched = torch.func.vmap(function, in_dims=(None, 0, 0, 0))
        pieces = zip(*(t.split(CHUNK) for t in (self._X, self._D, self._divergence)), strict=True)
        with torch_func():
            return [batched(theta, *piece) for piece in pieces]

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """Mean of the rule, and its gradient."""
        t = torch.as_tensor(theta, dtype=torch.float64)
        found = self._over_rows(torch.func.grad_and_value(self._row), t)
        gradients, values = torch.cat([g for g, _ in found]), torch.cat([v for _, v in found])
        return float(values.mean()), gradients.mean(dim=0).numpy()

    def covariance(self, theta: Array) -> Array:
        """The sandwich Γ⁻¹ΣΓ⁻¹/N."""
        t = torch.as_tensor(theta, dtype=torch.float64)
        gradients = torch.cat(self._over_rows(torch.func.grad(self._row), t)).numpy()
        hessian = torch.func.jacfwd(torch.func.grad(self._row))
        gamma = torch.cat(self._over_rows(hessian, t)).mean(dim=0).numpy()
        if np.linalg.eigvalsh(gamma)[0] <= 1e-12 * np.abs(gamma).max():
            raise SingularMomentsError(
                "the loss has no strict minimum where the optimiser stopped: some parameters are not determined by the data, or "
                "it needs another start or more steps (restarts=, max_iter=)."
            )
        return from_parts(np.linalg.inv(gamma), gradients.T @ gradients, len(gradients))


def _unpack(theta: Tensor, shapes: dict[str, tuple[int, ...]]) -> NamedTensors:
    pieces = torch.split(theta, [int(np.prod(shape)) for shape in shapes.values()])
    return {name: piece.reshape(shape) for (name, shape), piece in zip(shapes.items(), pieces, strict=True)}
