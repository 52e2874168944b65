"""Maximum likelihood where the normalising constant is known, or can be had from draws: the yardstick of the experiments."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp, polygamma, psi

from zfree.arrays import Array
from zfree.errors import DataError, SpecificationError
from zfree.models import Model

STEPS, TOLERANCE = 100, 1e-10


def exponential_mle(X: Array) -> Array:
    """Rates 1 / mean of each column."""
    X = _table(X)
    if not X.min() > 0:
        raise DataError("the exponential distribution needs positive values.")
    return np.asarray(1.0 / X.mean(axis=0), dtype=np.float64)


def dirichlet_mle(X: Array) -> Array:
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
    X = _table(X)
    if not (X.min() > 0 and np.all(np.abs(X.sum(axis=1) - 1) < 1e-6)):
        raise DataError("every row must be strictly positive and sum to one.")
    mean_log = np.log(X).mean(axis=0)
    first, second = X.mean(axis=0), (X**2).mean(axis=0)
    alpha = first * np.median((first - second) / (second - first**2))
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


def monte_carlo_mle(model: Model, X: Array, draws: Array, theta: Array) -> Array:
    r"""Maximum likelihood of an exponential family from draws at a nearby θ₀ (Geyer and Thompson 1992).

    The likelihood ratio :math:`\log Z(\theta) - \log Z(\theta_0) = \log E_{\theta_0} e^{(\theta-\theta_0)^\top t(x)}` is replaced
    by its mean over `draws`, and maximised by Newton's method.

    Parameters
    ----------
    model : Model
    X : ndarray of shape (n, d)
    draws : ndarray of shape (m, d)
        From the model at `theta`; many more rows than `X`.
    theta : ndarray
        θ₀, in the model's own parameters.
    """
    pool, seen = model.statistics(np.asarray(draws)), model.statistics(_table(X)).mean(axis=0)
    centre, spread = pool.mean(axis=0), pool.std(axis=0)
    t, seen = (pool - centre) / spread, (seen - centre) / spread
    delta = np.zeros(t.shape[1])  # θ − θ₀ in units of 1/spread
    for _ in range(STEPS):
        log_weight = t @ delta
        weight = np.exp(log_weight - logsumexp(log_weight))
        mean = weight @ t
        hessian = (t * weight[:, None]).T @ t - np.outer(mean, mean)
        step = np.linalg.solve(hessian, seen - mean)
        delta += step * min(1.0, 0.5 / np.abs(step).max())
        if 1.0 / np.sum(weight**2) < 5 * len(delta):
            break
        if np.abs(step).max() < 1e-8:
            return np.asarray(theta + delta / spread, dtype=np.float64)
    raise SpecificationError(
        "the draws are too few or too far from the data for Monte-Carlo likelihood: start from a better theta, or draw more."
    )


def _table(X: Array) -> Array:
    X = np.asarray(X, dtype=float)
    X = X[:, None] if X.ndim == 1 else X
    if X.ndim != 2 or not len(X) or not np.isfinite(X).all():
        raise DataError(f"expected a table of finite numbers, got an array of shape {X.shape}.")
    return X
