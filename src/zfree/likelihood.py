"""Maximum likelihood where the normalising constant is known, or can be had from draws: the yardstick of the experiments."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp, polygamma, psi

from zfree.arrays import Array
from zfree.conversion import real_array, shown
from zfree.errors import DataError, SpecificationError
from zfree.models import Model
from zfree.samplers.draws import check_model

STEPS, TOLERANCE = 100, 1e-10
MOST_ALIKE = 1e10
"""Concentrations beyond which rounding decides: the likelihood tells Σ α by differences of the size of its inverse."""
LARGE_SHAPE = 100.0
"""Shapes from which log a − ψ(a) is taken from its series: the difference loses digits there, the series none."""


def exponential_mle(X: ArrayLike) -> Array:
    """Rates 1 / mean of each column."""
    X = _table(X, "X")
    if not X.min() > 0:
        raise DataError("the exponential distribution needs positive values.")
    with np.errstate(over="ignore"):
        rates = np.asarray(1.0 / X.mean(axis=0), dtype=np.float64)
    if not np.all((rates > 0) & (rates < np.inf)):
        column = int(np.flatnonzero(~((rates > 0) & (rates < np.inf)))[0])
        raise DataError(f"the mean of column {column}, or its inverse, is beyond floating point: change its unit.")
    return rates


def dirichlet_mle(X: ArrayLike) -> Array:
    """Concentrations α of a Dirichlet by Newton's method (Minka 2000), in O(d) a step.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Strictly positive rows that sum to one.

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> X = np.random.default_rng(0).dirichlet([2.0, 3.0, 4.0], size=2000)
    >>> zf.likelihood.dirichlet_mle(X).round(1)
    array([2. , 3. , 3.9])
    """
    X = _table(X, "X")
    if not (X.min() > 0 and np.all(np.abs(X.sum(axis=1) - 1) < 1e-6)):
        raise DataError("every row must be strictly positive and sum to one.")
    mean_log = np.log(X).mean(axis=0)
    first, second, variance = X.mean(axis=0), (X**2).mean(axis=0), X.var(axis=0)
    varies = variance > 0
    total = float(np.median((first - second)[varies] / variance[varies])) if varies.any() else np.inf
    if not total < MOST_ALIKE:
        raise DataError(
            "the rows are all alike, to rounding: the likelihood of a Dirichlet distribution has no maximum."
        )
    alpha = first * total
    for _ in range(STEPS):
        gradient = psi(alpha.sum()) - psi(alpha) + mean_log
        diagonal, common = -polygamma(1, alpha), polygamma(1, alpha.sum())
        # The Hessian is diagonal plus a constant.
        shift = (gradient / diagonal).sum() / (1 / common + (1 / diagonal).sum())
        step = (gradient - shift) / diagonal
        alpha = np.where(alpha - step > 0, alpha - step, alpha / 2)
        if np.abs(step).max() < TOLERANCE * alpha.max():
            return np.asarray(alpha, dtype=np.float64)
    raise DataError(f"Newton's method found no maximum of the likelihood in {STEPS} steps; are the rows all alike?")


def gamma_mle(X: ArrayLike) -> Array:
    """Shapes and rates of independent gammas, by Newton's method in 1/shape (Minka 2002).

    Parameters
    ----------
    X : array_like of shape (n, d) or (n,)
        Positive values.

    Returns
    -------
    ndarray of shape (2, d)
        The shapes of the columns, then their rates.

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> x = np.random.default_rng(0).gamma(2.0, 1 / 3.0, size=4000)
    >>> zf.likelihood.gamma_mle(x).round(1)
    array([[2. ],
           [2.9]])
    """
    X = _table(X, "X")
    if not X.min() > 0:
        raise DataError("the gamma distribution needs positive values.")
    logs = np.log(X)
    middle = logs.mean(axis=0)
    with np.errstate(all="ignore"):
        # log of the arithmetic over the geometric mean, by deviations: two means of close values would lose it.
        gap = np.log1p(np.expm1(logs - middle).mean(axis=0))
    if not np.all(gap > 1 / MOST_ALIKE):
        raise DataError(
            f"the values of column {int(np.argmin(gap))} are all alike, to rounding: the likelihood of a gamma distribution "
            "has no maximum."
        )
    with np.errstate(all="ignore"):
        mean = np.exp(middle + gap)
        shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
        for _ in range(STEPS):
            value, slope = _log_minus_psi(shape)
            new = 1 / (1 / shape - (gap - value) / (shape**2 * slope))
            new = np.where(new > 0, new, shape / 2)
            done = bool(np.all(np.abs(new - shape) <= TOLERANCE * shape))
            shape = new
            if done:
                break
        rate = shape / mean
    wild = ~((rate > 0) & (rate < np.inf))
    if wild.any():
        column = int(np.argmax(wild))
        raise DataError(f"the mean of column {column}, or its inverse, is beyond floating point: change its unit.")
    return np.stack([shape, rate])


def _log_minus_psi(a: Array) -> tuple[Array, Array]:
    """log a − ψ(a) and its derivative."""
    u = 1 / a
    v = u * u
    series = u * (1 / 2 + u * (1 / 12 - v * (1 / 120 - v / 252)))
    slope = -v * (1 / 2 + u * (1 / 6 - v * (1 / 30 - v / 42)))
    large = a > LARGE_SHAPE
    return np.where(large, series, np.log(a) - psi(a)), np.where(large, slope, u - polygamma(1, a))


def monte_carlo_mle(
    model: Model,
    X: ArrayLike,
    draws: ArrayLike,
    theta: ArrayLike,
    moments: tuple[ArrayLike, ArrayLike] | None = None,
) -> Array:
    r"""Maximum likelihood of an exponential family from draws at a nearby θ₀ (Geyer and Thompson 1992).

    The likelihood ratio :math:`\log Z(\theta) - \log Z(\theta_0) = \log E_{\theta_0} e^{(\theta-\theta_0)^\top t(x)}` is replaced
    by its mean over `draws`, and maximised by Newton's method.

    Parameters
    ----------
    model : Model
    X : array_like of shape (n, d)
    draws : array_like of shape (m, d)
        From the model at `theta`; many more rows than `X`.
    theta : array_like of shape (n_parameters,)
        θ₀, in the model's own parameters.
    moments : tuple of array_like of shapes (n_parameters,) and (n_parameters, n_parameters), optional
        Mean m and covariance C of t(x) at `theta`, where they are known better than from `draws`, whose own are m̂ and Ĉ. Then
        :math:`(\theta-\theta_0)^\top (m - \hat m) + \tfrac12 (\theta-\theta_0)^\top (C - \hat C)(\theta-\theta_0)` is added to the log of the
        mean, which cancels the error of the draws to second order in θ − θ₀.
    """
    check_model(model)
    start = real_array(theta, "theta")
    if start.shape != (model.n_parameters,) or not np.isfinite(start).all():
        raise SpecificationError(f"theta must be {model.n_parameters} finite numbers, got {shown(theta)}.")
    pool, seen = _statistics(model, draws, "draws"), _statistics(model, X, "X").mean(axis=0)
    center, spread = pool.mean(axis=0), pool.std(axis=0)
    if not spread.min() > 0:
        raise SpecificationError(
            f"the statistic of {model.names[int(np.argmin(spread))]} is the same at all {len(pool)} draws: draw more."
        )
    t, seen = (pool - center) / spread, (seen - center) / spread
    shift, bend = np.zeros(t.shape[1]), np.zeros((t.shape[1], t.shape[1]))
    if moments is not None:
        mean, covariance = (real_array(m, "moments") for m in moments)
        if (
            mean.shape != start.shape
            or covariance.shape != bend.shape
            or not np.isfinite(covariance.sum() + mean.sum())
        ):
            raise SpecificationError(
                f"moments must be the mean of {model.n_parameters} statistics and their covariance matrix, in finite numbers."
            )
        shift, bend = (mean - center) / spread, covariance / np.outer(spread, spread) - t.T @ t / len(t)
    delta = np.zeros(t.shape[1])  # θ − θ₀ in units of 1/spread
    for _ in range(STEPS):
        log_weight = t @ delta
        weight = np.exp(log_weight - logsumexp(log_weight))
        mean = weight @ t
        hessian = (t * weight[:, None]).T @ t - np.outer(mean, mean) + bend
        try:
            step = np.linalg.solve(hessian, seen - mean - shift - bend @ delta)
        except np.linalg.LinAlgError:  # fewer draws than parameters
            break
        delta += step * min(1.0, 0.5 / np.abs(step).max())
        if 1.0 / np.sum(weight**2) < 5 * len(delta):
            break
        if np.abs(step).max() < 1e-8:
            return np.asarray(start + delta / spread, dtype=np.float64)
    raise SpecificationError(
        "the draws are too few or too far from the data for Monte-Carlo likelihood: start from a better theta, or draw more."
    )


def _statistics(model: Model, X: ArrayLike, what: str) -> Array:
    """t(x) of every row."""
    rows = _table(X, what)
    if rows.shape[1] != model.dimension:
        raise DataError(f"{what} must have the {model.dimension} columns of the model, got {rows.shape[1]}.")
    with np.errstate(all="ignore"):
        values = model.statistics(rows)
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if bad.size:
        raise DataError(
            f"the statistics of the model are not finite at row {bad[0]} of {what}: it is outside the domain."
        )
    return values


def _table(X: ArrayLike, what: str) -> Array:
    rows = real_array(X, what, DataError)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise DataError(f"{what} must be a table of finite numbers, got an array of shape {rows.shape}.")
    return rows
