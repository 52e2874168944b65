"""Drawing from the models."""

from zfree.samplers.diagnostics import effective_size, split_rhat
from zfree.samplers.draws import Draws
from zfree.samplers.gaussian import sample_gaussian
from zfree.samplers.langevin import Chains, sample_langevin
from zfree.samplers.model import sample_model
from zfree.samplers.truncated_normal import truncated_normal

__all__ = [
    "Chains",
    "Draws",
    "effective_size",
    "sample_gaussian",
    "sample_langevin",
    "sample_model",
    "split_rhat",
    "truncated_normal",
]
