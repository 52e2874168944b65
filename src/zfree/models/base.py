r"""Log-densities without their normalising constant.

Every model here is linear in its parameters (paper, section 5):
:math:`\log p_\theta(x) = \theta^\top t(x) + b(x) - \log Z(\theta)`. A model never forms :math:`\Gamma_i = J D J^\top` for a row; it
offers the products from which the moments are summed, and uses the structure of its statistics to do so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array
from zfree.curvatures import Energy
from zfree.domains import Domain, Units
from zfree.fields import Field
from zfree.models.linear_maps import Jacobian, Shear
from zfree.models.normalisable import Normalisable
from zfree.quadratic import DenseQuadratic, Quadratic


class Derived(NamedTuple):
    """A function of θ: names, values, and its Jacobian with respect to θ (for the delta method)."""

    names: tuple[str, ...]
    values: Array
    jacobian: Jacobian


class BoundaryOrder(NamedTuple):
    """A model at distance s from a part of the boundary: density ~ s^density, score and Jacobian ~ s^(−pole)."""

    where: str
    density: float
    pole: float


class TextbookDraws(NamedTuple):
    """Exact draws (n, d), and the name of the distribution they are from."""

    draws: Array
    source: str


class Equations(ABC):
    """The equations Σ w_i (Γ_i θ + g_i) = 0 of test functions on some rows."""

    @abstractmethod
    def moments(self, weight: Array) -> tuple[Quadratic, Array]:
        """Σ w Γ_i and Σ w g_i."""

    @abstractmethod
    def products(self, thetas: Array) -> Array:
        """Γ_i θ_i, laid out (r, N), with a θ_i for each row, laid out (r, N), or one for all, (r, 1)."""

    @abstractmethod
    def constants(self) -> Array:
        """g_i, laid out (r, N)."""


class Model(ABC):
    """An exponential family t(x), b(x) on ℝᵈ."""

    positive: bool = False
    """Whether it is about positive columns only, because of powers or logarithms of them."""
    rapidly_decreasing: bool = False
    """Whether, where it can be normalised, the density falls faster than every power of ‖x‖ and its statistics grow no faster than one.

    False also where that is not known; tails are then looked at (:mod:`zfree.inference.tails`).
    """
    may_vanish: bool = False
    """Whether the gradient of a statistic can be zero at most rows, so that few determine its parameter."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of columns of the data."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """One name per parameter."""

    @property
    def title(self) -> str:
        """What a summary calls the model."""
        return type(self).__name__.removesuffix("Model")

    @property
    def n_parameters(self) -> int:
        """Length of θ."""
        return len(self.names)

    @property
    @abstractmethod
    def doubles_per_row(self) -> int:
        """Size of the largest temporary per row, for choosing chunks."""

    def at(self, X: Array) -> Model:
        """The model prepared for repeated questions about the same rows; itself, when its derivatives are cheap."""
        return self

    @abstractmethod
    def statistics(self, X: Array) -> Array:
        """t(x), shape (N, r)."""

    @abstractmethod
    def statistic_gradient(self, X: Array, theta: Array) -> Array:
        """J_tᵀ θ: the part of the score that depends on θ, shape (N, d)."""

    @abstractmethod
    def statistic_gradients(self, X: Array, thetas: Array) -> Array:
        """J_tᵀ θ_i with a θ_i of its own for each row, laid out (r, N); shape (N, d)."""

    @abstractmethod
    def apply_jacobian(self, X: Array, V: Array) -> Array:
        """J_t(x_i) v_i, laid out (r, N)."""

    @abstractmethod
    def trace_hessian(self, X: Array, field: Field) -> Array:
        """E(x_i): the traces tr(D ∇²t_l), laid out (r, N)."""

    def stein(self, X: Array, V: Array, field: Field) -> Array:
        r"""ψ_i = J_t(x_i) v_i + tr(D ∇²t), laid out (r, N): with :math:`v = \nabla\cdot D + D s` the equations :math:`\Gamma_i\theta + g_i` of each row."""
        out = self.apply_jacobian(X, V)
        out += self.trace_hessian(X, field)
        return out

    def stein_total(self, X: Array, V: Array, field: Field, weight: Array) -> Array:
        """Σ_i w_i ψ_i of :meth:`stein`, shape (r,)."""
        return self.stein(X, V, field) @ weight

    def stein_gram(self, X: Array, V: Array, field: Field, weight: Array) -> Array:
        """Σ_i w_i² ψ_i ψ_iᵀ of :meth:`stein`, shape (r, r)."""
        psi = self.stein(X, V, field)
        psi *= weight
        return psi @ psi.T

    @abstractmethod
    def gram_diagonal(self, X: Array, field: Field) -> Array:
        """The diagonals of J_t D J_tᵀ, laid out (r, N): what a ridge multiplies."""

    @abstractmethod
    def gram(self, X: Array, field: Field, weight: Array) -> Quadratic:
        """Σ_i w_i J_t D J_tᵀ, in the structure that it has."""

    def cross_gram(self, X: Array, field: Field, weight: Array, model: Model) -> Quadratic:
        """Σ_i w_i J_h D J_tᵀ, where h are the functions of this model and t those of another with as many: not symmetric."""
        columns = (model.statistic_gradient(X, unit) for unit in np.eye(model.n_parameters))
        matrix = np.stack([self.apply_jacobian(X, field.apply(slope)) @ weight for slope in columns], axis=1)
        return DenseQuadratic(matrix, symmetric=False)

    def test_functions(self, domain: Domain, units: Units, pilot: Array | None) -> Model | None:
        r"""Functions h whose equations :math:`E\,A_\theta(D\nabla h_l) = 0` are better than those of t, with D of ``Barrier(1, 0)``; None if there are none.

        They are again a model, with as many functions, of which only the derivatives are used. `pilot` is a first estimate they may be built
        from; without one they must do without parameters.
        """
        return None

    def equations(self, X: Array, field: Field, known: Equations | None) -> Equations | None:
        """As test functions: a shorter way to their equations than products with D, if there is one for this D.

        `known` are those of other functions on the same rows, which may have computed something already.
        """
        return None

    def base(self, X: Array) -> Array:
        """b(x), shape (N,)."""
        return np.zeros(len(X))

    def base_gradient(self, X: Array) -> Array | None:
        """∇b(x), shape (N, d); None when b is constant."""
        return None

    def base_trace(self, X: Array, field: Field) -> Array | None:
        """tr(D ∇²b), shape (N,); None when b is constant."""
        return None

    def score(self, X: Array, theta: Array) -> Array:
        """∇ log p_θ(x) = J_tᵀ θ + ∇b, shape (N, d)."""
        slope, gradient = self.statistic_gradient(X, theta), self.base_gradient(X)
        return slope if gradient is None else slope + gradient

    def energy(self, theta: Array | None, X: Array, weight: Array | None) -> Energy | None:
        """−log p as a Gaussian sees it, at an estimate or before there is one, from weighted rows where it is an average over them.

        None for a model that knows better than to be compared with a Gaussian.
        """
        return None

    def natural_map(self) -> Shear | None:
        """T with natural parameters = T θ, when the model works in shifted ones; None when θ is natural already."""
        return None

    def natural(self, theta: Array) -> Array:
        """T θ, the natural parameters."""
        T = self.natural_map()
        return theta.copy() if T is None else T @ theta

    def derived(self, theta: Array) -> dict[str, Callable[[], Derived]]:
        """Other parametrisations a user may ask for, each with its Jacobian (see :class:`Derived`)."""
        return {}

    def sample_moments(self, which: str, theta: Array, changes: Array) -> Array | None:
        """A parametrisation of :meth:`derived` at θ plus each row of `changes`, if it consists of moments of the sample; None otherwise."""
        return None

    @property
    def is_separable(self) -> bool:
        """Whether every parameter belongs to one column, so that with a diagonal D the columns are fitted apart."""
        return False

    @property
    def heavy_tailed(self) -> bool:
        """Whether tails are exponential or heavier, so that a generator that grows fast far out rests on few rows."""
        return False

    def boundary_orders(self, theta: Array) -> tuple[BoundaryOrder, ...] | None:
        """How the model behaves at each part of the boundary; by default smooth and positive.

        Empty when the density vanishes faster than any power; None when the model does not know.
        """
        return (BoundaryOrder("the boundary", 0.0, 0.0),)

    def normalisable(self, theta: Array, domain: Domain, rows: Array | None = None) -> Normalisable:
        """Whether exp(θᵀt + b) has a finite integral over the domain; by default a numerical look (:mod:`zfree.models.integrability`).

        `rows` are points inside the domain to look from, where there are any.
        """
        from zfree.models.integrability import look

        return look(lambda X: self.log_density(X, theta), domain, rows)

    def textbook_draws(self, domain: Domain, theta: Array, n: int, rng: np.random.Generator) -> TextbookDraws | None:
        """Independent draws (n, d), if the family on this domain is one that a library draws from; None otherwise."""
        return None

    def rough_parameters(self, X: Array, weight: Array | None) -> Array | None:
        """Parameters of a distribution somewhere near the rows, to start looking from; None if there are none as simple as that."""
        return None

    @property
    def reported(self) -> tuple[str, ...]:
        """The parametrisations a summary shows: names of :meth:`derived`, or ``"natural"``."""
        return ("natural",)

    def log_density(self, X: Array, theta: Array) -> Array:
        """θᵀt(x) + b(x): the log-density up to the constant log Z(θ), shape (N,)."""
        return self.statistics(X) @ theta + self.base(X)


class LogBase:
    """The base measure b(x) = −Σ log x_j, which makes shape parameters start at 0 rather than at −1."""

    positive = True

    def base(self, X: Array) -> Array:
        values: Array = -np.log(X).sum(axis=1)
        return values

    def base_gradient(self, X: Array) -> Array | None:
        return -1.0 / X

    def base_trace(self, X: Array, field: Field) -> Array | None:
        traces: Array = (field.diagonal() / X**2).sum(axis=1)
        return traces
