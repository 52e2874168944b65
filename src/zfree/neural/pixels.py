"""Images as rows of bytes or of intensities between 0 and 1, and what a decoder says about them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from zfree.errors import DataError, SpecificationError

COLOURS = (1, 3, 4)
"""Channels that images have."""


def as_pixels(X: Any, n_columns: int | None = None) -> NDArray[Any]:
    """Rows of bytes (kept as they are) or of intensities in [0, 1], as float32; an error names the row and the column."""
    array = np.asarray(X)
    if array.ndim == 4 and array.shape[3] in COLOURS and array.shape[1] not in COLOURS:
        raise DataError(
            f"images have their channels last, {array.shape}; the networks want them first: X.transpose(0, 3, 1, 2)."
        )
    if array.ndim > 2:
        array = array.reshape(len(array), -1)
    if array.ndim != 2 or not array.size:
        raise DataError(
            f"images must be rows of pixels, an array (N, pixels), (N, height, width) or (N, channels, height, width); got "
            f"{array.shape}."
        )
    if n_columns is not None and array.shape[1] != n_columns:
        raise DataError(f"X has {array.shape[1]} pixels in a row, the model was fitted to {n_columns}.")
    if array.dtype == np.uint8:
        return array
    if not np.issubdtype(array.dtype, np.number) and array.dtype != bool:
        raise DataError(f"pixels must be numbers, got {array.dtype}.")
    array = array.astype(np.float32)
    wrong = np.argwhere(~((array >= 0) & (array <= 1)))
    if len(wrong):
        row, column = wrong[0]
        raise DataError(
            f"pixel {column} of row {row} is {array[row, column]:.6g}; intensities must be between 0 and 1. Divide by the largest "
            "possible value, or pass bytes (uint8)."
        )
    return array


class PixelModel(ABC):
    """p(x | z) given the output of a decoder, and the random x that a stored image stands for."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)})"  # names the training in a checkpoint

    @abstractmethod
    def draw(self, pixels: Tensor, noise: torch.Generator) -> Tensor:
        """What the networks see of stored images, drawn anew."""

    @abstractmethod
    def misfit(self, output: Tensor, x: Tensor) -> Tensor:
        """−log p(x | z) of every row (N,)."""

    @abstractmethod
    def expansion(self, output: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """Slope of log p(x | z) in every output, and minus its curvature, both (N, pixels)."""

    @abstractmethod
    def intensity(self, output: Tensor) -> Tensor:
        """The mean of x as intensities in [0, 1]."""


@dataclass(frozen=True)
class BernoulliPixels(PixelModel):
    """Black or white with the probability of the intensity; the decoder gives logits."""

    def draw(self, pixels: Tensor, noise: torch.Generator) -> Tensor:
        share = pixels.float() / 255.0 if pixels.dtype == torch.uint8 else pixels
        return (torch.rand(share.shape, generator=noise, device=share.device) < share).float()

    def misfit(self, output: Tensor, x: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(output, x, reduction="none").sum(dim=1)

    def expansion(self, output: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        p = torch.sigmoid(output)
        return x - p, p * (1 - p)

    def intensity(self, output: Tensor) -> Tensor:
        return torch.sigmoid(output)


@dataclass(frozen=True)
class GaussianPixels(PixelModel):
    """Intensities spread over [−1, 1] with uniform noise inside a byte, Gaussian around what the decoder gives.

    Parameters
    ----------
    log_sd : float
        Logarithm of the standard deviation; −0.602 in the code of Song et al. (2019).
    """

    log_sd: float = -0.602

    def __post_init__(self) -> None:
        if not math.isfinite(self.log_sd):
            raise SpecificationError(f"log_sd must be a finite number, got {self.log_sd!r}.")

    def draw(self, pixels: Tensor, noise: torch.Generator) -> Tensor:
        level = pixels.float() if pixels.dtype == torch.uint8 else pixels * 255.0
        return (level + torch.rand(level.shape, generator=noise, device=level.device)) / 128.0 - 1.0

    def misfit(self, output: Tensor, x: Tensor) -> Tensor:
        constant = x.shape[1] * (0.5 * math.log(2 * math.pi) + self.log_sd)
        return 0.5 * math.exp(-2 * self.log_sd) * ((x - output) ** 2).sum(dim=1) + constant

    def expansion(self, output: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        precision = math.exp(-2 * self.log_sd)
        return precision * (x - output), torch.full_like(output, precision)

    def intensity(self, output: Tensor) -> Tensor:
        return ((output + 1.0) / 2.0).clamp(0.0, 1.0)


PIXEL_MODELS: dict[str, PixelModel] = {"bernoulli": BernoulliPixels(), "gaussian": GaussianPixels()}


def as_pixel_model(asked: PixelModel | str) -> PixelModel:
    """A pixel model, by itself or by name."""
    if isinstance(asked, PixelModel):
        return asked
    if not isinstance(asked, str) or asked not in PIXEL_MODELS:
        raise SpecificationError(f"pixels must be one of {', '.join(PIXEL_MODELS)}, or a PixelModel; got {asked!r}.")
    return PIXEL_MODELS[asked]
