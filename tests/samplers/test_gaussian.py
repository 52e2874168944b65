"""Draws against known distribution functions and moments, fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

import zfree as zf
from zfree.errors import ImproperDensityError, SpecificationError
from zfree.samplers import sample_gaussian, truncated_normal
from zfree.samplers.gaussian import gaussian_draws


@pytest.mark.parametrize(
    ("mean", "sd", "low", "high"),
    [
        (0, 1, -1, 2),
        (0.3, 0.1, 0, np.inf),
        (0, 1, -np.inf, -3),
        (5, 2, 6, 6.5),
        (0, 1, 20, 21),
        (0, 1, -np.inf, np.inf),
    ],
)
def test_truncated_normal_has_its_distribution_function(mean, sd, low, high):
    n = 20_000
    ones = np.ones(n)
    draws = truncated_normal(mean * ones, sd * ones, low * ones, high * ones, np.random.default_rng(0))
    assert draws.min() >= low
    assert draws.max() <= high
    reference = stats.truncnorm((low - mean) / sd, (high - mean) / sd, loc=mean, scale=sd)
    assert stats.kstest(draws, reference.cdf).pvalue > 0.001


def test_forty_standard_deviations_out():
    ones = np.ones(5000)
    for sign in (1.0, -1.0):
        low, high = (40.0, np.inf) if sign > 0 else (-np.inf, -40.0)
        draws = truncated_normal(0 * ones, ones, low * ones, high * ones, np.random.default_rng(1))
        assert np.abs(draws).min() >= 40
        assert np.abs(draws).mean() == pytest.approx(40 + 1 / 40, abs=2e-3)  # nearly exponential with rate 40


MEAN, K = np.array([0.3, 0.5]), np.array([[3.0, 1.0], [1.0, 2.0]])
DOMAINS = {
    "orthant": zf.Orthant(2),
    "solid simplex": zf.SolidSimplex(2),
    "box": zf.Box([0.0, -np.inf], [0.5, 1.0]),
    "ball": zf.Ball(0.8, center=[0.2, 0.1]),
    "polytope": zf.Polytope.from_inequalities("x1 > 0, x2 > -1, x1 + 2*x2 < 2, x1 - x2 < 1"),
    "half-space": zf.HalfSpace([1.0, -1.0], 0.2),
}


@pytest.fixture
def no_rejection(monkeypatch):
    monkeypatch.setattr("zfree.samplers.gaussian._by_rejection", lambda *_: None)


def chains(domain, mean, K, n, seed):
    """Draws of chains that can be trusted (with the fixture above)."""
    found = gaussian_draws(domain, mean, K, np.zeros(len(mean)), n, np.random.default_rng(seed))
    assert not found.exact
    assert not found.doubt
    return found.draws


@pytest.mark.parametrize("name", DOMAINS)
def test_chains_agree_with_rejection(name, request):
    """Each marginal by Kolmogorov–Smirnov, and the second moments."""
    domain = DOMAINS[name]
    exact = sample_gaussian(domain, MEAN, K, 4000, 0)
    request.getfixturevalue("no_rejection")
    states = chains(domain, MEAN, K, 4000, 1)
    assert domain.contains(exact).all()
    assert domain.contains(states).all()
    for j in range(2):
        assert stats.ks_2samp(exact[:, j], states[:, j]).pvalue > 0.001
    assert np.allclose(np.cov(exact.T), np.cov(states.T), atol=0.03)


def _radius(domain, d, K=1.0):
    """Distribution function and second moment of ‖x‖ under N(0, I/K) restricted to layers around the origin, by quadrature."""
    edges = np.concatenate([[0.0] * (len(domain.radii) % 2), domain.radii]).reshape(-1, 2)
    chi = stats.chi(d, scale=K**-0.5)
    total = sum(chi.cdf(high) - chi.cdf(low) for low, high in edges)
    square = sum(integrate.quad(lambda r: r**2 * chi.pdf(r), low, high)[0] for low, high in edges)

    def cdf(r):
        return sum(chi.cdf(np.clip(r, low, high)) - chi.cdf(low) for low, high in edges) / total

    return cdf, square / total


def _check_radii(X, domain, K=1.0):
    """‖x‖ by Kolmogorov–Smirnov, its second moment and the mean to four standard errors."""
    n, d = X.shape
    assert domain.contains(X).all()
    cdf, square = _radius(domain, d, K)
    assert stats.kstest(np.linalg.norm(X, axis=1), cdf).pvalue > 0.001
    squares = (X**2).sum(axis=1)
    assert squares.mean() == pytest.approx(square, abs=4 * squares.std() / np.sqrt(n))
    assert np.all(np.abs(X.mean(axis=0)) < 4 * X.std(axis=0) / np.sqrt(n))


SHELLS = zf.Shells([0.2, 0.5, 1.0], d=3)


def test_a_ball_and_a_shell_have_their_shares():
    """The paper's domain without convexity, where the standard Gaussian is exact by rejection."""
    X = sample_gaussian(SHELLS, np.zeros(3), np.eye(3), 20_000, 0)
    _check_radii(X, SHELLS)
    _check_radii(sample_gaussian(SHELLS, np.zeros(3), 9 * np.eye(3), 20_000, 1), SHELLS, K=9.0)


@pytest.mark.usefixtures("no_rejection")
def test_chains_on_the_hull_reach_every_piece():
    _check_radii(chains(SHELLS, np.zeros(3), np.eye(3), 20_000, 2), SHELLS)


def test_chains_on_the_hull_agree_with_rejection(request):
    domain = zf.Shells([0.4, 0.6, 0.9], center=[0.2, 0.1])
    exact = sample_gaussian(domain, MEAN, K, 4000, 0)
    request.getfixturevalue("no_rejection")
    states = chains(domain, MEAN, K, 4000, 1)
    assert domain.contains(states).all()
    assert stats.ks_2samp(*(np.linalg.norm(X - domain.center, axis=1) for X in (exact, states))).pvalue > 0.001
    for j in range(2):
        assert stats.ks_2samp(exact[:, j], states[:, j]).pvalue > 0.001
    assert np.allclose(np.cov(exact.T), np.cov(states.T), atol=0.03)


def test_shells_far_from_the_mean_and_with_an_indefinite_precision():
    """Rejection accepts nothing, or does not exist: the chains on the hull are used, for every piece."""
    line = zf.Shells([0.5, 1.0], d=1)
    X = sample_gaussian(line, [6.0], [[1.0]], 5000, 0)[:, 0]
    shares = stats.norm.cdf([-7.0, -6.5, -5.5, -5.0])
    left = (shares[1] - shares[0]) / (shares[1] - shares[0] + shares[3] - shares[2])
    assert np.mean(X < 0) == pytest.approx(left, abs=4 * np.sqrt(left / 5000))
    for low, high, part in ((-1.0, -0.5, X[X < 0]), (0.5, 1.0, X[X > 0])):
        assert stats.kstest(part, stats.truncnorm(low - 6, high - 6, loc=6).cdf).pvalue > 0.001
    saddle = np.array([[1.0, 3.0], [3.0, 1.0]])
    Y = sample_gaussian(zf.Shells([0.5, 1.0], d=2), np.zeros(2), saddle, 20_000, 0)
    grid = (np.arange(800) + 0.5) / 400 - 1
    a, b = np.meshgrid(grid, grid)
    inside = (a**2 + b**2 < 1) & (a**2 + b**2 > 0.25)
    density = np.where(inside, np.exp(-0.5 * (a**2 + 6 * a * b + b**2)), 0.0)
    assert np.mean(Y[:, 0] * Y[:, 1]) == pytest.approx(np.sum(density * a * b) / density.sum(), abs=0.01)


def test_a_gaussian_in_the_gaps_is_refused():
    with pytest.raises(SpecificationError, match="gaps"):
        sample_gaussian(zf.Shells([0.9, 1.0], d=2), np.zeros(2), 1e4 * np.eye(2), 100, 0)


@pytest.mark.parametrize("scale", [1.0, 50.0])
def test_radii_in_a_ball(scale):
    """A centered isotropic Gaussian in a ball that cuts most of it off, or hardly any."""
    ball = zf.Ball(0.8, d=3)
    X = sample_gaussian(ball, np.zeros(3), scale * np.eye(3), 20_000, 3)
    cut = stats.chi(3, scale=scale**-0.5)
    assert stats.kstest(np.linalg.norm(X, axis=1), lambda r: cut.cdf(r) / cut.cdf(0.8)).pvalue > 0.001
    assert np.all(np.abs(X.mean(axis=0)) < 4 * X.std(axis=0) / np.sqrt(len(X)))


ROTATION = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]


@pytest.mark.parametrize("method", ["independent", "rejection", "chains"])
def test_moments_in_the_orthant(method, request):
    """With a diagonal K the coordinates are truncated normals, whose mean and variance are known; in a rotated orthant too."""
    mean, diagonal, n = np.array([-0.5, 0.3, 1.0]), np.array([1.0, 4.0, 0.5]), 40_000
    if method == "independent":
        X = sample_gaussian(zf.Orthant(3), mean, np.diag(diagonal), n, 0)
    else:
        rotated = zf.Polytope(-ROTATION.T, np.zeros(3))  # y = R x with x in the orthant
        precision = ROTATION @ np.diag(diagonal) @ ROTATION.T
        if method == "chains":
            request.getfixturevalue("no_rejection")
            X = chains(rotated, ROTATION @ mean, precision, n, 0) @ ROTATION
        else:
            X = sample_gaussian(rotated, ROTATION @ mean, precision, n, 0) @ ROTATION
    sd = diagonal**-0.5
    reference = stats.truncnorm(-mean / sd, np.inf, loc=mean, scale=sd)
    assert np.all(np.abs(X.mean(axis=0) - reference.mean()) < 4 * reference.std() / np.sqrt(n))
    assert np.allclose(X.var(axis=0), reference.var(), rtol=0.05)
    assert np.abs(np.corrcoef(X.T) - np.eye(3)).max() < 4 / np.sqrt(n)


def test_rejection_is_used_where_it_accepts_one_in_several_hundred(monkeypatch):
    def never(*_):
        raise AssertionError("chains were used")

    monkeypatch.setattr("zfree.samplers.gaussian._chains", never)
    X = sample_gaussian(zf.Orthant(8), np.zeros(8), np.eye(8) + 1e-12, 1000, 0)
    assert stats.kstest(X.ravel(), stats.halfnorm.cdf).pvalue > 0.001


def test_rare_regions_are_reached():
    """The corner of the orthant six standard deviations from the mean: rejection would wait for ever."""
    X = sample_gaussian(zf.Orthant(3), np.full(3, -6.0), np.eye(3) + 1e-12, 3000, 0)
    assert (X > 0).all()
    reference = stats.truncnorm(6, np.inf, loc=-6)
    for j in range(3):
        assert stats.kstest(X[:, j], reference.cdf).pvalue > 0.001


def test_an_indefinite_precision_on_a_bounded_domain():
    K = np.array([[1.0, 3.0], [3.0, 1.0]])
    box = zf.Box([0.0, 0.0], [1.0, 1.0])
    X = sample_gaussian(box, [0.5, 0.5], K, 5000, 0)
    grid = (np.arange(400) + 0.5) / 400 - 0.5
    a, b = np.meshgrid(grid, grid)
    density = np.exp(-0.5 * (a**2 + 6 * a * b + b**2))
    expected = np.sum(density * a * b) / density.sum()
    assert np.mean((X[:, 0] - 0.5) * (X[:, 1] - 0.5)) == pytest.approx(expected, abs=0.005)


def test_seeds_and_refusals():
    a, b, c = (sample_gaussian(zf.Orthant(2), MEAN, K, 50, seed) for seed in (0, 0, 1))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)
    assert a.shape == (50, 2)
    with pytest.raises(ImproperDensityError, match=r"unbounded.*positive_definite"):
        sample_gaussian(zf.Orthant(2), MEAN, -K, 10)
    for n in (0, -1, 1.5, "a", None, True):
        with pytest.raises(SpecificationError, match="the number of draws n"):
            sample_gaussian(zf.Orthant(2), MEAN, K, n)
    with pytest.raises(SpecificationError, match="shape"):
        sample_gaussian(zf.Orthant(2), [1.0], K, 10)
    with pytest.raises(SpecificationError, match=r"chart\.domain"):
        sample_gaussian(zf.Simplex(2), MEAN, K, 10)
    for mean, precision in ((["a", "b"], K), (MEAN, K * np.nan), (MEAN, [[1.0, 0.2], [0.3, 1.0]])):
        with pytest.raises(SpecificationError, match=r"numbers|finite"):
            sample_gaussian(zf.Orthant(2), mean, precision, 10)


@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (
            zf.TruncatedGaussian(zf.SolidSimplex(2), zf.Barrier(1.2, 0.0)),
            sample_gaussian(zf.SolidSimplex(2), MEAN, 9 * K, 3000, 3),
        ),
        (
            zf.TruncatedGaussian(zf.Shells([0.4, 0.8, 1.5])),
            sample_gaussian(zf.Shells([0.4, 0.8, 1.5], d=2), MEAN, K, 3000, 4),
        ),
        (
            zf.TruncatedGaussian(zf.Simplex(3), zf.Barrier(1.2, 0.0)),
            np.random.default_rng(0).dirichlet([4, 5, 6], 3000),
        ),
        (zf.Gaussian(), np.random.default_rng(0).multivariate_normal(MEAN, K, 3000)),
        (zf.Dirichlet(), np.random.default_rng(0).dirichlet([2, 3, 4], 3000)),
        (zf.Exponential(), np.random.default_rng(0).exponential([1.0, 2.0], (3000, 2))),
        (zf.Gamma(), np.random.default_rng(0).gamma([2.0, 3.0], size=(3000, 2))),
        (zf.LogNormal(), np.exp(np.random.default_rng(0).multivariate_normal(MEAN, K / 4, 3000))),
    ],
    ids=lambda v: type(v).__name__ if not isinstance(v, np.ndarray) else "",
)
def test_estimators_sample_what_they_fitted(estimator, data):
    """Draws of a fit have the columns, the domain and the marginals of the data."""
    est = estimator.fit(data)
    draws = est.sample(3000, random_state=0)
    assert draws.shape == data.shape
    assert np.array_equal(draws, est.sample(3000, random_state=0))
    for j in range(data.shape[1]):
        assert stats.ks_2samp(draws[:, j], data[:, j]).pvalue > 1e-4
    if isinstance(est, zf.Dirichlet) or (est.get_params().get("domain") == zf.Simplex(3)):
        assert np.allclose(draws.sum(axis=1), 1.0)


def test_models_without_an_exact_sampler_sample_by_slices():
    """A square-root interaction (fixed marginals are not known in closed form) and a gamma written as a family of one's own."""
    rng = np.random.default_rng(0)
    data = rng.gamma(3.0, 0.5, size=(2000, 1))
    family = zf.ExponentialFamily(
        lambda X: np.column_stack([np.log(X[:, 0]), -X[:, 0]]),
        jacobian=lambda X: np.stack([1 / X, -np.ones_like(X)], axis=1),
        hessian=lambda X: np.stack([-1 / X**2, np.zeros_like(X)], axis=1)[:, :, :, None],
        domain=zf.Orthant(1),
        generator=zf.Barrier(1.0, 0.0),
    ).fit(data)
    draws = family.sample(2000, random_state=0)
    assert np.array_equal(draws, family.sample(2000, random_state=0))
    assert stats.ks_2samp(draws[:, 0], data[:, 0]).statistic < 0.06
    square_root = zf.PowerInteraction(a=0.5, b=0.5).fit(rng.gamma(2.0, 1.0, size=(1500, 2)))
    assert (square_root.sample(200, random_state=0) > 0).all()
