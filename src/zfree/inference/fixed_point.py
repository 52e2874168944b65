r"""The estimate without a row, or a group of rows, where Γ is not symmetric.

With test functions h in place of the statistics :math:`G_i = w_i J_h D J_t^\top`, and there is no metric for conjugate gradients
(:mod:`zfree.inference.leaving_out`). The change still solves :math:`(G - G_i)\,\delta_i = \psi_i`, hence

.. math:: \delta_i = A\psi_i + A G_i\,\delta_i, \qquad A = G^{-1}.

Iterating this needs products only, for all pieces at once; its error shrinks by the leverage of a piece (the size of :math:`A G_i`, about 1/N for a row) at
every step, so that one or two suffice. Pieces for which it does not shrink get a solution of their own.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from zfree.arrays import Array
from zfree.inference.leaving_out import ALONE, DeterminedAlone, Pieces, Shrunk

STEPS = 12
"""Steps after which what is left is solved piece by piece."""


def changes_by_iteration(pieces: Pieces, A: Shrunk, psi: Array, tolerance: float) -> tuple[Array, Array]:
    """θ without each piece minus θ, and its linear part A ψ, both (r, pieces). See :func:`~zfree.inference.leaving_out.changes_without`.

    The error allowed is relative to the root mean square of every parameter's own changes, over all pieces together.
    """
    linear = _times(A, psi)
    r, n = linear.shape
    squares = linear * linear
    total = squares @ np.ones(n)
    precision = np.divide(n / tolerance**2, total, out=np.ones(r), where=total > 0)  # 1/(error allowed)²
    change, before = linear, precision @ squares
    for _ in range(STEPS):
        new = _times(A, pieces.image(change))
        new += linear
        change, step = new, new - change
        step *= step
        size = precision @ step
        # Steps shrink geometrically: the next one is about this one times the ratio of the last two.
        left = np.minimum(size, size * size / np.maximum(before, 1e-300))
        if left.sum() <= n * r:
            return change, linear
        before = size
    for piece in map(int, np.flatnonzero(~(left <= r))):
        change[:, piece] = _directly(pieces, A, linear, piece, np.sqrt(total / n))
    return change, linear


def _times(A: Shrunk, V: Array) -> Array:
    """A V in the memory order of V."""
    return A @ V if V.flags.c_contiguous else A.from_the_right(V.T).T


def _directly(pieces: Pieces, A: Shrunk, linear: Array, piece: int, unit: Array) -> Array:
    """(1 − A G_i)⁻¹ A ψ_i of one piece, by LU."""
    only = pieces.only(piece)
    moves = unit > 0  # the others are known
    system = (np.eye(len(linear)) - A @ only.matrix())[np.ix_(moves, moves)]
    unit = unit[moves]
    scaled = system * unit / unit[:, None]
    factor, pivots, info = lapack.dgetrf(scaled)
    rcond = 0.0 if info else float(lapack.dgecon(factor, np.abs(scaled).sum(axis=0).max())[0])
    if not rcond > ALONE:
        flattest = np.linalg.svd(scaled)[2][-1]
        raise DeterminedAlone(piece, int(np.flatnonzero(moves)[np.argmax(np.abs(flattest))]))
    out = np.zeros(len(linear))
    out[moves] = unit * lapack.dgetrs(factor, pivots, linear[moves, piece] / unit)[0]
    return out
