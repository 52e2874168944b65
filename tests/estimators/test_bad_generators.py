"""Generators and functions of the user's that do not work: said when they are made, or with their name when they are called."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.refusals import X, check_refusal, gaussian
from zfree.errors import SpecificationError


def with_weight(h, derivative=np.ones_like, kind=zf.CoordinateWeight):
    return gaussian(generator=kind(h, derivative))


def with_slack(curvature=lambda s: 1 / s, third=lambda s: -1 / s**2, **options):
    return gaussian(generator=zf.Barrier(potential=zf.SlackFunction(curvature, third, decay=1.0, **options)))


def with_convex(hessian, third):
    return gaussian(generator=zf.Barrier(potential=zf.ConvexFunction(hessian=hessian, third=third, vanishing=True)))


def with_custom(D, divergence=np.ones_like):
    return gaussian(generator=zf.Custom(D, divergence, vanishing_at_boundary=True))


def automatic(statistic, base=None):
    return zf.ExponentialFamily(statistic, base, domain=zf.Orthant(3), generator=zf.Barrier.log()).fit(X)


# name: what is done, the class of the error, regular expressions that the message must contain
MALFORMED = {
    "one generator to combine": (lambda: zf.Combined(5), SpecificationError, ["list of generators", "5"]),
    "a text to combine": (lambda: zf.Combined("phi1"), SpecificationError, ["list of generators", "'phi1'"]),
    "a cap that is text": (lambda: zf.CoordinateWeight("x", cap="a"), SpecificationError, ["cap", "positive", "'a'"]),
    "a cap of NaN": (lambda: zf.CoordinateWeight("x", cap=np.nan), SpecificationError, ["cap", "positive", "nan"]),
    "a floor that is text": (lambda: zf.CoordinateWeight("x", floor="a"), SpecificationError, ["floor", "'a'"]),
    "a floor of NaN": (lambda: zf.CoordinateWeight("x", floor=np.nan), SpecificationError, ["floor", "nan"]),
    "a cap of a section": (lambda: zf.SectionDistance("x", cap=[1]), SpecificationError, ["cap", r"\[1\]"]),
    "a cap of a distance": (lambda: zf.BoundaryDistance(cap="a"), SpecificationError, ["cap", "'a'"]),
    "a weight that is a number": (lambda: zf.CoordinateWeight(5), SpecificationError, ["name or a function", "5"]),
    "a derivative that is a number": (
        lambda: zf.CoordinateWeight(np.sqrt, 5),
        SpecificationError,
        ["derivative", "function"],
    ),
    "a weight of another shape": (
        lambda: with_weight(lambda x: x[:, 0]),
        SpecificationError,
        ["the weight <lambda>", r"\(60, 3\)", r"\(60,\)"],
    ),
    "a derivative of another shape": (
        lambda: with_weight(lambda x: x, lambda x: np.ones(7)),
        SpecificationError,
        ["the derivative of the weight", r"\(60, 3\)", r"\(7,\)"],
    ),
    "a section weight of another shape": (
        lambda: with_weight(lambda x: x.sum(), lambda x: x[:1], zf.SectionDistance),
        SpecificationError,
        ["the derivative of the weight", r"\(60, 3\)", r"\(1, 3\)"],
    ),
    "a negative section weight": (
        lambda: with_weight(lambda x: -x, lambda x: -np.ones_like(x), zf.SectionDistance),
        SpecificationError,
        ["positive inside", "row 0, column 0"],
    ),
    "a complex weight": (lambda: with_weight(lambda x: x + 1j), SpecificationError, ["the weight <lambda>", "real"]),
    "a weight that returns text": (
        lambda: with_weight(lambda x: "x"),
        SpecificationError,
        ["weight", "numbers", "'x'"],
    ),
    "a weight that fails": (
        lambda: with_weight(lambda x: x[:, 9]),
        SpecificationError,
        ["the weight <lambda> failed", r"\(60, 3\)", "IndexError"],
    ),
    "a curvature of another shape": (
        lambda: with_slack(lambda s: s[:, 0]),
        SpecificationError,
        ["curvature ψ''", r"\(60, 3\)", r"\(60,\)"],
    ),
    "a third derivative of another shape": (
        lambda: with_slack(third=lambda s: s[:5]),
        SpecificationError,
        ["third derivative ψ'''", r"\(60, 3\)", r"\(5, 3\)"],
    ),
    "a curvature that is a number": (lambda: with_slack(curvature=5), SpecificationError, ["curvature", "function"]),
    "a slope that is a number": (lambda: with_slack(slope=5), SpecificationError, ["slope", "function"]),
    "a decay that is text": (
        lambda: zf.SlackFunction(np.exp, np.exp, decay="fast"),
        SpecificationError,
        ["decay", "'fast'"],
    ),
    "a potential that is a function": (
        lambda: zf.Barrier(potential=lambda x: x),
        SpecificationError,
        ["potential must be", "ConvexFunction", "Wrap"],
    ),
    "a potential that is a number": (
        lambda: zf.Barrier(potential=1.0),
        SpecificationError,
        ["potential must be", "1.0"],
    ),
    "a convex function that is a number": (
        lambda: zf.ConvexFunction(5),
        SpecificationError,
        ["value", "function", "5"],
    ),
    "a Hessian of another shape": (
        lambda: with_convex(lambda X: X, lambda X: X),
        SpecificationError,
        ["hessian of ConvexFunction", r"\(60, 3, 3\)", r"\(60, 3\)"],
    ),
    "a power that is text": (lambda: zf.Barrier(power="a"), SpecificationError, ["power", "'a'"]),
    "a determinant power of NaN": (lambda: zf.Barrier(1.0, np.nan), SpecificationError, ["det_power", "nan"]),
    "a D that is a number": (lambda: zf.Custom(5), SpecificationError, ["D of Custom", "function"]),
    "a D of another shape": (
        lambda: with_custom(lambda X: X[:3]),
        SpecificationError,
        [r"D returned shape \(3, 3\)", "60 points"],
    ),
    "a D of text": (lambda: with_custom(lambda X: "D"), SpecificationError, ["what D of Custom returns", "'D'"]),
    "a divergence of another shape": (
        lambda: with_custom(lambda X: X, lambda X: X[:, 0]),
        SpecificationError,
        ["divergence", r"\(60, 3\)", r"\(60,\)"],
    ),
    "a divergence that fails": (
        lambda: with_custom(lambda X: X, lambda X: X.nothing),
        SpecificationError,
        ["the divergence of Custom failed", "AttributeError"],
    ),
    # differentiated automatically
    "an automatic statistic that returns a number": (
        lambda: automatic(lambda x: 5),
        SpecificationError,
        ["the statistic returned a int", "torch", "pass its derivatives"],
    ),
    "an automatic statistic that fails": (
        lambda: automatic(lambda x: x[:, 99]),
        SpecificationError,
        ["the statistic could not be", "IndexError"],
    ),
    "a complex automatic statistic": (
        lambda: automatic(lambda x: x + 1j),
        SpecificationError,
        ["what the statistic returns", "real"],
    ),
    "an automatic base measure with two values": (
        lambda: automatic(lambda x: -x, lambda x: x[:, :2]),
        SpecificationError,
        ["base measure", "one number per row", r"\(2,\)"],
    ),
    "an automatic base measure without rows": (
        lambda: automatic(lambda x: -x, lambda x: x.sum()),
        SpecificationError,
        ["the base measure could not be", "IndexError"],
    ),
    "an automatic D of another shape": (
        lambda: gaussian(generator=zf.Custom(lambda x: x[:, :, None, None, None])),
        SpecificationError,
        [r"D returned shape \(60, 3, 1, 1, 1\)", "diagonal"],
    ),
    "an automatic D in a list": (
        lambda: gaussian(generator=zf.Custom(lambda x: [x])),
        SpecificationError,
        ["the generator returned a list", "divergence="],
    ),
    "an automatic potential in a list": (
        lambda: gaussian(generator=zf.Barrier(potential=zf.ConvexFunction(lambda x: [x.sum()]))),
        SpecificationError,
        ["the potential returned a list", "hessian="],
    ),
    "a name that is a list": (lambda: zf.named(["phi1"]), SpecificationError, ["no generator is called", "phi1"]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_refusal(name):
    check_refusal(MALFORMED[name])


def spoil(value):
    """A function that returns `value(x)` and then overwrites its argument."""

    def function(x):
        out = np.array(value(x), dtype=float)
        x[...] = -1.0
        return out

    return function


def _gamma_statistics(X):
    return np.concatenate([np.log(X), -X], axis=1)


def _gamma_jacobian(X):
    eye = np.eye(X.shape[1])
    return np.concatenate([eye / X[:, :, None], np.broadcast_to(-eye, (len(X), *eye.shape))], axis=1)


def _gamma_hessian(X):
    n, d = X.shape
    out, j = np.zeros((n, 2 * d, d, d)), np.arange(d)
    out[:, j, j, j] = -1.0 / X**2
    return out


CAREFUL = {
    "Custom": lambda w: zf.Custom(w(lambda X: X**2), w(lambda X: 2 * X), vanishing_at_boundary=True),
    "CoordinateWeight": lambda w: zf.CoordinateWeight(w(lambda x: x**2), w(lambda x: 2 * x)),
    "SectionDistance": lambda w: zf.SectionDistance(w(lambda x: x**2), w(lambda x: 2 * x)),
    "SlackFunction": lambda w: zf.Barrier(
        potential=zf.SlackFunction(w(lambda s: s**-2.0), w(lambda s: -2 * s**-3.0), decay=2.0)
    ),
    "ConvexFunction": lambda w: zf.Barrier(
        potential=zf.ConvexFunction(
            hessian=w(lambda X: np.eye(3) / X[:, :, None] ** 2),
            third=w(lambda X: -2 * np.einsum("ij,jk,nj->nijk", np.eye(3), np.eye(3), X**-3.0)),
            vanishing=True,
        )
    ),
}


@pytest.mark.parametrize("name", CAREFUL)
def test_a_function_that_writes_into_its_argument_harms_nobody(name):
    rows = X.copy()
    careless, careful = (zf.Gamma(CAREFUL[name](w)).fit(rows).shape_ for w in (spoil, lambda f: f))
    assert np.array_equal(rows, X)
    assert np.array_equal(careless, careful)


def test_a_statistic_that_writes_into_its_argument_harms_nobody():
    rows = X.copy()

    def fit(w):
        return zf.ExponentialFamily(
            w(_gamma_statistics),
            base=w(lambda X: -X[:, 0]),
            jacobian=w(_gamma_jacobian),
            hessian=w(_gamma_hessian),
            base_gradient=w(lambda X: np.tile([-1.0, 0.0, 0.0], (len(X), 1))),
            base_hessian=w(lambda X: np.zeros((len(X), 3, 3))),
            domain=zf.Orthant(3),
            generator=zf.Barrier.log(0.0),
        ).fit(rows)

    careless, careful = fit(spoil), fit(lambda f: f)
    assert np.array_equal(careless.theta_, careful.theta_)
    assert np.array_equal(careless.log_density(rows), careful.log_density(rows))
    assert np.array_equal(rows, X)


def test_a_constant_weight_may_be_one_number():
    one = zf.CoordinateWeight(lambda x: x, lambda x: 1.0)
    assert np.array_equal(gaussian(generator=one).precision_, gaussian(generator=zf.CoordinateWeight("x")).precision_)
