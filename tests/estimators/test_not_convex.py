"""Fits on a domain that is not convex: what is consistent there, what is chosen, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from zfree.errors import BoundaryError, DomainError, InconsistentGeneratorWarning, SpecificationError
from zfree.samplers import sample_gaussian

DOMAIN = zf.Shells([0.4, 0.8, 1.5], d=2)
MEAN, K = np.array([0.2, -0.3]), np.array([[2.0, 0.6], [0.6, 1.0]])
X = sample_gaussian(DOMAIN, MEAN, K, 3000, 0)
LARGE = sample_gaussian(DOMAIN, MEAN, K, 200_000, 1)


def _errors(est):
    """(K̂ − K) in standard errors, upper triangle, then the mean."""
    upper = np.triu_indices(2)
    k = ((est.precision_ - K) / est.precision_se_)[upper]
    return np.concatenate([k, (est.mean_ - MEAN) / est.mean_se_])


@pytest.mark.parametrize("generator", [zf.BoundaryDistance(), zf.SectionDistance("x"), zf.SectionDistance("x^2")])
def test_distances_are_consistent(generator):
    est = zf.TruncatedGaussian(DOMAIN, generator).fit(LARGE)
    assert np.abs(_errors(est)).max() < 4
    assert est.precision_se_.max() < 0.05


@pytest.mark.filterwarnings("ignore::zfree.errors.NotPositiveDefiniteWarning")
def test_a_barrier_on_the_hull_is_not():
    """It does not vanish on the inner spheres, and K is far off however many rows there are (paper, non-convex support)."""
    est = zf.TruncatedGaussian(DOMAIN.hull, zf.Barrier.log()).fit(LARGE)
    assert np.abs(_errors(est)[:3]).min() > 10
    assert np.abs(est.precision_ - K).max() > 0.5


def test_auto_takes_the_better_distance_and_says_why():
    est = zf.TruncatedGaussian(DOMAIN).fit(X)
    selection = est.result_.selection
    assert {t.generator for t in selection.trials} == {
        zf.BoundaryDistance(scale="natural"),
        zf.SectionDistance("x", scale="natural"),
    }
    assert est.generator_ == min(selection.trials, key=lambda t: t.criterion).generator
    assert "convex" in selection.remark
    assert est.j_test(X).p_value > 0.001
    assert est.result_.fit_check.p_value > 0.001
    by_hand = zf.TruncatedGaussian(DOMAIN, est.generator_).fit(X)
    assert np.array_equal(est.precision_, by_hand.precision_)


def test_a_product_with_shells_is_not_convex_either():
    product = zf.Product([zf.Orthant(1), DOMAIN])
    Y = np.column_stack([np.abs(np.random.default_rng(0).standard_normal(len(X))), X])
    est = zf.TruncatedGaussian(product).fit(Y)
    assert est.generator_ in (zf.BoundaryDistance(scale="natural"), zf.SectionDistance("x", scale="natural"))
    assert product.contains(est.sample(500, random_state=0)).all()


def test_nothing_to_estimate():
    est = zf.TruncatedGaussian(DOMAIN, mean=MEAN, precision=K).fit(X)
    assert np.array_equal(est.precision_, K)


def test_a_barrier_is_refused_with_the_remedy():
    with pytest.raises(SpecificationError, match=r"convex domain.*BoundaryDistance\(\).*hull"):
        zf.TruncatedGaussian(DOMAIN, zf.Barrier(1.2, 0.0)).fit(X)


def test_a_list_is_chosen_from():
    candidates = [zf.Barrier(), zf.BoundaryDistance(), zf.SectionDistance("x")]
    est = zf.TruncatedGaussian(DOMAIN, candidates).fit(X)
    assert est.generator_ in candidates[1:]
    assert "convex" in est.result_.selection.trials[0].refused
    with pytest.raises(SpecificationError, match="convex"):
        zf.TruncatedGaussian(DOMAIN, [zf.Barrier()]).fit(X)


@pytest.mark.parametrize("d", [1, 2])
def test_distances_are_combined(d):
    """On a line two of the distances are one, and only one of them is used."""
    domain = zf.Shells([0.4, 0.8, 1.5], d=d)
    Y = sample_gaussian(domain, MEAN[:d], K[:d, :d], 3000, 2)
    est = zf.TruncatedGaussian(domain, zf.Combined()).fit(Y)
    assert len(est.result_.combination.generators) == d + 1
    assert est.result_.j_test.p_value > 0.001
    alone = zf.TruncatedGaussian(domain).fit(Y)
    assert est.precision_se_[0, 0] <= alone.precision_se_[0, 0]
    with pytest.raises(SpecificationError, match="convex"):
        zf.TruncatedGaussian(domain, zf.Combined([zf.BoundaryDistance(), zf.Barrier()])).fit(Y)


def test_rank_puts_a_barrier_last():
    ranking = zf.rank(zf.TruncatedGaussian(DOMAIN), X, [zf.Barrier(), zf.BoundaryDistance()])
    assert ranking.best.generator == zf.BoundaryDistance()
    assert "convex" in ranking.candidates[1].refused


def test_the_warning_names_a_generator_that_exists():
    with pytest.warns(InconsistentGeneratorWarning, match=r"Use BoundaryDistance\(\)"):
        zf.TruncatedGaussian(DOMAIN, zf.Identity()).fit(X)


def test_rows_in_a_gap_and_on_a_sphere():
    est = zf.TruncatedGaussian(DOMAIN)
    with pytest.raises(DomainError, match=r"between 0\.8 and 1\.5"):
        est.fit(np.concatenate([X, [[0.6, 0.0]]]))
    touching = np.concatenate([X, [[0.8, 0.0]]])
    with pytest.raises(BoundaryError, match="boundary"):
        est.fit(touching)
    with pytest.warns(zf.errors.BoundaryRowsWarning, match="moved"):
        zf.TruncatedGaussian(DOMAIN, boundary="clip", boundary_eps=1e-3).fit(touching)
