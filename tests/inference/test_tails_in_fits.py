"""What a fit says about tails, and that it is right: estimates and intervals on simulated data."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import zfree as zf
from tests.heavy_tails import growing, lomax
from zfree.errors import ImproperDensityWarning, InconsistentGeneratorWarning, InfiniteVarianceWarning, ZfreeWarning


def family(generator, **options):
    model = lomax()
    return zf.ExponentialFamily(
        model._t, jacobian=model._jacobian, hessian=model._hessian, domain=zf.Orthant(1), generator=generator, check=False, **options
    )  # fmt: skip


def test_a_fit_warns_and_keeps_a_note():
    x = np.random.default_rng(1).pareto(0.7, size=(2000, 1))
    with pytest.warns(
        InconsistentGeneratorWarning, match=r"is inconsistent.*far out along x1 → ∞ .*r\^-2.*Barrier.log\(det_power=0\)"
    ):
        est = family("phi3").fit(x)
    assert any("far out" in note for note in est.result_.notes)
    assert "not valid" in str(est.result_.summary())
    x = np.random.default_rng(1).pareto(1.5, size=(2000, 1))
    with pytest.warns(InfiniteVarianceWarning, match="has no finite variance.*must be slower than"):
        family("phi3").fit(x)
    with pytest.warns(InconsistentGeneratorWarning, match="grows faster than the density falls"):
        zf.Exponential(growing(4.0)).fit(np.random.default_rng(1).exponential(size=(500, 1)))
    for generator in ("phi1", "phi2", "h2", "auto", "search", zf.Barrier.log(0.0)):
        assert family(generator).fit(x).result_.notes == ()


def test_choices_leave_out_what_grows_too_fast():
    x = np.random.default_rng(2).pareto(0.7, size=(1000, 1))
    bad, good = zf.Barrier.log(0.5), zf.Barrier.log(0.0)
    est = family([bad, good]).fit(x)
    assert est.generator_ == good
    assert [t.refused for t in est.result_.selection.trials] == ["no finite variance far out", ""]
    table = zf.rank(family(good), x, [bad, good])
    assert [(c.generator, c.refused) for c in table] == [(good, ""), (bad, "inconsistent")]
    with pytest.raises(zf.errors.SpecificationError, match="no finite variance far out"):
        family(zf.Combined([good, bad])).fit(x)
    with pytest.raises(zf.errors.SpecificationError, match="no candidate"):
        family([bad, zf.Barrier.log(1.0)]).fit(x)


def test_companions_of_a_combination_must_bear_the_tails():
    """What vanishes faster grows faster: with a heavy tail the chosen generator stays alone, or with those that bear it."""
    for alpha, most in ((0.3, 0), (30.0, 2)):
        x = np.random.default_rng(4).pareto(alpha, size=(1000, 1))
        result = family(zf.Combined()).fit(x).result_
        others = () if result.combination is None else result.combination.generators[1:]
        assert len(others) <= most
        assert (alpha < 1) == (not others)
        assert not any("finite variance" in note for note in result.notes)


def test_an_improper_density_is_left_to_who_speaks_of_it():
    x = np.random.default_rng(3).uniform(size=(200, 1)) * 50
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        est = family(zf.CoordinateWeight("x"), fixed={"theta[0]": 0.9}).fit(x)
    assert [w.category for w in caught] == [ImproperDensityWarning]
    assert est.theta_[0] == 0.9


def simulate(alpha, generator, n, repeats, seed):
    """Estimates of θ = α + 1, and how often 95% intervals cover it."""
    rng, found, covered = np.random.default_rng(seed), [], 0
    est = family(generator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZfreeWarning)
        for _ in range(repeats):
            est.fit(rng.pareto(alpha, size=(n, 1)))
            low, high = est.result_.conf_int()[0]
            found.append(est.theta_[0])
            covered += low < alpha + 1 < high
    return np.array(found), covered / repeats


def test_where_all_is_well_intervals_cover():
    """α = 0.7 with x², whose fifth integral is infinite, and α = 4 with x³."""
    for alpha, generator in ((0.7, "h2"), (4.0, "phi3")):
        found, covered = simulate(alpha, generator, 1000, 200, seed=5)
        assert 0.91 <= covered <= 0.99
        assert abs(found.mean() - alpha - 1) < 4 * found.std() / np.sqrt(200)


def test_where_the_variance_is_infinite_intervals_do_not_cover_and_errors_fall_slowly():
    """α = 1.5 with x³: intervals cover at every n alike, too seldom, and errors fall more slowly than 1/√n."""
    few, covered_few = simulate(1.5, "phi3", 300, 200, seed=6)
    many, covered_many = simulate(1.5, "phi3", 4800, 200, seed=7)
    assert max(covered_few, covered_many) < 0.9
    ratio = np.median(np.abs(few - 2.5)) / np.median(np.abs(many - 2.5))
    assert 1.5 < ratio < 3.3  # sixteen times the rows: 4 with a variance; n^(1 − 1/α) is 2.5


def test_where_it_is_inconsistent_the_estimate_tends_to_the_edge():
    """α = 0.7 with x³: θ̂ tends to 2, where the flux is constant, and not to 1.7."""
    rng, errors = np.random.default_rng(8), []
    for n in (1000, 100_000):
        with pytest.warns(InconsistentGeneratorWarning):
            errors.append(
                abs(family("phi3", standard_errors="sandwich").fit(rng.pareto(0.7, size=(n, 1))).theta_[0] - 2.0)
            )
    assert errors[0] < 0.1
    assert errors[1] < 0.01


def test_a_weight_that_overflows_on_the_rows_is_refused():
    x = np.random.default_rng(9).pareto(1.0, size=(500, 1))
    with pytest.raises(zf.errors.SpecificationError, match=r"leaves the range of floating point at x = .*cap="):
        family(growing(50.0)).fit(x)
    capped = zf.CoordinateWeight(lambda x: np.expm1(np.minimum(x, 9.0)), lambda x: np.exp(x) * (x < 9.0), cap=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of the function's own
        assert family(capped).fit(x).result_.notes == ()
