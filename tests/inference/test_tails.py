"""Does the generator grow slowly enough far out? Exponents against closed forms, verdicts, and what simulations say of them."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import zfree as zf
from tests.contracts.tables import GENERATORS
from tests.domains.test_recession import CONES
from tests.heavy_tails import growing, inverse_gamma, lomax, power, radial, student
from tests.posed import posed
from tests.sampling import interior
from zfree.errors import ZfreeWarning
from zfree.inference import TailOrder, judge, tail_orders
from zfree.inference.tails import Curves
from zfree.models import CustomModel, ExponentialModel, GammaModel, LogNormalModel, PairwiseModel
from zfree.solvers import Restriction


def automatic(d, r, t):
    return CustomModel(d, [f"theta[{k}]" for k in range(r)], t)


def orders(model, theta, generator, domain, X=None, free=None):
    X = interior(domain, 60) if X is None else X
    restriction = Restriction.none(model.n_parameters)
    if free is not None:
        restriction = Restriction.from_names(
            {n: v for n, v in zip(model.names, theta, strict=True) if n not in free}, model.names
        )
    return tail_orders(posed(model, generator, domain, X), np.asarray(theta, dtype=float), restriction)


def verdict(*args, **kwargs):
    return judge(None, (), orders(*args, **kwargs))[:2]


# Measured exponents.


@pytest.mark.parametrize("q", [0.5, 1.0, 2.0, 3.5])
@pytest.mark.parametrize("alpha", [0.4, 1.3, 5.0])
def test_exponents_in_one_dimension(alpha, q):
    """a = α + 1, k = 1: statistics like log x (m = −1), or like 1/x (m = −2)."""
    for model, theta, m in ((lomax(), alpha + 1, -1), (inverse_gamma(alpha), 2.0, -2)):
        (order,) = orders(model, [theta], power(q), zf.Orthant(1))
        e = q + m - 1
        assert (order.where, order.volume) == ("x1 → ∞", 1.0)
        assert order.density == pytest.approx(-alpha - 1, abs=1e-3)
        assert order.flux == pytest.approx(e - alpha, abs=1e-3)
        assert order.mean == pytest.approx(e - alpha, abs=1e-3)
        assert order.square == pytest.approx(2 * e - alpha, abs=1e-3)


@pytest.mark.parametrize("q", [0.0, 2.0, 3.0])
def test_exponents_of_tails_that_fill_a_cone(q):
    """Student's t in three columns: a = ν + 3, k = 3; a ray alone would say k = 1."""
    nu, e = 1.5, q - 2
    found = orders(student(3), [(nu + 3) / 2], radial(q), zf.RealSpace(3))
    whole = [o for o in found if o.volume == 3.0]
    assert len(whole) == 1
    assert whole[0].density == pytest.approx(-nu - 3, abs=1e-3)
    assert (whole[0].flux, whole[0].mean, whole[0].square) == pytest.approx((e - nu, e - nu, 2 * e - nu), abs=1e-3)
    assert max(o.square for o in found) == pytest.approx(whole[0].square, abs=1e-3)
    assert {o.volume for o in found} == {1.0, 2.0, 3.0}


@pytest.mark.parametrize(("p", "gamma"), [(4 / 3, 0.5), (1.0, 0.5), (0.0, 0.5), (0.0, 0.0), (0.5, 0.3)])
def test_exponents_of_barriers_on_an_orthant(p, gamma):
    """D is like r^((2 − p)(1 + kγ)) along k columns; far out along one of two, the determinant makes rows count for the other like r^((2 − p)γ)."""
    alphas = np.array([1.2, 1.5])
    found = orders(lomax(2), alphas + 1, zf.Barrier(p, gamma), zf.Orthant(2))
    both, one = (2 - p) * (1 + 2 * gamma) - 2, max((2 - p) * (1 + gamma) - 2, (2 - p) * gamma)
    for k, e, room in ((1, one, alphas.min()), (2, both, alphas.sum())):
        assert max(o.mean for o in found if o.volume == k) == pytest.approx(e - room, abs=1e-3)


def test_exponents_of_a_ridge():
    """Normal–inverse gamma, y^(−a) exp(−(1 + x²/2)/y): as wide as √y along y, so that k = 3/2."""
    import torch

    model = automatic(2, 2, lambda X: torch.stack([-X[:, 1].log(), -(1 + X[:, 0] ** 2 / 2) / X[:, 1]], dim=1))
    a = 1.9
    domain = zf.Box([-np.inf, 0.0], [np.inf, np.inf])
    rng = np.random.default_rng(0)
    y = 1.0 / rng.gamma(a - 1.5, 1.0, 200)
    X = np.column_stack([rng.standard_normal(200) * np.sqrt(y), y])
    ridge = [o for o in orders(model, [a, 1.0], zf.Identity(), domain, X) if o.volume == 1.5 and o.where == "x2 → ∞"]
    assert len(ridge) == 1
    assert ridge[0].density == pytest.approx(-a, abs=1e-3)
    # At a = 1.4 the density cannot be normalised, though along the axis alone (k = 1) it could: nothing is said here.
    assert orders(model, [1.4, 1.0], zf.Identity(), domain, X) == ()


def test_faster_than_every_power():
    """Exponentials and log-normals of one's own: exponents are infinite, whatever the power of D."""
    x = np.random.default_rng(0).lognormal(size=(300, 1))
    for t in (lambda X: -X, lambda X: -(X.log() ** 2), lambda X: -(X**0.3), lambda X: -(X**2)):
        for generator in (zf.Identity(), zf.Barrier.log(1.0), power(4.5)):
            (order,) = orders(automatic(1, 1, t), [0.5], generator, zf.Orthant(1), x)
            assert (order.density, order.flux, order.mean, order.square) == (-np.inf,) * 4


def test_what_oscillates_far_out():
    """Statistic cos x with the base of a Student's t: ψ is like r^q, not r^(q−1), wherever the points fall.

    So with q = 4.5 nothing flows out, p D ~ r^(−½), and yet E|ψ| is infinite.
    """
    nu = 4.0
    model = CustomModel(
        1,
        ["c"],
        np.cos,
        lambda X: -np.sin(X)[:, None],
        lambda X: -np.cos(X)[:, None, None],
        lambda X: -(nu + 1) / 2 * np.log1p(X[:, 0] ** 2),
        lambda X: -(nu + 1) * X / (1 + X**2),
        lambda X: (-(nu + 1) * (1 - X**2) / (1 + X**2) ** 2)[:, :, None],
    )
    for seed in range(8):
        X = np.random.default_rng(seed).standard_t(nu, size=(200, 1))
        found = [verdict(model, [0.5], radial(q), zf.RealSpace(1), X) for q in (0, 1, 2.6, 4.5)]
        assert found == [(True, True), (True, True), (True, False), (False, False)]


# Verdicts.

GAUSS = (PairwiseModel(["a", "b"]), [1.0, 0.3, 1.2, 0.5, 0.2], zf.Orthant(2))
CASES = [
    # the paper's φ₃ is x³ in one column: consistent for α > 1, a variance for α > 2
    ("Lomax 0.8", lomax(), [1.8], zf.Orthant(1), "phi3", (False, False)),
    ("Lomax 1.5", lomax(), [2.5], zf.Orthant(1), "phi3", (True, False)),
    ("Lomax 2.5", lomax(), [3.5], zf.Orthant(1), "phi3", (True, True)),
    ("Lomax 0.3", lomax(), [1.3], zf.Orthant(1), "h2", (True, True)),
    ("Lomax 0.3", lomax(), [1.3], zf.Orthant(1), "phi1", (True, True)),
    ("Lomax 0.3", lomax(), [1.3], zf.Orthant(1), zf.BoundaryDistance(), (True, True)),
    ("Lomax 0.3", lomax(), [1.3], zf.Orthant(1), zf.SectionDistance("x^2"), (True, True)),
    ("Lomax 2.5", lomax(), [3.5], zf.Orthant(1), zf.Barrier.log(1.0), (True, False)),
    ("Lomax 2.5", lomax(), [3.5], zf.Orthant(1), growing(0.01), (False, False)),
    ("Lomax 2.5, capped", lomax(), [3.5], zf.Orthant(1), replace(growing(1.0), cap=3.0), (True, True)),
    # with the determinant of ten columns φ₁ is of order r⁴, and φ₃ of order r¹²
    ("ten Lomax 3", lomax(10), [4.0] * 10, zf.Orthant(10), "phi1", (True, True)),
    ("two Lomax 1.5", lomax(2), [2.5] * 2, zf.Orthant(2), "phi3", (True, False)),
    ("Student 1", student(1), [1.0], zf.RealSpace(1), zf.Identity(), (True, True)),
    ("Student 1", student(1), [1.0], zf.RealSpace(1), radial(2.0), (True, True)),
    ("Student 1", student(1), [1.0], zf.RealSpace(1), radial(2.7), (True, False)),
    ("Student 1", student(1), [1.0], zf.RealSpace(1), radial(3.5), (False, False)),
    # ν = 1 in two columns has a = 3: a single ray (k = 1) would have said that r^2.7 has a variance
    ("Student 1, plane", student(2), [1.5], zf.RealSpace(2), radial(2.7), (True, False)),
    ("Student 1, half-plane", student(2), [1.5], zf.HalfSpace([1.0, 1.0], 1.0), zf.Barrier.log(0.0), (True, True)),
    ("Student 1, half-plane", student(2), [1.5], zf.HalfSpace([1.0, 1.0], 1.0), zf.Barrier.log(0.5), (False, False)),
    ("Student 1.5, half-plane", student(2), [1.75], zf.HalfSpace([1.0, 1.0], 1.0), zf.Barrier.log(0.5), (True, False)),
    ("Student 1, wedge", student(2), [1.5], zf.Polytope([[-1.0, 0.3], [0.2, -1.0]], [0.0, 1.0]), zf.Barrier.log(0.5), (False, False)),
    ("Student 1, wedge", student(2), [1.5], zf.Polytope([[-1.0, 0.3], [0.2, -1.0]], [0.0, 1.0]), zf.Barrier.log(0.0), (True, True)),
    ("Student 1, strip", student(2), [1.5], zf.Box([0.0, -np.inf], [1.0, np.inf]), radial(3.4), (True, False)),
    ("Student 1, strip", student(2), [1.5], zf.Box([0.0, -np.inf], [1.0, np.inf]), radial(2.7), (True, True)),
    ("Student 1, bounded", student(2), [1.5], zf.Ball(1.0, d=2), radial(9.0), (True, True)),
    # the rate alone, α known: D = x⁴ flows out for α ≤ 1
    ("inverse gamma 1", inverse_gamma(1.0), [2.0], zf.Orthant(1), zf.Barrier.log(1.0), (False, False)),
    ("inverse gamma 1.5", inverse_gamma(1.5), [2.0], zf.Orthant(1), zf.Barrier.log(1.0), (True, False)),
    ("inverse gamma 2.5", inverse_gamma(2.5), [2.0], zf.Orthant(1), zf.Barrier.log(1.0), (True, True)),
    # exponentials against exponentials
    ("exponential 1", ExponentialModel(["a"]), [1.0], zf.Orthant(1), growing(0.3), (True, True)),
    ("exponential 1", ExponentialModel(["a"]), [1.0], zf.Orthant(1), growing(0.7), (True, False)),
    ("exponential 1", ExponentialModel(["a"]), [1.0], zf.Orthant(1), growing(1.4), (False, False)),
    ("gamma", GammaModel(["a", "b"]), [2.0, 3.0, 1.0, 5.0], zf.Orthant(2), growing(0.7), (True, False)),
    ("gamma", GammaModel(["a", "b"]), [2.0, 3.0, 1.0, 5.0], zf.Orthant(2), zf.SteinMoments((2.0, 3.0, 1.0, 5.0)), (True, True)),
    ("Gaussian", *GAUSS, growing(3.0), (True, True)),
    ("Gaussian", *GAUSS, zf.Barrier.log(3.0), (True, True)),
    ("Gaussian, e^(x²/3)", *GAUSS, zf.CoordinateWeight(lambda x: np.expm1(x**2 / 3), lambda x: 2 / 3 * x * np.exp(x**2 / 3)), (True, False)),
    ("log-normal", LogNormalModel(["a"]), [0.5, 0.0], zf.Orthant(1), power(9.0), (True, True)),
    ("log-normal", LogNormalModel(["a"]), [0.5, 0.0], zf.Orthant(1), growing(0.1), (False, False)),
    ("a–b power", PairwiseModel(["a"], 0.5, 0.5), [1.0, 0.1], zf.Orthant(1), growing(0.4), (True, True)),
    ("on a strip", PairwiseModel(["a", "b"]), [1.0, 0.0, 1.0, 0.0, 0.0], zf.Product([zf.Orthant(1), zf.Shells([0.5, 1.0], d=1)]), zf.BoundaryDistance(), (True, True)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}, {c[-3]}, {c[-2]!r}"[:80])
def test_verdicts(case):
    _, model, theta, domain, generator, expected = case
    generator = zf.named(generator) if isinstance(generator, str) else generator
    assert verdict(model, theta, generator, domain) == expected


def test_known_parameters_do_not_matter():
    """Of two Lomax columns one is known: its equation is not solved, and its tail not asked for."""
    both, theta = lomax(2), [1.5, 4.0]
    cube = zf.CoordinateWeight(lambda x: x**3, lambda x: 3 * x**2)
    assert verdict(both, theta, cube, zf.Orthant(2)) == (False, False)
    assert verdict(both, theta, cube, zf.Orthant(2), free=["theta[1]"]) == (True, True)
    assert orders(both, theta, cube, zf.Orthant(2), free=[]) == ()


def test_nothing_is_said_of_a_density_that_cannot_be_normalised():
    assert orders(lomax(), [0.9], zf.Barrier.log(1.0), zf.Orthant(1)) == ()
    assert len(orders(lomax(), [1.1], zf.Barrier.log(1.0), zf.Orthant(1))) == 1


def test_judge_takes_the_worst_of_facets_and_tails():
    fine = TailOrder("x1 → ∞", -3.0, 1.0, -2.0, -2.0, -1.0)
    barely, lost = fine._replace(square=0.5), fine._replace(flux=0.0)
    assert judge(None, (), [fine]) == (True, True, "")
    assert judge(None, (), [fine, barely])[:2] == (True, False)
    assert judge(None, (), [barely, lost, barely])[:2] == (False, False)
    from zfree.generators import Decay
    from zfree.models import BoundaryOrder

    smooth = [BoundaryOrder("the boundary", 0.0, 0.0)]
    assert "close to the boundary" in judge(Decay(0.2, 0.0), smooth, [barely]).reason
    assert "far out along x1" in judge(Decay(0.2, 0.0), smooth, [lost]).reason
    assert judge(Decay(1.0, 0.0), smooth, [fine]).finite_variance


# Neither units nor affine maps matter, and nothing is looked at where that is not needed.


@pytest.mark.parametrize(
    "generator", [zf.Barrier.log(0.5), zf.Barrier(1.0, 0.7), zf.CoordinateWeight("x^2", scale="natural")], ids=repr
)
def test_units_do_not_matter(generator):
    X, alphas = np.random.default_rng(0).pareto([1.2, 1.6], size=(300, 2)), np.array([1.2, 1.6])
    plain = orders(lomax(2), alphas + 1, generator, zf.Orthant(2), X)
    for unit in (1e-7, 1e7):
        moved = orders(lomax(2, unit), alphas + 1, generator, zf.Orthant(2), X * unit)
        assert np.allclose([o[1:] for o in moved], [o[1:] for o in plain], atol=1e-6)


def test_the_order_of_rows_does_not_matter():
    X, theta = np.random.default_rng(0).pareto([1.2, 1.6], size=(300, 2)), np.array([2.2, 2.6])
    plain, moved = (orders(lomax(2), theta, zf.Barrier.log(0.5), zf.Orthant(2), rows) for rows in (X, X[::-1]))
    assert np.allclose([o[1:] for o in moved], [o[1:] for o in plain], rtol=1e-9)


def test_affine_maps_do_not_matter():
    """Two Lomax columns under a shear: the orthant becomes a wedge, with other edges and the same exponents along them."""
    B, c = np.array([[2.0, 0.7], [-0.4, 3.0]]), np.array([5.0, -2.0])
    X, theta = np.random.default_rng(0).pareto([1.2, 1.6], size=(300, 2)), np.array([2.2, 2.6])
    wedge = zf.Orthant(2).affine_image(B, np.zeros(2))
    shifted = zf.Orthant(2).affine_image(B, c)
    model = lomax(2, matrix=B)
    for generator in (zf.Barrier.log(0.5), zf.Barrier.log(0.0)):
        plain = orders(lomax(2), theta, generator, zf.Orthant(2), X)
        moved = orders(model, theta, generator, wedge, X @ B.T)
        assert judge(None, (), moved)[:2] == judge(None, (), plain)[:2]
        for k in (1.0, 2.0):
            here, there = ([o[1:] for o in found if o.volume == k] for found in (plain, moved))
            assert np.allclose(
                np.max(there, axis=0), np.max(here, axis=0), atol=0.03
            )  # rounding allows to follow it less far
    far = Curves.of(posed(model, zf.Barrier(), shifted, X @ B.T + c))
    assert shifted.contains(far.points.reshape(-1, 2)).all()


@pytest.mark.parametrize("name", [n for n, d in CONES.items() if not d.is_bounded])
def test_curves_stay_inside(name):
    domain = CONES[name]
    X = interior(domain, 30, seed=1)
    curves = Curves.of(posed(PairwiseModel(["x"] * domain.dimension), zf.Identity(), domain, X))
    assert domain.contains(curves.points.reshape(-1, domain.dimension)).all()
    assert curves.volumes.min() == 1.0
    assert curves.volumes.max() == np.linalg.matrix_rank(domain.recession_directions())


def test_nothing_is_evaluated_where_theory_knows(monkeypatch):
    """Exponential tails with powers of x, and bounded sets: a fit that is told nothing costs nothing."""

    def never(problem):
        raise AssertionError("looked at the tails")

    monkeypatch.setattr(Curves, "of", never)
    X = np.random.default_rng(0).gamma(2.0, 1.0, size=(200, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZfreeWarning)
        for est in (
            zf.Gamma(),
            zf.Exponential(),
            zf.LogNormal(),
            zf.PowerInteraction(0.5, 0.5),
            zf.TruncatedGaussian(),
            zf.Gaussian(),
        ):
            est.fit(X)
        for generator in (*zf.generators.NAMED.values(), zf.Barrier(0.3, 0.7), zf.Combined(), "search"):
            zf.TruncatedGaussian(generator=generator).fit(X)
    monkeypatch.undo()
    assert (
        Curves.of(posed(PairwiseModel(["x"] * 3), zf.Identity(), zf.Ball(1.0, d=3), interior(zf.Ball(1.0, d=3), 9)))
        is None
    )


KNOWN = {
    "exponential": (ExponentialModel(["a", "b"]), [1.0, 2.0]),
    "gamma": (GammaModel(["a", "b"]), [0.7, 3.0, 1.0, 2.0]),
    "Gaussian": (PairwiseModel(["a", "b"]), [1.0, 0.3, 1.2, 0.5, 0.2]),
    "log-normal": (LogNormalModel(["a", "b"]), [1.0, 0.3, 1.2, 0.5, 0.2]),
    "a–b power": (PairwiseModel(["a", "b"], 0.5, 0.0), [1.0, 0.3, 1.2, 0.5, 0.2]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_theory_knows_is_what_is_measured(name):
    """A model that says its density falls faster than every power, with every generator that says it grows like one."""
    model, theta = KNOWN[name]
    X = np.random.default_rng(0).gamma(2.0, 1.0, size=(100, 2))
    assert model.rapidly_decreasing
    generators = [g for g in GENERATORS.values() if g.tempered and not g.own_tests]
    assert len(generators) >= 10
    for generator in (*generators, zf.Barrier.log(2.0), zf.Barrier(-1.0, -0.5), zf.BoundaryDistance(scale="natural")):
        problem = posed(model, generator, zf.Orthant(2), X)
        curves = Curves.of(problem)
        found = curves.orders(problem, np.array(theta), Restriction.none(model.n_parameters))
        assert len(found) == len(curves.names)
        assert all(o.finite_variance and o.density == -np.inf for o in found)
    assert not any(GENERATORS[g].tempered for g in ("function", "Custom", "Custom-automatic"))


# Whatever happens far out, no warning of numpy's and no raw error gets through. Warnings are errors in this suite.


def far_away(what):
    def h(x):
        if np.any(x > 50.0):
            return what(x)
        return 1.0 + 0.0 * x

    return h


def refuse(x):
    raise RuntimeError("no idea")


HOSTILE = {
    "overflow": growing(50.0),
    "doubly exponential": zf.CoordinateWeight(lambda x: np.exp(np.exp(x)) - np.e, lambda x: np.exp(x + np.exp(x))),
    "an error": zf.CoordinateWeight(far_away(refuse), lambda x: 0.0 * x),
    "not a number": zf.Custom(far_away(lambda x: np.full_like(x, np.nan)), lambda X: 0.0 * X, vanishing_at_boundary=True),
    "negative": zf.Custom(far_away(lambda x: -x), lambda X: 0.0 * X, vanishing_at_boundary=True),
    "infinite matrices": zf.Custom(lambda X: np.exp(np.exp(X))[:, :, None] * np.eye(2), lambda X: np.exp(X + np.exp(X)), vanishing_at_boundary=True),
    "vanishing": zf.Custom(lambda X: np.exp(-X), lambda X: -np.exp(-X), vanishing_at_boundary=True),
    "a potential": zf.Barrier(potential=zf.SlackFunction(lambda s: np.exp(-s) / s, lambda s: -np.exp(-s) * (1 + 1 / s) / s, decay=1.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    ("model", "theta"), [(PairwiseModel(["a", "b"]), GAUSS[1]), (lomax(2), [3.0, 3.0]), (automatic(2, 2, lambda X: -X.exp()), [0.1, 0.1])],
    ids=["Gaussian", "Lomax", "Gompertz"],
)  # fmt: skip
def test_nothing_gets_through_from_far_out(name, model, theta):
    found = orders(model, theta, HOSTILE[name], zf.Orthant(2), np.random.default_rng(0).exponential(size=(50, 2)))
    assert isinstance(judge(None, (), found).consistent, bool)
    if name in ("overflow", "doubly exponential") and model.n_parameters == 2 and theta[0] == 3.0:
        assert judge(None, (), found)[:2] == (False, False)
    if name == "vanishing":
        assert judge(None, (), found)[:2] == (True, True)
