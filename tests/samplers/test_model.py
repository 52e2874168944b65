"""One door to draws from every model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import zfree as zf
from zfree.errors import ImproperDensityError, SpecificationError
from zfree.models import DirichletModel, ExponentialModel, GammaModel, LogNormalModel, PairwiseModel
from zfree.samplers import Draws, sample_model

GAUSSIAN = PairwiseModel(["x1", "x2"], center=np.array([0.3, -0.2]))
THETA = np.array([3.0, 1.0, 2.0, 0.5, 0.4])  # K11, K12, K22, η relative to the center


def test_textbook_families_are_exact():
    cases = [
        (ExponentialModel(["a", "b"]), zf.Orthant(2), [2.0, 5.0], stats.expon(scale=0.5)),
        (GammaModel(["a", "b"]), zf.Orthant(2), [0.3, 4.0, 2.0, 1.0], stats.gamma(0.3, scale=0.5)),
        (DirichletModel(["a", "b", "c"]), zf.Simplex(3), [0.3, 1.0, 2.0], stats.beta(0.3, 3.0)),
    ]
    for model, domain, theta, law in cases:
        found = sample_model(model, domain, theta, 4000, random_state=0)
        assert found.exact
        assert found.doubt == ""
        assert found.rhat is None
        assert domain.contains(found.draws).all()
        assert stats.kstest(found.draws[:, 0], law.cdf).pvalue > 0.001
        again = sample_model(model, domain, theta, 4000, random_state=np.random.default_rng(0))
        assert np.array_equal(found.draws, again.draws)


def test_tiny_shapes_stay_inside():
    """Parts that underflow to zero would leave the open domain."""
    X = sample_model(GammaModel(["a"]), zf.Orthant(1), [0.002, 1.0], 2000, random_state=0).draws
    assert (X > 0).all()
    P = sample_model(DirichletModel(["a", "b"]), zf.Simplex(2), [0.002, 3.0], 2000, random_state=0).draws
    assert zf.Simplex(2).contains(P).all()


def test_logarithms_of_normals():
    """The log-normal, and the power interaction a = b = 0, whose η is one less because it has no base measure."""
    center = np.array([0.5, -1.0])
    for model, slope in (
        (LogNormalModel(["a", "b"], center=center), THETA[3:]),
        (PairwiseModel(["a", "b"], a=0.0, b=0.0, center=center), THETA[3:] - 1.0),
    ):
        found = sample_model(model, zf.Orthant(2), np.r_[THETA[:3], slope], 20_000, random_state=0)
        K = np.array([[3.0, 1.0], [1.0, 2.0]])
        logs, covariance = np.log(found.draws), np.linalg.inv(K)
        assert found.exact
        assert np.allclose(logs.mean(axis=0), center + covariance @ THETA[3:], atol=0.02)
        assert np.allclose(np.cov(logs.T), covariance, atol=0.02)


@pytest.mark.parametrize("domain", [zf.RealSpace(2), zf.Orthant(2), zf.SolidSimplex(2)], ids=repr)
def test_gaussians_in_shifted_coordinates(domain):
    """Against rejection with the mean worked out by hand."""
    found = sample_model(GAUSSIAN, domain, THETA, 4000, random_state=0)
    K = GAUSSIAN.matrix(THETA)
    mean = GAUSSIAN.center + np.linalg.solve(K, THETA[3:])
    X = np.random.default_rng(1).multivariate_normal(mean, np.linalg.inv(K), 400_000)
    X = X[domain.contains(X)][:4000]
    assert found.exact
    for j in range(2):
        assert stats.ks_2samp(found.draws[:, j], X[:, j]).pvalue > 0.001


def test_a_singular_precision_needs_no_mean():
    model = PairwiseModel(["x1", "x2"])
    found = sample_model(model, zf.Box([0, 0], [1, 1]), [1.0, 1.0, 1.0, 0.5, -2.0], 4000, random_state=0)
    grid = (np.arange(600) + 0.5) / 600
    a, b = np.meshgrid(grid, grid, indexing="ij")
    weight = np.exp(-0.5 * (a + b) ** 2 + 0.5 * a - 2 * b)
    weight /= weight.sum()
    for j, axis in enumerate((a, b)):
        assert found.draws[:, j].mean() == pytest.approx((weight * axis).sum(), abs=0.02)


def test_rows_to_start_from():
    model = PairwiseModel(["x1", "x2"], a=0.5, b=0.5)
    theta = np.array([1.0, 0.2, 1.0, 0.5, 0.5])
    rows = np.random.default_rng(0).gamma(2.0, 1.0, (300, 2))
    warm = sample_model(model, zf.Orthant(2), theta, 3000, random_state=0, start=rows)
    cold = sample_model(model, zf.Orthant(2), theta, 3000, random_state=1)
    few = sample_model(model, zf.Orthant(2), theta, 3000, random_state=2, start=rows[:2])
    for found in (warm, few):
        assert found.doubt == ""
        for j in range(2):
            assert stats.ks_2samp(found.draws[:, j], cold.draws[:, j]).pvalue > 0.001
    with pytest.raises(SpecificationError, match=r"start: .*row 1 \(x2 > 0"):
        sample_model(model, zf.Orthant(2), theta, 10, start=np.array([[1.0, 1.0], [1.0, -1.0]]))
    with pytest.raises(SpecificationError, match="start has no rows"):
        sample_model(model, zf.Orthant(2), theta, 10, start=np.empty((0, 2)))


def test_refusals():
    with pytest.raises(ImproperDensityError, match=r"shape\[a\] = -0.1 is not above 0"):
        sample_model(GammaModel(["a"]), zf.Orthant(1), [-0.1, 1.0], 10)
    with pytest.raises(ImproperDensityError, match="vᵀKv"):
        sample_model(GAUSSIAN, zf.RealSpace(2), -THETA, 10)
    with pytest.raises(SpecificationError, match="5 finite numbers"):
        sample_model(GAUSSIAN, zf.RealSpace(2), THETA[:3], 10)
    with pytest.raises(SpecificationError, match="5 finite numbers"):
        sample_model(GAUSSIAN, zf.RealSpace(2), THETA * np.nan, 10)
    with pytest.raises(SpecificationError, match="2 columns"):
        sample_model(GAUSSIAN, zf.RealSpace(3), THETA, 10)


def test_what_draws_say_of_themselves():
    X = np.zeros((100, 2))
    good = Draws(X, False, "chains", np.array([1.01, 1.04]), np.array([900.0, 150.0]))
    assert good.doubt == ""  # 150 effective draws are more than the hundred asked for
    assert "largest split-R̂ 1.040, smallest effective size 150" in str(good)
    slow = Draws(X, False, "chains", np.array([1.01, 1.2]), np.array([900.0, 150.0]))
    assert "largest split-R̂ is 1.2 (coordinate 1" in slow.doubt
    few = Draws(np.zeros((1000, 2)), False, "chains", np.array([1.0, 1.0]), np.array([350.0, 900.0]))
    assert "smallest effective size 350 (coordinate 0, at least 400)" in few.doubt
    assert "independent and exact" in str(Draws(X, True, "rejection"))
