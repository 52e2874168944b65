"""What must not change the answer, or must change it in a known way: property-based."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import zfree as zf
from tests.sampling import interior
from zfree.errors import ZfreeWarning

seeds = st.integers(0, 10_000)
powers = st.floats(-0.5, 1.7)
det_powers = st.floats(0.0, 1.0)
SETTINGS = settings(max_examples=25, deadline=None, derandomize=True)


def _fit(estimator, X, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZfreeWarning)
        return estimator.fit(X, **kwargs)


def _close(a, b, tolerance=1e-8):
    return np.allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(b).max())


@SETTINGS
@given(seeds, powers, det_powers)
def test_affine_equivariance_on_polytopes(seed, p, gamma):
    """x ↦ Bx + c, domain and data together: μ ↦ Bμ + c, K ↦ B⁻ᵀ K B⁻¹."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    A = np.vstack([np.eye(d), -np.eye(d), rng.standard_normal((3, d))])
    domain = zf.Polytope(A, rng.uniform(0.5, 2.0, len(A)))
    X = interior(domain, 200, seed)
    Q, _ = np.linalg.qr(rng.standard_normal((d, d)))
    B, c = Q * rng.uniform(0.5, 3.0, d), rng.standard_normal(d)
    generator = zf.Barrier(p, gamma)
    plain = _fit(zf.TruncatedGaussian(domain=domain, generator=generator), X)
    image = _fit(zf.TruncatedGaussian(domain=domain.affine_image(B, c), generator=generator), X @ B.T + c)
    B_inv = np.linalg.inv(B)
    assert _close(image.precision_, B_inv.T @ plain.precision_ @ B_inv)
    assert _close(image.mean_, B @ plain.mean_ + c, 1e-7)
    assert _close(image.covariance_, B @ plain.covariance_ @ B.T, 1e-7)


@SETTINGS
@given(seeds, st.floats(-0.3, 1.3), det_powers, st.integers(2, 5))
def test_parts_of_a_composition_may_be_permuted_and_any_may_be_dropped(seed, p, gamma, d):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(rng.uniform(1.0, 4.0, d), size=100)
    order = rng.permutation(d)
    generator = zf.Barrier(p, gamma)
    alpha = _fit(zf.Dirichlet(generator=generator), P)
    permuted = _fit(zf.Dirichlet(generator=generator), P[:, order])
    assert _close(permuted.alpha_, alpha.alpha_[order])
    assert _close(permuted.alpha_se_, alpha.alpha_se_[order])
    for drop in range(d):
        other = _fit(zf.Dirichlet(generator=generator, domain=zf.Simplex(d, drop=drop)), P)
        assert _close(other.alpha_, alpha.alpha_)
        # The chart is another set, with slacks in units of their own; written out, both are one.
        charted = _fit(
            _dirichlet_in_chart(d, drop, zf.Barrier(p, gamma, scale="raw")), zf.Simplex(d, drop=drop).chart.pull(P)
        )
        assert _close(charted.theta_ + 1, alpha.alpha_, 1e-7)


def _dirichlet_in_chart(d, drop, generator):
    """The Dirichlet written in the d − 1 parts that are kept, on the solid simplex, θ = α − 1."""
    kept = np.flatnonzero(np.arange(d) != drop)

    def rest(y):
        return 1 - y.sum(axis=1)

    def t(y):
        out = np.empty((len(y), d))
        out[:, kept], out[:, drop] = np.log(y), np.log(rest(y))
        return out

    def jacobian(y):
        out = np.zeros((len(y), d, d - 1))
        out[:, kept, np.arange(d - 1)] = 1 / y
        out[:, drop] = -1 / rest(y)[:, None]
        return out

    def hessian(y):
        out = np.zeros((len(y), d, d - 1, d - 1))
        out[:, kept, np.arange(d - 1), np.arange(d - 1)] = -1 / y**2
        out[:, drop] = -1 / rest(y)[:, None, None] ** 2
        return out

    return zf.ExponentialFamily(
        t, jacobian=jacobian, hessian=hessian, domain=zf.SolidSimplex(d - 1), generator=generator
    )


@SETTINGS
@given(seeds, powers, det_powers)
def test_row_order_and_duplicated_rows_do_not_matter(seed, p, gamma):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(60, 3))
    generator = zf.Barrier(p, gamma)
    plain = _fit(zf.TruncatedGaussian(generator=generator), X)
    shuffled = _fit(zf.TruncatedGaussian(generator=generator), X[rng.permutation(60)])
    once = _fit(zf.TruncatedGaussian(generator=generator, standard_errors="sandwich"), X)
    doubled = _fit(zf.TruncatedGaussian(generator=generator, standard_errors="sandwich"), np.repeat(X, 2, axis=0))
    weighted = _fit(zf.TruncatedGaussian(generator=generator), X, sample_weight=np.full(60, 7.0))
    for other in (shuffled, doubled, weighted):
        assert _close(other.result_.theta, plain.result_.theta)
    # A sandwich is a sum over rows; what the jackknife adds for few rows is not.
    assert _close(doubled.result_.standard_errors, once.result_.standard_errors / np.sqrt(2))
    for other in (shuffled, weighted):
        assert _close(other.result_.standard_errors, plain.result_.standard_errors)
        assert _close(other.result_.conf_int(), plain.result_.conf_int())
    counts = rng.integers(1, 4, 60)
    repeated = _fit(zf.TruncatedGaussian(generator=generator), np.repeat(X, counts, axis=0))
    by_weight = _fit(zf.TruncatedGaussian(generator=generator), X, sample_weight=counts)
    assert _close(by_weight.result_.theta, repeated.result_.theta)


@SETTINGS
@given(seeds, powers, det_powers, st.lists(st.floats(0.01, 100.0), min_size=3, max_size=3))
def test_changing_units_on_the_orthant(seed, p, gamma, units):
    """x_j ↦ c_j x_j: K divides by c cᵀ, whether the set is called an orthant or mapped as a polytope."""
    X = np.random.default_rng(seed).exponential(size=(80, 3))
    generator = zf.Barrier(p, gamma)
    plain = _fit(zf.TruncatedGaussian(generator=generator), X)
    for domain in (zf.Orthant(3), zf.Orthant(3).affine_image(np.diag(units), np.zeros(3))):
        own = _fit(zf.TruncatedGaussian(domain=domain, generator=generator), X * units)
        assert _close(own.precision_ * np.outer(units, units), plain.precision_)


@SETTINGS
@given(seeds)
def test_fixed_parameters_are_the_constrained_minimum(seed):
    """Fixing parameters at the values they have anyway changes nothing; at others, the rest re-optimises."""
    X = np.random.default_rng(seed).exponential(size=(80, 2))
    free = _fit(zf.TruncatedGaussian(generator=zf.Barrier()), X)
    names = free.result_.names
    held = _fit(zf.TruncatedGaussian(generator=zf.Barrier(), fixed={names[1]: float(free.result_.theta[1])}), X)
    assert _close(held.result_.theta, free.result_.theta, 1e-7)
    assert held.result_.standard_errors[1] == 0.0
    zero = _fit(zf.TruncatedGaussian(generator=zf.Barrier(), fixed={names[1]: 0.0}), X)
    masked = _fit(zf.TruncatedGaussian(generator=zf.Barrier(), mask=np.eye(2, dtype=bool)), X)
    assert _close(np.delete(zero.result_.theta, 1), masked.result_.theta)
    assert _close(np.delete(zero.result_.standard_errors, 1), masked.result_.standard_errors)


def test_combinations_and_rankings_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(4)
    X = np.abs(rng.normal(0.8, 1.0, (300, 2)))
    order = rng.permutation(300)
    combined = zf.Combined([zf.Barrier.log(), zf.Barrier.entropy()])
    a, b = (_fit(zf.TruncatedGaussian(generator=combined), rows) for rows in (X, X[order]))
    assert _close(a.result_.theta, b.result_.theta)
    assert _close(a.result_.standard_errors, b.result_.standard_errors)
    candidates = [zf.Barrier.log(), zf.Barrier(1.2, 0.0)]
    first, second = (zf.rank(zf.TruncatedGaussian(), rows, candidates) for rows in (X, X[order]))
    for one, other in zip(first, second, strict=True):
        assert one.excess_se == other.excess_se or np.isclose(one.excess_se, other.excess_se, rtol=1e-8)
