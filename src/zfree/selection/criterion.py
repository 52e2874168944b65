r"""How good is a generator on these data? The yardstick by which candidates are compared.

The paper ranks candidates by :math:`\mathrm{Tr}(\hat\Sigma)`, which depends on the units of the parameters. Here the trace is taken
with a weight matrix W, :math:`\mathrm{Tr}(W\hat\Sigma)`, and W is by default the information of the sample: for an exponential family
the Fisher information is the covariance of t, and that of the sample estimates it. :math:`\mathrm{Tr}(\hat F\hat\Sigma)/r` then has
no units, does not change under linear maps of the parameters, and is one for an estimator as good as maximum likelihood: its
reciprocal estimates the share of the Cramér–Rao bound that is reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from zfree.arrays import Array
from zfree.data import Block, Together
from zfree.errors import SpecificationError
from zfree.inference.sandwich import from_parts
from zfree.models import Model
from zfree.models.linear_maps import LinearMap
from zfree.moments import Problem
from zfree.selection.candidate import Candidate, Fitted
from zfree.solvers import Objective, Solution

Target = str | ArrayLike


def information(problem: Problem) -> Array:
    """Covariance of the statistics t(x) over the rows: the Fisher information of an exponential family, estimated."""
    first = problem.source.first()
    shift = problem.model.statistics(first.X)[0]  # any constant near the mean keeps the digits

    def sums(block: Block) -> Together:
        t = (problem.model_at(block).statistics(block.X) - shift).T
        return Together((block.total, t @ block.weights, (t if block.weight is None else t * block.weight) @ t.T))

    total, first_moment, second = problem.source.reduce(sums, problem.model.doubles_per_row)
    mean = first_moment / total
    covariance: Array = second / total - np.multiply.outer(mean, mean)
    return covariance


def weight_matrix(target: Target, objective: Objective, theta: Array) -> Array:
    """W over all working parameters, for a target asked for by name or given as a matrix.

    Parameters
    ----------
    target : str or array_like
        ``"information"`` (scale-free), ``"natural"``, another parametrisation of the model (``"mean"``, ``"precision"``, …), or a
        matrix over the natural parameters.
    objective : Objective
        The rows, the model and the parameters that are known.
    theta : ndarray
        A first estimate, at which derived parameters are linearised.
    """
    model = objective.problem.model
    if isinstance(target, str):
        if target == "information":
            return information(objective.problem) / max(1, objective.n_free)
        if target == "natural":
            matrix = np.eye(model.n_parameters)
        else:
            check_target_name(target, model)
            jacobian = model.derived(theta)[target]().jacobian
            J = jacobian.dense() if isinstance(jacobian, LinearMap) else jacobian
            return np.asarray(J.T @ J, dtype=np.float64)
    else:
        matrix = np.asarray(target, dtype=float)
        r = model.n_parameters
        if matrix.shape != (r, r) or not np.allclose(matrix, matrix.T) or np.linalg.eigvalsh(matrix)[0] < -1e-9:
            raise SpecificationError(f"a target matrix must be symmetric, positive semidefinite and {r} × {r}.")
    T = model.natural_map()
    return matrix if T is None else (T.T @ matrix) @ T


def check_target_name(target: Target, model: Model) -> None:
    """A target asked for by name must be one of this model's."""
    if isinstance(target, str) and target in ("information", "natural"):
        return
    known = ["information", "natural", *model.derived(np.zeros(model.n_parameters))]
    if isinstance(target, str) and target not in known:
        raise SpecificationError(f"unknown target {target!r}; this model has {', '.join(known)}, or pass a matrix.")


class _Shares(NamedTuple):
    """What one pass says of a candidate: Σ ψψᵀ, and how the criterion is spread over the rows."""

    meat: Array
    total: float
    squares: float

    def __add__(self, other: object) -> _Shares:
        assert isinstance(other, _Shares)
        return _Shares(self.meat + other.meat, self.total + other.total, self.squares + other.squares)


def measure(fits: Sequence[tuple[Objective, Solution]], weight: Array) -> list[Candidate]:
    """Tr(W Σ̂) and the number of rows it rests on, of several candidates in one pass over their rows."""
    if not fits:
        return []
    ways = [_importance(objective, solution, weight) for objective, solution in fits]
    problems = [objective.problem for objective, _ in fits]

    def pass_over(block: Block) -> Together:
        return Together(
            _shares(
                problem.evaluated(block).influence(solution.theta, objective.moments.log_scale, objective.penalty), way
            )
            for problem, (objective, solution), way in zip(problems, fits, ways, strict=True)
        )

    found = problems[0].source.reduce(pass_over, problems[0].model.doubles_per_row)
    return [_measured(o, s, shares, weight) for (o, s), shares in zip(fits, found, strict=True)]


def _measured(objective: Objective, solution: Solution, shares: _Shares, weight: Array) -> Candidate:
    moments, restriction, inverse = objective.moments, objective.restriction, solution.inverse
    covariance = restriction.embed(from_parts(inverse, restriction.block(shares.meat), moments.weight))
    criterion = moments.n * float(np.sum(weight * covariance))
    effective = float(shares.total**2 / shares.squares) if shares.squares > 0 else 0.0
    fitted = Fitted(objective, solution, shares.meat, covariance)
    return Candidate(objective.problem.generator, criterion, effective, n_rows=moments.n, fitted=fitted)


def _shares(psi: Array, importance: Array) -> _Shares:
    share = np.einsum("rn,rn->n", psi * importance if importance.shape[1] == 1 else importance @ psi, psi)
    return _Shares(psi @ psi.T, float(share.sum()), float((share**2).sum()))


def _importance(objective: Objective, solution: Solution, weight: Array) -> Array:
    """By what ψ of a row is squared to compare it with others: diag(Γ⁻¹) as a column, or where that need not be positive Γ⁻ᵀ W Γ⁻¹.

    The first is cheap, and a row that dominates Σ̂ dominates this; the second is the row's own share of the criterion.
    """
    if not objective.moments.symmetric:
        A = solution.whole_inverse.dense()
        return A.T @ weight @ A
    return solution.whole_inverse.diagonal()[:, None]
