"""An estimate depends neither on how a set is written, nor on the units of columns, constraints or weights."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import zfree as zf
from tests.posed import posed
from tests.sampling import interior, truncated_gaussian
from zfree.errors import NotPositiveDefiniteWarning, UnitsWarning, ZfreeWarning
from zfree.inference.facets import probe
from zfree.solvers import Restriction

GENERATORS = ["auto", zf.Barrier(4 / 3), zf.Barrier(0.3, 0.0), zf.BoundaryDistance(scale="natural")]
TRIANGLE = truncated_gaussian(
    zf.SolidSimplex(2), np.array([0.3, 0.4]), np.linalg.inv([[0.1, 0.03], [0.03, 0.1]]), 1000, 3
)
BELOW_A_LINE = truncated_gaussian(
    zf.HalfSpace([1.0, 1.0], 1.0), np.zeros(2), np.array([[1.3, -0.5], [-0.5, 1.0]]), 1000
)


def _fit(domain, X, generator, units=1.0, **options):
    """K and its standard errors in the units of the data before they were scaled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZfreeWarning)
        est = zf.TruncatedGaussian(domain, generator, **options).fit(X * units)
    c = np.broadcast_to(units, X.shape[1])
    return np.stack([est.precision_, est.precision_se_]) * np.outer(c, c), est


@pytest.mark.parametrize("generator", GENERATORS, ids=repr)
@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("x1 > 0, x2 > 0, 10*x1 + x2 < 1", [0.1, 1.0]),
        ("x1 > 0, x2 > 0, 1000*x1 + x2 < 1", [1e-3, 1.0]),
        ("1000*x1 > 0, x2 > 0, 1000*x1 + x2 < 1", [1e-3, 1.0]),
        ("x1 > 0, x2 > 0, 0.001*x1 + 0.001*x2 < 1", [1e3, 1e3]),
        ("x1 > 0, x2 > 0, 1000000*x1 + 0.0000001*x2 < 1", [1e-6, 1e7]),
    ],
)
def test_one_triangle_written_in_many_ways(text, units, generator):
    expected, _ = _fit(zf.Polytope.from_inequalities("x1 > 0, x2 > 0, x1 + x2 < 1"), TRIANGLE, generator)
    written, _ = _fit(zf.Polytope.from_inequalities(text), TRIANGLE, generator, np.array(units))
    assert np.allclose(written, expected, rtol=1e-6)
    by_name, _ = _fit(zf.SolidSimplex(2), TRIANGLE, generator)
    assert np.allclose(by_name, expected, rtol=1e-6)
    idle = zf.Polytope.from_inequalities("x1 > 0, x2 > 0, x1 + x2 < 1, 3*x1 + 3*x2 < 3, x1 < 1, x1 + 2*x2 < 5")
    assert np.allclose(_fit(idle, TRIANGLE, generator)[0], expected, rtol=1e-6)


@pytest.mark.parametrize("generator", GENERATORS, ids=repr)
@pytest.mark.parametrize(
    ("domain", "unit"),
    [
        (zf.HalfSpace([1e-6, 1e-6], 1e-6), 1.0),
        (zf.HalfSpace([1.0, 1.0], 1e8), 1e8),
        (zf.HalfSpace([1e-6, 1e5], 1.0), np.array([1e6, 1e-5])),
        (zf.Polytope([[3.0, 3.0]], [3.0]), 1.0),
    ],
    ids=repr,
)
def test_one_half_space_written_in_many_ways(domain, unit, generator):
    expected, _ = _fit(zf.HalfSpace([1.0, 1.0], 1.0), BELOW_A_LINE, generator)
    written, _ = _fit(domain, BELOW_A_LINE, generator, unit)
    assert np.allclose(written, expected, rtol=1e-6)


SAME_SETS = {
    "a box with free sides": [
        zf.Box([0.0, -np.inf, -np.inf], [np.inf, 2.0, np.inf]),
        zf.Polytope([[-3.0, 0.0, 0.0], [0.0, 0.01, 0.0]], [0.0, 0.02]),
        zf.Product([zf.Orthant(1), zf.HalfSpace([5.0], 10.0), zf.RealSpace(1)]),
        zf.Product([zf.Box([0.0, -np.inf], [np.inf, 2.0]), zf.RealSpace(1)]),
    ],
    "an orthant": [zf.Orthant(3), zf.Box([0.0] * 3, [np.inf] * 3), zf.Polytope(-np.diag([1.0, 1e4, 1e-4]), [0.0] * 3)],
    "the whole space": [
        zf.RealSpace(3),
        zf.Box([-np.inf] * 3, [np.inf] * 3),
        zf.Product([zf.RealSpace(1), zf.RealSpace(2)]),
    ],
    "a solid simplex": [
        zf.SolidSimplex(3),
        zf.Polytope(np.vstack([-2.0 * np.eye(3), 1e3 * np.ones(3)]), np.r_[np.zeros(3), 1e3]),
    ],
}


@pytest.mark.parametrize("mask", [None, np.eye(3) + np.eye(3, k=1) + np.eye(3, k=-1) > 0], ids=["full", "masked"])
@pytest.mark.parametrize("generator", ["auto", zf.Barrier(1.2, 0.0), zf.Barrier(0.5, 0.7)], ids=repr)
@pytest.mark.parametrize("name", SAME_SETS)
def test_one_set_under_many_names_and_in_many_units(name, generator, mask):
    first, *others = SAME_SETS[name]
    if name == "a solid simplex":
        X = truncated_gaussian(first, np.full(3, 0.25), 30 * np.eye(3) + 5, 300, 1)
    else:
        draws = np.random.default_rng(5).multivariate_normal([0.5, 0.8, 1.0], np.eye(3) + 0.4, 3000)
        X = draws[first.contains(draws)][:300]
    expected, _ = _fit(first, X, generator, mask=mask)
    for domain in others:
        written, _ = _fit(domain, X, generator, mask=mask)
        assert np.allclose(written, expected, rtol=1e-6)
    units = np.array([1e-6, 1.0, 1e6])
    moved = first.affine_image(np.diag(units), np.zeros(3))
    scaled, _ = _fit(moved, X, generator, units, mask=mask)
    assert np.allclose(scaled, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "generator", ["auto", zf.Barrier(), zf.CoordinateWeight("log(1+x)", scale="natural")], ids=repr
)
def test_a_product_of_different_kinds_in_other_units(generator):
    domain = zf.Product([zf.Orthant(1), zf.Ball(1.0, d=2)])
    X = interior(domain, 300, seed=4)
    if isinstance(generator, zf.CoordinateWeight):
        domain = zf.Orthant(3)
        X = np.abs(X) + 0.01
    expected, _ = _fit(domain, X, generator)
    units = np.array([1e5, 1e-3, 1e-3])
    image = domain.affine_image(np.diag(units), np.zeros(3)) if isinstance(domain, zf.Product) else domain
    scaled, _ = _fit(image, X, generator, units)
    assert np.allclose(scaled, expected, rtol=1e-6)


def test_raw_slacks_are_the_formula_as_published_and_say_when_that_hurts():
    units = np.array([1e-3, 1.0])
    domain = zf.Polytope.from_inequalities("x1 > 0, x2 > 0, 1000*x1 + x2 < 1")
    for generator in (zf.named("phi1"), zf.BoundaryDistance(), zf.SectionDistance("x")):
        with pytest.warns(UnitsWarning, match='scale="natural"'):
            est = zf.TruncatedGaussian(domain, generator).fit(TRIANGLE * units)
        assert any("as they are written" in note for note in est.result_.notes)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnitsWarning)
            warnings.simplefilter("ignore", ZfreeWarning)
            zf.TruncatedGaussian(zf.SolidSimplex(2), generator).fit(TRIANGLE)
    # D is the same at p = 0, where a factor of a slack does not change its curvature.
    raw, _ = _fit(domain, TRIANGLE, zf.Barrier.log(0.0, scale="raw"), units)
    natural, _ = _fit(domain, TRIANGLE, zf.Barrier.log(0.0), units)
    assert np.allclose(raw, natural, rtol=1e-8)


def test_columns_that_are_fitted_apart_need_no_warning():
    X = np.random.default_rng(0).exponential(size=(200, 2)) * [1e-6, 1e6]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPositiveDefiniteWarning)
        zf.Exponential("h1").fit(X)
        zf.TruncatedGaussian(generator="h1", structure="diagonal").fit(X)
        with pytest.warns(UnitsWarning):
            zf.TruncatedGaussian(generator="h1").fit(X)


def test_units_are_means_of_slacks_and_spreads_of_columns():
    X = np.array([[0.2, 1.0], [0.4, 1.0], [0.6, 4.0]])
    domain = zf.Box([0.0, -np.inf], [1.0, 5.0])
    units = zf.Units.of(domain, X)
    assert np.allclose(units.slacks, [0.4, 0.6, 3.0])
    assert np.allclose(units.spread, X.std(axis=0))
    weighted = zf.Units.of(domain, X, np.array([2.0, 1.0, 1.0]))
    repeated = zf.Units.of(domain, X[[0, 0, 1, 2]])
    assert np.allclose(weighted.slacks, repeated.slacks)
    assert np.allclose(weighted.spread, repeated.spread)
    mine = np.ones(3)
    assert zf.Units(mine, np.ones(2)) == zf.Units(np.ones(3), np.ones(2))
    assert mine.flags.writeable
    for rows, reason in (([[2.0, 1.0]], "not inside"), (np.zeros((0, 2)), "has none"), (X[:, :1], "shape")):
        with pytest.raises(zf.errors.SpecificationError, match=reason):
            zf.Units.of(domain, rows)
    still = zf.Units.of(zf.RealSpace(2), np.array([[3.0, 0.0], [3.0, 0.0]]))
    assert np.array_equal(still.spread, [3.0, 1.0])


FREE = zf.Box([0.0, -np.inf, 0.0], [1.0, np.inf, 1.0])


@pytest.mark.parametrize("n", [1, 7, 8, 9, 30_011])
@pytest.mark.parametrize("domain", [zf.Orthant(3), zf.SolidSimplex(3), zf.Ball(9.0, d=3), FREE], ids=repr)
def test_units_of_any_number_of_rows(domain, n):
    """Rows are summed in blocks, eight side by side."""
    rng = np.random.default_rng(4)
    X = rng.dirichlet(np.ones(4), n)[:, :3]
    X[:, 1] += 1e6 * (domain is FREE)
    for weight in (None, rng.uniform(0.5, 2.0, n)):
        for rows in (X, np.asfortranarray(X)):
            units = zf.Units.of(domain, rows, weight)
            mean = np.average(X, axis=0, weights=weight)
            spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
            assert np.allclose(units.slacks, np.average(domain.slacks(X), axis=0, weights=weight), rtol=1e-12)
            assert np.allclose(units.spread, spread if n > 1 else np.abs(mean), rtol=1e-8)


def test_a_natural_generator_without_data_says_what_it_needs():
    with pytest.raises(zf.errors.SpecificationError, match=r"Units\.of\(domain, X\)"):
        zf.Barrier().evaluate(zf.Orthant(2), np.ones((3, 2)))
    X = np.random.default_rng(0).exponential(size=(50, 2))
    bound = zf.Barrier().in_units(zf.Units.of(zf.Orthant(2), X))
    assert bound.in_units(zf.Units.of(zf.Orthant(2), 2 * X)) is bound
    with pytest.raises(zf.errors.SpecificationError, match="2 slacks"):
        bound.evaluate(zf.Orthant(3), np.ones((3, 3)))
    with pytest.raises(zf.errors.SpecificationError, match="scale must be"):
        zf.Barrier(scale="metric")


@pytest.mark.parametrize("generator", ["auto", "search"])
@pytest.mark.parametrize("unit", [1e-300, 1e-163, 1e-90, 1e90, 1e152, 1e300])
def test_weights_have_no_unit(unit, generator):
    X = np.random.default_rng(1).exponential(size=(200, 2))
    plain, _ = _fit(None, X, generator)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ZfreeWarning)
        est = zf.TruncatedGaussian(generator=generator).fit(X, sample_weight=np.full(200, unit))
        w = np.random.default_rng(2).uniform(0.5, 2.0, 200)
        some, other = (
            zf.TruncatedGaussian(generator=generator).fit(X, sample_weight=v) for v in (w, w * min(unit, 1e299))
        )
    assert np.array_equal(est.precision_, plain[0])
    assert np.array_equal(est.precision_se_, plain[1])
    assert repr(other.generator_) == repr(some.generator_)
    assert np.allclose(other.precision_, some.precision_, rtol=1e-9)
    assert np.allclose(other.precision_se_, some.precision_se_, rtol=1e-9)


def test_the_spelling_of_a_barrier_does_not_matter():
    assert zf.Barrier(potential=zf.Power(0.2), det_power=0) == zf.Barrier(0.2, 0)
    assert repr(zf.Barrier(potential=zf.Power(0.2), det_power=0)) == repr(zf.Barrier(0.2, 0))
    with pytest.raises(zf.errors.SpecificationError, match="a power or a potential"):
        zf.Barrier(1.0, potential=zf.Power(0.2))


def test_a_set_of_any_size_is_a_set():
    """Emptiness, boundedness and the boundary are told by the set itself, not by absolute numbers."""
    thin = zf.Polytope([[-1.0], [1.0]], [0.0, 1e-13])
    assert thin.is_bounded
    assert 0 < thin.interior_point()[0] < 1e-13
    found = zf.Box([0.0], [1e-13]).explain(np.array([[5e-13], [1e-13], [5e-14]]))
    assert found.rows.tolist() == [0, 1]
    assert found.on_boundary.tolist() == [False, True]
    with pytest.raises(zf.errors.InvalidDomainError, match="empty"):
        zf.Polytope([[-1.0], [1.0]], [-1.0, 1.0 + 2e-16])
    rng = np.random.default_rng(0)
    A = np.vstack([np.eye(3), -np.ones(3), rng.standard_normal((5, 3))])
    b = np.linspace(0.5, 2.0, 9)
    plain = zf.Polytope(A, b)
    for columns in ([1.0, 1.0, 1.0], [1e-8, 1.0, 1e8]):
        rows = 10.0 ** rng.uniform(-8, 8, 9)
        other = zf.Polytope(A / columns * rows[:, None], b * rows)
        assert other.is_bounded
        assert other.redundant == plain.redundant
        assert np.allclose(other.interior_point() / columns, plain.interior_point(), rtol=1e-4, atol=1e-4)
    assert not zf.Polytope(A[:2] * [[1e9], [1e-9]], b[:2]).is_bounded


def test_an_unknown_model_is_probed_in_columns_without_units():
    """The automatic choice of a user's family on a box with free sides, in columns of very different size."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.gamma(0.9, 1.0, 300), rng.normal(0.0, 1.0, 300)])
    X = X[X[:, 1] < 2.0]

    def fit(c):
        def t(Y):
            x = Y / c
            return np.column_stack([np.log(x[:, 0]), -x[:, 0], -(x[:, 1] ** 2) / 2, x[:, 1]])

        def jacobian(Y):
            x, out = Y / c, np.zeros((len(Y), 4, 2))
            out[:, 0, 0], out[:, 1, 0], out[:, 2, 1], out[:, 3, 1] = 1 / x[:, 0], -1.0, -x[:, 1], 1.0
            return out / c

        def hessian(Y):
            x, out = Y / c, np.zeros((len(Y), 4, 2, 2))
            out[:, 0, 0, 0], out[:, 2, 1, 1] = -1 / x[:, 0] ** 2 / c[0] ** 2, -1.0 / c[1] ** 2
            return out

        domain = zf.Box([0.0, -np.inf], [np.inf, 2.0 * c[1]])
        est = zf.ExponentialFamily(t, jacobian=jacobian, hessian=hessian, domain=domain, check=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ZfreeWarning)
            return est.fit(X * c)

    def orders(est, c):
        result = est.result_
        problem = posed(result.model, result.generator, result.domain, X * c)
        return probe(problem, result.theta, Restriction.none(4))

    units = np.array([1e5, 1e-7])
    plain, scaled = fit(np.ones(2)), fit(units)
    assert plain.generator_ == scaled.generator_
    assert np.allclose(plain.theta_, scaled.theta_, rtol=1e-6)
    here, there = orders(plain, np.ones(2)), orders(scaled, units)
    assert here.pole == pytest.approx(1.0, abs=0.01)  # of log x₁, whose facet is the nearest of many rows
    assert (there.pole, there.density) == pytest.approx((here.pole, here.density), abs=1e-5)


def test_domains_that_are_not_convex_in_other_units():
    domain = zf.Product([zf.Shells([0.5, 1.0], d=2), zf.Orthant(1)])
    X = interior(domain, 300, seed=6)
    expected, est = _fit(domain, X, "auto")
    units = np.array([1.0, 1.0, 1e3])
    scaled, other = _fit(domain, X, "auto", units)
    assert np.allclose(scaled, expected, rtol=1e-6)
    assert other.score(X * units) == pytest.approx(est.score(X), rel=1e-6)


def test_whether_a_density_can_be_normalised_has_no_units():
    from zfree.models.normalisable import quadratic

    rng = np.random.default_rng(0)
    for _ in range(100):
        A = rng.standard_normal((4, 4))
        K = A @ A.T - 1.5 * np.outer(A[:, 0], A[:, 0])
        c = 10.0 ** rng.uniform(-8, 8, 4)
        expected = bool(np.linalg.eigvalsh(K)[0] > 0)
        assert quadratic(K / np.outer(c, c), np.zeros((0, 4))).holds == expected


def test_an_affine_map_between_units_is_a_map():
    image = zf.Orthant(2).affine_image(np.diag([1e8, 1e-8]), np.zeros(2))
    assert image.contains(np.array([[1e8, 1e-8]]))[0]


def test_a_parametric_energy_in_other_units():
    torch = pytest.importorskip("torch")
    from zfree.neural import ParametricModel

    X = np.random.default_rng(0).exponential(size=(300, 2))
    found = []
    for unit in (1.0, 1e-4, 1e4):

        def energy(x, p, unit=unit):
            return torch.exp(p["l"]) * x.sum() / unit

        found.append(
            ParametricModel(energy, {"l": 1.5}, zf.Orthant(2), zf.Barrier(4 / 3)).fit(X * unit).parameters_["l"]
        )
    assert np.allclose(found, found[0], rtol=0, atol=1e-5)
