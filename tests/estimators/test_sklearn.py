"""The estimators are scikit-learn estimators: its own checks, and every kind of table it reads."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import zfree as zf
from zfree.errors import BoundaryError, BoundaryRowsWarning, DataError, NotPositiveDefiniteWarning

# Most of these data were not drawn from the model that is fitted to them.
pytestmark = pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning")


def quadratic(X):
    """t(x) = (x, −x²/2): independent normals."""
    return np.concatenate([X, -0.5 * X**2], axis=1)


def quadratic_jacobian(X):
    n, d = X.shape
    out, j = np.zeros((n, 2 * d, d)), np.arange(d)
    out[:, j, j], out[:, d + j, j] = 1.0, -X
    return out


def quadratic_hessian(X):
    n, d = X.shape
    out, j = np.zeros((n, 2 * d, d, d)), np.arange(d)
    out[:, d + j, j, j] = -1.0
    return out


def family(**options):
    return zf.ExponentialFamily(quadratic, jacobian=quadratic_jacobian, hessian=quadratic_hessian, **options)


class ClosedDirichlet(zf.Dirichlet):
    """Divides rows by their sums, so that scikit-learn's data are compositions and its checks reach the fit."""

    def _domain(self, n_columns):
        super()._domain(n_columns)
        return zf.Simplex(n_columns, tolerance=np.inf)


CLIP = {"boundary": "clip", "boundary_eps": 1e-3}  # scikit-learn shifts positive data so that their minimum is 0
SINGULAR = {
    "check_sample_weight_equivalence_on_dense_data": "15 to 27 rows of 30 columns do not determine the 495 entries of K; "
    'the same check passes with structure="diagonal" and with a ridge'
}
ONE_DIMENSIONAL = {"check_fit1d": "a sample of one variable may be passed as a vector"}
SUM = "scikit-learn's rows do not sum to one, which a Dirichlet refuses (ClosedDirichlet passes)"
DIRICHLET = dict.fromkeys(
    [
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_fit_returns_self",
        "check_estimators_nan_inf",
        "check_estimators_overwrite_params",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit2d_1sample",
        "check_fit2d_predict1d",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_pipeline_consistency",
        "check_positive_only_tag_during_fit",
        "check_readonly_memmap_input",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weights_list",
        "check_sample_weights_not_an_array",
        "check_sample_weights_not_overwritten",
        "check_sample_weights_pandas_series",
        "check_sample_weights_shape",
    ],
    SUM,
)
ZEROS = dict.fromkeys(
    ["check_estimators_dtypes", "check_sample_weights_not_an_array", "check_sample_weights_pandas_series"],
    "the shifted data have a row of zeros, which is no composition",
)

CHECKED = {
    "Gaussian": (zf.Gaussian(), SINGULAR | ONE_DIMENSIONAL),
    "Gaussian-diagonal": (zf.Gaussian(structure="diagonal"), ONE_DIMENSIONAL),
    "Gaussian-ridge": (zf.Gaussian(ridge=1e-3), ONE_DIMENSIONAL),
    "TruncatedGaussian": (zf.TruncatedGaussian(**CLIP), SINGULAR | ONE_DIMENSIONAL),
    "TruncatedGaussian-ridge": (zf.TruncatedGaussian(ridge=1e-3, **CLIP), ONE_DIMENSIONAL),
    "Exponential": (zf.Exponential(**CLIP), ONE_DIMENSIONAL),
    "Gamma": (zf.Gamma(**CLIP), ONE_DIMENSIONAL),
    "GeneralizedGamma": (zf.GeneralizedGamma(1.5, **CLIP), ONE_DIMENSIONAL),
    "LogNormal": (zf.LogNormal(**CLIP), SINGULAR | ONE_DIMENSIONAL),
    "PowerInteraction": (zf.PowerInteraction(**CLIP), SINGULAR | ONE_DIMENSIONAL),
    "PowerInteraction-gamma": (zf.PowerInteraction(a=0.5, b=0.0, structure="diagonal", **CLIP), ONE_DIMENSIONAL),
    "Dirichlet": (zf.Dirichlet(), DIRICHLET),
    "Dirichlet-closed": (ClosedDirichlet(**CLIP), ZEROS),
    "ExponentialFamily": (family(), ONE_DIMENSIONAL),
}


def _checks():
    for label, (estimator, expected) in CHECKED.items():
        for number, (_, check) in enumerate(estimator_checks_generator(estimator)):
            name = check.func.__name__
            yield pytest.param(label, number, expected.get(name), id=f"{label}-{name}-{number}")


@pytest.mark.filterwarnings("ignore::zfree.errors.ZfreeWarning")
@pytest.mark.parametrize(("label", "number", "reason"), list(_checks()))
def test_scikit_learn_check(label, number, reason):
    estimator, check = list(estimator_checks_generator(CHECKED[label][0]))[number]
    if reason is None:
        check(estimator)
    else:  # strict: a check that has started to pass must leave the list
        with pytest.raises((ValueError, AssertionError, RuntimeWarning)):
            check(estimator)


@pytest.mark.parametrize("label", CHECKED)
def test_every_expected_failure_is_the_name_of_a_check(label):
    estimator, expected = CHECKED[label]
    assert set(expected) <= {check.func.__name__ for _, check in estimator_checks_generator(estimator)}


RNG = np.random.default_rng(3)
POSITIVE = RNG.gamma(3.0, 0.5, size=(80, 3))
PARTS = RNG.dirichlet([2.0, 3.0, 4.0], size=80)
COLUMNS = ["dose", "body weight", "age"]

FITTED = {
    "Gaussian": (zf.Gaussian(), POSITIVE),
    "TruncatedGaussian": (zf.TruncatedGaussian(), POSITIVE),
    "TruncatedGaussian-box": (zf.TruncatedGaussian(zf.Box([0.0] * 3, [9.0] * 3)), POSITIVE),
    "TruncatedGaussian-simplex": (zf.TruncatedGaussian(zf.Simplex(3)), PARTS),
    "Exponential": (zf.Exponential(), POSITIVE),
    "Gamma": (zf.Gamma(), POSITIVE),
    "GeneralizedGamma": (zf.GeneralizedGamma(1.5), POSITIVE),
    "LogNormal": (zf.LogNormal(), POSITIVE),
    "PowerInteraction": (zf.PowerInteraction(a=0.5, b=0.5), POSITIVE),
    "Dirichlet": (zf.Dirichlet(), PARTS),
    "ExponentialFamily": (family(), POSITIVE),
}
every_estimator = pytest.mark.parametrize("label", FITTED)


def _fit(label, X=None):
    estimator, data = FITTED[label]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPositiveDefiniteWarning)
        return clone(estimator).fit(data if X is None else X)


def _agree(first, second):
    """Equal but for the order of additions, which follows the layout of the array in memory."""
    return np.allclose(first, second, rtol=1e-9, atol=1e-11 * np.abs(second).max())


@every_estimator
def test_clone_and_parameters(label):
    estimator, _ = FITTED[label]
    fitted = _fit(label)
    copy = clone(fitted)
    assert not hasattr(copy, "result_")
    assert repr(copy) == repr(estimator)
    parameters = fitted.get_params()
    assert set(parameters) == set(type(estimator)().get_params())
    again = type(estimator)().set_params(**parameters)
    for name, value in parameters.items():
        assert vars(again)[name] is value  # `again.check` is the method of that name
    generator = zf.Barrier(power=0.5, det_power=0.25)
    changed = copy.set_params(generator=generator, ridge=0.125)
    assert changed is copy
    assert (copy.generator, copy.ridge) == (generator, 0.125)
    with pytest.raises(ValueError, match="Invalid parameter 'barrier'"):
        copy.set_params(barrier=generator)


@every_estimator
def test_a_fit_survives_a_pickle(label):
    fitted = _fit(label)
    data = FITTED[label][1]
    back = pickle.loads(pickle.dumps(fitted))
    assert str(back.result_.summary()) == str(fitted.result_.summary())
    assert np.array_equal(back.result_.theta, fitted.result_.theta)
    assert np.array_equal(back.result_.covariance, fitted.result_.covariance)
    assert back.score(data) == fitted.score(data)
    assert np.array_equal(back.log_density(data), fitted.log_density(data))
    alone = pickle.loads(pickle.dumps(fitted.result_))
    assert str(alone.summary()) == str(fitted.result_.summary())


@every_estimator
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_names_of_a_frame_reach_the_parameters(label, frame):
    data = FITTED[label][1]
    table = frame(dict(zip(COLUMNS, data.T, strict=True)))
    fitted = _fit(label, table)
    assert list(fitted.feature_names_in_) == COLUMNS
    assert _agree(fitted.result_.theta, _fit(label).result_.theta)
    names = ", ".join(fitted.result_.names)
    if label == "ExponentialFamily":  # its statistic need not have anything to do with single columns
        assert fitted.result_.names[0] == "theta[0]"
    else:
        kept = COLUMNS[:2] if label == "TruncatedGaussian-simplex" else COLUMNS
        assert all(column in names for column in kept)
        assert "x1" not in names
    assert _agree(fitted.log_density(table), _fit(label).log_density(data))


@every_estimator
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_in_another_order_are_refused_after_a_fit(label, frame):
    data = FITTED[label][1]
    table = frame(dict(zip(COLUMNS, data.T, strict=True)))
    fitted = _fit(label, table)
    shuffled = table[["age", "dose", "body weight"]]
    for method in (fitted.score, fitted.log_density, fitted.density_gradient):
        with pytest.raises(
            DataError, match=r"(?s)same order.*Reorder the columns: X\[\['dose', 'body weight', 'age'\]\]"
        ):
            method(shuffled)
        with pytest.raises(DataError, match=r"(?s)features|names"):
            method(table[["dose", "age"]])


def test_unfitted_estimators_say_so():
    estimator = zf.TruncatedGaussian()
    for method in (estimator.score, estimator.log_density, estimator.density_gradient):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            method(POSITIVE)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(np.ceil(4 * POSITIVE), columns=COLUMNS, dtype="Int64"),
        pd.DataFrame(np.ceil(4 * POSITIVE), columns=COLUMNS, dtype="Float64"),
        pd.DataFrame(np.ceil(4 * POSITIVE), columns=COLUMNS, dtype="Int64").astype({"age": "float32", "dose": "int16"}),
        pd.DataFrame(np.ceil(4 * POSITIVE), columns=COLUMNS).astype(object),
        pl.DataFrame(np.ceil(4 * POSITIVE).astype(np.int64), schema=COLUMNS),
        np.ceil(4 * POSITIVE).astype(np.int64),
        np.ceil(4 * POSITIVE).astype(np.uint8),
        np.ceil(4 * POSITIVE).astype(np.float16),
        np.ceil(4 * POSITIVE).tolist(),
    ],
    ids=["Int64", "Float64", "mixed", "object", "polars", "int64", "uint8", "float16", "list"],
)
def test_whole_numbers_of_any_type_give_the_same_answer(table):
    reference = zf.Gamma().fit(np.ceil(4 * POSITIVE)).result_
    result = zf.Gamma().fit(table).result_
    assert _agree(result.theta, reference.theta)
    assert _agree(result.covariance, reference.covariance)


@every_estimator
def test_single_precision_gives_the_double_precision_answer(label):
    data = FITTED[label][1]
    result, reference = _fit(label, data.astype(np.float32)).result_, _fit(label).result_
    assert result.theta.dtype == np.float64
    # The rounding of the input, not of the arithmetic: with exactly the same numbers nothing differs.
    assert not np.array_equal(result.theta, reference.theta)
    assert np.allclose(result.theta, reference.theta, rtol=2e-4, atol=2e-5 * np.abs(reference.theta).max())
    exact = _fit(label, data.astype(np.float32).astype(np.float64)).result_
    assert np.array_equal(result.theta, exact.theta)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": pd.array([1, 2, None, 4], dtype="Int64"), "b": [3.0, 1.0, 2.0, 5.0]}),
        pl.DataFrame({"a": [1, 2, None, 4], "b": [3.0, 1.0, 2.0, 5.0]}),
        pd.DataFrame({"a": [1, 2, None, 4], "b": [3.0, 1.0, 2.0, 5.0]}, dtype=object),
    ],
    ids=["pandas", "polars", "object"],
)
def test_a_missing_value_is_found_whatever_it_is_called(table):
    with pytest.raises(DataError, match=r"NaN.*row 2, column 'a'"):
        zf.Gamma().fit(table)


@every_estimator
def test_memory_layout_does_not_matter_and_input_is_never_written_to(label):
    data = FITTED[label][1]
    reference = _fit(label).result_.theta
    wide = np.zeros((2 * len(data), 6))
    wide[::2, ::2] = data
    for X in (np.asfortranarray(data), wide[::2, ::2], np.ascontiguousarray(data[:, ::-1])[:, ::-1]):
        assert _agree(_fit(label, X).result_.theta, reference)
    locked = data.copy()
    locked.flags.writeable = False
    fitted = _fit(label, locked)
    fitted.score(locked), fitted.log_density(locked), fitted.density_gradient(locked)
    assert np.array_equal(fitted.result_.theta, reference)
    weight = np.full(len(data), 2.0)
    weight.flags.writeable = False
    clone(FITTED[label][0]).set_params(ridge=0.1).fit(locked, sample_weight=weight)


@pytest.mark.filterwarnings("ignore::zfree.errors.ZfreeWarning")
@pytest.mark.parametrize("boundary", ["drop", "clip"])
def test_rows_on_the_boundary_are_not_written_to(boundary):
    X = POSITIVE.copy()
    X[5, 1] = 0.0
    before = X.copy()
    fitted = zf.TruncatedGaussian(boundary=boundary, boundary_eps=1e-2).fit(X)
    fitted.score(X)
    assert np.array_equal(X, before)
    P = np.vstack([PARTS, [0.0, 0.25, 0.75], PARTS[0] * (1 + 1e-8)])
    before = P.copy()
    zf.Dirichlet(boundary=boundary, boundary_eps=1e-2).fit(P)
    assert np.array_equal(P, before)


@every_estimator
def test_whole_weights_are_repeated_rows(label):
    estimator, data = FITTED[label]
    # A generator chosen from the data minimises a variance, and weights are not frequencies there.
    estimator = clone(estimator).set_params(generator=zf.Barrier.log(det_power=0))
    weight = np.random.default_rng(1).integers(0, 4, size=len(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPositiveDefiniteWarning)
        weighted = clone(estimator).fit(data, sample_weight=weight).result_.theta
        repeated = clone(estimator).fit(np.repeat(data, weight, axis=0)).result_.theta
        unweighted = clone(estimator).fit(data).result_.theta
    assert _agree(weighted, repeated)
    assert not np.allclose(weighted, unweighted, rtol=1e-3)


@pytest.mark.parametrize("estimator", [zf.Exponential(), zf.Gamma()], ids=["Exponential", "Gamma"])
@pytest.mark.parametrize(
    "vector",
    [
        POSITIVE[:, 0],
        POSITIVE[:, 0].tolist(),
        pd.Series(POSITIVE[:, 0], name="dose"),
        pl.Series("dose", POSITIVE[:, 0]),
    ],
    ids=["array", "list", "pandas", "polars"],
)
def test_one_positive_variable_may_be_a_vector(estimator, vector):
    fitted = clone(estimator).fit(vector)
    table = clone(estimator).fit(POSITIVE[:, :1])
    assert np.array_equal(fitted.result_.theta, table.result_.theta)
    assert fitted.score(vector) == table.score(POSITIVE[:, :1])


@every_estimator
def test_lazy_and_sparse_tables_are_refused_with_the_remedy(label):
    estimator = clone(FITTED[label][0])
    with pytest.raises(DataError, match=r"lazy frame.*X\.collect\(\)"):
        estimator.fit(pl.DataFrame(POSITIVE).lazy())
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        with pytest.raises(DataError, match=r"Sparse input.*X\.toarray\(\)"):
            estimator.fit(kind(POSITIVE))


@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (zf.TruncatedGaussian(generator=zf.Barrier(power=4 / 3)), POSITIVE),
        (zf.Dirichlet(generator=zf.Barrier.log(det_power=0)), PARTS),
        (zf.Gaussian(generator=zf.Identity()), POSITIVE),
    ],
    ids=["TruncatedGaussian", "Dirichlet", "Gaussian"],
)
def test_grid_search_over_ridge(estimator, data):
    ridges = [0.0, 1e-2, 1e2]
    search = GridSearchCV(estimator, {"ridge": ridges}, cv=4, error_score="raise").fit(data)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert search.best_params_["ridge"] == ridges[int(np.argmax(scores))]
    assert search.best_params_["ridge"] != 1e2  # K shrunk to nothing describes no data
    assert search.best_estimator_.generator == estimator.generator
    folds = [np.delete(np.arange(len(data)), part) for part in np.array_split(np.arange(len(data)), 4)]
    by_hand = [clone(estimator).fit(data[train]).score(np.delete(data, train, axis=0)) for train in folds]
    assert np.isclose(scores[0], np.mean(by_hand))


@pytest.mark.filterwarnings("ignore::zfree.errors.BoundaryRowsWarning")
@pytest.mark.parametrize("boundary", ["drop", "clip"])
def test_cross_validation_treats_zeros_as_the_fit_does(boundary):
    P = PARTS.copy()
    P[::10, 0] = 0.0
    P = zf.Simplex.closure(P)
    search = GridSearchCV(
        zf.Dirichlet(boundary=boundary, boundary_eps=1e-2), {"ridge": [0.0, 0.1]}, cv=4, error_score="raise"
    )
    assert np.isfinite(search.fit(P).cv_results_["mean_test_score"]).all()


def test_scoring_rows_on_the_boundary():
    X = POSITIVE.copy()
    X[3, 1] = 0.0
    moved = np.array(X)
    moved[3, 1] = 0.01
    clipped = zf.Gamma(boundary="clip", boundary_eps=0.01).fit(POSITIVE)
    with pytest.warns(BoundaryRowsWarning, match="1 of 80 rows on the boundary were moved"):
        assert clipped.score(X) == clipped.score(moved)
    with pytest.warns(BoundaryRowsWarning, match="1 of 80 rows on the boundary were moved"):
        assert np.array_equal(clipped.log_density(X), clipped.log_density(moved))
    dropped = zf.Gamma(boundary="drop").fit(POSITIVE)
    with pytest.warns(BoundaryRowsWarning, match="1 of 80 rows on the boundary were dropped"):
        assert dropped.score(X) == dropped.score(np.delete(X, 3, axis=0))
    # A value per row is promised: none may be dropped.
    for method in (dropped.log_density, dropped.density_gradient):
        with pytest.raises(BoundaryError, match=r"row 3 \(x2 > 0, equality\)"):
            method(X)


def test_fits_in_a_pipeline_with_routed_weights():
    pipeline = make_pipeline(MinMaxScaler((0.1, 0.9)), zf.TruncatedGaussian(zf.Box([0.0] * 3, [1.0] * 3)))
    weight = np.linspace(0.5, 2.0, len(POSITIVE))
    pipeline.fit(POSITIVE, truncatedgaussian__sample_weight=weight)
    scaled = MinMaxScaler((0.1, 0.9)).fit_transform(POSITIVE)
    direct = zf.TruncatedGaussian(zf.Box([0.0] * 3, [1.0] * 3)).fit(scaled, sample_weight=weight)
    assert np.allclose(pipeline[-1].precision_, direct.precision_)
    assert np.isclose(pipeline.score(POSITIVE), direct.score(scaled))


def test_a_ridge_makes_few_rows_enough():
    X = np.random.default_rng(0).normal(size=(8, 20))
    with pytest.raises(DataError, match=r"8 rows of 20 columns cannot determine 230 parameters.*add a ridge="):
        zf.Gaussian().fit(X)
    result = zf.Gaussian(ridge=0.1).fit(X).result_
    assert np.isfinite(result.theta).all()
    assert "8 rows for 230 free parameters" in str(result.summary())


def test_a_search_over_generators_compares_like_with_like():
    """Scores are taken with one generator, so multiplying D changes none of them and the better estimate wins."""
    from sklearn.model_selection import GridSearchCV

    X = np.abs(np.random.default_rng(0).normal(1.0, 1.0, (400, 2)))
    doubled = zf.Custom(lambda X: 2.0 * X, divergence=lambda X: np.full_like(X, 2.0), vanishing_at_boundary=True)
    once, twice = (zf.TruncatedGaussian(generator=g).fit(X) for g in ("h1", doubled))
    assert once.score(X) == pytest.approx(twice.score(X), rel=1e-9)
    truth = np.random.default_rng(1).exponential(size=(100_000, 1))
    search = GridSearchCV(zf.Exponential(), {"generator": [zf.Barrier.log(2.0), zf.Barrier(1.0, 0.0)]}, cv=10)
    assert search.fit(truth[:300]).best_params_["generator"] == zf.Barrier(1.0, 0.0)
