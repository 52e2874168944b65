"""The weight from theory in powers and logarithms of the columns."""

from __future__ import annotations

import numpy as np
import pytest

import zfree as zf
from tests.posed import posed
from tests.reference import column_divergence
from zfree.curvatures import Energy
from zfree.generators import Pilot, as_powers
from zfree.models import PairwiseModel
from zfree.samplers import sample_model

X = np.random.default_rng(0).gamma(2.0, 0.5, size=(60, 3))
K = np.array([[1.5, 0.4, 0.0], [0.4, 1.2, -0.3], [0.0, -0.3, 2.0]])


@pytest.mark.parametrize("coupling", ["full", "diagonal"])
@pytest.mark.parametrize("log_terms", [None, np.array([0.1, 0.5, 2.0])])
@pytest.mark.parametrize("exponent", [0.0, 0.3, 0.5, 1.0, 1.5])
def test_divergence_matches_finite_differences(exponent, log_terms, coupling):
    if exponent == 0.0 and log_terms is not None:
        log_terms = None  # log x has no pole of its own
    u = as_powers(X, exponent)
    pilot = Pilot(None, Energy(K, False, exponent, log_terms), u.mean(axis=0), np.cov(u.T))
    domain = zf.Orthant(3)
    generator = zf.SteinBarrier(coupling=coupling).informed(pilot).in_units(zf.Units.of(domain, X))
    value = generator.on_domain(domain, X[:4])
    for x, divergence in zip(X[:4], value.divergence, strict=True):
        by_differences = column_divergence(
            lambda y: generator.on_domain(domain, y[None]).field.dense()[0], x, step=1e-6 * x.min()
        )
        assert np.allclose(divergence, by_differences, rtol=1e-6, atol=1e-6 * np.abs(divergence).max())


def test_a_masked_log_normal_is_a_masked_gaussian_of_the_logarithms():
    """The equations do not depend on coordinates: D in log x, carried back to x, gives the same estimate."""
    L = np.random.default_rng(1).multivariate_normal([0.3, -0.2, 1.0], np.linalg.inv(K), 400)
    mask = K != 0
    positive, plain = zf.LogNormal(mask=mask, check=False).fit(np.exp(L)), zf.Gaussian(mask=mask, check=False).fit(L)
    assert isinstance(positive.generator_, zf.SteinBarrier)
    assert np.allclose(positive.precision_, plain.precision_, rtol=1e-9)
    assert np.allclose(positive.mean_, plain.mean_, rtol=1e-9)
    assert np.allclose(positive.precision_se_, plain.precision_se_, rtol=1e-6)


def _share(model, generator, rows, theta, block):
    t = model.statistics(rows)
    t = t - t.mean(axis=0)
    psi = np.concatenate(
        posed(model, generator, zf.Orthant(3), rows).reduce(lambda part: [part.influence(theta, 0.0).T])
    )
    inverse = np.linalg.inv(psi.T @ t)
    covariance = inverse.T @ (psi.T @ psi) @ inverse
    return np.trace(np.linalg.inv(t.T @ t)[:block, :block]) / np.trace(covariance[:block, :block])


@pytest.mark.parametrize(
    ("a", "b", "eta", "least"),
    [(0.5, 0.5, 1.0, 0.97), (1.5, 1.5, 0.5, 0.97), (0.5, 0.0, 0.5, 0.93), (1.0, 0.5, 1.0, 0.93), (1.0, 0.0, 3.0, 0.93)],
)
def test_it_beats_every_barrier(a, b, eta, least):
    """Share of the Cramér–Rao bound for K at the truth."""
    precision = np.eye(3) + 0.25
    model = PairwiseModel(("x", "y", "z"), a=a, b=b)
    theta = np.concatenate([precision[np.triu_indices(3)], np.full(3, eta)])
    rows = sample_model(model, zf.Orthant(3), theta, 8000, random_state=1).draws
    u = as_powers(rows, a)
    generator = zf.SteinBarrier().informed(Pilot(theta, model.energy(theta, rows, None), u.mean(axis=0), np.cov(u.T)))
    stein = _share(model, generator, rows, theta, 6)
    assert stein > least
    assert stein > max(_share(model, zf.Barrier(p, 0.0), rows, theta, 6) for p in (0.0, 0.4, 0.8, 1.2))


def test_powers_take_it_by_default():
    rows = np.random.default_rng(2).gamma(2.0, 0.5, size=(800, 2))
    for a, b in ((0.5, 0.5), (0.5, 0.0), (1.0, 0.5)):
        est = zf.PowerInteraction(a, b, check=False).fit(rows)
        assert isinstance(est.generator_, zf.SteinBarrier)
        unit = np.array([1e4, 1e-4])
        other = zf.PowerInteraction(a, b, check=False).fit(rows * unit)
        scale = np.outer(unit**a, unit**a)
        assert np.allclose(other.precision_ * scale, est.precision_, rtol=1e-7, atol=1e-8)
    with pytest.raises(zf.errors.SpecificationError, match="needs Orthant"):
        est.generator_.informed(est.generator_.pilot._replace(energy=Energy(None, False, 0.5))).in_units(
            zf.Units.of(zf.SolidSimplex(2), rows / 100)
        ).on_domain(zf.SolidSimplex(2), rows / 100)


def _cubic(rows):
    return zf.ExponentialFamily(
        lambda X: np.stack([X[:, 0], X[:, 1], X[:, 0] * X[:, 1], X[:, 0] ** 3, X[:, 1] ** 3], axis=1),
        jacobian=lambda X: np.stack(
            [
                np.stack([np.ones(len(X)), np.zeros(len(X))], 1),
                np.stack([np.zeros(len(X)), np.ones(len(X))], 1),
                X[:, ::-1],
                np.stack([3 * X[:, 0] ** 2, np.zeros(len(X))], 1),
                np.stack([np.zeros(len(X)), 3 * X[:, 1] ** 2], 1),
            ],
            axis=1,
        ),
        hessian=lambda X: np.stack(
            [
                np.zeros((len(X), 2, 2)),
                np.zeros((len(X), 2, 2)),
                np.broadcast_to([[0.0, 1.0], [1.0, 0.0]], (len(X), 2, 2)),
                6 * X[:, 0, None, None] * np.diag([1.0, 0.0]),
                6 * X[:, 1, None, None] * np.diag([0.0, 1.0]),
            ],
            axis=1,
        ),
        domain=zf.Orthant(2),
        check=False,
    ).fit(rows)


def test_families_of_ones_own_compare_it_with_the_search(monkeypatch):
    """K̂ is the mean Hessian of −log p; where that beats the family of barriers it is taken, and the record says so."""
    rows = np.abs(np.random.default_rng(3).normal(0.4, 0.5, size=(1500, 2)))
    est = _cubic(rows)
    assert isinstance(est.generator_, zf.SteinBarrier)
    trials = est.result_.selection.trials
    assert sum(isinstance(t.generator, zf.SteinBarrier) for t in trials) == 1
    assert len(trials) > 8
    assert min(t.criterion for t in trials) == est.result_.selection.criterion
    theta = est.generator_.pilot.theta
    by_hand = -(theta[2] * np.array([[0, 1], [1, 0]]) + 6 * np.diag(theta[3:] * rows.mean(axis=0)))
    assert np.allclose(est.generator_.pilot.energy.hessian, by_hand)
    from zfree.data import chunks

    monkeypatch.setattr(chunks, "CHUNK_DOUBLES", 64 * 20)  # many chunks, the same average
    again = _cubic(rows)
    assert np.allclose(again.generator_.pilot.energy.hessian, by_hand, rtol=1e-6)
    assert np.allclose(again.theta_, est.theta_, rtol=1e-6)


def test_log_terms_are_kept_by_the_same_share_as_the_precision():
    X = np.array([[0.5, 2.0]])
    pilot = Pilot(None, Energy(np.eye(2), True, 1.0, np.array([0.3, 0.7])), np.ones(2), np.eye(2))
    generator = zf.SteinBarrier(keep=0.5).informed(pilot).in_units(zf.Units(np.ones(2), np.ones(2)))
    D = generator.on_domain(zf.Orthant(2), X).field.dense()[0]
    expected = 0.5 + 0.5 * np.array([0.3, 0.7]) / X[0] ** 2 + 1.0 / X[0]
    assert np.allclose(D, np.diag(1.0 / expected))


@pytest.mark.parametrize(
    ("eta", "a", "expected"), [(1.0, 0.5, 0.8), (0.5, 1.0, 0.3), (-0.9, 1.0, 0.05), (-3.0, 1.0, 0.05)]
)
def test_log_terms_are_a_fifth_of_the_exponent_at_zero(eta, a, expected):
    model = PairwiseModel(["x"], a=a, b=0.0)
    theta = np.zeros(model.n_parameters)
    theta[-1] = eta
    assert model.vector(theta) == pytest.approx([eta])
    assert model.energy(theta, np.ones((1, 1)), None).log_terms == pytest.approx([expected])
