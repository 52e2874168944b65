"""Gaussians on which chains along the axes from one point fail, against integrals in one or two dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

import zfree as zf
from zfree.errors import ImproperDensityError, SamplingWarning
from zfree.samplers import sample_gaussian
from zfree.samplers.gaussian import gaussian_draws


def draws_of(domain, mean, K, n=4000, seed=0, start=None):
    found = gaussian_draws(
        domain,
        np.asarray(mean, float),
        np.asarray(K, float),
        np.zeros(len(mean)),
        n,
        np.random.default_rng(seed),
        start,
    )
    assert not found.exact
    assert not found.doubt
    assert domain.contains(found.draws).all()
    return found.draws


def equicorrelated(d, rho):
    return np.linalg.inv((1 - rho) * np.eye(d) + rho)


def mean_on_the_orthant(d, rho, level):
    """E x₁ for equicorrelated normals restricted to the orthant: given the common factor they are independent."""
    sd = np.sqrt(1 - rho)

    def log_weight(z):
        return d * stats.norm.logcdf((level + np.sqrt(rho) * z) / sd) + stats.norm.logpdf(z)

    grid = np.linspace(-12, 12, 200_001)
    top = log_weight(grid).max()
    weight = np.exp(log_weight(grid) - top)
    center = (level + np.sqrt(rho) * grid) / sd
    inner = sd * (center + np.exp(stats.norm.logpdf(center) - stats.norm.logcdf(center)))
    return float((weight * inner).sum() / weight.sum())


@pytest.mark.parametrize(("d", "rho"), [(5, 0.999), (2, 0.9999), (20, 0.99)])
def test_strong_correlations(d, rho):
    exact = mean_on_the_orthant(d, rho, -3.3)
    X = draws_of(zf.Orthant(d), np.full(d, -3.3), equicorrelated(d, rho))
    assert np.all(np.abs(X.mean(axis=0) - exact) < 5 * X.std(axis=0) / np.sqrt(len(X)))


@pytest.mark.parametrize("width", ["0.001", "0.0000001"])
def test_a_thin_slab(width):
    """Along the slab the mean of both coordinates is normal with variance ½, cut at ±3."""
    slab = zf.Polytope.from_inequalities(f"x1 - x2 < {width}, x2 - x1 < {width}, x1 > -3, x1 < 3")
    X = draws_of(slab, [0.0, 0.0], np.eye(2))
    along = stats.truncnorm(-3 * np.sqrt(2), 3 * np.sqrt(2), scale=np.sqrt(0.5))
    assert along.std() == pytest.approx(0.707, abs=1e-3)
    assert stats.kstest(X.mean(axis=1), along.cdf).pvalue > 0.001
    assert stats.kstest((X[:, 0] - X[:, 1]) / float(width), stats.uniform(-1, 2).cdf).pvalue > 0.001


def test_units_do_not_matter():
    """Columns in units of 1e-6, 1 and 1e6: what the same chains would have drawn, in those units."""
    units = np.array([1e-6, 1.0, 1e6])
    mean, K = np.full(3, -5.0), equicorrelated(3, 0.99)
    X = draws_of(zf.Orthant(3), mean * units, K / np.outer(units, units)) / units
    exact = mean_on_the_orthant(3, 0.99, -5.0)
    assert np.all(np.abs(X.mean(axis=0) - exact) < 5 * X.std(axis=0) / np.sqrt(len(X)))
    assert stats.ks_2samp(X[:, 0], X[:, 2]).pvalue > 0.001


def test_far_from_the_origin():
    """A slab around (1e6, 1e6): only differences from the mean count."""
    slab = zf.Polytope.from_inequalities("x1 - x2 < 0.001, x2 - x1 < 0.001, x1 > 999997, x1 < 1000003")
    X = draws_of(slab, [1e6, 1e6], np.eye(2))
    along = stats.truncnorm(-3 * np.sqrt(2), 3 * np.sqrt(2), scale=np.sqrt(0.5))
    assert stats.kstest(X.mean(axis=1) - 1e6, along.cdf).pvalue > 0.001


def test_rounding_does_not_make_a_precision_asymmetric():
    K = np.array([[1.0, 1e-17], [-1e-17, 1e-12]])
    assert sample_gaussian(zf.Orthant(2), [0.0, 0.0], K, 10, 0).shape == (10, 2)


def moments_on(domain, mean, K, low, high, size=1500):
    """Means and covariance of a plane Gaussian on a domain, by the midpoint rule."""
    axes = [lo + (hi - lo) * (np.arange(size) + 0.5) / size for lo, hi in zip(low, high, strict=True)]
    P = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    offset = P - mean
    log_density = -0.5 * np.einsum("ni,ij,nj->n", offset, K, offset)
    weight = np.where(domain.contains(P), np.exp(log_density - log_density.max()), 0.0)
    weight /= weight.sum()
    center = weight @ P
    return center, (P - center).T @ ((P - center) * weight[:, None])


@pytest.mark.parametrize(
    ("domain", "mean", "K", "high"),
    [
        (zf.Box([0, 0], [1, 1]), [0.5, 0.48], -20 * np.array([[1.0, 0.3], [0.3, 2.0]]), [1, 1]),  # negative definite
        (zf.Box([0, 0], [1, 1]), [0.2, 0.0], np.array([[0.0, 5.0], [5.0, 0.0]]), [1, 1]),  # zeros on the diagonal
        (zf.Box([0, 0], [1, 1]), [0.5, 0.45], 20 * np.array([[1.0, 3.0], [3.0, 1.0]]), [1, 1]),  # a saddle
        (zf.SolidSimplex(2), [0.3, 0.2], np.array([[-8.0, 20.0], [20.0, -8.0]]), [1, 1]),
        (zf.Ball(0.5, center=[0.5, 0.5]), [0.5, 0.4], np.array([[-15.0, 3.0], [3.0, 4.0]]), [1, 1]),
        (
            zf.Product([zf.Box([0], [1]), zf.Ball(0.5, center=[0.5])]),
            [0.4, 0.3],
            np.array([[-4.0, 6.0], [6.0, 1.0]]),
            [1, 1],
        ),
        (zf.Orthant(2), [0.0, 0.0], np.array([[1.0, 2.0], [2.0, 1.0]]), [6, 6]),  # indefinite, positive on the orthant
        (zf.Ball(0.5, center=[0.5, 0.5]), [5.0, 4.0], np.array([[3.0, 1.0], [1.0, 2.0]]), [1, 1]),  # far outside
    ],
    ids=["negative", "zero diagonal", "saddle", "simplex", "ball", "product", "copositive", "far"],
)
def test_any_curvature(domain, mean, K, high):
    X = draws_of(domain, mean, K, n=8000)
    center, covariance = moments_on(domain, np.asarray(mean), K, [0, 0], high)
    assert np.all(np.abs(X.mean(axis=0) - center) < 5 * np.sqrt(np.diagonal(covariance) / 8000))
    assert np.allclose(np.cov(X.T), covariance, rtol=0.05, atol=0.05 * np.sqrt(np.linalg.det(covariance)))


def test_independent_coordinates_are_exact():
    """A box of log-convex, exponential and normal coordinates at once."""
    found = gaussian_draws(
        zf.Box([0, 0, 0], [1, 1, np.inf]),
        np.zeros(3),
        np.diag([-6.0, 0.0, 2.0]),
        np.array([2.0, -3.0, -1.0]),
        5000,
        np.random.default_rng(0),
    )
    assert found.exact
    for j, (q, g, high) in enumerate([(-6.0, 2.0, 1.0), (0.0, -3.0, 1.0), (2.0, -1.0, 8.0)]):
        t = np.linspace(0.0, high, 20_001)
        density = np.exp(g * t - 0.5 * q * t * t)
        mean = integrate.simpson(t * density, x=t) / integrate.simpson(density, x=t)
        assert found.draws[:, j].mean() == pytest.approx(mean, abs=4 * found.draws[:, j].std() / np.sqrt(5000))


def test_chains_that_start_from_rows_forget_them():
    rows = np.random.default_rng(0).uniform(5, 9, (30, 3))  # nowhere near the mass
    X = draws_of(zf.Orthant(3), np.full(3, -3.3), equicorrelated(3, 0.99), start=rows)
    assert X.mean() == pytest.approx(mean_on_the_orthant(3, 0.99, -3.3), abs=0.03)


def test_fifty_columns():
    """Twenty-five independent pairs, the mean of each of which is an integral."""
    block = equicorrelated(2, 0.6)
    K = np.kron(np.eye(25), block)
    X = draws_of(zf.Orthant(50), np.full(50, -0.5), K, n=1000)
    exact = mean_on_the_orthant(2, 0.6, -0.5)
    means = X.mean(axis=0)
    assert means.mean() == pytest.approx(exact, abs=5 * X.std() / np.sqrt(1000 * 25))
    assert np.all(np.abs(means - exact) < 5 * X.std(axis=0) / np.sqrt(1000))


def frustrated():
    """A box in ten dimensions with modes in many corners, between which chains do not find their way."""
    A = np.random.default_rng(0).standard_normal((10, 10))
    return zf.Box(np.full(10, -1.0), np.ones(10)), 20 * (A + A.T)


def test_chains_that_do_not_mix_are_told(monkeypatch):
    monkeypatch.setattr("zfree.samplers.gaussian.MOST_MOVES", 4000)
    domain, K = frustrated()
    with pytest.warns(SamplingWarning, match=r"split-R̂ is \d.*effective size \d+ \(coordinate \d"):
        sample_gaussian(domain, np.full(10, 0.01), K, 1000, 0)


def test_patience_ends():
    domain, K = frustrated()
    found = gaussian_draws(domain, np.zeros(10), K, np.zeros(10), 500, np.random.default_rng(0), patience=0.02)
    assert "not mixed" in found.doubt
    assert found.draws.shape == (500, 10)


def test_no_distribution_no_draws():
    with pytest.raises(ImproperDensityError, match="cannot be normalised"):
        sample_gaussian(zf.Orthant(2), [0.0, 0.0], [[1.0, -2.0], [-2.0, 1.0]], 10)
    with pytest.raises(ImproperDensityError, match="never leaves the domain"):
        sample_gaussian(zf.Orthant(2), [0.0, 0.0], [[0.0, 0.0], [0.0, 1.0]], 10)  # flat along x1


def test_a_precision_of_zero_leaves_an_exponential():
    """K = 0 in one column and a falling linear term; in chains, with a weak interaction."""
    for coupling in (0.0, 0.02):
        K = np.array([[0.0, coupling], [coupling, 1.0]])
        found = gaussian_draws(zf.Orthant(2), np.zeros(2), K, np.array([-2.0, 0.0]), 4000, np.random.default_rng(0))
        assert found.exact == (coupling == 0.0)
        assert not found.doubt
        assert found.draws[:, 0].mean() == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize("distance", [1e4, 1e8, 1e12])
def test_a_corner_far_from_the_mean(distance):
    """What is left of the Gaussian there are exponentials with rate Kμ."""
    K = np.eye(3) + 0.1
    X = draws_of(zf.Orthant(3), np.full(3, -distance), K, n=3000)
    for j in range(3):
        assert stats.kstest(X[:, j] * 1.3 * distance, "expon").pvalue > 0.001


@pytest.mark.parametrize("mean", [-1e7, -1e10])
def test_an_end_far_from_the_mean_keeps_its_digits(mean):
    """Beyond the end the tail is an exponential with rate −mean."""
    X = sample_gaussian(zf.Orthant(2), [mean, 0.0], np.eye(2), 4000, 0)
    assert len(np.unique(X[:, 0])) > 3990
    assert X[:, 0].mean() == pytest.approx(-1.0 / mean, rel=0.08)
