"""What the experiments with implicit autoencoders share: the D they compare, and grids of samples."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zfree.arrays import Array
from zfree.errors import SpecificationError
from zfree.experiments.base import Experiment
from zfree.experiments.records import Key, Record
from zfree.generators import CoordinateWeight, Generator, Identity

REMEDY = "0.25 + exp(-z^2)"
DIFFUSIONS: dict[str, Generator] = {
    "I": Identity(),
    "sigmoid": CoordinateWeight("sigmoid"),
    "exp(-|z|)": CoordinateWeight("exp(-|x|)"),
    "exp(-z^2)": CoordinateWeight("exp(-x^2)"),
    REMEDY: CoordinateWeight("exp(-x^2)", floor=0.25),
}
"""D of the score matching by name; I is sliced score matching with variance reduction, the last is not the paper's."""
PAPERS = tuple(name for name in DIFFUSIONS if name != REMEDY)
GRID = 6
"""Samples shown, by rows and columns."""
Curve = Sequence[Sequence[float]]
"""Iterations, each with what was found then."""


@dataclass(frozen=True)
class Autoencoders(Experiment):
    """One training for each D and seed.

    Parameters
    ----------
    latent : int
        Columns of z and of the noise.
    diffusion : str
        ``"all"``, or some names of :data:`DIFFUSIONS`, separated by commas.
    iterations : int
    data : str
        A file or folder.
    images : int
        That the result is taken from.
    seeds : str
        How many trainings there are with each D: a number for all, or one for each D in turn, separated by commas.
    """

    latent: int = 8
    diffusion: str = "all"
    seeds: str = "1"
    iterations: int = 100_000
    data: str = ""
    images: int = 10_000

    by_itself: ClassVar[bool] = True

    def __str__(self) -> str:
        shown = replace(self, data=Path(self.data).name)  # where it lies is nobody's business
        return Experiment.__str__(shown)

    def names(self) -> list[str]:
        """The D that are asked for."""
        return list(DIFFUSIONS) if self.diffusion == "all" else [name.strip() for name in self.diffusion.split(",")]

    def check(self) -> None:
        if self.images < 2:
            raise SpecificationError(f"images must be at least 2, got {self.images}.")
        unknown = [name for name in self.names() if name not in DIFFUSIONS]
        if unknown or len(set(self.names())) < len(self.names()):
            raise SpecificationError(
                f"diffusion must be all, or some of {', '.join(DIFFUSIONS)} with commas between; got {self.diffusion!r}."
            )
        told = self.seeds.split(",")
        if len(told) not in (1, len(self.names())) or not all(re.fullmatch(" *[1-9] *", count) for count in told):
            raise SpecificationError(
                f"seeds must be a number from 1 to 9, or one for each of the {len(self.names())} D with commas between; "
                f"got {self.seeds!r}."
            )

    def plan(self) -> list[Key]:
        """(D, seed): the first training of every D, then the second ones."""
        names, counts = self.names(), [int(count) for count in self.seeds.split(",")]
        counts = counts * len(names) if len(counts) == 1 else counts
        return [
            (list(DIFFUSIONS).index(name), seed)
            for seed in range(max(counts))
            for name, count in zip(names, counts, strict=True)
            if seed < count
        ]

    def by_name(self, records: Sequence[tuple[Key, Record]]) -> dict[str, list[Record]]:
        """What was found with each D, by seeds."""
        found: dict[str, list[Record]] = {name: [] for name in self.names()}
        for key, record in records:
            found[list(DIFFUSIONS)[key[0]]].append(record)
        return found

    def training(self, key: Key, scratch: Path) -> dict[str, Any]:
        """Settings of the trainer that every experiment has: where it keeps its state, and how often."""
        scratch.mkdir(parents=True, exist_ok=True)
        return {
            "generator": DIFFUSIONS[list(DIFFUSIONS)[key[0]]],
            "iterations": self.iterations,
            "checkpoint": scratch / f"{key[0]}-{key[1]}.pt",
            "log": scratch / f"{key[0]}-{key[1]}.csv",
            "plot": scratch / f"{key[0]}-{key[1]}.png" if find_spec("matplotlib") else None,
            "checkpoint_every": max(1, min(1000, self.iterations // 10)),
            "monitor_every": max(1, self.iterations // 10),
            "random_state": self.seed + key[1],
        }


def pack(intensities: Array) -> str:
    """Images with intensities in [0, 1] as text."""
    return base64.b64encode(np.round(255 * intensities).astype(np.uint8).tobytes()).decode()


def unpack(text: str, channels: int) -> NDArray[np.uint8]:
    """The packed images of a grid as one picture (height, width, channels)."""
    flat = np.frombuffer(base64.b64decode(text), dtype=np.uint8)
    side = round(np.sqrt(flat.size / (GRID**2 * channels)))
    tiles = flat.reshape(GRID, GRID, channels, side, side).transpose(0, 3, 1, 4, 2)
    return tiles.reshape(GRID * side, GRID * side, channels)


def is_grid(text: Any, channels: int = 1) -> bool:
    """Whether this is a packed grid of images."""
    try:
        return isinstance(text, str) and unpack(text, channels).size > 0
    except ValueError:
        return False


def draw_grid(ax: Any, text: str, title: str, channels: int = 1) -> None:
    """Samples as they come, none left out; ink is dark where there is one channel."""
    picture = unpack(text, channels)
    ax.imshow(picture if channels == 3 else picture[:, :, 0], cmap="gray_r", vmin=0, vmax=255)
    ax.set(xticks=[], yticks=[], title=title)
    ax.spines[:].set_visible(False)


def draw_curves(ax: Any, curves: dict[str, list[Curve]], colors: dict[str, str], label: str) -> None:
    """A number against iterations, for each D and seed."""
    for name, runs in curves.items():
        for k, curve in enumerate(runs):
            if len(curve):
                ax.plot(*np.array(curve).T, color=colors[name], marker=".", label=name if k == 0 else None, alpha=0.8)
    ax.set(xlabel="iteration", ylabel=label)
    ax.locator_params(axis="x", nbins=5)
    ax.legend(frameon=False, fontsize="small")
