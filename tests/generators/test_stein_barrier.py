"""The weight from theory: D, its divergence and its structure; one set under many names; what it recovers."""

from __future__ import annotations

from contextlib import nullcontext

import mpmath as mp
import numpy as np
import pytest

import zfree as zf
from tests.contracts.tables import CONVEX, DOMAINS
from tests.reference import column_divergence
from tests.sampling import interior, near_boundary, truncated_gaussian
from zfree.curvatures import Energy
from zfree.domains.polyhedral import Polyhedral
from zfree.errors import SpecificationError
from zfree.generators import Pilot

_rng = np.random.default_rng(5)


def pilot_of(K, S):
    """A pilot that says nothing but K̂ and the covariance of the rows."""
    return Pilot(None, Energy(K, False), np.zeros(len(S)), S)


def settled(domain, X, coupling="full", seed=0):
    """A SteinBarrier with a pilot of some size, in the units of the rows, and the K that it keeps."""
    d = domain.dimension
    S = np.atleast_2d(np.cov(X.T, bias=True))
    root = np.random.default_rng(seed).standard_normal((d, d))
    inverse = np.linalg.pinv(S)
    K = 0.5 * inverse + 0.1 * root @ root.T / np.outer(X.std(axis=0), X.std(axis=0)) / d
    if coupling == "diagonal":
        K = np.diag(np.diagonal(K))
    return zf.SteinBarrier(coupling=coupling).informed(pilot_of(K, S)).in_units(zf.Units.of(domain, X)), K


def plain_precision(K, S):
    """K clipped between 0.02 and 1.5 times S⁻¹, by a matrix square root; S regular."""
    values, vectors = np.linalg.eigh(S)
    half = (vectors * np.sqrt(values)) @ vectors.T
    back = np.linalg.inv(half)
    shares, turned = np.linalg.eigh(half @ K @ half)
    return back @ (turned * np.clip(shares, 0.02, 1.5)) @ turned.T @ back


def plain_barrier(domain, X, x):
    """H₀ at one point as the docstring writes it, facet by facet."""
    A, b = domain.inequalities
    keep = [k for k in range(len(b)) if k not in getattr(domain, "redundant", ())]
    A, b = A[keep], b[keep]
    mean = (b - X @ A.T).mean(axis=0)
    if len(b) <= 2 * len(x):
        return sum(
            (np.outer(a, a) / (m * (c - a @ x)) for a, c, m in zip(A, b, mean, strict=True)), np.zeros((len(x),) * 2)
        )
    sigma = (b - X @ A.T).std(axis=0)
    c0 = np.exp(np.mean(np.log(mean / sigma)))
    return sum(
        np.outer(a, a) * m**-2.0 * ((c - a @ x) / (c0 * s)) ** (0.85 - 2)
        for a, c, m, s in zip(A, b, mean, sigma, strict=True)
    )


@pytest.mark.parametrize("coupling", ["full", "diagonal"])
@pytest.mark.parametrize("name", CONVEX)
def test_divergence_matches_finite_differences(name, coupling):
    domain = DOMAINS[name]
    X = interior(domain, 60, seed=3)
    generator, _ = settled(domain, X, coupling)
    chart = domain.chart
    C = np.eye(domain.dimension) if chart is None else chart.matrix
    pull = np.linalg.pinv(C)
    value = generator.on_domain(domain, X[:4])
    assert np.all(np.linalg.eigvalsh(pull @ value.field.dense() @ pull.T) > 0)
    for x, divergence in zip(X[:4], value.divergence, strict=True):

        def inner(y):
            point = y[None] if chart is None else chart.push(y[None])
            return pull @ generator.on_domain(domain, point).field.dense()[0] @ pull.T

        by_differences = C @ column_divergence(inner, x if chart is None else chart.pull(x[None])[0], step=1e-6)
        rounding = 1e-9 * np.abs(value.field.dense()).max()  # of differences with this step
        assert np.allclose(divergence, by_differences, rtol=1e-5, atol=rounding + 1e-6 * np.abs(divergence).max())


@pytest.mark.parametrize("name", [n for n in CONVEX if isinstance(DOMAINS[n], Polyhedral)])
def test_it_is_the_inverse_of_what_the_docstring_says(name):
    domain = DOMAINS[name]
    X = interior(domain, 60, seed=3)
    generator, K = settled(domain, X)
    K = plain_precision(K, np.atleast_2d(np.cov(X.T, bias=True)))
    D = generator.on_domain(domain, X[:5]).field.dense()
    for x, found in zip(X, D, strict=False):
        assert np.allclose(found, np.linalg.inv(0.8 * K + plain_barrier(domain, X, x)), rtol=1e-8)


def test_on_a_ball_only_the_normal_direction_vanishes():
    domain = zf.Ball(2.0, center=[0.5, -0.5, 1.0])
    X = interior(domain, 200)
    generator, K = settled(domain, X)
    K = plain_precision(K, np.cov(X.T, bias=True))
    x = X[0] - domain.center
    u = 4.0 - ((X - domain.center) ** 2).sum(axis=1)
    H = 0.8 * K + 3.0 / u.mean() * (np.eye(3) + np.outer(x, x) / u[0])
    assert np.allclose(generator.on_domain(domain, X[:1]).field.dense()[0], np.linalg.inv(H))
    edge = near_boundary(domain, 50, 1e-9)
    n = (edge - domain.center) / np.linalg.norm(edge - domain.center, axis=1, keepdims=True)
    field = generator.on_domain(domain, edge).field
    assert np.abs(field.apply(n)).max() < 1e-7
    assert np.linalg.eigvalsh(field.dense())[:, 1].min() > 1e-3
    assert generator.decay(domain) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("name", "structure"),
    [
        ("Orthant", "Diagonal"),
        ("Box", "Diagonal"),
        ("Box-half-infinite", "Diagonal"),
        ("RealSpace", "Diagonal"),
        ("Product-of-diagonals", "Diagonal"),
        ("SolidSimplex", "DiagonalPlusRankOne"),
        ("Simplex", "DiagonalPlusRankOne"),
        ("HalfSpace", "DiagonalPlusRankOne"),
        ("Ball", "DiagonalPlusRankOne"),
    ],
)
def test_structure_is_kept_and_equals_the_dense_way(name, structure, monkeypatch):
    from zfree.curvatures import Curvature

    domain = DOMAINS[name]
    X = interior(domain, 50)
    generator, _ = settled(domain, X, "diagonal")
    structured = generator.on_domain(domain, X)
    assert type(structured.field).__name__ == structure
    monkeypatch.setattr(Curvature, "_structured", lambda self, K: None)
    dense = generator.on_domain(domain, X)
    assert np.allclose(structured.field.dense(), dense.field.dense(), rtol=1e-9, atol=1e-14)
    assert np.allclose(structured.divergence, dense.divergence, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("distance", [1e-3, 1e-7, 1e-11])
def test_digits_survive_next_to_the_facets(distance):
    """Against 60 digits, at points next to one, two and three oblique facets."""
    domain = DOMAINS["Polytope"]
    X = interior(domain, 100)
    generator, K = settled(domain, X)
    S = np.cov(X.T, bias=True)
    K = 0.8 * plain_precision(K, S)
    A, b = domain.inequalities
    points = near_boundary(domain, 20, distance)
    corner = np.linalg.solve(A[:3], b[:3])
    inward = domain.interior_point() - corner
    points = (
        np.vstack([points, [corner + distance * inward]])
        if domain.contains(corner[None] + 1e-3 * inward)[0]
        else points
    )
    D = generator.on_domain(domain, points).field.dense()
    units = zf.Units.of(domain, X)
    parts = domain.boundary_parts()
    sigma = np.sqrt(np.einsum("kj,jl,kl->k", parts.normals, S, parts.normals))
    mean = units.slacks[parts.slacks]
    unit = sigma * np.exp(np.mean(np.log(mean / sigma)))
    assert len(parts.normals) > 2 * 3
    slacks = domain.slacks(points)[:, parts.slacks]  # the rounding of a slack is the data's, not D's
    for row, found in zip(slacks, D, strict=True):
        H = mp.matrix(K.tolist())
        for s, a, m, t in zip(row, parts.normals, mean, unit, strict=True):
            v = mp.matrix(a.tolist())
            H += (mp.mpf(s) / t) ** mp.mpf(0.85 - 2) / mp.mpf(m) ** 2 * v * v.T
        exact = np.array((H**-1).tolist(), dtype=float)
        norm = np.sqrt(np.outer(np.diagonal(exact), np.diagonal(exact)))
        assert np.abs(found - exact).max() < 1e-7 * norm.max()
        facet = parts.normals[np.argmin(row)]
        assert facet @ found @ facet == pytest.approx(
            float((mp.matrix([facet.tolist()]) * H**-1 * mp.matrix(facet.tolist()))[0]), rel=1e-5
        )


GAUSS = truncated_gaussian(zf.Box([0.0, 0.0], [1.0, 2.0]), [0.4, 0.8], np.array([[6.0, 1.0], [1.0, 2.0]]), 600)


def _theta(domain, X=GAUSS, generator="auto", **options):
    return zf.TruncatedGaussian(domain, generator=generator, check=False, **options).fit(X).result_


def test_one_set_under_many_names_gets_one_answer():
    text = "x1 > 0, x1 < 1, x2 > 0, x2 < 2"
    names = [
        zf.Box([0.0, 0.0], [1.0, 2.0]),
        zf.Polytope.from_inequalities(text),
        zf.Polytope.from_inequalities("1000*x1 > 0, 0.01*x1 < 0.01, x2 > 0, x2 < 2"),
        zf.Polytope.from_inequalities(text + ", x1 + x2 < 4"),
        zf.Product([zf.Box([0.0], [1.0]), zf.Box([0.0], [2.0])]),
    ]
    first, *others = (_theta(domain) for domain in names)
    assert isinstance(first.generator, zf.SteinBarrier)
    for other in others:
        assert np.allclose(other.theta, first.theta, rtol=1e-9)
        assert np.allclose(other.standard_errors, first.standard_errors, rtol=1e-7)


def test_many_facets_may_be_written_in_any_scale():
    A = _rng.standard_normal((14, 3))
    A[:4] = np.vstack([np.eye(3), -np.ones(3)])
    b = _rng.uniform(0.8, 1.5, 14)
    domain = zf.Polytope(A, b)
    assert len(domain.boundary_parts().normals) > 6
    X = truncated_gaussian(domain, np.zeros(3), 2.0 * np.eye(3), 500)
    factors = 10.0 ** _rng.uniform(-4, 4, 14)
    other = zf.Polytope(A * factors[:, None], b * factors)
    assert np.allclose(_theta(domain, X).theta, _theta(other, X).theta, rtol=1e-8)


@pytest.mark.parametrize("name", ["Orthant", "SolidSimplex", "Polytope", "HalfSpace", "Box-half-infinite", "RealSpace"])
def test_affine_maps_carry_the_estimate_over(name):
    """x ↦ Bx + c with a full B: free directions included, which no other weight here can say."""
    domain = DOMAINS[name]
    d = domain.dimension
    X = interior(domain, 400, seed=1)
    B = np.eye(d) + 0.4 * np.random.default_rng(2).standard_normal((d, d))
    c = np.arange(1.0, d + 1)
    with np.errstate(all="raise"):
        generator, K = settled(domain, X)
        image = domain.affine_image(B, c)
        Y = X @ B.T + c
        inverse = np.linalg.inv(B)
        S = np.cov(Y.T, bias=True)
        pilot = pilot_of(inverse.T @ K @ inverse, S)
        moved = zf.SteinBarrier(coupling="full").informed(pilot).in_units(zf.Units.of(image, Y))
    D, E = generator.on_domain(domain, X).field.dense(), moved.on_domain(image, Y).field.dense()
    assert np.allclose(B @ D @ B.T, E, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("generator", ["auto", zf.SteinBarrier(coupling="diagonal")])
def test_units_of_columns_do_not_matter(generator):
    unit = np.array([1e-6, 1e7])
    plain = _theta(zf.Box([0.0, 0.0], [1.0, 2.0]), generator=generator).parameters("precision")
    other = _theta(zf.Box([0.0, 0.0], [1e-6, 2e7]), GAUSS * unit, generator).parameters("precision")
    scale = np.array([unit[0] ** 2, unit[0] * unit[1], unit[1] ** 2])
    assert np.allclose(other.values * scale, plain.values, rtol=1e-7)
    assert np.allclose(other.standard_errors * scale, plain.standard_errors, rtol=1e-6)


def test_rows_count_by_weight_and_not_by_order():
    domain = zf.Box([0.0, 0.0], [1.0, 2.0])
    order = np.random.default_rng(0).permutation(len(GAUSS))
    assert np.allclose(_theta(domain, GAUSS[order]).theta, _theta(domain).theta, rtol=1e-9)
    twice = _theta(domain, np.vstack([GAUSS, GAUSS[:100]]))
    weight = np.where(np.arange(len(GAUSS)) < 100, 2.0, 1.0)
    weighted = zf.TruncatedGaussian(domain, check=False).fit(GAUSS, sample_weight=weight).result_
    assert np.allclose(twice.theta, weighted.theta, rtol=1e-9)


def test_on_the_whole_space_every_round_is_a_step_to_maximum_likelihood():
    """With D = K⁻¹ the equations of a masked Gaussian are its likelihood equations: Σ = S wherever K is free."""
    K = np.array([[2.0, 0.9, 0, 0], [0.9, 1.5, -0.7, 0], [0, -0.7, 1.0, 0.4], [0, 0, 0.4, 1.2]])
    X = np.random.default_rng(0).multivariate_normal(np.zeros(4), np.linalg.inv(K), 300)
    mask = K != 0
    S = np.cov(X.T, bias=True)
    generator, gaps = zf.SteinBarrier(), []
    for _ in range(12):
        est = zf.Gaussian(generator=generator, mask=mask, check=False).fit(X)
        gaps.append(np.abs((est.covariance_ - S)[mask]).max() / np.abs(S).max())
        generator = generator.informed(pilot_of(est.precision_, S))
    auto = zf.Gaussian(mask=mask, check=False).fit(X)
    assert isinstance(auto.generator_, zf.SteinBarrier)
    identity = zf.Gaussian(generator=zf.Identity(), mask=mask, check=False).fit(X)
    # One pilot is a step of Fisher scoring from a consistent estimate.
    assert gaps[0] < 0.2 * np.abs((identity.covariance_ - S)[mask]).max() / np.abs(S).max()
    assert gaps[-1] < 1e-9
    full = zf.Gaussian(generator=zf.SteinBarrier(), check=False).fit(X)
    assert np.allclose(full.covariance_, S, rtol=1e-10)


def test_the_pilot_hardly_matters():
    """E A(D∇t) = 0 for every K̂ ⪰ 0: estimates from pilots a factor of two apart differ by a small part of a standard error."""
    domain = zf.Orthant(2)
    X = truncated_gaussian(domain, [0.5, 1.0], np.array([[2.0, 0.5], [0.5, 1.5]]), 20_000)
    S, K = np.cov(X.T, bias=True), np.array([[2.0, 0.5], [0.5, 1.5]])
    found = [_theta(domain, X, zf.SteinBarrier().informed(pilot_of(factor * K, S))) for factor in (0.7, 1.0, 1.4)]
    for other in found[::2]:
        assert np.all(np.abs(other.theta - found[1].theta) < 0.25 * found[1].standard_errors)
        assert not np.array_equal(other.theta, found[1].theta)
    assert np.all(
        np.abs(found[1].parameters("precision").values - [2.0, 0.5, 1.5])
        < 4 * found[1].parameters("precision").standard_errors
    )


def test_a_pilot_that_is_no_precision_is_clipped():
    domain = zf.Orthant(2)
    X = interior(domain, 300)
    S = np.cov(X.T, bias=True)
    indefinite, huge = np.array([[1.0, 9.0], [9.0, 1.0]]), 1e9 * np.linalg.inv(S)
    for K in (indefinite, huge, np.zeros((2, 2))):
        generator = zf.SteinBarrier().informed(pilot_of(K, S)).in_units(zf.Units.of(domain, X))
        assert np.linalg.eigvalsh(generator.on_domain(domain, X).field.dense()).min() > 0
    largest = zf.SteinBarrier().informed(pilot_of(huge, S)).in_units(zf.Units.of(domain, X))
    first = zf.SteinBarrier(0.8 * 1.5).informed(pilot_of(None, S)).in_units(zf.Units.of(domain, X))
    assert np.allclose(largest.on_domain(domain, X).field.dense(), first.on_domain(domain, X).field.dense())


def test_it_reaches_the_bound_where_barriers_do_not():
    """Share of the Cramér–Rao bound for K at the truth, on 40,000 draws."""
    from tests.posed import posed, whole
    from zfree.models import PairwiseModel

    domain, K, mean = zf.Orthant(3), 100 * np.linalg.inv(np.full((3, 3), 0.4) + 0.6 * np.eye(3)), np.full(3, 0.1)
    X = truncated_gaussian(domain, mean, K, 40_000)
    model = PairwiseModel(("a", "b", "c"))
    theta = np.concatenate([K[np.triu_indices(3)], K @ mean])

    t = model.statistics(X)
    t = t - t.mean(axis=0)

    def share(generator):
        rows = whole(posed(model, generator, domain, X))
        psi = rows.influence(theta, rows.log_scale).T
        inverse = np.linalg.inv(psi.T @ t)  # minus Γ, by Stein's identity: in this form a share is at most one
        covariance = inverse.T @ (psi.T @ psi) @ inverse
        return np.trace(np.linalg.inv(t.T @ t)[:6, :6]) / np.trace(covariance[:6, :6])

    S = np.cov(X.T, bias=True)
    stein = [share(zf.SteinBarrier(coupling=c).informed(pilot_of(K, S))) for c in ("full", "diagonal")]
    assert min(stein) > 0.985
    assert share(zf.Barrier(1.0, 0.0)) < 0.9
    assert share(zf.Barrier(4 / 3, 0.0)) < 0.97


def test_it_works_wherever_a_generator_does():
    import pickle

    from sklearn.base import clone

    domain = zf.Box([0.0, 0.0], [1.0, 2.0])
    est = zf.TruncatedGaussian(domain, generator=zf.SteinBarrier(0.7)).fit(GAUSS)
    assert repr(est.generator_) == "SteinBarrier(keep=0.7)"
    assert clone(est).generator == zf.SteinBarrier(0.7) != est.generator_
    again = pickle.loads(pickle.dumps(est))
    assert again.generator_ == est.generator_
    assert hash(again.generator_) == hash(est.generator_)
    assert again.result_.score(GAUSS) == est.result_.score(GAUSS)
    ranking = zf.rank(zf.TruncatedGaussian(domain), GAUSS, [zf.Barrier.log(), zf.SteinBarrier()])
    assert isinstance(ranking.best.generator, zf.SteinBarrier)
    chosen = zf.TruncatedGaussian(domain, generator=[zf.Barrier.log(), zf.SteinBarrier()]).fit(GAUSS)
    assert isinstance(chosen.generator_, zf.SteinBarrier)
    assert np.allclose(chosen.precision_, zf.TruncatedGaussian(domain).fit(GAUSS).precision_)
    both = zf.TruncatedGaussian(domain, generator=zf.Combined([zf.SteinBarrier(), zf.Barrier(1.0, 0.0)])).fit(GAUSS)
    assert both.result_.combination is not None
    assert 0 < est.j_test(GAUSS).p_value <= 1
    for options in (
        {"structure": "diagonal"},
        {"mean": [0.4, 0.8]},
        {"precision": [[np.nan, 1.0], [1.0, np.nan]]},
        {"fixed": {"K[x1,x2]": 1.0}},
        {"ridge": 1e-3},
        {"positive_definite": True},
        {"target": "mean"},
    ):
        found = zf.TruncatedGaussian(domain, check=False, **options).fit(GAUSS)
        assert isinstance(found.generator_, zf.SteinBarrier)
        assert np.isfinite(found.result_.selection.criterion)
    a = zf.PowerInteraction(1.0, 1.0, check=False).fit(GAUSS)
    assert np.allclose(a.precision_, zf.TruncatedGaussian(check=False).fit(GAUSS).precision_)


def test_many_columns_keep_the_diagonal():
    X = np.abs(np.random.default_rng(0).standard_normal((1500, 31)))
    est = zf.TruncatedGaussian(mask=np.eye(31, k=1) + np.eye(31, k=-1) + np.eye(31), check=False).fit(X)
    field = est.generator_.in_units(est.result_.units).evaluate(est.domain_, X[:3]).field
    assert type(field).__name__ == "Diagonal"


def test_what_makes_no_sense_is_refused():
    for keep in (0.0, -1.0, np.nan, "a", None):
        with pytest.raises(SpecificationError, match="keep must be a positive number"):
            zf.SteinBarrier(keep)
    with pytest.raises(SpecificationError, match="coupling must be"):
        zf.SteinBarrier(coupling="some")
    with pytest.raises(SpecificationError, match="first estimate"):
        zf.SteinBarrier().evaluate(zf.Orthant(2), GAUSS)
    with pytest.raises(SpecificationError, match="quadratic, or nearly"):
        zf.Gamma(generator=zf.SteinBarrier()).fit(GAUSS)
    shells = zf.Shells([0.2, 0.5, 1.0], d=2)
    with pytest.raises(SpecificationError, match="convex"):
        zf.TruncatedGaussian(shells, generator=zf.SteinBarrier()).fit(interior(shells, 100))
    assert not zf.SteinBarrier().check(shells).holds


@pytest.mark.parametrize(("share", "kept"), [(-3.0, 0.02), (0.001, 0.02), (0.5, 0.5), (1.4, 1.4), (40.0, 1.5)])
def test_a_pilot_counts_between_a_fiftieth_and_one_and_a_half_of_the_inverse_covariance(share, kept):
    domain = zf.RealSpace(2)
    S = np.array([[2.0, 0.6], [0.6, 0.5]])
    units = zf.Units.of(domain, np.random.default_rng(0).standard_normal((9, 2)))
    for coupling, inverse in (("full", np.linalg.inv(S)), ("diagonal", np.diag(1 / np.diagonal(S)))):
        generator = zf.SteinBarrier(coupling=coupling).informed(pilot_of(share * inverse, S)).in_units(units)
        D = generator.on_domain(domain, np.zeros((1, 2))).field.dense()[0]
        assert np.allclose(np.linalg.inv(D), 0.8 * kept * inverse)


@pytest.mark.parametrize("noise", [1e-3, 1e-5])
def test_columns_that_nearly_determine_each_other_do_not_make_the_moments_singular(noise):
    rng = np.random.default_rng(0)
    x = np.abs(rng.standard_normal((1500, 1))) + 0.1
    u = rng.uniform(size=(1500, 1))

    def fitted(noise):
        K = zf.TruncatedGaussian(zf.Orthant(2), check=False).fit(np.hstack([x, x + noise * u])).precision_
        back = np.array([[1.0, 0.0], [1.0, noise]])  # to the precision of x1 and (x2 - x1) / noise
        return back.T @ K @ back

    with pytest.warns(zf.errors.IllConditionedWarning) if noise < 1e-4 else nullcontext():
        found = fitted(noise)
    assert np.allclose(found, fitted(1e-4), rtol=0.02, atol=0.02)
