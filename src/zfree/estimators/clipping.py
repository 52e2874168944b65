"""How much of an estimate is the amount by which zeros were moved inside?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zfree.arrays import Array
from zfree.errors import BoundaryRowsWarning, ZfreeError, warn
from zfree.inference import FitResult
from zfree.solvers import solve

if TYPE_CHECKING:
    from zfree.estimators.base import ScoreMatchingEstimator

SHRINK = 10.0
"""The second fit moves the rows on the boundary inside by this factor less."""
MOST = 1.0
"""Standard errors by which it may differ before that is said."""


def remark_on_clipping(
    estimator: ScoreMatchingEstimator, result: FitResult, array: Array, weight: Array | None
) -> FitResult:
    """Fit again with a tenth of boundary_eps, and say so when that moves a parameter by more than a standard error."""
    assert estimator.boundary_eps is not None
    epsilon = estimator.boundary_eps
    if result.natural.refused:
        return result.with_note(
            f"whether the estimate depends on boundary_eps = {epsilon:g} was not checked, as there are no standard errors to compare with "
            "(covariance=None)."
        )
    try:
        with np.errstate(all="ignore"):
            there = _natural(estimator, result, array, weight, epsilon / SHRINK)
            alone = result.combination is None and np.isfinite(result.standard_errors).all()
            # A combination, or an estimate held in the cone, is not what one closed form gives: compare like with like.
            here = result.theta if alone else _natural(estimator, result, array, weight, epsilon)
    except (ZfreeError, np.linalg.LinAlgError) as error:
        note = f"whether the estimate depends on boundary_eps = {epsilon:g} could not be checked: {error}"
        return result.with_note(note)
    errors = result.standard_errors
    known = result.free & np.isfinite(errors) & (errors > 0)
    moved = np.divide(np.abs(there - here), errors, out=np.zeros_like(errors), where=known)
    k = int(moved.argmax())
    if not moved[k] > MOST:
        return result
    note = (
        f"the estimate depends on boundary_eps: with {epsilon / SHRINK:g} instead of {epsilon:g}, {result.names[k]} is "
        f"{there[k]:.4g} instead of {here[k]:.4g}, {moved[k]:.3g} standard errors away. The standard errors do not contain this. "
        "Use the detection limit for boundary_eps if there is one, report several values of it, or take "
        "Barrier.log(det_power=0), the weight that counts rows next to the boundary least."
    )
    warn(note, BoundaryRowsWarning)
    return result.with_note(note)


def _natural(
    estimator: ScoreMatchingEstimator, result: FitResult, array: Array, weight: Array | None, epsilon: float
) -> Array:
    """Natural parameters with the generator that was used, in closed form."""
    data, _ = estimator._inside(array, weight, "clip", epsilon)
    objective = estimator._pose(data).with_generator(result.generator)
    return objective.problem.model.natural(solve(objective, quiet=True).theta)
