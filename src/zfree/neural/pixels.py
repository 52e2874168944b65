"""Images as rows of bytes or of intensities between 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zfree.errors import DataError


def as_pixels(X: Any, n_columns: int | None = None) -> NDArray[Any]:
    """Rows of bytes (kept as they are) or of intensities in [0, 1], as float32; an error names the row and the column."""
    array = np.asarray(X)
    if array.ndim > 2:
        array = array.reshape(len(array), -1)
    if array.ndim != 2 or not array.size:
        raise DataError(
            f"images must be rows of pixels, an array (N, pixels) or (N, height, width); got {array.shape}."
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


def binarise(pixels: Tensor, noise: torch.Generator) -> Tensor:
    """Black or white with the probability of the intensity, drawn anew."""
    share = pixels.float() / 255.0 if pixels.dtype == torch.uint8 else pixels
    return (torch.rand(share.shape, generator=noise) < share).float()
