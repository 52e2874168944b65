r"""The nearest point of an ellipsoid's surface, from inside.

With semi-axes :math:`e_1 \ge \dots \ge e_d`, :math:`r_j = e_j^2/e_d^2` and :math:`g_j = z_j/e_j` the nearest point to z is
:math:`p_j = z_j\, r_j/(r_j - 1 + s)`, where :math:`0 \le s \le 1` solves the secular equation

.. math:: S(s) = \sum_j \Bigl(\frac{r_j g_j}{r_j - 1 + s}\Bigr)^2 = 1 .

:math:`S^{-1/2}` is concave and nearly linear in s, so Newton's method on it, from a point left of the root, needs a few steps, however close z is to the middle.
"""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array

STEPS = 60
"""At most; five are usual."""


def nearest_on_ellipsoid(g: Array, axes: Array) -> tuple[Array, Array]:
    """Distance (N,) to the surface, and the inward unit normal (N, d) at the nearest point, in coordinates along the axes.

    Parameters
    ----------
    g : ndarray of shape (N, d)
        Points inside, each coordinate in units of its semi-axis.
    axes : ndarray of shape (d,)
        The semi-axes.
    """
    shortest = axes.min()
    r = (axes / shortest) ** 2
    short = r == 1.0
    beside = np.where(short, 0.0, r - 1.0)
    flat = ~g[:, short].any(axis=1)  # in the middle plane, where the short axes may lead to two nearest points
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.max(r * np.abs(g) - beside, axis=1)  # where one term alone is one, S is at least one
        s = np.maximum(s, np.linalg.norm(g[:, short], axis=1))
        for _ in range(STEPS):
            terms = np.where(g == 0.0, 0.0, r * g / (beside + s[:, None]))
            square = np.einsum("nj,nj->n", terms, terms)
            change = np.einsum("nj,nj->n", terms, np.where(g == 0.0, 0.0, terms / (beside + s[:, None])))
            step = np.where(change > 0, (np.sqrt(square) - 1.0) * square / change, 0.0)  # of S^(−1/2) towards one
            moved = np.clip(s + step, 0.0, 1.0)
            done = np.abs(moved - s) <= 4e-16 * moved
            s = moved
            if done.all():
                break
        p = np.where(g == 0.0, 0.0, r * g / (beside + s[:, None]))  # the nearest point, in units of the semi-axes
    missing = np.maximum(1.0 - np.einsum("nj,nj->n", p, p), 0.0)
    first = int(np.argmax(short))
    p[:, first] = np.where(flat, np.sqrt(missing), p[:, first])
    normal = -p / axes
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return np.linalg.norm((p - g) * axes, axis=1), normal
