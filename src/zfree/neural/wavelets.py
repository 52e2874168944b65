r"""Features of images from two layers of fixed wavelets, after the scattering transform of Bruna and Mallat (2013).

With Morlet wavelets :math:`\psi_{j,k}` at scale :math:`2^j` and angle :math:`\pi k / 4`, the features are means over blocks of

.. math:: x_c, \qquad |x_c * \psi_{j,k}|, \qquad \bigl||x_0 * \psi_{j,k}| * \psi_{j',k'}\bigr| \quad (j' > j)

for the brightness :math:`x_0` and two differences of colours :math:`x_1, x_2`. The first tell colours and their places, the second
edges by size and direction, the third how edges lie together. Nothing is learnt and nothing is downloaded.
"""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

SCALES = 3
ANGLES = 4
BLOCKS, COARSE = 4, 2
"""Blocks along a side whose means are taken, in the first layer and in the second."""
PERCENT = 100.0
"""Intensities are counted in hundredths, so that distances have a few digits before the point."""
OPPONENT = ((1 / 3, 1 / 3, 1 / 3), (1 / 2, 0.0, -1 / 2), (-1 / 4, 1 / 2, -1 / 4))
"""Brightness, red against blue, green against both."""


def wavelet_features(images: Tensor) -> Tensor:
    """Of images (N, 3, height, width) with intensities in [0, 1]; 816 numbers each, in percent of the full intensity."""
    colours = torch.einsum("ck,nkhw->nchw", images.new_tensor(OPPONENT).float(), PERCENT * images.float())
    layer = [_modulus(colours, j) for j in range(SCALES)]  # (N, 3, angles, height, width)
    parts = [_means(colours, BLOCKS), *(_means(maps, BLOCKS) for maps in layer)]
    for j in range(SCALES):
        parts += [_means(_modulus(layer[j][:, 0], coarser), COARSE) for coarser in range(j + 1, SCALES)]
    return torch.cat(parts, dim=1)


def _modulus(maps: Tensor, j: int) -> Tensor:
    """|x ∗ ψ| for every angle at scale j: (N, channels, height, width) to (N, channels, angles, height, width)."""
    n, channels, height, width = maps.shape
    kernels = _morlets(j).to(maps.device)
    around = kernels.shape[-1] // 2
    flat = functional.pad(maps.reshape(n * channels, 1, height, width), [around] * 4, mode="replicate")
    waves = functional.conv2d(flat, kernels)  # the real parts of all angles, then the imaginary ones
    real, imaginary = waves.chunk(2, dim=1)
    return torch.hypot(real, imaginary).reshape(n, channels, ANGLES, height, width)


def _means(maps: Tensor, blocks: int) -> Tensor:
    flat = maps.reshape(len(maps), -1, *maps.shape[-2:])
    return functional.adaptive_avg_pool2d(flat, blocks).reshape(len(maps), -1)


@cache
def _morlets(j: int) -> Tensor:
    """Kernels (2 · angles, 1, size, size) with mean zero, and an envelope of sum one: a grating gives its amplitude at any scale."""
    spread, frequency = 0.8 * 2.0**j, 0.75 * math.pi / 2.0**j
    reach = math.ceil(3 * spread)
    line = torch.arange(-reach, reach + 1, dtype=torch.float64)
    y, x = torch.meshgrid(line, line, indexing="ij")
    angles = math.pi * torch.arange(ANGLES, dtype=torch.float64)[:, None, None] / ANGLES
    along, across = x * torch.cos(angles) + y * torch.sin(angles), y * torch.cos(angles) - x * torch.sin(angles)
    envelope = torch.exp(-(along**2 + across**2 / 4.0) / (2 * spread**2))
    envelope = envelope / envelope.sum(dim=(1, 2), keepdim=True)
    real, imaginary = envelope * torch.cos(frequency * along), envelope * torch.sin(frequency * along)
    real = real - envelope * real.sum(dim=(1, 2), keepdim=True)
    return torch.cat([real, imaginary])[:, None].float()
