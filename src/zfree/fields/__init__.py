r"""Structured symmetric matrices, one per row of the data.

A generator :math:`D(x)` is evaluated at N points. Storing N dense d × d matrices and multiplying by them costs
:math:`O(N d^2)`; on every domain but a general polytope the matrix has structure that needs only :math:`O(N d)`:

==============================  =============================================================
class                           matrix at row i
==============================  =============================================================
:class:`Scalar`                 :math:`c_i I`
:class:`Diagonal`               :math:`\mathrm{diag}(\delta_i)`
:class:`DiagonalPlusRankOne`    :math:`\mathrm{diag}(\delta_i) + \sigma_i u_i u_i^\top`
:class:`Dense`                  anything
:class:`BlockDiagonal`          block-diagonal in consecutive groups of coordinates
:class:`Carried`                :math:`C D_i C^\top`, from the chart of a flat domain
==============================  =============================================================

A consumer never asks which class it holds: :meth:`Field.parts` writes every field as a diagonal, plus rank-one
terms, or as one dense array, and :meth:`Field.along` lets the diagonal be along other directions than the coordinates.
"""

from zfree.fields.base import Along, Directions, Field, Parts, RankOne
from zfree.fields.blocks import BlockDiagonal
from zfree.fields.carried import Carried
from zfree.fields.plain import Dense, Diagonal, DiagonalPlusRankOne, Scalar

__all__ = [
    "Along",
    "BlockDiagonal",
    "Carried",
    "Dense",
    "Diagonal",
    "DiagonalPlusRankOne",
    "Directions",
    "Field",
    "Parts",
    "RankOne",
    "Scalar",
]
