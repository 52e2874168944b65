"""Rows outside the domain or on its boundary: refused, dropped or moved, never without a word."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.refusals import TRIANGLE, P, T, X, check_refusal, dirichlet, frame, gaussian, put
from zfree.errors import BoundaryError, BoundaryRowsWarning, DataError, DomainError, SpecificationError

# Most of these data were not drawn from the model that is fitted to them.
pytestmark = pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning")

# name: what is done, the class of the error, regular expressions that the message must contain
MALFORMED = {
    # the domain
    "negative": (
        lambda: gaussian(put(X, (4, 1, -1.5))),
        DomainError,
        ["1 of 60 rows", r"outside Orthant\(3\)", "Row 4 breaks “x2 > 0” by 1.5", "x2=-1.5", "Remove.*rescale.*choose"],
    ),
    "negative in a frame": (
        lambda: gaussian(frame(put(X, (4, 1, -1.5)), "a", "b", "c")),
        DomainError,
        ["Row 4 breaks “b > 0” by 1.5", "a=.*, b=-1.5, c="],
    ),
    "negative after the fit": (lambda: gaussian().log_density(-X), DomainError, ["60 of 60", "Row 0 breaks “x. > 0”"]),
    "outside a box": (
        lambda: gaussian(put(X, (6, 2, 41.0)), domain=zf.Box([0.0] * 3, [40.0] * 3)),
        DomainError,
        ["1 of 60 rows", "outside Box", "Row 6 breaks “x3 < 40” by 1", "choose a domain"],
    ),
    "outside a polytope": (
        lambda: gaussian(frame(put(T, (3, 0, 2.0), (3, 1, 0.25)), "dose", "age"), domain=TRIANGLE),
        DomainError,
        ["1 of 60 rows", "outside Polytope", r"Row 3 breaks “dose \+ 2\*age < 1” by 1\.5", "dose=2, age=0.25"],
    ),
    "outside a ball": (
        lambda: gaussian(put(X, (3, 0, 60.0)), domain=zf.Ball(50.0)),
        DomainError,
        ["1 of 60 rows", "outside Ball", "Row 3 breaks", "x1=60", "choose a domain"],
    ),
    "a negative part": (
        lambda: dirichlet(put(P, (8, 0, -0.25), (8, 1, 0.75), (8, 2, 0.5))),
        DomainError,
        [r"outside Simplex\(3\)", "Row 8 breaks “x1 > 0” by 0.25", "x1=-0.25"],
    ),
    "parts that do not sum to one": (
        lambda: dirichlet(put(P, (8, 0, 1.5), (8, 1, 0.25), (8, 2, 0.25))),
        DomainError,
        [
            "1 of 60 rows",
            "Row 8 breaks “parts sum to 1 within 0.001” by 0.999",
            "Divide each row",
            r"zf\.Simplex\.closure",
        ],
    ),
    "counts instead of parts": (
        lambda: dirichlet(np.ceil(9 * P)),
        DomainError,
        ["60 of 60 rows", "sum to 1", "closure"],
    ),
    "another width than the domain": (
        lambda: gaussian(domain=zf.Orthant(2)),
        DataError,
        ["3 columns", r"Orthant\(2\) has 2", "Select the columns"],
    ),
    "another order than the domain": (
        lambda: gaussian(frame(T[:, ::-1], "age", "dose"), domain=TRIANGLE),
        DataError,
        ["column 0 of X is 'age'", "written for 'dose'", r"X\[\['dose', 'age'\]\]"],
    ),
    "a domain that is none": (
        lambda: gaussian(domain="orthant"),
        SpecificationError,
        ["domain", r"zf\.Orthant\(3\)", "'orthant'"],
    ),
    "the class of a domain": (
        lambda: gaussian(domain=zf.Orthant),
        SpecificationError,
        ["domain", r"zf\.Orthant\(3\)", "class"],
    ),
    "a Dirichlet on the orthant": (
        lambda: dirichlet(P, domain=zf.Orthant(3)),
        SpecificationError,
        ["Simplex", r"Orthant\(3\)"],
    ),
    "shares off by more than rounding": (
        lambda: dirichlet(put(P, (8, 0, P[8, 0] + 0.002))),
        DomainError,
        ["Row 8", "sum to 1 within 0.001", "closure"],
    ),
    # the boundary
    "zeros": (
        lambda: gaussian(put(X, (4, 1, 0.0), (9, 0, 0.0))),
        BoundaryError,
        ["2 of 60 rows", r"row 4 \(x2 > 0", r"row 9 \(x1 > 0", 'boundary="drop"', 'boundary="clip"', "boundary_eps="],
    ),
    "many zeros": (
        lambda: gaussian(frame(X * (np.arange(60) > 9)[:, None], "a", "b", "c")),
        BoundaryError,
        ["10 of 60 rows", r"row 0 \(a > 0", "and 7 more"],
    ),
    "a zero part": (
        lambda: dirichlet(put(P, (5, 0, 0.0), (5, 1, 0.5), (5, 2, 0.5))),
        BoundaryError,
        ["1 of 60 rows", r"Simplex\(3\)", r"row 5 \(x1 > 0", "zeros of counts and compositions"],
    ),
    "zeros after the fit": (lambda: gaussian().score(put(X, (4, 1, 0.0))), BoundaryError, [r"row 4 \(x2 > 0"]),
    "clip without an amount": (
        lambda: gaussian(boundary="clip"),
        SpecificationError,
        ['boundary="clip"', "boundary_eps > 0", "units of the data", "None"],
    ),
    "clip by a negative amount": (
        lambda: gaussian(boundary="clip", boundary_eps=-1.0),
        SpecificationError,
        ["boundary_eps > 0", "-1"],
    ),
    "clip by a text": (
        lambda: gaussian(boundary="clip", boundary_eps="1e-3"),
        SpecificationError,
        ["boundary_eps > 0", "'1e-3'"],
    ),
    "clip by infinity": (
        lambda: gaussian(boundary="clip", boundary_eps=np.inf),
        SpecificationError,
        ["boundary_eps > 0", "inf"],
    ),
    "clip by too much": (
        lambda: dirichlet(put(P, (5, 0, 0.0), (5, 1, 0.0), (5, 2, 1.0)), boundary="clip", boundary_eps=0.6),
        SpecificationError,
        ["boundary_eps = 0.6", r"Simplex\(3\)", "row 5", "“x3 > 0”", "below the width"],
    ),
    "clip by too little": (
        lambda: gaussian(put(X, (2, 0, 1e9)), domain=zf.Box([0.0] * 3, [1e9] * 3), boundary="clip", boundary_eps=1e-12),
        SpecificationError,
        ["boundary_eps = 1e-12", "row 2", r"“x1 < 1e\+09”", "above rounding"],
    ),
    "boundary misspelt": (
        lambda: gaussian(boundary="cilp"),
        SpecificationError,
        ['"raise", "drop" or "clip"', "'cilp'"],
    ),
    "every row dropped": (
        lambda: gaussian(X * [0.0, 1.0, 1.0], boundary="drop"),
        BoundaryError,
        ["every row", r"row 0 \(x1 > 0", "Leave out the column", 'boundary="clip"'],
    ),
    "all rows but one dropped": (
        lambda: gaussian(put(X * [0.0, 1.0, 1.0], (7, 0, 1.0)), boundary="drop"),
        DataError,
        ["n_samples=1", "59 of 60 rows on the boundary were dropped", "Collect more"],
    ),
    "few rows left after dropping": (
        lambda: gaussian(np.where(np.arange(60)[:, None] < 54, X * [0.0, 1.0, 1.0], X), boundary="drop"),
        DataError,
        ['boundary="drop" left 6 of 60 rows for 9 parameters', 'boundary="clip"', "ridge="],
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_refusal(name):
    check_refusal(MALFORMED[name])


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_dropping_more_than_half_of_the_rows_is_said_louder(share):
    rows = X.copy()
    rows[: int(60 * share), 0] = 0.0
    with pytest.warns(BoundaryRowsWarning) as caught:
        result = zf.Exponential(boundary="drop").fit(rows).result_
    said = str(caught[0].message)
    assert said in result.notes
    assert f"{int(60 * share)} of 60 rows" in said
    assert ("another population" in said) == (share > 0.5)


def _clipped(estimator, rows):
    with pytest.warns(BoundaryRowsWarning):
        return estimator.fit(rows).result_


def _with_zeros():
    rng = np.random.default_rng(1)
    parts = rng.dirichlet([1.5, 2.0, 3.0], size=400)
    parts[rng.random(400) < 0.2, 0] = 0.0
    return zf.Simplex.closure(parts)


def test_an_estimate_that_the_clipping_makes_says_so_and_by_how_much():
    generator = zf.Barrier(0.15, 0.0)
    fits = [_clipped(zf.Dirichlet(generator, boundary="clip", boundary_eps=e), _with_zeros()) for e in (1e-2, 1e-3)]
    moved = np.abs(fits[1].theta - fits[0].theta) / fits[0].standard_errors
    assert moved.max() > 2.0
    (note,) = [n for n in fits[0].notes if "depends on boundary_eps" in n]
    assert "with 0.001 instead of 0.01" in note
    assert f"alpha[x1] is {fits[1].theta[0]:.4g} instead of {fits[0].theta[0]:.4g}" in note
    assert f"{moved[0]:.3g} standard errors" in note
    assert "Barrier.log(det_power=0)" in note


def test_a_weight_that_forgets_the_boundary_takes_that_note_away():
    generator = zf.Barrier.log(det_power=0.0)
    result = _clipped(zf.Dirichlet(generator, boundary="clip", boundary_eps=1e-4), _with_zeros())
    assert len(result.notes) == 1


def test_an_estimate_that_does_not_depend_on_the_clipping_has_no_such_note():
    rows = put(np.random.default_rng(2).exponential(size=(300, 2)), (0, 0, 0.0))
    result = _clipped(zf.Exponential(boundary="clip", boundary_eps=1e-3), rows)
    assert not [n for n in result.notes if "boundary_eps:" in n]
    assert len(result.notes) == 1


def test_a_clipping_that_cannot_be_varied_says_so():
    # A tenth of this amount is below the rounding of a column of this size.
    rows = put(np.random.default_rng(3).uniform(1.0, 9.0, size=(100, 1)) * 1e8, (0, 0, 1e9))
    domain = zf.Box([0.0], [1e9])
    estimator = zf.TruncatedGaussian(domain, zf.Barrier(1.0, 0.0), boundary="clip", boundary_eps=5e-7)
    result = _clipped(estimator, rows)
    assert any("could not be checked" in note for note in result.notes)


def test_shares_published_with_four_decimals_are_read():
    shares = np.random.default_rng(4).dirichlet([2.0, 3.0, 4.0, 5.0], size=300).round(4)
    assert np.abs(shares.sum(axis=1) - 1.0).max() > 5e-5
    rounded, closed = (zf.Dirichlet(zf.Barrier(0.4, 0.0)).fit(S).alpha_ for S in (shares, zf.Simplex.closure(shares)))
    assert np.allclose(rounded, closed, rtol=1e-12)
