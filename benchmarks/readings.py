r"""Could the paper have understood its Dirichlet baselines in another way? `make bench-readings`.

The density is :math:`\prod x_j^{\theta_j}`, θ = α − 1, and a reading of a baseline is a matrix field D along the simplex with its divergence. Score
matching then solves Γθ = −g with :math:`\Gamma = E[J D J^\top]`, :math:`g = E[J\,\nabla\cdot D + \mathrm{tr}(D \nabla^2 t)]` and
:math:`J = \mathrm{diag}(1/x)` in all d parts, so that no part need be dropped. A field in a chart, diag(w) in the parts that are left, is
:math:`D = C\,\mathrm{diag}(w)\,C^\top` with the columns :math:`e_k - e_d` in C.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    field: Field
    cited: bool = False
    """Whether the cited method is defined so: Liu, Kanamori and Williams (2022) take the Euclidean distance in the coordinates that are used,
    Yu, Drton and Shojaie (2022, 2024) the distance of one coordinate to the end of its section, perhaps capped at a quantile, and drop a part."""


READINGS = (
    Reading("truncated SM", "min(y, s/√(d−1)): Euclidean, in the chart", in_chart(_nearest(lambda m: m**-0.5)), True),
    Reading("truncated SM", "min(y, s): slacks as written, or ℓ₁", in_chart(_nearest(lambda m: 1.0))),
    Reading("truncated SM", "min(y, s/(d−1)): ℓ∞", in_chart(_nearest(lambda m: 1.0 / m))),
    Reading("truncated SM", "√(d/(d−1)) min x: Euclidean, in the simplex", _nearest_part),
    Reading("truncated SM", "min y: the sloped facet forgotten", in_chart(_facets_only)),
    Reading("GSM CD", "min(y_k, s): the section", in_chart(_section), True),
    Reading("GSM CD", "the section, capped at its 90% quantile", in_chart(_capped_section(0.9)), True),
    Reading("GSM CD", "the section, capped at its median", in_chart(_capped_section(0.5)), True),
    Reading("GSM CD", "the section, capped at its 10% quantile", in_chart(_capped_section(0.1)), True),
    Reading("GSM CD", "y_k s", in_chart(lambda y, s: (y * s, s - y))),
    Reading("GSM CD", "y_k s/(y_k + s)", in_chart(lambda y, s: (y * s / (y + s), (s - y) / (y + s)))),
    Reading("GSM CD", "y_k (1 − y_k)", in_chart(lambda y, s: (y * (1 - y), 1 - 2 * y))),
    Reading("GSM CD", "x_j in all parts, along the simplex", along(lambda x: (x, np.ones_like(x)))),
    Reading("h₁", "y_k: the chart", in_chart(lambda y, s: (y, np.ones_like(y))), True),
)
"""Without a chart h₁ = x says α = 1, whatever the data: Γ = diag(E 1/x) and g = E[1/x − x/x²] = 0."""


def medians(alpha: Array, trials: int, stream: int = 0) -> list[float]:
    """The median squared error of every reading over some data sets."""
    rows = [np.random.default_rng([2025, stream, k]).dirichlet(alpha, ROWS) for k in range(trials)]
    return [float(np.median([np.sum((estimate(r.field, X) - alpha) ** 2) for X in rows])) for r in READINGS]


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
    dropped = [medians(np.append(np.delete(alpha, j), alpha[j]), 50) for j in range(D)]
    cited = [k for k, r in enumerate(READINGS) if r.cited and "capped" not in r.text]
    print_table(
        "the same truth with another part dropped",
        ["concentration of that part", *(READINGS[k].baseline for k in cited)],
        [[f"{alpha[j]:.3g}", *(f"{dropped[j][k]:.3g}" for k in cited)] for j in np.argsort(alpha)],
    )


if __name__ == "__main__":
    main()
