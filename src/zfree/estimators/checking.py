"""Does the model fit? The check that a fit with a chosen generator runs, and `check(X)` runs again with more draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MethodType
from typing import Any

import numpy as np

from zfree.arrays import Array, Seed
from zfree.conversion import random_generator
from zfree.data import Table, content_hash
from zfree.domains import Domain
from zfree.errors import MisfitWarning, SpecificationError, ZfreeError, warn
from zfree.inference import FitResult, GoodnessOfFit
from zfree.inference.goodness import Estimated, goodness_of_fit, pool_size, rows_worth
from zfree.inference.indicators import n_indicators
from zfree.inference.likelihood_root import Draw, Pool, Refusal
from zfree.inference.uncertainty import CHEAP
from zfree.models import Model, PairwiseModel, SeparableModel
from zfree.samplers import sample_model
from zfree.threads import blas_threads_for

FEWEST_ROWS = 20
"""Below it the distribution of the statistic is not the one it is referred to."""
ROWS_PER_PARAMETER = 1.3
"""Rows that are needed for each free parameter; with fewer, what is left to test is mostly rounding."""
WEIGHTED_SHARE = 0.2
"""Least ratio of what weighted rows are worth to their number. Under weights far apart the statistic has longer tails than it is referred to."""
MORE_DRAWS = 5
"""How many times more draws `check(X)` takes than a fit."""
MOST_STARTS = 1024
"""Rows that chains start from."""
PATIENCE = 0.01
"""Share of the moves that chains are given for the check of a fit."""
CHAIN_DRAWS, CHAIN_COLUMNS = 2500, 2
"""Where draws are states of slice chains: draws for the check of a fit, and columns beyond which it is left to `check(X)`."""
SHARE_MARGIN, SHARE_ERROR = 0.2, 1.7
"""Logarithm of a share of the bound that is let pass, and its error times √N."""


class OptionAndMethod:
    """A name that is an option when it is set (``Gamma(check=False)``) and a method when it is called (``est.check(X)``).

    The option lies in the dictionary of the instance, where scikit-learn keeps parameters; a lookup finds the method.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method, self.__doc__ = method, method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self._method if instance is None else MethodType(self._method, instance)

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self._name] = value


def wants_check(option: Any) -> bool:
    """The option `check=`, which must be True or False."""
    if not isinstance(option, bool | np.bool_):
        raise SpecificationError(f"check must be True or False, got {option!r}; est.check(X) runs the check on a fit.")
    return bool(option)


def checked(result: FitResult, data: Table) -> FitResult:
    """The result with the verdict of a check; a warning and a note if the data contradict the model."""
    found = _at_fit(result, data)
    result = replace(result, fit_check=found)
    if not found.alarms:
        return result
    note = (
        f"{found.verdict}. Look for another model, outliers, or a domain that is too large or too small; result_.fit_check "
        "has a p-value for every column."
    )
    warn(note, MisfitWarning)
    return result.with_note(note)


def _at_fit(result: FitResult, data: Table) -> GoodnessOfFit:
    """The check that a fit can afford."""
    (n, d), r = data.X.shape, int(result.free.sum())
    if result.model.is_separable and r > CHEAP and result.uncertainty.kind != "full":
        reason = f"a comparison over {r:,} parameters together takes longer than a fit of each column: run est.check(X)"
        return GoodnessOfFit(reason=reason, n_rows=n)
    size = pool_size(n, d, r)
    if not _at_once(result.model):
        if d > CHAIN_COLUMNS:
            reason = f"draws of this model in {d} columns need chains, which take longer than the fit: run est.check(X)"
            return GoodnessOfFit(reason=reason, n_rows=n)
        size = min(size, CHAIN_DRAWS)
    return check_fit(result, data, content_seed(data), size, patience=PATIENCE)


def with_bound_note(result: FitResult) -> FitResult:
    """A note where the estimated share of the Cramér–Rao bound is above one, beyond its own error.

    The share is 1 / criterion of the generator that was chosen. On true models the standard deviation of its logarithm was at most
    about 1.7/√N, with gamma and exponential tails.
    """
    chosen = result.selection
    if chosen is None or chosen.target != "information" or not chosen.criterion > 0.0:
        return result
    limit = np.exp(SHARE_MARGIN + 3.0 * SHARE_ERROR / np.sqrt(result.n_observations))
    share = 1.0 / chosen.criterion
    if share <= limit:
        return result
    return result.with_note(
        f"the estimated share of the Cramér–Rao bound is {share:.2g}, more than any estimator can reach: the standard errors are too "
        "small, because few rows dominate them or because the model is wrong."
    )


def check_fit(
    result: FitResult, data: Table, random_state: Seed | list[int], size: int, *, patience: float = 1.0
) -> GoodnessOfFit:
    """Compare rows with `size` draws of the fitted model, or say why not."""
    n, n_free = len(data.X), int(result.free.sum())
    worth = rows_worth(data)
    if worth < FEWEST_ROWS or worth < ROWS_PER_PARAMETER * n_free or worth < WEIGHTED_SHARE * n:
        count = f"{n} rows" if data.weight is None else f"{n} weighted rows, worth {worth:.0f} equal ones,"
        reason = f"{count} are too few to test a model with {n_free} free parameters"
        return GoodnessOfFit(reason=reason, n_rows=n)
    model = result.model
    draw = _drawer(model, result.domain, data.some(MOST_STARTS).X, random_generator(random_state), patience)
    estimate = Estimated(result.working_theta, result.uncertainty.matrix, result.free)
    try:
        with blas_threads_for(n_indicators(data.X.shape[1]) + n_free):
            found = goodness_of_fit(model, result.domain, estimate, data, draw, size=size)
            if found.reason and (crude := _crude(model, data)) is not None:
                # There is nothing to draw from at θ̂. The family may still be right, or wrong: start elsewhere.
                start = np.where(result.free, crude, result.working_theta)
                again = goodness_of_fit(model, result.domain, estimate, data, draw, size=size, start=start)
                found = found if again.reason else again
    except (
        ZfreeError,
        ValueError,
        ArithmeticError,
    ) as error:  # of functions of the user, at points they did not foresee
        return GoodnessOfFit(reason=f"the comparison failed ({error})", n_rows=n)
    return found


def _at_once(model: Model) -> bool:
    """Whether draws of the model cost little: textbook families and Gaussians do."""
    return isinstance(model, SeparableModel) or (isinstance(model, PairwiseModel) and model.a == model.b in (0.0, 1.0))


def _drawer(model: Model, domain: Domain, start: Array, rng: np.random.Generator, patience: float) -> Draw:
    """Draws of the model at any θ; chains start where the last ones ended, the first ones at rows of the data."""

    def draw(theta: Array, n: int) -> Pool | Refusal:
        nonlocal start
        try:
            found = sample_model(model, domain, theta, n, random_state=rng, start=start, patience=patience)
        except ZfreeError as error:
            return Refusal(str(error).rstrip("."))
        if found.doubt:
            return Refusal(f"its draws cannot be trusted: {found.doubt}")
        if not found.exact:
            start = found.draws
        effective = n if found.effective_size is None else min(float(n), float(found.effective_size.min()))
        return Pool(found.draws, effective)

    return draw


def _crude(model: Model, data: Table) -> Array | None:
    """Parameters of a distribution somewhere near the data: moments, as if nothing were truncated."""
    known = model.rough_parameters(data.X, data.weight)
    if known is not None:
        return known
    if isinstance(model, PairwiseModel) and model.a == model.b == 1.0:
        K = np.diag(1.0 / data.statistics.variance)
        slope = [K @ (data.statistics.mean - model.center)] if model.linear else []
        return np.concatenate([K[model.rows, model.cols], *slope])
    return None


def content_seed(data: Table) -> list[int]:
    """A seed that depends on the values, not on the order of the rows or the units of the columns.

    A constant seed would make one error of the draws common to all data sets; this one is as good as a random one.
    """
    return [*data.X.shape, content_hash(data.X, data.weight)]
