"""Columns as an a–b model sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zfree.arrays import Array


@dataclass(frozen=True, eq=False)
class Coordinates:
    """u = x^a − c as K sees the data, v = x^(a−1), and the coefficients of η; x⁰/0 is log x.

    Arrays are (N, d) or (d, N), whichever suits; `across` makes a number per column fit.
    """

    a: float
    b: float
    center: Array

    @property
    def scale(self) -> float:
        """u' = scale · v: a, or one for logarithms."""
        return self.a if self.a != 0.0 else 1.0

    def centered(self, x: Array, across: bool = False) -> Array:
        """u, of columns laid out (d, N) if `across`."""
        center = self.center[:, None] if across else self.center
        if self.a == 1.0:
            return x - center
        out: Array = np.log(x) if self.a == 0.0 else x**self.a
        out -= center
        return out

    def pair(self, x: Array, across: bool = False) -> tuple[Array, Array | None]:
        """u and v = x^(a−1), from one power; None for v where it is one."""
        if self.a == 1.0:
            return self.centered(x, across), None
        if self.a == 0.0:
            return self.centered(x, across), 1.0 / x
        u = x**self.a
        v = u / x
        u -= self.center[:, None] if across else self.center
        return u, v

    def slope(self, x: Array, v: Array | None) -> Array | None:
        """x^(b−1), the coefficient of η in the score, where v is known; None where it is one."""
        if self.a == self.b:
            return v
        return None if self.b == 1.0 else x ** (self.b - 1.0)

    def ratio(self, x: Array) -> Array | None:
        """x^(b−a): the coefficient of η in units of v; None where it is one."""
        return None if self.a == self.b else x ** (self.b - self.a)
