"""Whether a score network knows the encoder it was trained on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zfree.arrays import Array


class ScoreCheck(NamedTuple):
    r"""Draws of the encoder and the score network's answers, which obey identities if the network knows the encoder.

    Averaged over images, :math:`E[s_j \mid z_j]` is the slope of the log-density of the draws' coordinate j, and
    :math:`-E[s_j z_j] = 1` (integration by parts).

    Attributes
    ----------
    z, s : ndarray of shape (N, latent)
    """

    z: Array
    s: Array

    @property
    def identity(self) -> Array:
        """−E[s_j z_j] for each coordinate: one for the true score."""
        return np.asarray(-(self.s * self.z).mean(axis=0))
