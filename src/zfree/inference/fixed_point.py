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
from zfree.inference.leaving_out import ALONE, DeterminedAlone, Pieces

STEPS = 12
"""Steps after which what is left is solved piece by piece."""


def changes_by_iteration(pieces: Pieces, A: Array, psi: Array, tolerance: float) -> tuple[Array, Array]:
    """θ without each piece minus θ, and its linear part A ψ, both (r, pieces). See :func:`~zfree.inference.leaving_out.changes_without`.

    The tolerance is relative to the root mean square over the pieces of every parameter's own changes.
    """
    linear = A @ psi
    spread = np.sqrt(np.einsum("rn,rn->r", linear, linear) / linear.shape[1])
    allowed = tolerance * np.where(spread > 0, spread, 1.0)[:, None]
    change, before = linear, (np.abs(linear) / allowed).max(axis=0)
    for _ in range(STEPS):
        new = A @ _image(pieces, change)
        new += linear
        size = (np.abs(new - change) / allowed).max(axis=0)
        change = new
        # Steps shrink geometrically: the next one is about this one times the ratio of the last two.
        slow = ~((size <= 1.0) | (size * size <= before))
        if not slow.any():
            return change, linear
        before = size
    for piece in map(int, np.flatnonzero(slow)):
        change[:, piece] = _directly(pieces, A, linear, piece, spread)
    return change, linear


def _image(pieces: Pieces, change: Array) -> Array:
    """G_i δ_i."""
    return pieces.push(pieces.weigh(pieces.pull(change)))


def _directly(pieces: Pieces, A: Array, linear: Array, piece: int, spread: Array) -> Array:
    """(1 − A G_i)⁻¹ A ψ_i of one piece, by LU."""
    only = pieces.only(piece)
    unit = np.where(spread > 0, spread, 1.0)
    system = np.eye(len(A)) - A @ only.matrix()
    scaled = system * unit / unit[:, None]
    factor, pivots, info = lapack.dgetrf(scaled)
    rcond = 0.0 if info else float(lapack.dgecon(factor, np.abs(scaled).sum(axis=0).max())[0])
    if not rcond > ALONE:
        flattest = np.linalg.svd(scaled)[2][-1]
        raise DeterminedAlone(piece, int(np.argmax(np.abs(flattest))))
    return np.asarray(unit * lapack.dgetrs(factor, pivots, linear[:, piece] / unit)[0])
