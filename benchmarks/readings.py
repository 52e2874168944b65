r"""Could the paper have understood its Dirichlet baselines in another way? `make bench-readings`.

The density is :math:`\prod x_j^{\theta_j}`, θ = α − 1, and a reading of a baseline is a matrix field D along the simplex with its divergence. Score
matching then solves Γθ = −g with :math:`\Gamma = E[J D J^\top]`, :math:`g = E[J\,\nabla\cdot D + \mathrm{tr}(D \nabla^2 t)]` and
:math:`J = \mathrm{diag}(1/x)` in all d parts, so that no part need be dropped. A field in a chart, diag(w) in the parts that are left, is
:math:`D = C\,\mathrm{diag}(w)\,C^\top` with the columns :math:`e_k - e_d` in C.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.table import print_table
from zfree.experiments import paper
from zfree.experiments.truths import DIRICHLET, ROBUSTNESS_DIRICHLET

D, ROWS = 10, 800
Array = np.ndarray
Field = Callable[[Array], tuple[Array, Array]]
"""Compositions (n, d) → D (n, d, d) and its divergence (n, d); the last part is the one that a chart drops."""


def estimate(field: Field, X: Array) -> Array:
    """α by score matching with a field."""
    D, divergence = field(X)
    inverse = 1.0 / X
    gamma = np.einsum("ni,nij,nj->ij", inverse, D, inverse)
    diagonal = np.einsum("njj->nj", D)
    g = np.sum(inverse * divergence - diagonal * inverse**2, axis=0)
    return np.asarray(1.0 - np.linalg.lstsq(gamma, g, rcond=None)[0])


def by(field: Field) -> Callable[[Array], Array]:
    """The estimate with a field."""
    return partial(estimate, field)


def of_log_ratios(X: Array) -> Array:
    """α by score matching of z_k = log(y_k/s), D = I: these have the density ∏ x_j^α_j, and no boundary."""
    d = X.shape[1]
    y = X[:, :-1]
    J = np.eye(d)[None, :, :-1] - y[:, None, :]  # ∂ log x_j / ∂z_k
    gamma = np.einsum("nik,njk->ij", J, J)
    return np.asarray(np.linalg.solve(gamma, np.full(d, np.sum(y * (1.0 - y)))))


def in_chart(weights: Callable[[Array, Array], tuple[Array, Array]]) -> Field:
    """The field of `weights`: y (n, d − 1), s (n, 1) → w_k and ∂_k w_k, with s = 1 − Σy."""

    def field(X: Array) -> tuple[Array, Array]:
        w, slope = weights(X[:, :-1], X[:, -1:])
        w, slope = np.broadcast_to(w, X[:, :-1].shape), np.broadcast_to(slope, X[:, :-1].shape)
        n, d = X.shape
        D, k = np.zeros((n, d, d)), np.arange(d - 1)
        D[:, k, k] = w
        D[:, k, -1] = D[:, -1, k] = -w
        D[:, -1, -1] = w.sum(axis=1)
        return D, np.concatenate([slope, -slope.sum(axis=1, keepdims=True)], axis=1)

    return field


def along(weights: Callable[[Array], tuple[Array, Array]]) -> Field:
    """D = P diag(w) P with the projection P = I − 11ᵀ/d, from w_j(x_j) and its derivative."""

    def field(X: Array) -> tuple[Array, Array]:
        d = X.shape[1]
        P = np.eye(d) - 1.0 / d
        w, slope = weights(X)
        # ∂/∂x_k along the simplex is P: the divergence of P diag(w) P has the components P (slope · diag(P)).
        return np.einsum("ij,nj,jk->nik", P, w, P), (slope * (1.0 - 1.0 / d)) @ P

    return field


def _nearest(scale: Callable[[int], float]) -> Callable[[Array, Array], tuple[Array, Array]]:
    """One weight for all: the least of y_1, …, y_{d−1} and scale · s."""

    def weights(y: Array, s: Array) -> tuple[Array, Array]:
        factor = scale(y.shape[1])
        slack = np.concatenate([y, factor * s], axis=1)
        nearest = np.argmin(slack, axis=1)
        slope = -factor * (nearest == y.shape[1])[:, None] + (nearest[:, None] == np.arange(y.shape[1]))
        return slack.min(axis=1, keepdims=True), slope

    return weights


def _facets_only(y: Array, s: Array) -> tuple[Array, Array]:
    nearest = np.argmin(y, axis=1)
    return y.min(axis=1, keepdims=True), (nearest[:, None] == np.arange(y.shape[1])).astype(float)


def _nearest_part(X: Array) -> tuple[Array, Array]:
    """The Euclidean distance in the simplex itself, √(d/(d−1)) min x_j, times P: no part is dropped."""
    d = X.shape[1]
    P, unit = np.eye(d) - 1.0 / d, np.sqrt(d / (d - 1.0))
    nearest = np.argmin(X, axis=1)
    return unit * X.min(axis=1)[:, None, None] * P, unit * P[nearest]


def _section(y: Array, s: Array) -> tuple[Array, Array]:
    return np.minimum(y, s), np.where(y < s, 1.0, -1.0)


def _capped_section(share: float) -> Callable[[Array, Array], tuple[Array, Array]]:
    def weights(y: Array, s: Array) -> tuple[Array, Array]:
        w, slope = _section(y, s)
        cap = np.quantile(w, share, axis=0)
        return np.minimum(w, cap), np.where(w < cap, slope, 0.0)

    return weights


@dataclass(frozen=True)
class Reading:
    """One way to understand a baseline."""

    baseline: str
    text: str
    alpha: Callable[[Array], Array]
    cited: bool = False
    """Whether the cited method is defined so: Liu, Kanamori and Williams (2022) take the Euclidean distance in the coordinates that are used,
    Yu, Drton and Shojaie (2022, 2024) the distance of one coordinate to the end of its section, perhaps capped at a quantile, and drop a part."""


READINGS = (
    Reading(
        "truncated SM", "min(y, s/√(d−1)): Euclidean, in the chart", by(in_chart(_nearest(lambda m: m**-0.5))), True
    ),
    Reading("truncated SM", "min(y, s): slacks as written, or ℓ₁", by(in_chart(_nearest(lambda m: 1.0)))),
    Reading("truncated SM", "min(y, s/(d−1)): ℓ∞", by(in_chart(_nearest(lambda m: 1.0 / m)))),
    Reading("truncated SM", "√(d/(d−1)) min x: Euclidean, in the simplex", by(_nearest_part)),
    Reading("truncated SM", "min y: the sloped facet forgotten", by(in_chart(_facets_only))),
    Reading("GSM CD", "min(y_k, s): the section", by(in_chart(_section)), True),
    Reading("GSM CD", "the section, capped at its 90% quantile", by(in_chart(_capped_section(0.9))), True),
    Reading("GSM CD", "the section, capped at its median", by(in_chart(_capped_section(0.5))), True),
    Reading("GSM CD", "the section, capped at its 10% quantile", by(in_chart(_capped_section(0.1))), True),
    Reading("GSM CD", "y_k s", by(in_chart(lambda y, s: (y * s, s - y)))),
    Reading("GSM CD", "y_k s/(y_k + s)", by(in_chart(lambda y, s: (y * s / (y + s), (s - y) / (y + s))))),
    Reading("GSM CD", "y_k (1 − y_k)", by(in_chart(lambda y, s: (y * (1 - y), 1 - 2 * y)))),
    Reading("GSM CD", "x_j in all parts, along the simplex", by(along(lambda x: (x, np.ones_like(x))))),
    Reading("GSM CD", "log(y_k/s), D = I", of_log_ratios),
    Reading("h₁", "y_k: the chart", by(in_chart(lambda y, s: (y, np.ones_like(y)))), True),
)
"""Without a chart h₁ = x says α = 1, whatever the data: Γ = diag(E 1/x) and g = E[1/x − x/x²] = 0."""


def medians(alpha: Array, trials: int, stream: int = 0) -> list[float]:
    """The median squared error of every reading over some data sets."""
    rows = [np.random.default_rng([2025, stream, k]).dirichlet(alpha, ROWS) for k in range(trials)]
    return [float(np.median([np.sum((r.alpha(X) - alpha) ** 2) for X in rows])) for r in READINGS]


def main() -> None:
    alpha = np.array(DIRICHLET["adopted"])
    recipe = ROBUSTNESS_DIRICHLET["adopted"]
    truths = [recipe.draw(D, np.random.default_rng([2025, k])) for k in range(50)]
    one, many = medians(alpha, 50), np.median([medians(truth, 7, k) for k, truth in enumerate(truths)], axis=0)
    printed = [(paper.DIRICHLET["α"][r.baseline][1], paper.ROBUSTNESS_DIRICHLET["α"][r.baseline][2]) for r in READINGS]
    print_table(
        f"median squared errors of α at N = {ROWS}: the adopted truth, and 50 truths, {recipe}",
        ["baseline", "read as", "as cited", "median", "/ paper", "50 truths", "/ paper"],
        [
            [r.baseline, r.text, "yes" if r.cited else "", f"{a:.3g}", f"{a / p:.2g}", f"{b:.3g}", f"{b / q:.2g}"]
            for r, a, b, (p, q) in zip(READINGS, one, many, printed, strict=True)
        ],
    )
    plain = np.sort(DIRICHLET["plain"])
    dropped = [medians(np.append(np.delete(plain, j), plain[j]), 50) for j in range(D)]
    cited = [k for k, r in enumerate(READINGS) if r.cited and "capped" not in r.text]
    print_table(
        "concentrations 1, …, 10, each part dropped in turn",
        ["concentration of that part", *(READINGS[k].baseline for k in cited)],
        [[f"{plain[j]:.3g}", *(f"{dropped[j][k]:.3g}" for k in cited)] for j in range(D)],
    )


if __name__ == "__main__":
    main()
