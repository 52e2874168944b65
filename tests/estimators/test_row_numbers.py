"""Messages name rows as the user's table numbers them, whatever was dropped before and in whatever block they are."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import zfree as zf
from zfree.errors import (
    BoundaryError,
    BoundaryRowsWarning,
    DataError,
    DomainError,
    NotConvexAtRowError,
    NotConvexError,
    SpecificationAtRowError,
    SpecificationError,
    ZfreeError,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::zfree.errors.BoundaryRowsWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

N, BAD = 900, 700
ODD = 123.456  # stands at row BAD alone


def _table(columns=2):
    """Rows of which some are on the boundary, and one is odd."""
    X = np.random.default_rng(0).gamma(3.0, 1.0, size=(N, columns))
    X[[3, 50, 300, 699], 0] = 0.0
    X[BAD, 0] = ODD
    return X


def _weight():
    weight = np.ones(N)
    weight[[0, 10, 400]] = 0.0
    return weight


@pytest.fixture(autouse=True, params=[None, 64], ids=["one block", "many blocks"])
def blocks(request, monkeypatch):
    """All rows at once, or 64 at a time."""
    if request.param is not None:
        monkeypatch.setattr("zfree.data.source.chunk_rows", lambda doubles: request.param)


def odd(X):
    return X[:, 0] == ODD


def dense(X, wrong):
    D = np.einsum("nj,jk->njk", X, np.eye(X.shape[1]))
    D[odd(X)] = wrong
    return D


def ones(X):
    return np.ones_like(X)


GENERATORS = {
    "a weight that is negative": (
        zf.CoordinateWeight(lambda x: np.where(x == ODD, -1.0, x), derivative=np.ones_like),
        r"must be positive inside the domain, but h\(123\.456\) = -1 \(row 700, column 0\)",
    ),
    "a weight that overflows": (
        zf.CoordinateWeight(lambda x: np.where(x == ODD, np.inf, x), derivative=np.ones_like),
        r"leaves the range of floating point at x = 123\.456 \(row 700, column 0\)",
    ),
    "a slope that is none": (
        zf.CoordinateWeight(lambda x: x, derivative=lambda x: np.where(x == ODD, np.nan, 1.0)),
        r"leaves the range of floating point at x = 123\.456 \(row 700, column 0\)",
    ),
    "a distance": (
        zf.SectionDistance(lambda x: np.where(x == ODD, 0.0, x), derivative=np.ones_like),
        r"but h\(123\.456\) = 0 \(row 700, column 0\)",
    ),
    "diagonal": (
        zf.Custom(lambda X: np.where(odd(X)[:, None], -1.0, X), ones, True),
        "smallest eigenvalue at row 700 is -1",
    ),
    "a multiple": (
        zf.Custom(lambda X: np.where(odd(X), 0.0, 1.0), np.zeros_like, True),
        "smallest eigenvalue at row 700 is 0",
    ),
    "not positive": (zf.Custom(lambda X: dense(X, -np.eye(2)), ones, True), "smallest eigenvalue at row 700 is -1"),
    "not symmetric": (
        zf.Custom(lambda X: dense(X, np.array([[1.0, 0.5], [0.0, 1.0]])), ones, True),
        "D must be symmetric at every point; at row 700 it is not",
    ),
    "a divergence": (
        zf.Custom(lambda X: X, lambda X: np.where(odd(X)[:, None], np.inf, ones(X)), True),
        "the divergence must be finite numbers; at row 700 it is not",
    ),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", GENERATORS)
def test_a_generator_that_fails_at_a_row(case, weighted):
    generator, message = GENERATORS[case]
    weight = _weight() if weighted else None
    est = zf.TruncatedGaussian(generator=generator, boundary="drop")
    with pytest.raises(SpecificationError, match=message) as raised:
        est.fit(_table(), sample_weight=weight)
    assert type(raised.value) is SpecificationError


@pytest.mark.parametrize("weighted", [False, True])
def test_a_potential_that_is_not_convex_at_a_row(weighted):
    def hessian(X):
        return dense(X, -2.0 * np.eye(2))

    potential = zf.ConvexFunction(hessian=hessian, third=lambda X: np.zeros((*X.shape, 2, 2)), vanishing=True)
    est = zf.TruncatedGaussian(generator=zf.Barrier(potential=potential), boundary="drop")
    with pytest.raises(
        NotConvexError, match=r"not strictly convex at row 700: the smallest eigenvalue .* is -2"
    ) as raised:
        est.fit(_table(), sample_weight=_weight() if weighted else None)
    assert type(raised.value) is NotConvexError


def _family(wrong, **options):
    """Independent gammas whose statistic, Jacobian or Hessian is not finite at the odd row."""

    def spoilt(what, values, X):
        if what == wrong:
            values[odd(X)] = np.nan
        return values

    def statistic(X):
        return spoilt("statistic", np.concatenate([np.log(X), -X], axis=1), X)

    def jacobian(X):
        return spoilt("jacobian", np.stack([1.0 / X, -np.ones_like(X)], axis=1), X)

    def hessian(X):
        return spoilt("hessian", np.stack([-1.0 / X**2, np.zeros_like(X)], axis=1)[..., None], X)

    return zf.ExponentialFamily(
        statistic, jacobian=jacobian, hessian=hessian, domain=zf.Orthant(1), boundary="drop", **options
    )


@pytest.mark.parametrize("generator", ["auto", "search", [zf.Barrier(0.5, 0.0), zf.Barrier.log()], zf.Barrier.log()])
@pytest.mark.parametrize(("wrong", "named"), [("jacobian", "the Jacobian of t"), ("hessian", "the Hessians of t")])
def test_a_model_that_fails_at_a_row(wrong, named, generator):
    with pytest.raises(SpecificationError, match=f"{named} is not finite at row 700"):
        _family(wrong, generator=generator).fit(_table(1), sample_weight=_weight())


def test_a_statistic_that_fails_where_a_choice_looks():
    with pytest.raises(SpecificationError, match=r"t\(x\) is not finite at row 700"):
        _family("statistic", generator="search", check=False).fit(_table(1))


def test_a_candidate_of_a_ranking_is_refused_with_the_row():
    generator, message = GENERATORS["diagonal"]
    found = zf.rank(zf.TruncatedGaussian(boundary="drop"), _table(), [zf.Barrier(1.0, 0.0), generator])
    assert found.candidates[0].refused == ""
    assert message in found.candidates[1].refused


def test_new_rows():
    X = _table(1)
    est = _family("jacobian", generator=zf.Barrier.log(), check=False).fit(np.delete(X, BAD, axis=0))
    with pytest.raises(SpecificationError, match="the Jacobian of t is not finite at row 700"):
        est.score(X)  # rows on the boundary are dropped, as in the fit
    inside = np.where(X == 0.0, 1.0, X)
    with pytest.raises(SpecificationError, match="the Jacobian of t is not finite at row 700"):
        est.density_gradient(inside)
    with pytest.raises(SpecificationError, match="the Jacobian of t is not finite at row 700"):
        est.result_.score(inside)
    with pytest.raises(BoundaryError, match="row 3 "):
        est.log_density(X)
    assert np.isfinite(est.score(np.delete(X, BAD, axis=0)))


def test_rows_outside_the_domain_and_on_its_boundary():
    X = _table()
    with pytest.raises(BoundaryError, match=r"4 of 900 rows .*: row 3 \(x1 > 0, equality\)"):
        zf.Gamma().fit(X)
    X[BAD, 1] = -2.0
    with pytest.raises(DomainError, match=r"Row 700 breaks “x2 > 0” by 2"):
        zf.Gamma(boundary="drop").fit(X)
    X[BAD, 1] = np.nan
    with pytest.raises(DataError, match=r"NaN .* in row 700, column 'x2'"):
        zf.Gamma(boundary="drop").fit(X)


def test_values_out_of_range():
    X = _table()
    X[BAD, 1] = 1e200
    with pytest.raises(DataError, match="row 700, column 'x2', holds 1e\\+200"):
        zf.TruncatedGaussian(boundary="drop", generator=zf.Barrier(1.0, 0.0)).fit(X, sample_weight=_weight())
    X[BAD, 1] = 1e-300
    with pytest.raises(DataError, match="row 700 is 1e-300 away from the boundary"):
        zf.Gamma(zf.Barrier.log(), boundary="drop").fit(X, sample_weight=_weight())


def test_a_row_that_determines_a_parameter_alone():
    """t(x) = (log x, −x, the part of x above 100): a single row says something about the last."""

    def above(X):
        return np.maximum(X - 100.0, 0.0)

    est = zf.ExponentialFamily(
        lambda X: np.concatenate([np.log(X), -X, above(X) ** 2], axis=1),
        jacobian=lambda X: np.stack([1.0 / X, -np.ones_like(X), 2.0 * above(X)], axis=1),
        hessian=lambda X: np.stack([-1.0 / X**2, np.zeros_like(X), 2.0 * (X > 100.0)], axis=1)[..., None],
        domain=zf.Orthant(1),
        generator=zf.Barrier.log(det_power=0.0),
        boundary="drop",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        notes = est.fit(_table(1), sample_weight=_weight()).result_.notes
    assert any("without row 700 (x = 123.456) the others do not determine theta[2]" in note for note in notes)


def test_a_dropped_row_is_counted():
    with pytest.warns(BoundaryRowsWarning, match="4 of 900 rows on the boundary were dropped"):
        zf.Gamma(boundary="drop", check=False).fit(_table())


@pytest.mark.parametrize(
    ("kind", "plain"), [(SpecificationAtRowError, SpecificationError), (NotConvexAtRowError, NotConvexError)]
)
def test_an_error_is_numbered_once(kind, plain):
    error = kind(lambda row: f"bad at row {row}", 3)
    assert str(error) == "bad at row 3"
    named = error.renumbered(lambda row: row + 100)
    assert type(named) is plain
    assert isinstance(named, ZfreeError)
    assert str(named) == "bad at row 103"
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is plain
    assert str(back) == str(error)
