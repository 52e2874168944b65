"""One door to draws from every model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array, Seed
from zfree.conversion import random_generator, real_array, shown
from zfree.domains import Domain, Orthant
from zfree.errors import SpecificationError
from zfree.models import LogNormalModel, Model, PairwiseModel
from zfree.samplers.draws import Draws, check_domain, check_model, check_number, check_patience, refuse_improper
from zfree.samplers.gaussian import gaussian_draws
from zfree.samplers.inversion import inversion_draws
from zfree.samplers.slices import slice_draws
from zfree.samplers.starts import inside_rows
from zfree.threads import blas_threads_for

TINY = 1e-300
"""Positive parts that underflow are raised to this: the domains are open."""


def sample_model(
    model: Model,
    domain: Domain,
    theta: ArrayLike,
    n: int,
    *,
    random_state: Seed = None,
    start: ArrayLike | None = None,
    patience: float = 1.0,
) -> Draws:
    """Draw from a model at given parameters.

    Parameters
    ----------
    model : Model
    domain : Domain
        Where the model lives, in the columns it is written in.
    theta : array_like of shape (n_parameters,)
        Parameters as the model works with them (``FitResult.working_theta``).
    n : int
    random_state : int, Generator or None
    start : ndarray of shape (m, d), optional
        Rows inside the domain to start chains from, data for example; otherwise they start dispersed.
    patience : float
        Multiplies the number of moves after which chains that do not mix are given up: after some seconds at 1.

    Returns
    -------
    Draws
        Exact and independent for gammas, exponentials, Dirichlets and log-normals, for densities of one variable, and for Gaussians
        wherever rejection accepts; else the states of chains with their diagnostics.

    Raises
    ------
    ImproperDensityError
        When the density cannot be normalised at `theta`.
    """
    check_model(model)
    check_domain(domain)
    n, patience = check_number(n, domain.dimension), check_patience(patience)
    values = real_array(theta, "theta")
    if values.shape != (model.n_parameters,) or not np.isfinite(values).all():
        raise SpecificationError(f"theta must be {model.n_parameters} finite numbers, got {shown(theta)}.")
    if domain.dimension != model.dimension:
        raise SpecificationError(f"the model has {model.dimension} columns, but {domain!r} has {domain.dimension}.")
    rows = None if start is None else inside_rows(domain, start)
    refuse_improper(model.normalisable(values, domain, rows), domain)
    rng = random_generator(random_state)
    exact = _textbook(model, domain, values, n, rng)
    if exact is not None:
        return exact
    if isinstance(model, PairwiseModel) and model.a == model.b == 1.0:
        return gaussian_draws(domain, model.center, model.matrix(values), model.vector(values), n, rng, rows, patience)
    found = inversion_draws(lambda X: model.log_density(X, values), domain, n, rng, rows)
    if found is not None:
        return found
    with blas_threads_for(domain.dimension):
        found = slice_draws(lambda X: model.log_density(X, values), domain, n, rng, rows, patience)
    # Chains run along a ridge that no look from the middle can find; from where they ended it can be seen.
    refuse_improper(model.normalisable(values, domain, found.draws), domain)
    return found


def _textbook(model: Model, domain: Domain, theta: Array, n: int, rng: np.random.Generator) -> Draws | None:
    """Families that numpy draws from."""
    d = model.dimension
    found = model.textbook_draws(domain, theta, n, rng)
    if found is not None:
        return Draws(np.maximum(found.draws, TINY), True, found.source)
    if not isinstance(domain, Orthant):
        return None
    if isinstance(model, PairwiseModel) and model.a == model.b == 0.0:
        # In y = log x the density is exp(−½ (y − c)ᵀK(y − c) + ηᵀy), and the change of variables adds Σ y.
        K = model.matrix(theta)
        slope = model.vector(theta) + (0.0 if isinstance(model, LogNormalModel) else 1.0)  # whose base is exp(−Σ y)
        center = model.center + np.linalg.solve(K, slope)
        root = np.linalg.inv(np.linalg.cholesky(K))
        draws = np.exp(center + rng.standard_normal((n, d)) @ root)
        return Draws(np.clip(draws, TINY, 1.0 / TINY), True, "normal logarithms")
    return None
