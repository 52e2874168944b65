"""How sure is the order of two generators? A grouped jackknife of the criterion, on the same groups for all of them."""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array
from zfree.inference.sandwich import from_parts
from zfree.solvers import Objective

GROUPS = 20


def leave_out_criteria(objective: Objective, theta: Array, weight: Array) -> Array:
    """Tr(W Σ̂) without each of :data:`GROUPS` groups of rows (rows are dealt out so that their order does not matter).

    Γ and the Gram matrix of the influences are sums over rows, so those of a group are subtracted from the whole. The
    influences are taken at `theta`, the estimate from all rows.
    """
    moments, restriction, penalty = objective.moments, objective.restriction, objective.penalty
    groups = min(GROUPS, moments.n)
    dealt = objective.problem.source.dealt(groups)
    pieces = []
    for k in range(groups):
        part = objective.problem.on(dealt.group(k))
        m = part.moments()
        scale = np.exp(m.log_scale - moments.log_scale)
        gram = part.influence_gram(theta, moments.log_scale, penalty)
        pieces.append((m.n, scale * m.gamma_sum.dense(), gram))
    whole = moments.gamma_sum.dense()
    meat = np.sum([piece[2] for piece in pieces], axis=0)
    W = restriction.block(weight)
    out = []
    for n, gamma, gram in pieces:
        bread = restriction.block(whole - gamma)
        bread = bread + penalty.share * np.diag(np.diagonal(bread))
        inverse = np.asarray(np.linalg.inv(bread), dtype=np.float64)
        covariance = from_parts(inverse, restriction.block(meat - gram), 1.0)
        out.append((moments.n - n) * float(np.sum(W * covariance)))
    return np.array(out)


def log_ratio_error(a: Array, b: Array) -> float:
    """Jackknife standard error of log(a / b), from leave-out values on the same groups."""
    gap = np.log(a / b)
    return float(np.sqrt((len(gap) - 1) / len(gap) * np.sum((gap - gap.mean()) ** 2)))
