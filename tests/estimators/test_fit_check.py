"""A fit says whether the data contradict the model: in words, in the summary, and with a warning only when they do."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import zfree as zf
from zfree.data import Table
from zfree.errors import MisfitWarning, SpecificationError, ZfreeWarning
from zfree.estimators.checking import content_seed
from zfree.inference.verdict import ALARM
from zfree.samplers import sample_gaussian

X = np.random.default_rng(0).gamma([2.0, 0.7], 1.0, size=(400, 2))
WEIGHTS = np.exp(3.0 * np.random.default_rng(1).standard_normal(62))  # such as body weights of mammals


def fit_quietly(estimator, data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZfreeWarning)
        return estimator.fit(data, **options)


def share_of_alarms(estimator, draw, sets):
    return np.mean(
        [fit_quietly(estimator(), draw(np.random.default_rng([k, 3]))).result_.fit_check.alarms for k in range(sets)]
    )


def test_a_gamma_is_no_model_of_log_normal_weights():
    with pytest.warns(MisfitWarning, match=r"the data contradict the model \(p = .*, most in column 'x1'\)"):
        est = zf.Gamma("search").fit(WEIGHTS)
    check = est.result_.fit_check
    assert check.p_value < ALARM
    assert check.worst == "x1"
    assert check.distance > 1.0
    assert any("contradict the model" in note for note in est.result_.notes)
    assert "fit check        the data contradict the model" in str(est.result_.summary())
    close = fit_quietly(
        zf.Gamma(), WEIGHTS
    ).result_.fit_check  # the default is nearly maximum likelihood, whatever the data
    assert close.p_value < ALARM
    assert close.distance < 0.5
    right = zf.LogNormal().fit(WEIGHTS[:, None]).result_
    assert right.fit_check.p_value > 0.05
    assert right.notes == ()


@pytest.mark.parametrize("n", [62, 70])
def test_power_on_log_normal_weights(n):
    assert share_of_alarms(zf.Gamma, lambda rng: np.exp(3.0 * rng.standard_normal(n)), 40) >= 0.9


@pytest.mark.parametrize(
    ("estimator", "draw"),
    [
        (zf.Gamma, lambda rng: rng.gamma(0.15, 1.0, 1000)),
        (zf.Gamma, lambda rng: np.maximum(rng.gamma(0.05, 1.0, 2000), 1e-300)),
        (zf.Dirichlet, lambda rng: np.maximum(rng.dirichlet([0.1, 0.2, 5.0], 1000), 1e-300)),
        (zf.Gamma, lambda rng: rng.gamma(2.0, 1.0, 70)),
    ],
    ids=["gamma .15", "gamma .05", "Dirichlet", "gamma, 70 rows"],
)
def test_true_models_with_heavy_tails_are_left_in_peace(estimator, draw):
    """The J test, which used to warn, rejects some 5% of these."""
    assert share_of_alarms(estimator, draw, 60) == 0.0


def logistic_normal(rng):
    z = np.exp(np.column_stack([rng.multivariate_normal([0, 0], [[0.8, 0.5], [0.5, 0.6]], 500), np.zeros(500)]))
    return z / z.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("estimator", "draw"),
    [
        (zf.Dirichlet, logistic_normal),
        (zf.TruncatedGaussian, lambda rng: rng.gamma(2.0, 1.0, (500, 2))),
        (
            zf.TruncatedGaussian,
            lambda rng: sample_gaussian(zf.Box([0, 0], [1.5, 1.5]), [0.5, 0.5], np.eye(2), 800, rng),
        ),
        (zf.TruncatedGaussian, lambda rng: 0.5 + np.abs(rng.standard_normal((500, 2)))),
        (zf.Gaussian, lambda rng: rng.standard_t(4, (600, 2))),
    ],
    ids=["logistic-normal", "gamma", "domain too large", "x > 0.5", "t"],
)
def test_power(estimator, draw):
    assert share_of_alarms(estimator, draw, 10) >= 0.9


def test_no_sign_of_misfit():
    result = zf.Gamma().fit(X).result_
    assert result.fit_check.p_value > 0.05
    assert result.notes == ()
    assert result.fit_check.n_rows == 400
    assert result.fit_check.n_draws == 4000
    assert f"no sign of misfit (p = {result.fit_check.p_value:.2g})" in str(result.summary())
    assert "J test" not in str(result.summary())


def test_the_same_data_give_the_same_p():
    """Bit for bit, whatever the order of the rows and the units of the columns, and without the global random state."""
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = zf.Gamma().fit(X).result_.fit_check
    assert zf.Gamma().fit(X).result_.fit_check.p_value == first.p_value
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    shuffled = zf.Gamma().fit(X[np.random.default_rng(2).permutation(400)]).result_.fit_check
    assert (shuffled.p_value, shuffled.by_column) == (first.p_value, first.by_column)
    other_units = zf.Gamma().fit(X * [1e-6, 1e6]).result_.fit_check
    assert other_units.p_value == pytest.approx(first.p_value, rel=1e-4)
    moved = zf.Gamma().fit(X + 1e-3).result_.fit_check
    assert moved.p_value != first.p_value


def test_chains_do_not_see_the_order_of_the_rows():
    data = sample_gaussian(zf.Orthant(3), [-2.0, -2.0, -2.0], np.eye(3) + 0.5, 200, 13)
    models = [zf.TruncatedGaussian(), quadratic_family(domain=zf.Orthant(1))]
    for est, rows in zip(models, (data, data[:, :1]), strict=True):
        first = fit_quietly(est, rows).result_.fit_check
        again = fit_quietly(est, rows[::-1]).result_.fit_check
        assert (first.p_value, first.distance) == (again.p_value, again.distance)


def test_the_seed_is_a_function_of_the_values():
    rows = Table(X, None, ("a", "b"))
    assert content_seed(rows) == content_seed(replace(rows, X=X[::-1]))
    assert content_seed(rows) == content_seed(replace(rows, X=X * [1024.0, 0.5]))
    seeds = {
        tuple(content_seed(r))
        for r in (rows, Table(X[:, ::-1], None, ()), Table(X[:-1], None, ()), Table(X, X[:, 0], ()))
    }
    assert len(seeds) == 4


def test_a_given_generator_is_checked_when_asked():
    est = zf.Gamma(generator=zf.Barrier(0.0, 0.0)).fit(X)
    assert est.result_.fit_check is None
    assert "fit check" not in str(est.result_.summary())
    found = est.check(X)
    assert found.p_value > 0.05
    assert found.n_draws == 20_000
    assert est.check(X).p_value == found.p_value
    assert est.check(X, random_state=5).p_value == pytest.approx(found.p_value, abs=0.2)
    assert est.check(X, random_state=5).p_value != found.p_value
    assert est.check(np.exp(2.0 * np.random.default_rng(3).standard_normal((400, 2)))).alarms


@pytest.mark.parametrize("generator", [[zf.Barrier(0.4, 0.0), zf.Barrier(0.0, 0.0)], zf.Combined()])
def test_lists_and_combinations_are_checked(generator):
    assert zf.Gamma(generator=generator).fit(X).result_.fit_check.p_value > 0.05


def test_the_option_and_the_method_share_a_name():
    est = zf.Gamma(check=False)
    assert est.get_params()["check"] is False
    assert clone(est).get_params()["check"] is False
    assert est.set_params(check=True).get_params()["check"] is True
    est.check = False
    assert est.get_params()["check"] is False
    assert "check=False" in repr(est)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        est.fit(WEIGHTS)
    assert est.result_.fit_check is None
    assert est.check(WEIGHTS).alarms
    assert pickle.loads(pickle.dumps(est)).check(WEIGHTS).p_value == est.check(WEIGHTS).p_value
    with pytest.raises(SpecificationError, match=r"check must be True or False, got 1; est\.check\(X\) runs"):
        zf.Gamma(check=1).fit(X)


@pytest.mark.parametrize(
    "estimator",
    [
        zf.Dirichlet,
        zf.Exponential,
        zf.Gamma,
        zf.TruncatedGaussian,
        zf.Gaussian,
        zf.LogNormal,
        zf.PowerInteraction,
        zf.ExponentialFamily,
    ],
)
def test_every_estimator_has_the_option(estimator):
    assert estimator().get_params()["check"] is True
    assert estimator(check=False).get_params()["check"] is False


def test_too_few_rows():
    result = zf.Gamma().fit(X[:15, :1]).result_
    assert result.fit_check.reason == "15 rows are too few to test a model with 2 free parameters"
    assert "not checked, because 15 rows" in str(result.summary())
    assert not any("checked" in note for note in result.notes)


def test_a_density_that_cannot_be_normalised():
    """x^(θ−1) on the orthant is improper for every θ: there is nothing to draw from."""
    est = zf.ExponentialFamily(
        np.log,
        jacobian=lambda X: 1 / X[:, :, None],
        hessian=lambda X: -1 / X[:, :, None, None] ** 2,
        base=lambda X: -np.log(X[:, 0]),
        base_gradient=lambda X: -1 / X,
        base_hessian=lambda X: 1 / X[:, :, None] ** 2,
        domain=zf.Orthant(1),
    )
    result = fit_quietly(est, X[:, :1]).result_
    assert np.isnan(result.fit_check.p_value)
    assert result.fit_check.verdict.startswith("not checked, because")
    assert "not checked, because" in str(result.summary())


def test_a_function_that_fails_elsewhere_spoils_the_check_only():
    """Draws leave the range of the data, where a user's function may not have been thought through."""
    data = np.random.default_rng(4).normal(2.0, 1.0, (300, 1))
    est = quadratic_family(check=False).fit(data)

    def fails(X):
        raise ValueError("never seen such numbers")

    est.result_.model._t = fails
    assert "never seen such numbers" in est.check(data).reason
    assert est.check(data).verdict.startswith("not checked, because")


def quadratic_family(**options):
    return zf.ExponentialFamily(
        lambda X: np.concatenate([X, -0.5 * X**2], axis=1),
        jacobian=lambda X: np.stack([np.ones_like(X), -X], axis=1),
        hessian=lambda X: np.stack([np.zeros_like(X), -np.ones_like(X)], axis=1)[..., None],
        **options,
    )


def test_any_exponential_family():
    data = np.random.default_rng(5).normal(2.0, 1.0, (300, 1))
    assert quadratic_family().fit(data).result_.fit_check.p_value > 0.01
    with pytest.warns(MisfitWarning, match="contradict"):
        quadratic_family().fit(np.random.default_rng(6).exponential(1.0, (300, 1)))


def test_long_chains_are_left_to_the_method():
    data = np.random.default_rng(14).gamma(2.0, 1.0, (300, 4))
    est = zf.PowerInteraction(0.5, 0.0, structure="diagonal").fit(data)
    assert "need chains, which take longer than the fit: run est.check(X)" in est.result_.fit_check.reason
    assert est.check(data).p_value > 0.01
    assert zf.PowerInteraction(0.5, 0.0).fit(data[:, :2]).result_.fit_check.p_value > 0.01


def test_restrictions_are_part_of_the_model():
    one = X[:, :1]
    assert zf.Gamma(fixed={"shape[x1]": 2.0}).fit(one).result_.fit_check.p_value > 0.05
    with pytest.warns(MisfitWarning, match="contradict"):
        zf.Gamma(fixed={"shape[x1]": 4.0}).fit(one)
    L = np.linalg.cholesky([[1.0, 0.6], [0.6, 1.0]])
    data = np.random.default_rng(7).standard_normal((500, 2)) @ L.T
    assert zf.Gaussian().fit(data).result_.fit_check.p_value > 0.01
    with pytest.warns(MisfitWarning, match="the dependence of the columns"):
        zf.Gaussian(structure="diagonal").fit(data)
    with pytest.warns(MisfitWarning, match="contradict"):
        zf.Gaussian(mean=[0.5, 0.0]).fit(data)


def test_a_ridge_is_no_misfit_but_a_distance():
    check = zf.Gamma(ridge=0.1).fit(X).result_.fit_check
    assert check.p_value > 0.05
    assert check.distance > 3.0
    assert "standard errors from that of maximum likelihood" in check.verdict


def test_a_gaussian_on_a_simplex_and_a_product():
    chart = zf.SolidSimplex(2)
    inner = sample_gaussian(chart, [0.3, 0.3], 40.0 * np.eye(2), 500, 8)
    P = np.column_stack([inner, 1.0 - inner.sum(axis=1)])
    found = zf.TruncatedGaussian(zf.Simplex(3)).fit(P).result_.fit_check
    assert found.p_value > 0.01
    assert set(found.by_column) == {"x1", "x2", "log-density", "dependence"}
    both = np.column_stack([inner, np.abs(np.random.default_rng(9).standard_normal(500))])
    assert zf.TruncatedGaussian(zf.Product([chart, zf.Orthant(1)])).fit(both).result_.fit_check.p_value > 0.01


def test_weighted_rows():
    """Weights that undo a biased choice of rows."""
    x = np.random.default_rng(10).gamma(1.5, 1.0, 1500)
    assert zf.Exponential().fit(x, sample_weight=x**-0.5).result_.fit_check.p_value > 0.01
    with pytest.warns(MisfitWarning, match="contradict"):
        est = zf.Exponential().fit(x)
    assert est.check(x, sample_weight=x**-0.5).p_value > 0.01


@pytest.mark.parametrize("weight", [0.125, 1.0, 1e6])
def test_equal_weights_are_no_weights(weight):
    plain = zf.Gamma().fit(X).result_.fit_check
    weighted = zf.Gamma().fit(X, sample_weight=np.full(len(X), weight)).result_.fit_check
    assert weighted.p_value == plain.p_value


def test_the_j_test_is_asked_for_and_rings_no_bell():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        est = zf.TruncatedGaussian(check=False).fit(np.random.default_rng(11).gamma(2.0, 1.0, (3000, 2)))
        assert est.result_.j_test is None
        assert est.j_test(np.random.default_rng(11).gamma(2.0, 1.0, (3000, 2))).p_value < 1e-4
        combined = zf.TruncatedGaussian(generator=zf.Combined(), check=False).fit(
            np.random.default_rng(11).gamma(2.0, 1.0, (3000, 2))
        )
    assert any("disagree by more than their covariance allows" in note for note in combined.result_.notes)
    assert "J test" in str(combined.result_.summary())
    true = zf.Gamma(check=False).fit(X)
    assert true.j_test(X).p_value > 0.001
    with pytest.raises(SpecificationError, match="no boundary"):
        zf.Gaussian(check=False).fit(X).j_test(X)


def test_a_share_of_the_bound_above_one_is_noted():
    result = fit_quietly(zf.Gamma("search"), WEIGHTS).result_
    share = 1.0 / result.selection.criterion
    assert share > 2.4
    assert any(f"share of the Cramér–Rao bound is {share:.2g}" in note for note in result.notes)


def test_many_rows_cost_no_more_draws():
    data = np.random.default_rng(12).exponential(1.0, 200_000)
    check = zf.Exponential().fit(data).result_.fit_check
    assert (check.n_rows, check.n_draws) == (200_000, 20_000)
    assert check.p_value > 0.001
    assert check.distance_error > 1.0


def test_decimals_are_no_misfit():
    """0.3 is not 3 · 0.1 in binary: data and draws on a decimal grid must be compared as the same numbers."""
    alarms = 0
    for seed in range(20):
        X = np.round(np.random.default_rng(seed).standard_normal((400, 1)), 1)
        alarms += zf.Gaussian().fit(X).result_.fit_check.p_value < 0.01
    assert alarms <= 2


def test_rows_with_weights_far_apart_are_not_checked():
    rng = np.random.default_rng(0)
    X, weight = rng.gamma(2.0, 1.0, (300, 2)), rng.exponential(size=300)
    even = zf.Gamma().fit(X, sample_weight=weight).result_.fit_check
    assert not even.reason
    uneven = zf.Gamma().fit(X, sample_weight=weight**2).result_.fit_check
    assert "weighted rows, worth" in uneven.reason
