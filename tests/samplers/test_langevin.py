"""Langevin draws against exact samplers, fixed seeds; and the step itself, which Metropolis' rule would cover up for."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import special, stats

import zfree as zf
from zfree.errors import SpecificationError
from zfree.samplers import effective_size, sample_gaussian, sample_langevin
from zfree.samplers.langevin import TARGET, _Diffusion, _Proposal

MEAN, K = np.array([0.3, 0.5]), np.array([[3.0, 1.0], [1.0, 2.0]])
ALPHA = np.array([1.5, 3.0, 0.8])
DOMAINS = {
    "orthant": zf.Orthant(2),
    "solid simplex": zf.SolidSimplex(2),
    "ball": zf.Ball(0.8, center=[0.2, 0.1]),
    "box": zf.Box([0.0, -np.inf], [0.5, 1.0]),
    "polytope": zf.Polytope.from_inequalities("x1 > 0, x2 > -1, x1 + 2*x2 < 2, x1 - x2 < 1"),
    "shells": zf.Shells([0.4, 0.6, 0.9], center=[0.2, 0.1]),
    "simplex": zf.Simplex(3),
}
CASES = [
    *((name, None) for name in DOMAINS),
    *((name, zf.Barrier(4 / 3, 0.5, scale="raw")) for name in DOMAINS if name != "shells"),
    ("solid simplex", zf.BoundaryDistance()),
    ("simplex", zf.BoundaryDistance()),
    ("orthant", zf.CoordinateWeight("x^2")),
    ("box", zf.Barrier.log(scale="raw")),
]


def gaussian(X):
    Y = (X - MEAN) @ K
    return -0.5 * ((X - MEAN) * Y).sum(axis=1), -Y


def dirichlet(X):
    return np.log(X) @ (ALPHA - 1.0), (ALPHA - 1.0) / X


def density(name):
    return dirichlet if name == "simplex" else gaussian


@cache
def exact(name, n, seed):
    if name == "simplex":
        return np.random.default_rng(seed).dirichlet(ALPHA, n)
    return sample_gaussian(DOMAINS[name], MEAN, K, n, seed)


def same_distribution(draws, reference, size):
    """`draws` that are worth `size` independent ones: means and second moments to 4.5 standard errors, projections by KS."""
    d = draws.shape[1]
    rows, columns = np.triu_indices(d)
    for f in (lambda X: X, lambda X: X[:, rows] * X[:, columns]):
        a, b = f(draws), f(reference)
        error = b.std(axis=0) * np.sqrt(1.0 / size + 1.0 / len(reference))
        assert np.all(np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4.5 * error)
    for direction in (*np.eye(d), np.arange(1.0, d + 1.0) * (-1.0) ** np.arange(d)):
        gap = stats.ks_2samp(draws @ direction, reference @ direction, method="asymp").statistic
        assert stats.kstwobign.sf(gap / np.sqrt(1.0 / size + 1.0 / len(reference))) > 0.001


@pytest.mark.parametrize("name", DOMAINS)
def test_from_few_points_to_the_target(name):
    """Burn-in finds the target and the step; shells that are far apart need a start in each of them."""
    domain, chains, rounds = DOMAINS[name], 200, 12
    start = exact(name, chains, 9) if name == "shells" else None
    settings = {"chains": chains, "burn_in": 300, "steps": 40 * rounds, "random_state": 0}
    found = sample_langevin(density(name), domain, chains * rounds, start=start, **settings)
    assert found.draws.shape == (chains * rounds, domain.dimension)
    assert domain.contains(found.draws).all()
    assert found.acceptance == pytest.approx(TARGET, abs=0.04)
    assert name == "shells" or found.rhat.max() < 1.05
    own = effective_size(found.draws.reshape(rounds, chains, -1)).min()
    assert chains < own < 1.2 * found.effective_size.min()
    same_distribution(found.draws, exact(name, 60_000, 1), own)


@pytest.mark.parametrize(("name", "generator"), CASES, ids=lambda v: v if isinstance(v, str) else repr(v))
def test_exact_draws_stay_exact(name, generator):
    """Chains that start at exact draws, one each, and take a few large steps: whatever D and the step, the target stays."""
    n = 20_000
    start = exact(name, n, 10)
    settings = {"start": start, "chains": n, "burn_in": 1, "steps": 8, "random_state": 3}
    found = sample_langevin(density(name), DOMAINS[name], n, generator=generator, **settings)
    assert DOMAINS[name].contains(found.draws).all()
    assert 0.2 < found.acceptance < 0.95  # moves, and rejections that matter
    same_distribution(found.draws, exact(name, 60_000, 1), n)


@pytest.mark.parametrize("generator", [None, zf.Barrier.log(0.0, scale="raw")], ids=["entropy", "log"])
@pytest.mark.parametrize(
    "domain", [zf.Simplex(3), zf.Polytope.from_inequalities("x1 > 0, x2 > 0, x1 + x2 < 1")], ids=repr
)
def test_densities_that_are_infinite_on_a_facet(domain, generator):
    """Many draws are so close to the third facet that D has no digit left across it."""
    alpha, n = np.array([2.0, 2.0, 0.4]), 15_000
    flat = domain.chart is not None

    def log_density(X):
        parts = X if flat else np.column_stack([X, 1.0 - X.sum(axis=1)])
        slope = (alpha - 1.0) / parts
        return np.log(parts) @ (alpha - 1.0), slope if flat else slope[:, :2] - slope[:, 2:]

    start = np.random.default_rng(0).dirichlet(alpha, n)
    assert start[:, 2].min() < 1e-9
    start = start if flat else start[:, :2]
    settings = {"start": start, "chains": n, "burn_in": 1, "steps": 8, "random_state": 1}
    found = sample_langevin(log_density, domain, n, generator=generator, **settings)
    draws = found.draws if flat else np.column_stack([found.draws, 1.0 - found.draws.sum(axis=1)])
    for j in range(3):
        assert stats.kstest(draws[:, j], stats.beta(alpha[j], alpha.sum() - alpha[j]).cdf).pvalue > 0.001


def proposal(name, X, h, generator=None):
    state = _Diffusion(density(name), DOMAINS[name], generator).begin(X, len(X), np.random.default_rng(0))
    return state, _Proposal(state, h)


@pytest.mark.parametrize(("name", "generator"), CASES, ids=lambda v: v if isinstance(v, str) else repr(v))
def test_the_drift_balances_under_the_target(name, generator):
    """E[D∇log p + ∇·D] = 0 because pD vanishes on the boundary; without ∇·D it would not."""
    h = 1e-9  # far from where the drift is shortened
    state, step = proposal(name, exact(name, 60_000, 1), h, generator)
    drift = (step._mean - state.x) * (2.0 / h)
    divergence = np.exp(state.log_weight)[:, None] * state.divergence
    error = drift.std(axis=0) / np.sqrt(len(drift))
    assert np.all(np.abs(drift.mean(axis=0)) < 4.5 * error)
    assert np.abs(divergence.mean(axis=0)).max() > 10 * error.max()


@pytest.mark.parametrize("name", ["solid simplex", "polytope", "ball"])
def test_the_proposal_is_the_euler_step(name):
    """Its density and its draws are those of N(x + h/2 (D∇log p + ∇·D), hD)."""
    generator, h = zf.Barrier(4 / 3, 0.5, scale="raw"), 0.3
    state, step = proposal(name, exact(name, 5, 6), h, generator)
    value = generator.evaluate(DOMAINS[name], state.x)
    weight = np.exp(value.log_weight)
    D, divergence = weight[:, None, None] * value.field.dense(), weight[:, None] * value.divergence
    mean = state.x + 0.5 * h * (np.einsum("nij,nj->ni", D, gaussian(state.x)[1]) + divergence)
    Y = exact(name, 5, 7)
    reference = [stats.multivariate_normal(m, h * d).logpdf(y) for m, d, y in zip(mean, D, Y, strict=True)]
    assert np.allclose(step.log_density(Y) - reference, np.log(2 * np.pi), rtol=1e-9)
    rng = np.random.default_rng(8)
    draws = np.stack([step.draw(rng) for _ in range(10_000)])
    sd = np.sqrt(h * np.einsum("nii->ni", D))
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 4.5 * sd / np.sqrt(len(draws)))
    for i in range(5):
        assert np.allclose(np.cov(draws[:, i].T) / np.outer(sd[i], sd[i]), h * D[i] / np.outer(sd[i], sd[i]), atol=0.05)


def test_the_drift_is_at_most_one_standard_deviation():
    X = np.array([[500.0, 800.0], [0.3, 0.5]])
    _, step = proposal("orthant", X, 0.5, zf.Barrier(1.0, 0.0, scale="raw"))
    center = X + 0.25  # ∇·D = (1, 1)
    lengths = np.linalg.norm((step._mean - center) / np.sqrt(0.5 * X), axis=1)
    assert lengths[0] == pytest.approx(1.0)
    assert lengths[1] == pytest.approx(0.0, abs=1e-12)  # the mean of the Gaussian


def quartic(X):
    return -(X[:, 0] ** 4), -4.0 * X**3


def test_a_start_in_the_far_tail_comes_home():
    """At x = 100 the drift −2x⁴ would overshoot by far."""
    settings = {"start": [[100.0]], "chains": 400, "burn_in": 400, "steps": 200, "random_state": 0}
    found = sample_langevin(quartic, zf.Orthant(1), 4000, **settings)
    assert stats.kstest(found.draws[:, 0], lambda x: special.gammainc(0.25, x**4)).pvalue > 0.001


def two_bumps(X):
    """Equal bumps around 1 and 9, far apart."""
    left, right = -50 * (X[:, 0] - 1) ** 2, -50 * (X[:, 0] - 9) ** 2
    share = special.expit(right - left)
    return np.logaddexp(left, right), (-100 * (X[:, 0] - 1) * (1 - share) - 100 * (X[:, 0] - 9) * share)[:, None]


def test_start_rows_are_used():
    """Chains do not jump between distant modes: as many stay in each as were started there."""
    start = np.array([[1.0]] * 30 + [[9.0]] * 70)
    settings = {"burn_in": 20, "steps": 10, "random_state": 0}
    found = sample_langevin(two_bumps, zf.Orthant(1), 100, start=start, chains=100, **settings)
    assert np.array_equal(found.draws[:, 0] > 5, start[:, 0] > 5)
    repeated = sample_langevin(two_bumps, zf.Orthant(1), 5000, start=start, chains=5000, **settings)
    assert np.mean(repeated.draws > 5) == pytest.approx(0.7, abs=4 * np.sqrt(0.21 / 5000))
    single = sample_langevin(two_bumps, zf.Orthant(1), 50, start=start[:1], chains=50, **settings)
    assert np.all(single.draws < 5)


def test_a_composition_that_sums_to_one_within_the_tolerance_may_start():
    start = np.array([[0.2, 0.3, 0.5 + 5e-7]])
    draws = sample_langevin(dirichlet, zf.Simplex(3), 20, start=start, chains=10, burn_in=5, steps=8).draws
    assert np.allclose(draws.sum(axis=1), 1.0, rtol=0, atol=1e-14)


def test_the_density_is_only_called_inside():
    domain = DOMAINS["shells"]

    def careful(X):
        assert domain.contains(X).all()
        return gaussian(X)

    sample_langevin(careful, domain, 10, chains=200, burn_in=50, steps=50, random_state=0)


def test_seeds_and_shapes():
    def draw(seed, n=60, **more):
        return sample_langevin(gaussian, zf.Orthant(2), n, chains=20, burn_in=20, steps=30, random_state=seed, **more)

    a, b, c, generator = draw(0), draw(0), draw(1), draw(np.random.default_rng(0))
    assert np.array_equal(a.draws, b.draws)
    assert np.array_equal(a.draws, generator.draws)
    assert (a.acceptance, a.step) == (b.acceptance, b.step)
    assert not np.array_equal(a.draws, c.draws)
    for n in (1, 19, 20, 21, 900):  # the last needs more steps than were asked for
        assert draw(0, n).draws.shape == (n, 2)
    assert len(np.unique(draw(0, 900).draws[:, 0])) > 400
    assert a.rhat.shape == a.effective_size.shape == (2,)
    assert "60 draws; acceptance 0." in str(a)


def test_draws_are_spread_over_the_steps():
    """Two draws of each of 1000 chains, 100 steps apart, have forgotten each other; two states in a row have not."""
    settings = {"chains": 1000, "burn_in": 50, "random_state": 0}
    apart = sample_langevin(gaussian, zf.Orthant(2), 2000, steps=200, **settings).draws
    near = sample_langevin(gaussian, zf.Orthant(2), 8000, steps=8, **settings).draws
    assert abs(np.corrcoef(apart[:1000, 0], apart[1000:, 0])[0, 1]) < 0.13
    assert np.corrcoef(near[:1000, 0], near[1000:2000, 0])[0, 1] > 0.5


def test_bad_arguments():
    domain = zf.Orthant(2)
    for bad in (0, 1.5, "a", None):
        with pytest.raises(SpecificationError, match="the number of draws n"):
            sample_langevin(gaussian, domain, bad)
    for bad in ({"chains": 1}, {"burn_in": 0}, {"steps": 7}, {"chains": "a"}, {"burn_in": 1.5}, {"steps": None}):
        with pytest.raises(SpecificationError, match=f"{next(iter(bad))} must be a whole number"):
            sample_langevin(gaussian, domain, **{"n": 10, **bad})
    with pytest.raises(SpecificationError, match="start has no rows"):
        sample_langevin(gaussian, domain, 10, start=np.empty((0, 2)))
    with pytest.raises(SpecificationError, match=r"row 1 \(x2 > 0, missed by 0\.1\)"):
        sample_langevin(gaussian, domain, 10, start=np.array([[1.0, 1.0], [1.0, -0.1]]))
    for start in ([[1.0, 0.0]], [[1.0, np.nan]]):
        with pytest.raises(SpecificationError, match="not inside the domain"):
            sample_langevin(gaussian, domain, 10, start=start, chains=2)
    for start in ([1.0, 1.0], [[1.0]], [[1.0, 1.0, 1.0]]):
        with pytest.raises(SpecificationError, match="expects an array"):
            sample_langevin(gaussian, domain, 10, start=start)
    with pytest.raises(SpecificationError, match="not inside the domain"):
        sample_langevin(dirichlet, zf.Simplex(3), 10, start=[[0.2, 0.3, 0.9]])
    with pytest.raises(SpecificationError, match="convex"):
        sample_langevin(gaussian, DOMAINS["shells"], 10, generator=zf.Barrier(scale="raw"))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_density_that_is_not_finite_is_refused(bad):
    """At the first point, and in a corner that chains reach later."""

    def broken(where, low):
        def log_density(X):
            value, gradient = gaussian(X)
            hit = X[:, 0] > low
            if where == "gradient":
                gradient[hit, 1] = bad
            else:
                value[hit] = bad
            return value, gradient

        return log_density

    for where in ("gradient", "value"):
        for low in (0.0, 1.2):
            with pytest.raises(SpecificationError, match="not finite"):
                sample_langevin(broken(where, low), zf.Orthant(2), 100, burn_in=50, steps=50, random_state=0)
