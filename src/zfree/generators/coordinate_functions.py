"""Functions h(x) ≥ 0 of one coordinate, with their derivatives, that a diagonal D is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from zfree.arrays import Array
from zfree.conversion import check_callable, is_number, shown, values_of
from zfree.errors import SpecificationError

FunctionLike = str | Callable[[Array], Array]


@dataclass(frozen=True)
class CoordinateFunction:
    """h and h', with the text that names it."""

    name: str
    value: Callable[[Array], Array]
    derivative: Callable[[Array], Array]
    uncapped: CoordinateFunction | None = None

    def at(self, point: float) -> float:
        """h at one point."""
        return float(np.asarray(self.value(np.array([point])), dtype=float)[0])

    def order(self, point: float) -> float | None:
        """The exponent q with h ~ |x − point|^q close to a point where h vanishes; None where it cannot be told."""
        if self.uncapped is not None:
            return self.uncapped.order(point)
        scale = max(1.0, abs(point))
        for side in (1.0, -1.0):  # one of them is inside the domain
            with np.errstate(all="ignore"):
                near, nearer = (self.at(point + side * step * scale) for step in (1e-4, 1e-6))
            if np.isfinite(near) and near > 0 and nearer > 0:
                return round(float(np.log(near / nearer) / np.log(100.0)), 3)
        return None


LARGE = 700.0
"""exp(−LARGE) is a normal number, as a weight has to be positive."""
KNOWN = {
    "x": CoordinateFunction("x", lambda x: x, np.ones_like),
    "x^2": CoordinateFunction("x^2", np.square, lambda x: 2.0 * x),
    "log(1+x)": CoordinateFunction("log(1+x)", np.log1p, lambda x: 1.0 / (1.0 + x)),
    "sigmoid": CoordinateFunction("sigmoid", lambda x: expit(np.maximum(x, -LARGE)), lambda x: expit(x) * expit(-x)),
    "exp(-|x|)": CoordinateFunction("exp(-|x|)", lambda x: _fall(np.abs(x)), lambda x: -np.sign(x) * _fall(np.abs(x))),
    "exp(-x^2)": CoordinateFunction("exp(-x^2)", lambda x: _fall(x**2), lambda x: -2.0 * x * _fall(x**2)),
}


def _fall(x: Array) -> Array:
    """exp(−x), tiny in double precision but not zero."""
    return np.exp(-np.minimum(x, LARGE))


def coordinate_function(
    h: FunctionLike, derivative: Callable[[Array], Array] | None, cap: float | None, floor: float = 0.0
) -> CoordinateFunction:
    """A named weight or a function with its derivative; min(h, cap) and h + floor if asked."""
    weight = _capped(_plain(h, derivative), cap)
    if not is_number(floor) or not 0 <= floor < np.inf:
        raise SpecificationError(f"floor must be zero or positive, got {shown(floor)}.")
    if floor == 0:
        return weight
    value = weight.value
    return CoordinateFunction(f"{floor:g} + {weight.name}", lambda x: value(x) + floor, weight.derivative)


def _plain(h: FunctionLike, derivative: Callable[[Array], Array] | None) -> CoordinateFunction:
    if isinstance(h, str):
        key = h.replace(" ", "").replace("**", "^")
        if key not in KNOWN:
            raise SpecificationError(f"unknown weight {h!r}; known by name: {', '.join(KNOWN)}. Or pass a function.")
        if derivative is not None:
            raise SpecificationError(f"the weight {h!r} knows its own derivative; leave derivative= out.")
        return KNOWN[key]
    if not callable(h):
        raise SpecificationError(f"h must be a name or a function, got {shown(h)}.")
    if derivative is None:
        raise SpecificationError("a weight given as a function needs derivative=, the function h'.")
    check_callable(derivative, "derivative, the function h',")
    name = getattr(h, "__name__", "h")
    slope = derivative
    return CoordinateFunction(
        name,
        lambda x: values_of(h, x, f"the weight {name}", x.shape),
        lambda x: values_of(slope, x, f"the derivative of the weight {name}", x.shape),
    )


def check_cap(cap: object) -> None:
    """A number above zero."""
    if not is_number(cap) or not cap > 0:
        raise SpecificationError(f"cap must be a positive number, got {shown(cap)}.")


def _capped(weight: CoordinateFunction, cap: float | None) -> CoordinateFunction:
    if cap is None:
        return weight
    check_cap(cap)
    value, slope, top = weight.value, weight.derivative, float(cap)
    return CoordinateFunction(
        f"min({weight.name}, {top:g})",
        lambda x: np.minimum(value(x), top),
        lambda x: np.where(value(x) < top, slope(x), 0.0),
        weight,
    )
