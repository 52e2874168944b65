r"""Γ as an object: what a sum of :math:`w_i J D J^\top` over rows is good for, in the structure that it has.

A solver asks for products (:meth:`Quadratic.matvec`), for the diagonal, or for the matrix itself (:meth:`Quadratic.dense`, the only place where
r × r numbers are laid out). Sums of different kinds stay apart until then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from zfree.arrays import Array, Index, Mask


class Quadratic(ABC):
    """A matrix over parameters that can be added up, scaled and restricted, and multiplied without being formed."""

    symmetric: bool = True
    """Whether it is that of a quadratic; with test functions of another kind Γ is not."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of parameters r."""

    @abstractmethod
    def scaled(self, factor: float) -> Quadratic:
        """Factor times this."""

    @abstractmethod
    def matvec(self, theta: Array) -> Array:
        """Γ θ, of θ (r,) or of several as columns (r, m)."""

    @abstractmethod
    def diagonal(self) -> Array:
        """Its diagonal (r,)."""

    @abstractmethod
    def add_to(self, out: Array) -> None:
        """Add all entries to a matrix (r, r)."""

    def merged(self, other: Quadratic) -> Quadratic | None:
        """The sum with another one of the same kind; None if that is no such kind."""
        return None

    def dense(self) -> Array:
        """All r × r entries."""
        out = np.zeros((self.size, self.size))
        self.add_to(out)
        return out

    def block(self, free: Mask) -> Quadratic:
        """Rows and columns of the marked parameters."""
        return self if free.all() else Restricted(self, np.flatnonzero(free))

    def parts(self) -> tuple[Quadratic, ...]:
        """Summands of different kinds."""
        return (self,)

    def __add__(self, other: Quadratic) -> Quadratic:
        """The sum: summands of one kind are merged, others kept beside each other."""
        parts = reduce(_with, other.parts(), self.parts())
        return parts[0] if len(parts) == 1 else Sum(parts)


def _with(parts: tuple[Quadratic, ...], new: Quadratic) -> tuple[Quadratic, ...]:
    """Summands and one more. What it is merged with may have become of another kind, so it is added anew."""
    for k, old in enumerate(parts):
        one = old.merged(new)
        if one is not None:
            return _with((*parts[:k], *parts[k + 1 :]), one)
    return (*parts, new)


@dataclass(frozen=True, eq=False)
class DenseQuadratic(Quadratic):
    """All entries, where there is no structure to keep."""

    matrix: Array
    symmetric: bool = True

    @property
    def size(self) -> int:
        return len(self.matrix)

    def scaled(self, factor: float) -> DenseQuadratic:
        return self if factor == 1.0 else DenseQuadratic(self.matrix * factor, self.symmetric)

    def matvec(self, theta: Array) -> Array:
        return self.matrix @ theta

    def diagonal(self) -> Array:
        return self.matrix.diagonal()

    def add_to(self, out: Array) -> None:
        out += self.matrix

    def dense(self) -> Array:
        return self.matrix

    def block(self, free: Mask) -> DenseQuadratic:
        return self if free.all() else DenseQuadratic(self.matrix[np.ix_(free, free)], self.symmetric)

    def merged(self, other: Quadratic) -> DenseQuadratic | None:
        if not isinstance(other, DenseQuadratic):
            return None
        return DenseQuadratic(self.matrix + other.matrix, self.symmetric and other.symmetric)


@dataclass(frozen=True, eq=False)
class Sum(Quadratic):
    """Summands of different kinds."""

    summands: tuple[Quadratic, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "symmetric", all(s.symmetric for s in self.summands))

    @property
    def size(self) -> int:
        return self.summands[0].size

    def parts(self) -> tuple[Quadratic, ...]:
        return self.summands

    def scaled(self, factor: float) -> Sum:
        return Sum(tuple(s.scaled(factor) for s in self.summands))

    def matvec(self, theta: Array) -> Array:
        return reduce(add, (s.matvec(theta) for s in self.summands))

    def diagonal(self) -> Array:
        return reduce(add, (s.diagonal() for s in self.summands))

    def add_to(self, out: Array) -> None:
        for s in self.summands:
            s.add_to(out)


@dataclass(frozen=True, eq=False)
class Restricted(Quadratic):
    """Rows and columns of some parameters of another one."""

    whole: Quadratic
    index: Index

    def __post_init__(self) -> None:
        object.__setattr__(self, "symmetric", self.whole.symmetric)

    @property
    def size(self) -> int:
        return len(self.index)

    def scaled(self, factor: float) -> Restricted:
        return Restricted(self.whole.scaled(factor), self.index)

    def matvec(self, theta: Array) -> Array:
        every = np.zeros((self.whole.size, *theta.shape[1:]))
        every[self.index] = theta
        return self.whole.matvec(every)[self.index]

    def diagonal(self) -> Array:
        return self.whole.diagonal()[self.index]

    def add_to(self, out: Array) -> None:
        out += self.whole.dense()[np.ix_(self.index, self.index)]
