"""Γ as an object."""

from zfree.quadratic.base import Dense, Quadratic, Restricted, Sum
from zfree.quadratic.structured import ColumnBlocks, Groups, LowRank, Products

__all__ = ["ColumnBlocks", "Dense", "Groups", "LowRank", "Products", "Quadratic", "Restricted", "Sum"]
