"""Drawing from the models."""

from zfree.samplers.gaussian import sample_gaussian
from zfree.samplers.truncated_normal import truncated_normal

__all__ = ["sample_gaussian", "truncated_normal"]
