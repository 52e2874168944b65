"""Compare generators on one data set."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from zfree.errors import (
    DataError,
    InconsistentGeneratorWarning,
    InfiniteVarianceWarning,
    SpecificationError,
    ZfreeError,
    ZfreeWarning,
)
from zfree.estimators.base import ScoreMatchingEstimator
from zfree.generators import Generator
from zfree.inference import Candidate, Ranking


def rank(
    estimator: ScoreMatchingEstimator, X: Any, candidates: Sequence[Generator], *, sample_weight: Any = None
) -> Ranking:
    """Order generators by the estimated total variance Tr(Σ̂), with κ(Γ_N) and the estimate beside it.

    Parameters
    ----------
    estimator : estimator
        Says which model and domain; its own generator is ignored.
    X : array_like
    candidates : sequence of Generator
    sample_weight : array_like, optional

    Returns
    -------
    Ranking
        Best first. Candidates that do not vanish on the boundary, or not fast enough for this model, come after those
        that do (their Tr(Σ̂) means nothing), and candidates that cannot be fitted last, with the reason.

    Examples
    --------
    >>> import numpy as np, zfree as zf
    >>> x = np.random.default_rng(0).exponential(size=500)
    >>> table = zf.rank(zf.Exponential(), x, [zf.Barrier.log(), zf.Barrier(power=4/3)])
    >>> table.best.generator
    Barrier(power=1.33333, det_power=0.5)
    """
    if not candidates:
        raise SpecificationError("candidates is empty: give at least one generator, such as zf.Barrier().")
    fitted = []
    for generator in candidates:
        if not isinstance(generator, Generator):
            raise SpecificationError(f"every candidate must be a generator such as zf.Barrier(), got {generator!r}.")
        fitted.append(_fit(estimator, X, generator, sample_weight))
    order = sorted(fitted, key=lambda c: (c.result is None, bool(c.problem), c.total_variance))
    return Ranking(tuple(order))


def _fit(estimator: ScoreMatchingEstimator, X: Any, generator: Generator, sample_weight: Any) -> Candidate:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", ZfreeWarning)
        warnings.simplefilter("always", InconsistentGeneratorWarning)
        warnings.simplefilter("always", InfiniteVarianceWarning)
        try:
            fit = clone(estimator).set_params(generator=generator).fit(X, sample_weight=sample_weight)
        except DataError:
            raise  # the data are at fault, not the candidate
        except ZfreeError as error:
            return Candidate(generator, None, str(error))
    remarks = {InconsistentGeneratorWarning: "inconsistent", InfiniteVarianceWarning: "infinite variance"}
    problem = next((text for w in caught for kind, text in remarks.items() if issubclass(w.category, kind)), "")
    return Candidate(generator, fit.result_, problem)
