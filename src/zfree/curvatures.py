r"""A positive-definite matrix that is a sum of simple pieces, inverted in whatever structure it has.

.. math:: H(x) = K + \mathrm{diag}(h(x)) + \sum_k w_k(x)\, a_k a_k^\top + \sum_b g_b(x)\, z_b z_b^\top, \qquad z_b = A_b x_b

with a constant K (the energy of a Gaussian), coordinate terms h_j of x_j alone, facets whose weight w_k depends on their own slack
:math:`s_k = b_k - a_k\cdot x`, and balls and ellipsoids whose gain g_b depends on :math:`x_b^\top A_b x_b`, b a group of columns. The divergence of
:math:`D = H^{-1}` is :math:`-D\,m` with :math:`m_b = \sum_{ia} D_{ia}\,\partial_i H_{ab}`. All pieces but the last are Hessians of convex functions:
their derivatives are symmetric in all indices and m is :math:`\nabla\log\det H`. That of a ball, whose part along the sphere stays constant, is not.

On a flat set :math:`\{n\cdot x = \text{const}\}` D is the inverse along the set, :math:`H^{-1} - H^{-1}n\,n^\top H^{-1}/(n^\top H^{-1}n)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zfree.arrays import Array, is_diagonal
from zfree.errors import SpecificationError
from zfree.fields import Dense, Diagonal, DiagonalPlusRankOne, Field

GRADED = 1e8
"""Products D_jj H_jj, one for uncorrelated columns, beyond which H is factorised by QR of its square root."""


class Energy(NamedTuple):
    r"""−log p of a model as the weight of a Gaussian sees it, in coordinates :math:`u = x^a`, or log x for a = 0.

    Up to linear terms it is :math:`\tfrac12 u^\top H u - \sum_j c_j\log u_j`.
    """

    hessian: Array | None
    """H (d, d); None where there is no estimate of it yet."""
    separable: bool
    """Whether H is diagonal by the structure of the model."""
    exponent: float = 1.0
    """a"""
    log_terms: Array | None = None
    """c (d,); None for none."""
    exact: bool = True
    """Whether this is all of −log p, or H an average over the rows."""


class Radial(NamedTuple):
    """g z zᵀ over a group of columns, z = A(x − center); ∇g = g · ratio · z."""

    columns: slice
    z: Array
    """(N, size of the group)"""
    gain: Array
    ratio: Array
    bend: Array | None = None
    """A, the derivative of z; None for the identity."""


class InverseCurvature(NamedTuple):
    """D = H⁻¹ and its divergence."""

    inverse: Field
    divergence: Array


@dataclass(frozen=True, eq=False)
class Curvature:
    """The pieces of H(x) at N points that depend on x.

    Attributes
    ----------
    diagonal, diagonal_ratio : ndarray of shape (N, d)
        h_j, and its logarithmic derivative in x_j: next to the boundary the derivative itself may be beyond floating point.
    normals : ndarray of shape (m, d)
        a_k of the facets that are not those of one coordinate.
    weights, ratios : ndarray of shape (N, m)
        w_k, and its logarithmic derivative in the slack.
    radials : tuple of Radial
    flat : ndarray of shape (q, d)
        Normals of the flat set, if it is one.
    constant : ndarray of shape (d, d), optional
        What ellipsoids add to K.
    """

    diagonal: Array
    diagonal_ratio: Array
    normals: Array
    weights: Array
    ratios: Array
    radials: tuple[Radial, ...]
    flat: Array
    constant: Array | None = None

    def plus(self, K: Array) -> InverseCurvature:
        """Invert K + H₀, with K symmetric and positive semidefinite (d, d)."""
        K = K if self.constant is None else K + self.constant
        field = self._structured(K)
        if field is None:
            field = Dense(self._along(self._dense(K)))
        return InverseCurvature(field, -field.apply(self._pull(field)))

    def _structured(self, K: Array) -> Field | None:
        """Diagonal, or diagonal plus rank one, where K is diagonal and there is one term at most beside it."""
        if len(self.normals) + len(self.radials) + len(self.flat) > 1 or not is_diagonal(K):
            return None
        delta = 1.0 / (self.diagonal + np.diagonal(K))
        if len(self.flat):
            u = delta * self.flat[0]
            return DiagonalPlusRankOne(delta, -1.0 / (u @ self.flat[0]), u)
        if not len(self.normals) and not self.radials:
            return Diagonal(delta)
        if len(self.normals):
            v, weight = np.broadcast_to(self.normals[0], delta.shape), self.weights[:, 0]
        else:
            v, weight = np.zeros_like(delta), self.radials[0].gain
            v[:, self.radials[0].columns] = self.radials[0].z
        u = delta * v
        return DiagonalPlusRankOne(delta, -1.0 / (1.0 / weight + np.einsum("nj,nj->n", u, v)), u)

    def _dense(self, K: Array) -> Array:
        n, d = self.diagonal.shape
        H = np.empty((n, d, d))
        H[:] = K
        if len(self.normals):
            H += (self.weights @ _outer(self.normals)).reshape(n, d, d)
        for columns, z, gain, _, _ in self.radials:
            H[:, columns, columns] += gain[:, None, None] * z[:, :, None] * z[:, None, :]
        own = np.arange(d)
        H[:, own, own] += self.diagonal
        # Scaled to a diagonal of one, coordinates next to their facet are as well conditioned as any; only oblique facets are not.
        scale = 1.0 / np.sqrt(H[:, own, own])
        H *= scale[:, :, None]
        H *= scale[:, None, :]
        try:
            inverse = np.linalg.inv(H)
            graded = ~(np.einsum("njj->nj", inverse).max(axis=1) < GRADED)
        except np.linalg.LinAlgError:
            inverse, graded = np.empty_like(H), np.ones(n, dtype=bool)
        inverse *= scale[:, :, None]
        inverse *= scale[:, None, :]
        if graded.any():
            inverse[graded] = self._by_root(K, graded)
        return np.asarray(inverse, dtype=np.float64)

    def _by_root(self, K: Array, rows: Array) -> Array:
        """H⁻¹ = R⁻¹R⁻ᵀ by QR of the rows whose squares add up to H, largest first: small directions keep their digits."""
        values, vectors = np.linalg.eigh(K)
        constant = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        n, d = int(rows.sum()), len(K)
        pieces = [np.broadcast_to(constant, (n, d, d)), np.sqrt(self.diagonal[rows])[:, :, None] * np.eye(d)]
        pieces.append(np.sqrt(self.weights[rows])[:, :, None] * self.normals)
        for columns, z, gain, _, _ in self.radials:
            padded = np.zeros((n, 1, d))
            padded[:, 0, columns] = np.sqrt(gain[rows])[:, None] * z[rows]
            pieces.append(padded)
        root = np.concatenate(pieces, axis=1)
        order = np.argsort(-np.einsum("nkj,nkj->nk", root, root), axis=1)
        R = np.linalg.qr(np.take_along_axis(root, order[:, :, None], axis=1), mode="r")
        if not np.abs(np.einsum("njj->nj", R)).min() > 0:
            raise SpecificationError(
                "the weight's Hessian is singular: some facets are parallel to rounding. Leave redundant inequalities out."
            )
        inverse = np.linalg.inv(R)
        return np.asarray(inverse @ np.swapaxes(inverse, 1, 2))

    def _along(self, inverse: Array) -> Array:
        if not len(self.flat):
            return inverse
        Y = inverse @ self.flat.T
        return np.asarray(inverse - Y @ np.linalg.solve(self.flat @ Y, np.swapaxes(Y, 1, 2)))

    def _pull(self, D: Field) -> Array:
        """m, piece by piece."""
        own = D.diagonal()
        pull = own * self.diagonal * self.diagonal_ratio
        if len(self.normals):
            pull -= (self._leverages(D) * self.weights * self.ratios) @ self.normals
        for columns, z, gain, ratio, bend in self.radials:
            padded = np.zeros_like(pull)
            padded[:, columns] = z
            y = D.apply(padded)[:, columns]
            if bend is None:
                trace = own[:, columns].sum(axis=1)
            else:  # tr(D A)
                rows, cols = np.nonzero(bend)
                trace = bend[rows, cols] @ D.entries(rows + columns.start, cols + columns.start)
                y_bent = y @ bend
            along = gain * (ratio * np.einsum("nj,nj->n", z, y) + trace)
            pull[:, columns] += along[:, None] * z + gain[:, None] * (y if bend is None else y_bent)
        return pull

    def _leverages(self, D: Field) -> Array:
        """a_kᵀ D a_k, shape (N, m)."""
        if isinstance(D, Dense):
            return D.matrices.reshape(len(D.matrices), -1) @ _outer(self.normals).T
        rows = np.broadcast_to(self.normals, (len(self.diagonal), *self.normals.shape))
        return np.stack(
            [np.einsum("nj,nj->n", D.apply(rows[:, k]), rows[:, k]) for k in range(len(self.normals))], axis=1
        )


def _outer(normals: Array) -> Array:
    return (normals[:, :, None] * normals[:, None, :]).reshape(len(normals), -1)
