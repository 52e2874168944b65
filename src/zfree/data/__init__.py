"""Where rows come from: blocks of them, sums over them, and what one pass tells about them."""

from zfree.data.dealing import deal
from zfree.data.hashing import content_hash, row_hashes
from zfree.data.source import Block, Source, Together
from zfree.data.statistics import Statistics
from zfree.data.table import Table

__all__ = ["Block", "Source", "Statistics", "Table", "Together", "content_hash", "deal", "row_hashes"]
