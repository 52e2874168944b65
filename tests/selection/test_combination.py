"""zf.Combined and Hansen's J."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.posed import objective, posed, whole
from tests.sampling import truncated_gaussian
from zfree.errors import SpecificationError
from zfree.models import DirichletModel
from zfree.selection import combine, j_test, stack
from zfree.selection.combination import Shrinkage, _weights
from zfree.solvers import Restriction

ALPHA = np.array([2.0, 3.0, 4.0])
P = np.random.default_rng(0).dirichlet(ALPHA, 1000)
GENERATORS = [zf.Barrier(0.4, 0.0), zf.Barrier(-0.2, 0.0), zf.Barrier(0.6, 0.3)]


def _stacked(X=P, generators=GENERATORS):
    problem = posed(DirichletModel(("a", "b", "c")), zf.Identity(), zf.Simplex(3), X)
    return stack(objective(problem), generators)


def test_full_weights_are_two_step_gmm():
    """With no shrinkage B solves min over θ of m(θ)ᵀ S⁻¹ m(θ) for the stacked equations, S at the first estimate."""
    s = _stacked()
    theta0 = s.solutions[0].theta
    rows, gammas, gs = [], [], []
    for g, o in zip(GENERATORS, s.objectives, strict=True):
        problem = posed(o.problem.model, g, o.problem.domain, P)
        rows.append(whole(problem).influence(theta0, o.moments.log_scale))
        gammas.append(o.moments.gamma.dense())
        gs.append(o.moments.g)
    psi, M, m = np.concatenate(rows), np.concatenate(gammas), np.concatenate(gs)
    omega = np.linalg.inv(psi @ psi.T / len(P))
    gmm = -np.linalg.solve(M.T @ omega @ M, M.T @ omega @ m)
    total = s.grams[0] + s.grams[1]
    B = _weights(Shrinkage("full", 0.0), s, total, np.eye(3))
    assert np.allclose(theta0 + B @ s.contrasts, gmm, rtol=1e-8)


def test_one_weight_per_generator_minimises_the_criterion():
    s = _stacked()
    total, W = s.grams[0] + s.grams[1], np.diag([1.0, 2.0, 0.5])

    def variance(w):
        both = np.concatenate([np.eye(3), np.kron(w, np.eye(3))], axis=1)
        return np.sum(W * (both @ total @ both.T))

    best = _weights(Shrinkage("per generator"), s, total, W)[0, [0, 3]]
    for step in np.random.default_rng(0).standard_normal((50, 2)) * 0.05:
        assert variance(best + step) >= variance(best) - 1e-9 * abs(variance(best))


def test_combined_covariance_is_that_of_its_influence():
    s = _stacked()
    _, covariance, record = combine(s, np.eye(3), Restriction.none(3))
    assert record.estimates.shape == (3, 3)
    assert np.trace(covariance) <= np.trace(s.grams[0][:3, :3] + s.grams[1][:3, :3]) / len(P) ** 2 * (1 + 1e-9)
    alone, c1, record = combine(s, np.eye(3), Restriction.none(3), alone=True)
    single = zf.Dirichlet(generator=GENERATORS[0], standard_errors="sandwich").fit(P).result_
    assert np.allclose(alone, single.theta)
    assert np.allclose(c1, single.covariance)
    assert record.shrinkage == "the first alone"


def test_estimator_with_combined():
    est = zf.Dirichlet(generator=zf.Combined(GENERATORS)).fit(P)
    assert est.result_.combination.generators[0] == est.generator_
    assert set(est.result_.combination.generators) == set(GENERATORS)
    assert 0 <= est.result_.j_test.p_value <= 1
    assert "3 combined" in str(est.result_.summary())
    assert np.all(np.abs(est.alpha_ - ALPHA) < 4 * est.alpha_se_)
    auto = zf.Dirichlet(generator=zf.Combined()).fit(P)
    assert auto.generator_ == zf.Dirichlet().fit(P).generator_
    assert len(auto.result_.combination.generators) == 3
    x = np.random.default_rng(0).exponential(size=400)
    assert zf.Exponential(generator=zf.Combined()).fit(x).rate_[0] == pytest.approx(1 / x.mean(), rel=1e-12)
    fixed = zf.Dirichlet(generator=zf.Combined(GENERATORS), fixed={"alpha[x1]": 2.0}).fit(P)
    assert fixed.alpha_[0] == 2.0
    assert fixed.alpha_se_[0] == 0.0
    with pytest.raises(SpecificationError, match="at least two"):
        zf.Combined([zf.Barrier()])


def test_combination_pays_where_no_member_of_the_family_is_efficient():
    """On a ball, 40 data sets: the combination's mean squared error is below that of the log barrier it starts with."""
    ball = zf.Ball(1.0, d=2)
    K = 3.0 * np.eye(2)
    single, both = [], []
    for seed in range(40):
        X = truncated_gaussian(ball, [0.2, 0.0], K, 500, seed)
        a = zf.TruncatedGaussian(domain=ball, generator=zf.Barrier.log()).fit(X)
        b = zf.TruncatedGaussian(domain=ball, generator=zf.Combined([zf.Barrier.log(), zf.Barrier(1.0, -0.1)])).fit(X)
        single.append(np.sum((a.precision_ - K) ** 2))
        both.append(np.sum((b.precision_ - K) ** 2))
    assert np.mean(both) < 0.7 * np.mean(single)


@pytest.mark.parametrize("split", [1, 3])
def test_stacking_streams(split, monkeypatch):
    from zfree.data import chunks

    one = _stacked()
    monkeypatch.setattr(chunks, "CHUNK_DOUBLES", 64 * 3 * split)
    chunked = _stacked()
    assert np.allclose(sum(one.grams), sum(chunked.grams), rtol=1e-9)
    assert j_test(chunked).p_value == pytest.approx(j_test(one).p_value, rel=1e-6)


def test_j_has_about_its_size_and_some_power():
    """100 data sets: p-values below 0.2 in 10 to 32% when the model is right; nearly always below 0.05 when it is not."""
    rng = np.random.default_rng(2)
    right = [j_test(_stacked(rng.dirichlet(ALPHA, 500), GENERATORS[:2])).p_value for _ in range(100)]
    assert 0.10 < np.mean(np.array(right) < 0.2) < 0.32
    z = np.exp(0.8 * rng.standard_normal((40, 500, 3)))
    wrong = [j_test(_stacked(x / x.sum(axis=1, keepdims=True), GENERATORS[:2])).p_value for x in z]
    assert np.mean(np.array(wrong) < 0.05) > 0.9


def test_members_that_would_spoil_the_rest_are_refused():
    X = truncated_gaussian(zf.Orthant(2), [0.5, 0.5], np.eye(2), 500)
    for bad in (zf.Identity(), zf.Barrier(1.9, 0.0)):
        with pytest.raises(SpecificationError, match="cannot be combined"):
            zf.TruncatedGaussian(generator=zf.Combined([bad, zf.Barrier(1.2, 0.0)])).fit(X)
    with pytest.raises(SpecificationError, match="different"):
        zf.Combined([zf.Barrier(), zf.Barrier()])
    with pytest.raises(SpecificationError, match="positive_definite"):
        zf.TruncatedGaussian(generator=zf.Combined(), positive_definite=True).fit(X)


def test_nothing_to_combine_on_the_whole_space():
    X = np.random.default_rng(0).standard_normal((200, 2))
    assert np.allclose(zf.Gaussian(generator=zf.Combined()).fit(X).mean_, X.mean(axis=0))


def test_a_poor_first_generator_gives_way_to_a_good_second():
    """The combination moves from the first estimate most of the way to the better one, and no further than its variance says."""
    s = _stacked(generators=[zf.Barrier.log(), zf.Barrier(0.4, 0.0)])
    theta, covariance, record = combine(s, np.eye(3), Restriction.none(3))
    first, second = record.estimates
    assert record.shrinkage != "the first alone"
    assert np.linalg.norm(theta - second) < 0.3 * np.linalg.norm(first - second)
    good = zf.Dirichlet(generator=zf.Barrier(0.4, 0.0)).fit(P).result_
    assert np.trace(covariance) == pytest.approx(np.trace(good.covariance), rel=0.15)
