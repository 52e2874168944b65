r"""Several generators, one estimate: two-step GMM in closed form, and the test that comes with it.

Write :math:`\hat\theta_k` for the estimate of generator k and :math:`a_{ik} = -\Gamma_k^{-1}\psi_{ik}` for the influence of row i on
it, all at one preliminary θ. Stacking the equations and weighting them optimally (Hansen 1982) gives

.. math:: \hat\theta = \hat\theta_1 + \sum_{k>1} B_k(\hat\theta_k - \hat\theta_1), \qquad
          B = -\mathrm{cov}(a_1, c)\,\mathrm{cov}(c)^{-1}, \quad c_k = a_k - a_1 ,

so the contrasts :math:`\hat\theta_k - \hat\theta_1`, which estimate zero if the model is right, serve as control variates. Everything
needed is in the Gram matrix of the stacked influences, a sum over rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from zfree.arrays import Array
from zfree.generators import Generator
from zfree.inference.dealing import deal
from zfree.inference.pilot import settled
from zfree.moments import Moments, Problem
from zfree.solvers import Restriction, Solution, solve

RIDGES = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Shrinkage of a full weight matrix that is tried, relative to the contrasts' variances."""
LEADING = 3
"""Principal contrasts the J test looks at. With more, its size at a few hundred rows is no longer the nominal one; with
heavy tails one is the most that can be had."""


class JTest(NamedTuple):
    """Hansen's J: do the estimates of different generators agree, as they must if the model is right?

    The statistic is Hotelling's T² of the leading principal contrasts, referred to an F distribution.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


@dataclass(frozen=True, eq=False)
class Combination:
    """How several estimates became one."""

    generators: tuple[Generator, ...]
    estimates: Array
    """One row per generator, in working parameters."""
    shrinkage: str
    """The form of weight that cross-validation chose."""
    j_test: JTest


@dataclass(frozen=True, eq=False)
class Stacked:
    """Influences of every row under several generators, as Gram matrices of two halves of the rows."""

    problem: Problem
    generators: tuple[Generator, ...]
    moments: tuple[Moments, ...]
    solutions: tuple[Solution, ...]
    grams: tuple[Array, Array]
    contrasts: Array
    """θ̂_k − θ̂_1 over the free parameters, stacked."""

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.moments[0].n

    @property
    def r(self) -> int:
        """Free parameters."""
        return len(self.contrasts) // (len(self.generators) - 1)


def stack(problem: Problem, generators: Sequence[Generator], restriction: Restriction, ridge: float) -> Stacked:
    """Fit with each generator and collect the influences at the first one's estimate."""
    generators = [settled(g, problem, restriction, ridge) for g in generators]
    problems = [replace(problem, generator=g) for g in generators]
    moments = [p.moments() for p in problems]
    solutions = [solve(m, restriction, problem.model.names, ridge, quiet=True) for m in moments]
    theta, free = solutions[0].theta, restriction.free
    halves = [0.0, 0.0]
    dealt, seen = deal(problem.X, problem.weight, 2), 0  # halves that do not depend on the order of the rows
    for pieces in zip(*(p.rows() for p in problems), strict=True):
        a = np.concatenate(
            [
                -s.inverse @ rows.influence(theta, m.log_scale)[free] * (m.n / m.weight)
                for rows, m, s in zip(pieces, moments, solutions, strict=True)
            ]
        )
        r = int(free.sum())
        a[r:] -= np.tile(a[:r], (len(generators) - 1, 1))  # contrasts with the first
        half = dealt[seen : seen + a.shape[1]]
        seen += a.shape[1]
        for k in (0, 1):
            own = a[:, half == k]
            halves[k] = halves[k] + own @ own.T
    contrasts = np.concatenate([(s.theta - theta)[free] for s in solutions[1:]])
    grams = (np.asarray(halves[0]), np.asarray(halves[1]))
    return Stacked(problem, tuple(generators), tuple(moments), tuple(solutions), grams, contrasts)


def j_test(stacked: Stacked) -> JTest:
    """Test that the contrasts are zero, in their leading principal directions."""
    n, r = stacked.n, stacked.r
    covariance = (stacked.grams[0] + stacked.grams[1])[r:, r:] / n
    covariance = covariance - np.multiply.outer(stacked.contrasts, stacked.contrasts)
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.multiply.outer(scale, scale))
    k = min(1 if stacked.problem.model.heavy_tailed else LEADING, r, max(1, n // 20))
    along = vectors[:, -k:].T @ (stacked.contrasts / scale)
    statistic = float(n * np.sum(along**2 / values[-k:]))
    p_value = float(fdtrc(k, n - k, statistic * (n - k) / (k * (n - 1))))
    return JTest(statistic, k, p_value)


def combine(
    stacked: Stacked, weight: Array, restriction: Restriction, *, alone: bool = False
) -> tuple[Array, Array, Combination]:
    """The combined θ, its covariance, and the record.

    Parameters
    ----------
    stacked : Stacked
    weight : ndarray
        W of the criterion Tr(W Σ̂), over all parameters.
    restriction : Restriction
    alone : bool
        Give the others no weight.
    """
    W = restriction.block(weight)
    first, second = stacked.grams
    rules = ["the first alone", "one weight per generator", *(f"full weights, ridge {x:g}" for x in RIDGES)]

    def loss(rule: str) -> float:
        """Variance on each half of the rows with weights from the other."""
        return _variance(_weights(rule, stacked, first, W), second, W) + _variance(
            _weights(rule, stacked, second, W), first, W
        )

    losses = {rule: loss(rule) for rule in rules}
    best = min(rules, key=losses.__getitem__)
    # A variance estimated from n rows and r parameters is itself uncertain: gains of that size are not believed.
    if alone or losses[best] > losses[rules[0]] * (1.0 - 3.0 / np.sqrt(stacked.n * stacked.r)):
        best = rules[0]
    total = first + second
    B = _weights(best, stacked, total, W)
    theta = stacked.solutions[0].theta[restriction.free] + B @ stacked.contrasts
    both = np.concatenate([np.eye(stacked.r), B], axis=1)
    covariance = both @ total @ both.T / stacked.n**2
    record = Combination(stacked.generators, np.array([s.theta for s in stacked.solutions]), best, j_test(stacked))
    return restriction.expand(theta), restriction.embed(0.5 * (covariance + covariance.T)), record


def _variance(B: Array, gram: Array, W: Array) -> float:
    both = np.concatenate([np.eye(len(W)), B], axis=1)
    return float(np.sum(W * (both @ gram @ both.T)))


def _weights(rule: str, stacked: Stacked, gram: Array, W: Array) -> Array:
    """B with θ̂ = θ̂_1 + B (contrasts)."""
    r, others = stacked.r, len(stacked.generators) - 1
    if rule == "the first alone":
        return np.zeros((r, others * r))
    cross, inner = gram[:r, r:], gram[r:, r:]
    if rule == "one weight per generator":
        blocks = inner.reshape(others, r, others, r)
        between = np.einsum("ij,aibj->ab", W, blocks)
        with_first = np.einsum("ij,iaj->a", W, cross.reshape(r, others, r))
        between = between + 1e-9 * np.trace(between) * np.eye(others)
        return np.asarray(np.kron(-np.linalg.solve(between, with_first), np.eye(r)), dtype=np.float64)
    ridge = float(rule.rsplit(" ", 1)[1])
    scale = np.sqrt(np.maximum(np.diagonal(inner), 1e-300))
    normalised = inner / np.multiply.outer(scale, scale) + ridge * np.eye(len(scale))
    return np.asarray(-np.linalg.solve(normalised, (cross / scale).T).T / scale, dtype=np.float64)
