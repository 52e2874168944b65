r"""Generators in coordinates :math:`u = x^a` (log x for a = 0) of positive columns.

The operator :math:`A_p v = \nabla\cdot v + v\cdot\nabla\log p` does not depend on coordinates: a vector field that is :math:`v_u` in u is
:math:`v_x = \mathrm{diag}(\beta)\,v_u` in x, with :math:`\beta = dx/du`. So a good D for the density of u gives one for that of x,
:math:`D_x = \mathrm{diag}(\beta)\,D_u\,\mathrm{diag}(\beta)`.
"""

from __future__ import annotations

import numpy as np

from zfree.arrays import Array
from zfree.fields import Field
from zfree.generators.base import GeneratorValue


def as_powers(X: Array, exponent: float) -> Array:
    """u = x^a, or log x for a = 0."""
    if exponent == 1.0:
        return X
    return np.log(X) if exponent == 0.0 else X**exponent


def carried_back(X: Array, exponent: float, inverse: Field, divergence: Array) -> GeneratorValue:
    r"""D and ∇·D in x from those in u.

    .. math:: \nabla_x\cdot D_x = \beta\,(\nabla_u\cdot D_u + D_u q + q \circ \mathrm{diag} D_u), \qquad q = \beta'/\beta .
    """
    if exponent == 1.0:
        return GeneratorValue(np.zeros(len(X)), inverse, divergence)
    if exponent == 0.0:
        beta, q = X, np.ones_like(X)
    else:
        beta, q = X ** (1.0 - exponent) / exponent, (1.0 / exponent - 1.0) * X**-exponent
    moved = divergence + inverse.apply(q) + q * inverse.diagonal()
    return GeneratorValue(np.zeros(len(X)), inverse.rescale(beta), beta * moved)
