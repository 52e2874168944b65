"""Γ as an object."""

from zfree.quadratic.base import DenseQuadratic, Quadratic, Restricted, Sum
from zfree.quadratic.structured import ColumnBlocks, Groups, LowRank, Products

__all__ = ["ColumnBlocks", "DenseQuadratic", "Groups", "LowRank", "Products", "Quadratic", "Restricted", "Sum"]
