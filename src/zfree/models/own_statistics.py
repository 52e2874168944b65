"""Any exponential family, given by its statistic and base measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from zfree.arrays import Array, weighted_gram
from zfree.conversion import check_callable, values_of
from zfree.curvatures import Energy
from zfree.errors import SpecificationAtRowError, SpecificationError
from zfree.fields import Field
from zfree.models.base import BoundaryOrder, Model
from zfree.quadratic import DenseQuadratic, Quadratic

Function = Callable[[Any], Any]


class CustomModel(Model):
    """log p = θᵀ t(x) + b(x) with t and b as batched functions.

    Parameters
    ----------
    dimension : int
    names : sequence of str
        One per parameter.
    statistic : callable
        t: (N, d) → (N, r).
    jacobian, hessian : callable, optional
        (N, d) → (N, r, d) and (N, r, d, d). Without them t is differentiated automatically with torch.
    base : callable, optional
        b: (N, d) → (N,).
    base_gradient, base_hessian : callable, optional
        (N, d) → (N, d) and (N, d, d), or automatic.
    """

    may_vanish = True

    def __init__(
        self,
        dimension: int,
        names: Sequence[str],
        statistic: Function,
        jacobian: Function | None = None,
        hessian: Function | None = None,
        base: Function | None = None,
        base_gradient: Function | None = None,
        base_hessian: Function | None = None,
    ) -> None:
        for what, first, second in (
            ("the statistic", jacobian, hessian),
            ("the base measure", base_gradient, base_hessian),
        ):
            if (first is None) != (second is None):
                raise SpecificationError(f"give both derivatives of {what}, or neither (then they are automatic).")
        if base is None and base_gradient is not None:
            raise SpecificationError("base_gradient= and base_hessian= are given without base=, the function b itself.")
        for name, function in (
            ("statistic", statistic),
            ("jacobian", jacobian),
            ("hessian", hessian),
            ("base", base),
            ("base_gradient", base_gradient),
            ("base_hessian", base_hessian),
        ):
            if function is not None:
                check_callable(function, name)
        self._dimension, self._names = dimension, tuple(names)
        self._t, self._jacobian, self._hessian = statistic, jacobian, hessian
        self._b, self._base_gradient, self._base_hessian = base, base_gradient, base_hessian
        self._known: dict[str, Any] | None = None

    def at(self, X: Array) -> CustomModel:
        prepared = copy(self)
        prepared._known = {}
        return prepared

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def doubles_per_row(self) -> int:
        return self.n_parameters * self.dimension**2

    @property
    def title(self) -> str:
        return "Exponential family"

    def boundary_orders(self, theta: Array) -> tuple[BoundaryOrder, ...] | None:
        return None

    def _once(self, key: str, compute: Callable[[Array], Any], X: Array) -> Any:
        """Derivatives may be costly, and one chunk is asked for them several times: see :meth:`at`."""
        if self._known is None:
            return compute(X)
        if key not in self._known:
            self._known[key] = compute(X)
        return self._known[key]

    def _derivatives(self, X: Array) -> tuple[Array, Array]:
        pair: tuple[Array, Array] = self._once("statistic", self._differentiate, X)
        return pair

    def _base_derivatives(self, X: Array) -> tuple[Array, Array] | None:
        pair: tuple[Array, Array] | None = self._once("base", self._differentiate_base, X)
        return pair

    def _differentiate(self, X: Array) -> tuple[Array, Array]:
        n, d, r = len(X), self.dimension, self.n_parameters
        if self._jacobian is None or self._hessian is None:
            from zfree.autodiff import jacobian_and_hessian

            J, H = jacobian_and_hessian(self._t, X, "the statistic")
        else:
            J = values_of(self._jacobian, X, "the Jacobian of t")
            H = values_of(self._hessian, X, "the Hessian of t")
        return _shaped(J, (n, r, d), "the Jacobian of t"), _shaped(H, (n, r, d, d), "the Hessians of t")

    def statistics(self, X: Array) -> Array:
        return _shaped(_values(self._t, X, self._jacobian, "the statistic"), (len(X), self.n_parameters), "t(x)")

    def base(self, X: Array) -> Array:
        if self._b is None:
            return np.zeros(len(X))
        b = _values(self._b, X, self._base_gradient, "the base measure")
        if b.shape not in ((len(X),), (len(X), 1)):
            raise SpecificationError(f"the base measure must map {X.shape} to ({len(X)},), it returned {b.shape}.")
        return b.reshape(len(X))

    def _differentiate_base(self, X: Array) -> tuple[Array, Array] | None:
        n, d = X.shape
        if self._base_gradient is not None and self._base_hessian is not None:
            gradient = values_of(self._base_gradient, X, "the gradient of b")
            hessian = values_of(self._base_hessian, X, "the Hessian of b")
        elif self._b is not None:
            from zfree.autodiff import jacobian_and_hessian

            J, H = jacobian_and_hessian(self._b, X, "the base measure")
            if J.shape != (n, 1, d):
                raise SpecificationError(
                    f"the base measure must return one number per row, it returned {J.shape[1:-1]}."
                )
            gradient, hessian = J[:, 0], H[:, 0]
        else:
            return None
        return _shaped(gradient, (n, d), "the gradient of b"), _shaped(hessian, (n, d, d), "the Hessian of b")

    def base_gradient(self, X: Array) -> Array | None:
        both = self._base_derivatives(X)
        return None if both is None else both[0]

    def base_trace(self, X: Array, field: Field) -> Array | None:
        both = self._base_derivatives(X)
        return None if both is None else np.einsum("njk,njk->n", field.dense(), both[1])

    def energy(self, theta: Array | None, X: Array, weight: Array | None) -> Energy:
        """The mean Hessian of −log p over the rows."""
        if theta is None:
            return Energy(None, False, exact=False)
        w = np.full(len(X), 1.0 / len(X)) if weight is None else weight / weight.sum()
        hessian = -np.einsum("n,nrjk,r->jk", w, self._derivatives(X)[1], theta, optimize=True)
        base = self._base_derivatives(X)
        return Energy(hessian if base is None else hessian - np.einsum("n,njk->jk", w, base[1]), False, exact=False)

    def statistic_gradient(self, X: Array, theta: Array) -> Array:
        product: Array = np.einsum("nrj,r->nj", self._derivatives(X)[0], theta)
        return product

    def statistic_gradients(self, X: Array, thetas: Array) -> Array:
        product: Array = np.einsum("nrj,rn->nj", self._derivatives(X)[0], thetas)
        return product

    def apply_jacobian(self, X: Array, V: Array) -> Array:
        product: Array = np.einsum("nrj,nj->rn", self._derivatives(X)[0], V)
        return product

    def trace_hessian(self, X: Array, field: Field) -> Array:
        traces: Array = np.einsum("nrjk,njk->rn", self._derivatives(X)[1], field.dense())
        return traces

    def gram_diagonal(self, X: Array, field: Field) -> Array:
        J = self._derivatives(X)[0]
        squares: Array = np.einsum("nrj,njk,nrk->rn", J, field.dense(), J, optimize=True)
        return squares

    def gram(self, X: Array, field: Field, weight: Array) -> Quadratic:
        J = self._derivatives(X)[0]
        diagonal, rank_ones, dense = field.parts
        if dense is not None:
            return DenseQuadratic(np.tensordot(J * weight[:, None, None], J @ dense, axes=([0, 2], [0, 2])))
        out = np.zeros((self.n_parameters, self.n_parameters))
        if diagonal is not None:
            flat = np.ascontiguousarray(J.transpose(1, 0, 2)).reshape(self.n_parameters, -1)
            out += weighted_gram(flat, (diagonal * weight[:, None]).ravel())
        for sigma, u in rank_ones:
            out += weighted_gram(np.einsum("nrj,nj->rn", J, u), weight * sigma)
        return DenseQuadratic(out)


def _values(function: Function, X: Array, derivative: Function | None, what: str) -> Array:
    if derivative is not None:
        return values_of(function, X, what)
    from zfree.autodiff import evaluate

    return evaluate(function, X, what)


def _shaped(values: Any, shape: tuple[int, ...], what: str) -> Array:
    out = np.asarray(values, dtype=np.float64)
    if out.shape != shape:
        raise SpecificationError(f"{what} must have shape {shape}, got {out.shape}.")
    if not np.isfinite(out).all():
        row = int(np.argwhere(~np.isfinite(out))[0][0])
        raise SpecificationAtRowError(
            lambda number: f"{what} is not finite at row {number}. Check the statistic there, or the domain.", row
        )
    return out
