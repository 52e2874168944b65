r"""How good is a generator on these data? The yardstick by which candidates are compared.

The paper ranks candidates by :math:`\mathrm{Tr}(\hat\Sigma)`, which depends on the units of the parameters. Here the trace is taken
with a weight matrix W, :math:`\mathrm{Tr}(W\hat\Sigma)`, and W is by default the information of the sample: for an exponential family
the Fisher information is the covariance of t, and that of the sample estimates it. :math:`\mathrm{Tr}(\hat F\hat\Sigma)/r` then has
no units, does not change under linear maps of the parameters, and is one for an estimator as good as maximum likelihood: its
reciprocal estimates the share of the Cramér–Rao bound that is reached.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array
from zfree.errors import SpecificationError
from zfree.generators import Generator
from zfree.models import Model
from zfree.moments import Moments, Problem
from zfree.solvers import Restriction, Solution

Target = str | ArrayLike


@dataclass(frozen=True, eq=False)
class Measured:
    """One candidate on the data: its fit, its criterion, and on how many rows that rests."""

    generator: Generator
    moments: Moments
    solution: Solution
    covariance: Array
    criterion: float
    effective_rows: float

    @property
    def cautious(self) -> float:
        """log criterion, plus about one standard error of it.

        Where the variance is barely finite, the sample misses the rare rows that make it large and the criterion flatters; there it also rests
        on few rows, and the standard error makes up for it.
        """
        return float(np.log(self.criterion) + 1.0 / np.sqrt(self.effective_rows))


def information(problem: Problem) -> Array:
    """Covariance of the statistics t(x) over the rows: the Fisher information of an exponential family, estimated."""
    r = problem.model.n_parameters
    total, first, second = 0.0, np.zeros(r), np.zeros((r, r))
    shift: Array | None = None  # any constant near the mean keeps the digits
    for X, weight in problem.chunks():
        statistics = problem.model_at(X).statistics(X)
        shift = statistics[0].copy() if shift is None else shift
        t = (statistics - shift).T
        w = np.ones(len(X)) if weight is None else weight
        total, first = total + float(w.sum()), first + t @ w
        second += (t if weight is None else t * w) @ t.T
    mean = first / total
    return second / total - np.multiply.outer(mean, mean)


def weight_matrix(target: Target, problem: Problem, restriction: Restriction, theta: Array) -> Array:
    """W over all working parameters, for a target asked for by name or given as a matrix.

    Parameters
    ----------
    target : str or array_like
        ``"information"`` (scale-free), ``"natural"``, another parametrisation of the model (``"mean"``, ``"precision"``, …), or a
        matrix over the natural parameters.
    problem, restriction
        The model and the parameters that are known.
    theta : ndarray
        A first estimate, at which derived parameters are linearised.
    """
    model = problem.model
    if isinstance(target, str):
        if target == "information":
            return information(problem) / max(1, int(restriction.free.sum()))
        if target == "natural":
            matrix = np.eye(model.n_parameters)
        else:
            check_target_name(target, model)
            jacobian = model.derived(theta)[target]().jacobian
            return jacobian.T @ jacobian
    else:
        matrix = np.asarray(target, dtype=float)
        r = model.n_parameters
        if matrix.shape != (r, r) or not np.allclose(matrix, matrix.T) or np.linalg.eigvalsh(matrix)[0] < -1e-9:
            raise SpecificationError(f"a target matrix must be symmetric, positive semidefinite and {r} × {r}.")
    T = model.natural_map()
    return matrix if T is None else T.T @ matrix @ T


def check_target_name(target: Target, model: Model) -> None:
    """A target asked for by name must be one of this model's."""
    known = ["information", "natural", *model.derived(np.zeros(model.n_parameters))]
    if isinstance(target, str) and target not in known:
        raise SpecificationError(f"unknown target {target!r}; this model has {', '.join(known)}, or pass a matrix.")


def measure(problem: Problem, solution: Solution, moments: Moments, weight: Array, ridge: float = 0.0) -> Measured:
    """Tr(W Σ̂) and the number of rows it rests on, in one pass over the rows."""
    theta, restriction = solution.theta, solution.restriction
    inverse, r = solution.inverse, problem.model.n_parameters
    importance = _importance(moments, solution, weight)
    meat, shares, squares = np.zeros((r, r)), 0.0, 0.0
    for rows in problem.rows():
        psi = rows.influence(theta, moments.log_scale, ridge)
        meat += psi @ psi.T
        share = np.einsum("rn,rn->n", psi * importance if importance.shape[1] == 1 else importance @ psi, psi)
        shares, squares = shares + share.sum(), squares + (share**2).sum()
    covariance = restriction.embed(inverse @ restriction.block(meat) @ inverse.T) / moments.weight**2
    criterion = moments.n * float(np.sum(weight * covariance))
    effective = float(shares**2 / squares) if squares > 0 else 0.0
    return Measured(problem.generator, moments, solution, covariance, criterion, effective)


def _importance(moments: Moments, solution: Solution, weight: Array) -> Array:
    """By what ψ of a row is squared to compare it with others: diag(Γ⁻¹) as a column, or where that need not be positive Γ⁻ᵀ W Γ⁻¹.

    The first is cheap, and a row that dominates Σ̂ dominates this; the second is the row's own share of the criterion.
    """
    restriction = solution.restriction
    if not moments.symmetric:
        A = restriction.embed(solution.inverse)
        return A.T @ weight @ A
    importance = np.zeros((restriction.free.size, 1))
    importance[restriction.free, 0] = np.diagonal(solution.inverse)
    return importance
