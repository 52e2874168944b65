"""What a result keeps of how its generator was chosen, and of tests, without knowing how that is done."""

from __future__ import annotations

from typing import Protocol

from zfree.generators import Generator


class HowChosen(Protocol):
    """The record of a choice."""

    @property
    def by_theory(self) -> bool:
        """Whether the generator was known beforehand, and nothing compared."""

    @property
    def criterion(self) -> float:
        """Of the one that was taken."""

    @property
    def target(self) -> str:
        """What the criterion measures."""


class HowCombined(Protocol):
    """The record of a combination."""

    @property
    def generators(self) -> tuple[Generator, ...]:
        """The members."""

    @property
    def shrinkage(self) -> str:
        """The form of their weights, in words."""


class Test(Protocol):
    """Something with a p-value."""

    @property
    def p_value(self) -> float:
        """Of the hypothesis that all is well."""
