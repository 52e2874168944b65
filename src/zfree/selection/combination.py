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
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import fdtrc

from zfree.arrays import Array
from zfree.data import Block, Together
from zfree.generators import Generator
from zfree.inference.sandwich import from_parts
from zfree.selection.pilot import settled
from zfree.selection.together import sum_together
from zfree.solvers import Objective, Restriction, Solution, solve

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


class Shrinkage(NamedTuple):
    """A form of weight: the first alone, one per generator, or one per parameter with a ridge."""

    form: Literal["alone", "per generator", "full"]
    ridge: float = 0.0

    def __str__(self) -> str:
        return {
            "alone": "the first alone",
            "per generator": "one weight per generator",
            "full": f"full weights, ridge {self.ridge:g}",
        }[self.form]


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

    objectives: tuple[Objective, ...]
    solutions: tuple[Solution, ...]
    grams: tuple[Array, Array]
    contrasts: Array
    """θ̂_k − θ̂_1 over the free parameters, stacked."""

    @property
    def generators(self) -> tuple[Generator, ...]:
        """The members."""
        return tuple(o.problem.generator for o in self.objectives)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.objectives[0].moments.n

    @property
    def r(self) -> int:
        """Free parameters."""
        return len(self.contrasts) // (len(self.objectives) - 1)


def stack(objective: Objective, generators: Sequence[Generator]) -> Stacked:
    """Fit with each generator and collect the influences at the first one's estimate."""
    # Halves that do not depend on the order of the rows.
    source = objective.problem.source.dealt(2)
    objectives = [objective.with_generator(settled(g, objective)).on(source) for g in generators]
    for error in sum_together(objectives):
        if error is not None:
            raise error
    solutions = [solve(o, quiet=True) for o in objectives]
    theta, free, r = solutions[0].theta, objective.restriction.free, objective.n_free

    def halves(block: Block) -> Together:
        pieces = []
        for o, s in zip(objectives, solutions, strict=True):
            psi = o.problem.evaluated(block).influence(theta, o.moments.log_scale)[free]
            pieces.append(-s.inverse @ psi * (o.moments.n / o.moments.weight))
        a = np.concatenate(pieces)
        a[r:] -= np.tile(a[:r], (len(objectives) - 1, 1))  # contrasts with the first
        own = [a[:, block.groups == k] for k in (0, 1)]
        return Together(x @ x.T for x in own)

    grams = source.reduce(halves, objective.problem.model.doubles_per_row)
    contrasts = np.concatenate([(s.theta - theta)[free] for s in solutions[1:]])
    return Stacked(tuple(objectives), tuple(solutions), (grams[0], grams[1]), contrasts)


def j_test(stacked: Stacked) -> JTest:
    """Test that the contrasts are zero, in their leading principal directions."""
    n, r = stacked.n, stacked.r
    covariance = (stacked.grams[0] + stacked.grams[1])[r:, r:] / n
    covariance = covariance - np.multiply.outer(stacked.contrasts, stacked.contrasts)
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.multiply.outer(scale, scale))
    k = min(1 if stacked.objectives[0].problem.model.heavy_tailed else LEADING, r, max(1, n // 20))
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
    alone_rule = Shrinkage("alone")
    rules = [alone_rule, Shrinkage("per generator"), *(Shrinkage("full", x) for x in RIDGES)]

    def loss(rule: Shrinkage) -> float:
        """Variance on each half of the rows with weights from the other."""
        return _variance(_weights(rule, stacked, first, W), second, W) + _variance(
            _weights(rule, stacked, second, W), first, W
        )

    losses = {rule: loss(rule) for rule in rules}
    best = min(rules, key=losses.__getitem__)
    # A variance estimated from n rows and r parameters is itself uncertain: gains of that size are not believed.
    if alone or losses[best] > losses[alone_rule] * (1.0 - 3.0 / np.sqrt(stacked.n * stacked.r)):
        best = alone_rule
    total = first + second
    B = _weights(best, stacked, total, W)
    theta = stacked.solutions[0].theta[restriction.free] + B @ stacked.contrasts
    both = np.concatenate([np.eye(stacked.r), B], axis=1)
    covariance = from_parts(both, total, stacked.n)
    record = Combination(stacked.generators, np.array([s.theta for s in stacked.solutions]), str(best), j_test(stacked))
    return restriction.expand(theta), restriction.embed(covariance), record


def _variance(B: Array, gram: Array, W: Array) -> float:
    both = np.concatenate([np.eye(len(W)), B], axis=1)
    return float(np.sum(W * (both @ gram @ both.T)))


def _weights(rule: Shrinkage, stacked: Stacked, gram: Array, W: Array) -> Array:
    """B with θ̂ = θ̂_1 + B (contrasts)."""
    r, others = stacked.r, len(stacked.generators) - 1
    if rule.form == "alone":
        return np.zeros((r, others * r))
    cross, inner = gram[:r, r:], gram[r:, r:]
    if rule.form == "per generator":
        blocks = inner.reshape(others, r, others, r)
        between = np.einsum("ij,aibj->ab", W, blocks)
        with_first = np.einsum("ij,iaj->a", W, cross.reshape(r, others, r))
        between = between + 1e-9 * np.trace(between) * np.eye(others)
        return np.asarray(np.kron(-np.linalg.solve(between, with_first), np.eye(r)), dtype=np.float64)
    scale = np.sqrt(np.maximum(np.diagonal(inner), 1e-300))
    normalised = inner / np.multiply.outer(scale, scale) + rule.ridge * np.eye(len(scale))
    return np.asarray(-np.linalg.solve(normalised, (cross / scale).T).T / scale, dtype=np.float64)
