"""Options that contradict each other, the model or themselves."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.refusals import X, check_refusal, dirichlet, family, gaussian, hidden, put
from zfree.errors import SpecificationError

# Most of these data were not drawn from the model that is fitted to them.
pytestmark = pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning")

# name: what is done, the class of the error, regular expressions that the message must contain
MALFORMED = {
    # options
    "a mask that is not symmetric": (
        lambda: gaussian(mask=np.triu(np.ones((3, 3)))),
        SpecificationError,
        ["symmetric", r"\(0, 1\) and \(1, 0\)"],
    ),
    "a mask of another shape": (lambda: gaussian(mask=np.ones((2, 2))), SpecificationError, [r"\(3, 3\)", r"\(2, 2\)"]),
    "a mask and a structure": (
        lambda: gaussian(mask=np.eye(3), structure="diagonal"),
        SpecificationError,
        ["contradict", "give one"],
    ),
    "an unknown structure": (
        lambda: gaussian(structure="diag"),
        SpecificationError,
        ['"full" or "diagonal"', "'diag'"],
    ),
    "an unknown name in fixed": (
        lambda: gaussian(fixed={"K[x1,x4]": 0.0}),
        SpecificationError,
        [r"'K\[x1,x4\]'", r"the parameters are K\[x1,x1\]"],
    ),
    "fixed is no mapping": (lambda: gaussian(fixed=["K[x1,x2]"]), SpecificationError, ["fixed must map", "as in"]),
    "fixed at a text": (
        lambda: gaussian(fixed={"K[x1,x2]": "0"}),
        SpecificationError,
        [r"K\[x1,x2\]", "finite number", "'0'"],
    ),
    "fixed at NaN": (
        lambda: gaussian(fixed={"K[x1,x2]": np.nan}),
        SpecificationError,
        [r"K\[x1,x2\]", "finite number", "nan"],
    ),
    "a mean of another length": (
        lambda: gaussian(mean=[1.0, 2.0]),
        SpecificationError,
        ["mean", "3 finite numbers", r"\[1.0, 2.0\]"],
    ),
    "a mean that is text": (
        lambda: gaussian(mean=["a", "b", "c"]),
        SpecificationError,
        ["known mean must be numbers", "'a'"],
    ),
    "a precision that is not symmetric": (
        lambda: gaussian(precision=np.triu(np.ones((3, 3)))),
        SpecificationError,
        ["symmetric", "NaN where it is not known", r"\(0, 1\) and \(1, 0\) are 1 and 0"],
    ),
    "a precision known on one side": (
        lambda: gaussian(precision=put(np.full((3, 3), np.nan), (2, 0, 1.0))),
        SpecificationError,
        ["symmetric", r"\(0, 2\) and \(2, 0\) are nan and 1"],
    ),
    "a precision of another shape": (
        lambda: gaussian(precision=np.eye(2)),
        SpecificationError,
        [r"\(3, 3\)", r"\(2, 2\)"],
    ),
    "a precision against the mask": (
        lambda: gaussian(precision=np.ones((3, 3)), mask=np.eye(3)),
        SpecificationError,
        [r"entry \(0, 1\)", "mask says it is zero"],
    ),
    "a generator that is none": (
        lambda: gaussian(generator="log"),
        SpecificationError,
        ["generator", r"zf\.Barrier", "'log'"],
    ),
    "a negative ridge": (lambda: gaussian(ridge=-0.5), SpecificationError, ["ridge", "≥ 0", "-0.5"]),
    "a ridge that is text": (lambda: gaussian(ridge="0.5"), SpecificationError, ["ridge", "≥ 0", "'0.5'"]),
    "a negative exponent": (
        lambda: zf.PowerInteraction(a=-1.0).fit(X),
        SpecificationError,
        ["exponent a", "≥ 0", "-1"],
    ),
    "an exponent that is text": (
        lambda: zf.PowerInteraction(b="1").fit(X),
        SpecificationError,
        ["exponent b", "≥ 0", "'1'"],
    ),
    "an unknown weight": (
        lambda: zf.CoordinateWeight("x^3"),
        SpecificationError,
        [r"'x\^3'", r"x\^2", "Or pass a function"],
    ),
    "a weight without its derivative": (lambda: zf.CoordinateWeight(np.sqrt), SpecificationError, ["derivative="]),
    "a distance to no boundary": (
        lambda: zf.Gaussian(generator=zf.BoundaryDistance()).fit(X),
        SpecificationError,
        [r"RealSpace\(3\) has no boundary", r"Identity\(\)"],
    ),
    "no candidate to rank": (
        lambda: zf.rank(zf.Gamma(), X, []),
        SpecificationError,
        ["candidates is empty", r"zf\.Barrier"],
    ),
    "a candidate that is none": (lambda: zf.rank(zf.Gamma(), X, ["log"]), SpecificationError, ["generator", "'log'"]),
    # numbers that are none
    "a mask with NaN": (
        lambda: gaussian(mask=put(np.eye(3), (0, 1, np.nan), (1, 0, np.nan))),
        SpecificationError,
        ["True or False", r"\(0, 1\) is nan", "K != 0"],
    ),
    "a mask of text": (lambda: gaussian(mask=[["False"] * 3] * 3), SpecificationError, ["mask must be", "'False'"]),
    "a mask of numbers": (lambda: gaussian(mask=2.0 * np.eye(3)), SpecificationError, [r"\(0, 0\) is 2", "K != 0"]),
    "a mask of objects": (
        lambda: gaussian(mask=np.full((3, 3), "x", dtype=object)),
        SpecificationError,
        ["mask must be real numbers", "'x'"],
    ),
    "a masked mask": (lambda: gaussian(mask=hidden(np.eye(3), 2, 1)), SpecificationError, [r"mask\[2, 1\] is masked"]),
    "a complex mask": (lambda: gaussian(mask=np.eye(3) + 0j), SpecificationError, ["mask must be real"]),
    "a complex mean": (lambda: gaussian(mean=[1.0, 1j, 0.0]), SpecificationError, ["known mean must be real"]),
    "a masked mean": (lambda: gaussian(mean=hidden(np.ones(3), 1)), SpecificationError, [r"known mean\[1\] is masked"]),
    "a complex precision": (lambda: gaussian(precision=np.eye(3) * 1j), SpecificationError, ["precision must be real"]),
    "a masked precision": (
        lambda: gaussian(precision=hidden(np.eye(3), 0, 2)),
        SpecificationError,
        [r"precision\[0, 2\] is masked"],
    ),
    "a ragged precision": (lambda: gaussian(precision=[[1.0], [1.0, 2.0]]), SpecificationError, ["regular array"]),
    "fixed by number": (lambda: gaussian(fixed={5: 1.0}), SpecificationError, ["fixed must name", "as in", " 5 "]),
    "fixed at a complex number": (
        lambda: gaussian(fixed={"K[x1,x2]": 1j}),
        SpecificationError,
        ["finite number", "1j"],
    ),
    "fixed at a masked value": (
        lambda: gaussian(fixed={"K[x1,x2]": np.ma.masked}),
        SpecificationError,
        ["finite number", "masked"],
    ),
    "fixed beyond floating point": (
        lambda: gaussian(fixed={"K[x1,x2]": 10**400}),
        SpecificationError,
        ["finite number", "1000"],
    ),
    "fixed at several values": (
        lambda: gaussian(fixed={"K[x1,x2]": np.ones(3)}),
        SpecificationError,
        ["finite number", "array"],
    ),
    "a target nobody knows": (
        lambda: zf.Gaussian(target="nonsense").fit(X),
        SpecificationError,
        ["nonsense", "precision"],
    ),
    "a ragged target": (lambda: gaussian(target=[[1.0], [1.0, 2.0]]), SpecificationError, ["target", "regular array"]),
    "a complex target": (lambda: gaussian(target=np.eye(9) * 1j), SpecificationError, ["target must be real"]),
    "a masked target": (lambda: gaussian(target=hidden(np.eye(9), 3, 4)), SpecificationError, [r"target\[3, 4\]"]),
    "a target of NaN": (lambda: gaussian(target=np.full((9, 9), np.nan)), SpecificationError, ["target", "matrix"]),
    "a target that is one number": (lambda: gaussian(target=1.0), SpecificationError, ["target", "information"]),
    "a target of another size": (lambda: gaussian(target=np.eye(2)), SpecificationError, ["symmetric", "9 × 9"]),
    "boundary as a number": (lambda: gaussian(boundary=1), SpecificationError, ['"raise", "drop" or "clip"', " 1"]),
    "boundary as a list": (lambda: gaussian(boundary=["drop"]), SpecificationError, ['"raise", "drop" or "clip"']),
    "structure as a list": (lambda: gaussian(structure=["full"]), SpecificationError, ['"full" or "diagonal"']),
    "a ridge of True": (lambda: gaussian(ridge=True), SpecificationError, ["ridge", "≥ 0", "True"]),
    "a generator by number": (lambda: gaussian(generator=5), SpecificationError, ["generator must be", " 5"]),
    "no generator to choose from": (lambda: gaussian(generator=[]), SpecificationError, ["generator must be"]),
    "a domain for a Dirichlet by name": (lambda: dirichlet(X, domain="simplex"), SpecificationError, ["Simplex"]),
    # statistics
    "no statistic": (lambda: zf.ExponentialFamily().fit(X), SpecificationError, ["statistic="]),
    "a statistic of one dimension": (
        lambda: family(lambda X: X.sum(axis=1)),
        SpecificationError,
        [r"\(n, 3\) to \(n, r\)", r"\(1,\)"],
    ),
    "a Jacobian of another shape": (
        lambda: family(jacobian=lambda X: X),
        SpecificationError,
        ["Jacobian", r"\(60, 3, 3\)", r"\(60, 3\)"],
    ),
    "a Hessian of another shape": (
        lambda: family(hessian=lambda X: X),
        SpecificationError,
        ["Hessian", r"\(60, 3, 3, 3\)", r"\(60, 3\)"],
    ),
    "one derivative of two": (
        lambda: zf.ExponentialFamily(lambda X: X, jacobian=lambda X: X).fit(X),
        SpecificationError,
        ["both derivatives", "or neither"],
    ),
    "a statistic that is not finite": (
        lambda: family(jacobian=lambda X: np.full((len(X), 3, 3), np.nan)),
        SpecificationError,
        ["Jacobian", "not finite at row 0", "Check the statistic"],
    ),
    "too few names": (lambda: family(names=["a"]), SpecificationError, ["1 names", "3 statistics"]),
    "a statistic that is a number": (
        lambda: zf.ExponentialFamily(5).fit(X),
        SpecificationError,
        ["statistic must be a function", "5"],
    ),
    "a statistic that fails": (
        lambda: family(lambda X: X[:, 7]),
        SpecificationError,
        ["the statistic failed", r"\(1, 3\)", "IndexError"],
    ),
    "a complex statistic": (
        lambda: family(lambda X: X + 1j),
        SpecificationError,
        ["what the statistic returns", "real"],
    ),
    "a Jacobian that is a number": (lambda: family(jacobian=3), SpecificationError, ["jacobian must be a function"]),
    "a base measure of another shape": (
        lambda: family(
            base=lambda X: X,
            base_gradient=lambda X: np.zeros_like(X),
            base_hessian=lambda X: np.zeros((len(X), 3, 3)),
        ).log_density(X),
        SpecificationError,
        ["base measure", r"\(60,\)", r"\(60, 3\)"],
    ),
    "a gradient of the base measure of another shape": (
        lambda: family(base=lambda X: X[:, 0], base_gradient=lambda X: X[:, :2], base_hessian=lambda X: X),
        SpecificationError,
        ["gradient of b", r"\(60, 3\)", r"\(60, 2\)"],
    ),
    "names that are one text": (lambda: family(names="abc"), SpecificationError, ["names must be a list", "'abc'"]),
    "a name given twice": (lambda: family(names=["a", "b", "a"]), SpecificationError, ["differ from each other"]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_refusal(name):
    check_refusal(MALFORMED[name])
