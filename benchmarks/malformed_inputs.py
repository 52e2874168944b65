"""Malformed inputs by kind: what is done, and what a documented acceptance means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import zfree as zf

RNG = np.random.default_rng(0)
X = RNG.gamma(2.0, 1.0, size=(60, 2))
P = RNG.dirichlet([2.0, 3.0, 4.0], size=60)
NAN, INF = float("nan"), float("inf")
BARRIER = zf.Barrier.log(det_power=0.0)


class Case(NamedTuple):
    """One input. Without `means` it must be refused; with it, the value must be what the documentation says."""

    kind: str
    name: str
    run: Callable[[], Any]
    means: Callable[[Any], bool] | None = None


def hidden(values: Any, *place: int) -> Any:
    """A masked array with one entry hidden."""
    out = np.ma.masked_array(np.array(values, dtype=float))
    out[place] = np.ma.masked
    return out


ODD: dict[str, Any] = {
    "None": None,
    "text": "a",
    "number as text": "1",
    "bytes": b"1",
    "NaN": NAN,
    "complex": 1j,
    "empty": [],
    "two": [1.0, 2.0],
    "nested": [[[1.0]]],
    "ragged": [[1.0], [1.0, 2.0]],
    "dict": {},
    "set": {1.0},
    "object": object(),
    "masked": np.ma.masked,
    "masked array": hidden([1.0], 0),
    "400 digits": 10**400,
    "function": abs,
    "class": zf.Orthant,
}
"""Nothing of this is one number, a whole number, a name or a domain."""


def _without(*names: str, **more: Any) -> dict[str, Any]:
    return {k: v for k, v in (ODD | more).items() if k not in names}


WHOLE = _without(half=1.5, negative=-1, zero=0, infinite=INF, true=True)
POSITIVE = _without(negative=-1.0, zero=0.0, minus_infinity=-INF)
FUNCTIONS = _without("function", "class", number=5.0)

SLOTS: dict[str, tuple[Callable[[Any], Any], dict[str, Any]]] = {
    "Orthant(d)": (zf.Orthant, WHOLE),
    "RealSpace(d)": (zf.RealSpace, WHOLE),
    "SolidSimplex(d)": (zf.SolidSimplex, WHOLE),
    "Simplex(d)": (zf.Simplex, WHOLE | {"one": 1}),
    "Simplex(3, drop)": (lambda v: zf.Simplex(3, drop=v), _without(half=1.5, far=3, infinite=INF, true=True)),
    "Simplex(3, tolerance)": (lambda v: zf.Simplex(3, tolerance=v), _without(negative=-1.0, true=True)),
    "Ball(radius)": (zf.Ball, POSITIVE | {"no square": 1e200, "tiny": 1e-200, "infinite": INF, "true": True}),
    "Ball(1, d)": (lambda v: zf.Ball(1.0, d=v), {k: v for k, v in WHOLE.items() if k != "None"}),
    "Ball(1, center)": (lambda v: zf.Ball(1.0, v), _without("None", "two", no_square=1e200, infinite=INF)),
    "Shells(radii)": (zf.Shells, _without("two", falling=[2.0, 1.0], one=[1.0], negative=[-1.0, 1.0], huge=[1, 1e200])),
    "HalfSpace(a, 1)": (lambda v: zf.HalfSpace(v, 1.0), _without("two", zero=[0.0, 0.0], huge=[1e200], infinite=[INF])),
    "HalfSpace([1, 0], b)": (lambda v: zf.HalfSpace([1.0, 0.0], v), _without(infinite=INF, true=True)),
    "Box(lower, 9)": (lambda v: zf.Box(v, 9.0), _without("two", above=10.0, infinite=INF)),
    "Box(0, upper)": (lambda v: zf.Box(0.0, v), _without("two", below=-1.0, minus_infinity=-INF)),
    "Polytope(A, [1])": (
        lambda v: zf.Polytope(v, [1.0]),
        _without(zero=[[0.0]], huge=[[1e300]], vector=[1.0], infinite=[[INF]]),
    ),
    "Polytope([[1]], b)": (lambda v: zf.Polytope([[1.0]], v), _without(huge=[1e300], infinite=INF)),
    "Polytope([[1]], [1], columns)": (
        lambda v: zf.Polytope([[1.0]], [1.0], v),
        {"text": "a", "number": 5, "two": ["a", "b"], "function": abs},
    ),
    "Product(factors)": (
        zf.Product,
        ODD | {"a domain": zf.Orthant(1), "open": [zf.Box(0, 1)], "classes": [zf.Orthant]},
    ),
    "Barrier(power)": (zf.Barrier, _without(infinite=INF, true=True)),
    "Barrier(1, det_power)": (lambda v: zf.Barrier(1.0, v), _without(infinite=INF, true=True)),
    "Barrier(scale)": (lambda v: zf.Barrier(scale=v), ODD),
    "CoordinateWeight(scale)": (lambda v: zf.CoordinateWeight("x", scale=v), ODD),
    "SectionDistance(scale)": (lambda v: zf.SectionDistance("x", scale=v), ODD),
    "BoundaryDistance(scale)": (lambda v: zf.BoundaryDistance(scale=v), ODD),
    "Barrier(potential)": (lambda v: zf.Barrier(potential=v), _without("None", number=1.0)),
    "CoordinateWeight(h)": (lambda v: zf.CoordinateWeight(v, np.ones_like), FUNCTIONS),
    "CoordinateWeight(h, derivative)": (lambda v: zf.CoordinateWeight(np.sqrt, v), FUNCTIONS),
    "CoordinateWeight(cap)": (
        lambda v: zf.CoordinateWeight("x", cap=v),
        {k: v for k, v in POSITIVE.items() if k != "None"},
    ),
    "CoordinateWeight(floor)": (lambda v: zf.CoordinateWeight("x", floor=v), _without(negative=-1.0, infinite=INF)),
    "SectionDistance(h)": (zf.SectionDistance, FUNCTIONS),
    "BoundaryDistance(cap)": (zf.BoundaryDistance, {k: v for k, v in POSITIVE.items() if k != "None"}),
    "Combined(generators)": (
        zf.Combined,
        _without("None", number=5.0, one=[BARRIER], twice=[BARRIER, BARRIER], names=["phi1", "phi2"]),
    ),
    "Custom(D)": (zf.Custom, FUNCTIONS),
    "Custom(D, divergence)": (lambda v: zf.Custom(abs, v), {k: v for k, v in FUNCTIONS.items() if k != "None"}),
    "SlackFunction(curvature)": (lambda v: zf.SlackFunction(v, abs), FUNCTIONS),
    "ConvexFunction(value)": (zf.ConvexFunction, FUNCTIONS),
    "named(name)": (zf.named, ODD),
}
"""A constructor with one argument left open, and what is put there."""

TEXTS: dict[str, Any] = {
    **{f"not text: {k}": v for k, v in ODD.items() if k not in ("text", "number as text")},
    "placeholder": "_quoted0_ < 1",
    "digits": "x1 < " + "9" * 400,
    "column number": "x99999999 < 1",
    "huge column number": "x" + "9" * 5000 + " < 1",
    "comment": "x1<1 #, x2<2",
    "dot": "Solar.R > 0",
    "space": "body mass > 0",
    "backquote": "`x1 < 1",
    "empty backquotes": "`` < 1",
    "brackets": "(" * 500 + "x1" + ")" * 500 + " < 1",
    "open bracket": "(x1 < 1",
    "signs": "-" * 5000 + "x1 < 1",
    "half": "x1 + < 1",
    "product": "x1*x2 < 1",
    "power": "x1**2 < 1",
    "call": "log(x1) < 1",
    "import": "__import__('os').getcwd() < x1",
    "lambda": "(lambda: x1)() < 1",
    "attribute": "x1.real < 1",
    "index": "x1[0] < 1",
    "conditional": "x1 if x2 else 3 < 1",
    "string": "'x1' < 1",
    "complex": "1j*x1 < 1",
    "juxtaposed": "2x1 < 1",
    "division by zero": "x1/0 < 1",
    "division by a column": "1/x1 < 1",
    "equation": "x1 == 1",
    "assignment": "x1 = 1",
    "unequal": "x1 != 1",
    "no sign": "x1 + x2",
    "two signs": "x1 << 1",
    "constant": "1 < 2",
    "cancelled": "x1 - x1 < 1",
    "nothing": "",
    "separators": ",;\n,",
    "contradiction": "x1 > 1, x1 < 0",
    "flat": "x1 > 1, x1 < 1",
    "overflow": "1e308*10*x1 < 1",
    "infinite": "x1 < 1e999",
    "zero byte": "x1 < 1\0",
    "x0": "x0 < 1",
    "unknown": "dose < 1",
}
LONG = "+".join(f"x{j}" for j in range(1, 3001)) + "<1"


def constructors() -> Iterator[Case]:
    """Constructor × bad value."""
    for slot, (build, values) in SLOTS.items():
        for name, value in values.items():
            yield Case("constructor", f"{slot} = {name}", lambda b=build, v=value: b(v))
    accepted: dict[str, tuple[Callable[[], Any], Callable[[Any], bool]]] = {
        "Box(0, inf) is half-infinite": (lambda: zf.Box(0, INF, d=2), lambda b: not b.is_bounded and b.dimension == 2),
        "Box(0, [1, 2]) broadcasts": (lambda: zf.Box(0, [1, 2]), lambda b: b.lower.tolist() == [0.0, 0.0]),
        "Box(0, 100) is open": (lambda: zf.Box(0, 100), lambda b: b.for_columns(3).dimension == 3),
        "HalfSpace b of one entry": (lambda: zf.HalfSpace([1, 0], [3]), lambda h: h.b == 3.0),
        "an unmasked masked array": (lambda: zf.Box(np.ma.masked_array([0.0]), [1.0]), lambda b: b.dimension == 1),
        "a distance capped nowhere": (lambda: zf.BoundaryDistance(cap=INF), lambda g: g.cap == INF),
        "a tolerance without end": (lambda: zf.Simplex(2, tolerance=INF), lambda s: s.contains([[3.0, 4.0]]).all()),
    }
    for name, (run, means) in accepted.items():
        yield Case("constructor", name, run, means)


def texts() -> Iterator[Case]:
    """Inequalities × bad text."""
    for name, text in TEXTS.items():
        yield Case("inequalities", name, lambda t=text: zf.Polytope.from_inequalities(t))
    for name, columns in {"twice": ["x1", "x1"], "text": "x1", "number": 5, "others": ["a"], "empty": []}.items():
        yield Case("inequalities", f"columns {name}", lambda c=columns: zf.Polytope.from_inequalities("x1 < 1", c))
    yield Case(
        "inequalities", "3000 terms", lambda: zf.Polytope.from_inequalities(LONG), lambda p: bool((p.A == 1.0).all())
    )
