"""One variable: draws by inversion against scipy's distribution functions, poles, tails and modes included."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import zfree as zf
from zfree.samplers.inversion import inversion_draws

CASES = {
    "normal far from the start": (zf.RealSpace(1), stats.norm(1e4, 0.3)),
    "gamma with a pole": (zf.Orthant(1), stats.gamma(0.05)),
    "gamma in small units": (zf.Orthant(1), stats.gamma(3.0, scale=1e-9)),
    "beta with two poles": (zf.Box([0.0], [1.0]), stats.beta(0.3, 0.6)),
    "half-normal from above": (zf.Box([-np.inf], [0.0]), stats.truncnorm(-np.inf, 0.0)),
}


@pytest.mark.parametrize("name", CASES)
def test_draws_follow_the_distribution_function(name):
    domain, law = CASES[name]
    rows = np.atleast_2d(law.rvs(20, random_state=1)).T
    rows = rows[domain.contains(rows)]
    found = inversion_draws(lambda X: law.logpdf(X[:, 0]), domain, 20_000, np.random.default_rng(0), rows)
    assert found.exact
    assert domain.contains(found.draws).all()
    assert stats.kstest(found.draws[:, 0], law.cdf).pvalue > 0.001


def test_modes_between_the_data():
    def log_density(X):
        return np.logaddexp(stats.norm(-1, 0.01).logpdf(X[:, 0]), np.log(3) + stats.norm(1, 0.02).logpdf(X[:, 0]))

    rows = np.array([[-1.0], [1.0]])
    found = inversion_draws(log_density, zf.RealSpace(1), 20_000, np.random.default_rng(0), rows)
    assert (found.draws > 0).mean() == pytest.approx(0.75, abs=0.01)


def test_what_the_grid_cannot_resolve_is_left_to_chains():
    def comb(X):
        return -1e8 * np.sin(1e4 * X[:, 0]) ** 2

    assert inversion_draws(comb, zf.Box([0.0], [1.0]), 10, np.random.default_rng(0), None) is None
    heavy = inversion_draws(lambda X: stats.cauchy.logpdf(X[:, 0]), zf.RealSpace(1), 10, np.random.default_rng(0), None)
    assert heavy is None
    broken = inversion_draws(
        lambda X: np.where(X[:, 0] > 1.0, np.nan, -X[:, 0]), zf.Orthant(1), 10, np.random.default_rng(0), None
    )
    assert broken is None  # a density that is not a number is not one that is zero
    two_columns = inversion_draws(lambda X: -X.sum(axis=1), zf.Orthant(2), 10, np.random.default_rng(0), None)
    assert two_columns is None


def test_a_family_of_ones_own_is_drawn_exactly():
    x = np.random.default_rng(0).beta(2.0, 3.0, size=(500, 1))
    est = zf.ExponentialFamily(
        lambda X: np.concatenate([np.log(X), np.log1p(-X)], axis=1),
        jacobian=lambda X: np.stack([1 / X, -1 / (1 - X)], axis=1),
        hessian=lambda X: np.stack([-1 / X**2, -1 / (1 - X) ** 2], axis=1)[:, :, :, None],
        domain=zf.Box([0.0], [1.0]),
    ).fit(x)
    found = est.sample(20_000, 0, return_diagnostics=True)
    assert found.exact
    assert stats.kstest(found.draws[:, 0], stats.beta(*(est.theta_ + 1)).cdf).pvalue > 0.001
    assert est.result_.fit_check.p_value > 0.001
