"""Implicit autoencoders on colour images, by the Fréchet distance of their samples; where the images come from is left open."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zfree.arrays import Array
from zfree.errors import DataError, SpecificationError
from zfree.experiments.autoencoders import DIFFUSIONS, GRID, Autoencoders, draw_curves, draw_grid, is_grid, pack
from zfree.experiments.base import Progress
from zfree.experiments.records import Each, Key, Pattern, Record, number, text
from zfree.experiments.report import Finding, Number, Report

if TYPE_CHECKING:
    from zfree.neural import FeatureStatistics, ImplicitVAE

BATCH = 100
"""Images whose features are taken together."""


@dataclass(frozen=True)
class ImageAutoencoders(Autoencoders, latent=32):
    """Distance of `images` samples from as many of the images, several times during the training of each D.

    On another number of threads numbers differ by rounding, and a training amplifies that.

    Parameters
    ----------
    width : int
        Channels of the first convolution; 64 as published, less for a processor.
    batch_size : int
    learning_rate : float
    side : int
        Of the images, a multiple of 16.
    features : str
        ``"inception"`` for the FID; ``"wavelets"``, or ``"blocks"`` for means of blocks of pixels, which need no weights and are
        no FID.
    device : str
        Of torch.
    """

    width: int = 64
    batch_size: int = 128
    learning_rate: float = 1e-4
    side: int = 64
    features: str = "inception"
    device: str = "cpu"

    @abstractmethod
    def available(self) -> int:
        """How many images there are; an error if they cannot be had."""

    @abstractmethod
    def load(self, scratch: Path, progress: Progress = lambda done, total: None) -> Any:
        """All images as rows of bytes; what takes long to make may be kept in the folder `scratch`."""

    @abstractmethod
    def digest(self) -> str:
        """Names the images in short."""

    def label(self) -> str:
        """What the images are, for the head of the table; nothing if the title says it."""
        return ""

    def printed(self, name: str, iteration: int, count: int) -> tuple[float | None, float | None]:
        """The paper's mean and deviation for a D at an iteration, if that was with these images."""
        return None, None

    def after(self, est: ImplicitVAE, scratch: Path) -> Record:
        """What else is found when a training has ended."""
        return {}

    def findings(self, found: dict[str, list[Record]]) -> list[Finding]:
        """What the curves of all D say."""
        return []

    def remarks(self, found: dict[str, list[Record]]) -> list[str]:
        """What else a reader has to know."""
        return []

    def shown(self) -> str | None:
        """Some of the images for the figure, packed, where they may be shown."""
        return None

    def check(self) -> None:
        from zfree.neural.convolutions import check_side
        from zfree.neural.devices import as_device
        from zfree.neural.frechet import FEATURES

        super().check()
        check_side(self.side)
        as_device(self.device)
        if not self.learning_rate > 0:
            raise SpecificationError(f"learning_rate must be positive, got {self.learning_rate!r}.")
        count = self.available()
        if count < self.batch_size:
            raise SpecificationError(
                f"{self.name} has {count} images, fewer than a batch of {self.batch_size}. Choose a smaller batch_size."
            )
        if self.features not in FEATURES:
            raise SpecificationError(f"features must be one of {', '.join(FEATURES)}; got {self.features!r}.")
        FEATURES[self.features](self.device)

    def prepare(self, scratch: Path, progress: Progress) -> None:
        """Make the images and take their features, once for all trials."""
        images = self.load(scratch, progress)
        path = self._reference(scratch)
        if not path.exists():
            scratch.mkdir(parents=True, exist_ok=True)
            some = np.sort(self.stream().permutation(len(images))[: self.images])

            def batches() -> Iterator[Any]:
                for k in range(0, len(some), BATCH):
                    progress(k, len(some))
                    yield images[some[k : k + BATCH]]
                progress(len(some), len(some))

            self.statistics(batches()).save(path)

    def trial(self, key: Key, scratch: Path) -> Record:
        from zfree.neural import ImplicitVAE, convolutional_networks

        images = self.load(scratch)

        def distance(est: ImplicitVAE) -> dict[str, float]:
            return {"fid": self.distance(self._samples(est), scratch)}

        settings = self.training(key, scratch)
        networks = convolutional_networks(
            self.latent, side=self.side, width=self.width, random_state=settings["random_state"]
        )
        est = ImplicitVAE(
            *networks,
            pixels="gaussian",
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            monitor=distance,
            device=self.device,
            **settings,
        ).fit(images)
        return {
            "curve": [[h["iteration"], h["fid"]] for h in est.history_ if "fid" in h],
            "samples": pack(est.sample(GRID**2, random_state=self.seed)),
            "count": len(images),
            "source": self.digest(),
            **self.after(est, scratch),
        }

    def distance(self, batches: Iterator[Any], scratch: Path) -> float:
        """Of these images from the experiment's own."""
        from zfree.neural import FeatureStatistics, frechet_distance

        return frechet_distance(FeatureStatistics.load(self._reference(scratch)), self.statistics(batches))

    def statistics(self, batches: Iterator[Any]) -> FeatureStatistics:
        """Mean and scatter of the features of these images."""
        from zfree.neural import FeatureStatistics
        from zfree.neural.frechet import FEATURES

        return FeatureStatistics.over(batches, FEATURES[self.features](self.device), self.side)

    def _samples(self, est: ImplicitVAE) -> Iterator[Array]:
        for k in range(0, self.images, BATCH):
            yield est.sample(min(BATCH, self.images - k), random_state=self.stream(k))

    def _reference(self, scratch: Path) -> Path:
        return scratch / f"reference-{self.digest()}.npz"

    def record(self) -> Pattern:
        return {
            "curve": Each([number, number]),
            "samples": lambda value: is_grid(value, 3),
            "count": number,
            "source": text,
        }

    def memory(self) -> float:
        """The layers of a batch, and the parameters with their gradients and averages."""
        layers = 4.0 * self.batch_size * self.side**2 * (3 + self.width)
        parameters = 25.0 * 8 * 4 * self.width**2 + 8.0 * self.width * (self.side / 16) ** 2 * 4 * self.latent
        return layers + 12.0 * parameters

    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        found = self.by_name(records)
        if len({r["source"] for _, r in records}) > 1:
            raise DataError("the images changed between trainings. Run again with --fresh.")
        what = "FID" if self.features == "inception" else f"Fréchet distance of {self.features}"
        parts = (what, self.label(), f"latent dimension {self.latent}", f"width {self.width}")
        title = ", ".join(part for part in parts if part)
        count = records[0][1]["count"]
        numbers = []
        for name, runs in found.items():
            for steps in zip(*(run["curve"] for run in runs), strict=True):
                iteration, distances = int(steps[0][0]), [distance for _, distance in steps]
                paper = self.printed(name, iteration, count)
                numbers.append(Number(title, f"{iteration}", name, float(np.mean(distances)), paper[0]))
                if len(runs) > 1:
                    numbers.append(
                        Number(title, f"{iteration}", f"± {name}", float(np.std(distances, ddof=1)), paper[1])
                    )
        remarks = (
            f"{count} images; the distance is between {self.images} samples and as many of the images at most.",
            *self.remarks(found),
        )
        return Report(numbers, self.findings(found), lambda: self.figure(found, what), remarks)

    def figure(self, found: dict[str, list[Record]], what: str) -> Any:
        """The distances against iterations, some of the images where they may be shown, and samples of every D."""
        from zfree.plotting.trials import PALETTE, panels

        colors, shown = dict(zip(DIFFUSIONS, PALETTE, strict=False)), self.shown()
        count = len(found) + 1 + (shown is not None)
        figure, axes = panels(count, width=3.6, height=3.6, rows=2 if len(found) > 2 else 1)
        draw_curves(axes[0], {name: [run["curve"] for run in runs] for name, runs in found.items()}, colors, what)
        if shown is not None:
            draw_grid(axes[1], shown, self.label(), channels=3)
        for ax, (name, (first, *_)) in zip(axes[-len(found) :], found.items(), strict=True):
            draw_grid(ax, first["samples"], f"{name}: {first['curve'][-1][1]:.1f}", channels=3)
        return figure
