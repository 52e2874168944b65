"""Implicit autoencoders on CelebA, by the Fréchet distance of their samples (appendix, table of the Fréchet distances)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zfree.arrays import Array
from zfree.errors import DataError, SpecificationError
from zfree.experiments.autoencoders import DIFFUSIONS, GRID, Autoencoders, draw_curves, draw_grid, is_grid, pack
from zfree.experiments.base import Key, Progress, Record
from zfree.experiments.paper import VAE_CELEBA
from zfree.experiments.records import Each, Pattern, number, text
from zfree.experiments.report import Number, Report

if TYPE_CHECKING:
    from zfree.neural import ImplicitVAE

CELEBA = 202_599
"""Images of CelebA: with others the paper's numbers are left out."""
BATCH = 100
"""Images whose features are taken together."""


@dataclass(frozen=True)
class VaeCeleba(Autoencoders):
    """FID of `images` samples against as many of the faces, ten times during the training of each D.

    On another number of threads numbers differ by rounding, and a training amplifies that.

    Parameters
    ----------
    width : int
        Channels of the first convolution; 64 as published, less for a processor.
    batch_size : int
    learning_rate : float
    crop : int
        Of the square cut from the centre of each photograph.
    features : str
        ``"inception"``, or ``"blocks"`` for means of blocks of pixels, which need no weights and are no FID.
    device : str
        Of torch.
    """

    latent: int = 32
    width: int = 64
    batch_size: int = 128
    learning_rate: float = 1e-4
    crop: int = 140
    side: int = 64
    features: str = "inception"
    device: str = "cpu"

    name = "vae-celeba"
    title = "Implicit autoencoders on CelebA"
    place = "Appendix, table of the Fréchet distances"
    small: ClassVar[dict[str, Any]] = {"iterations": 200, "images": 200, "width": 8}
    stated: ClassVar[tuple[str, ...]] = (
        "latent",
        "iterations",
        "images",
        "width",
        "batch_size",
        "learning_rate",
        "crop",
        "side",
        "features",
    )

    def check(self) -> None:
        from zfree.neural.convolutions import check_side
        from zfree.neural.devices import as_device
        from zfree.neural.faces import check_faces, face_files
        from zfree.neural.frechet import FEATURES

        super().check()
        check_side(self.side)
        as_device(self.device)
        if not self.learning_rate > 0:
            raise SpecificationError(f"learning_rate must be positive, got {self.learning_rate!r}.")
        if not self.data:
            raise SpecificationError("vae-celeba needs the images: give their folder with --data.")
        files = face_files(self.data)
        check_faces(files, self.crop)
        if len(files) < self.batch_size:
            raise SpecificationError(f"{self.data!r} has {len(files)} images, fewer than a batch of {self.batch_size}.")
        if self.features not in FEATURES:
            raise SpecificationError(f"features must be one of {', '.join(FEATURES)}; got {self.features!r}.")
        FEATURES[self.features](self.device)

    def prepare(self, scratch: Path, progress: Progress) -> None:
        """Reduce the images and take the features of the faces, once for all trials."""
        from zfree.neural.frechet import FEATURES, FeatureStatistics

        faces = self._faces(scratch, progress)
        path = self._reference(scratch)
        if not path.exists():
            some = np.sort(self.stream().permutation(len(faces))[: self.images])

            def batches() -> Iterator[Any]:
                for k in range(0, len(some), BATCH):
                    progress(k, len(some))
                    yield faces[some[k : k + BATCH]]
                progress(len(some), len(some))

            FeatureStatistics.over(batches(), FEATURES[self.features](self.device), self.side).save(path)

    def trial(self, key: Key, scratch: Path) -> Record:
        from zfree.neural import FeatureStatistics, ImplicitVAE, convolutional_networks, frechet_distance
        from zfree.neural.frechet import FEATURES

        faces, reference = self._faces(scratch), FeatureStatistics.load(self._reference(scratch))
        features = FEATURES[self.features](self.device)

        def distance(est: ImplicitVAE) -> dict[str, float]:
            found = FeatureStatistics.over(self._samples(est), features, self.side)
            return {"fid": frechet_distance(reference, found)}

        networks = convolutional_networks(self.latent, side=self.side, width=self.width, random_state=self.seed)
        est = ImplicitVAE(
            *networks,
            pixels="gaussian",
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            monitor=distance,
            device=self.device,
            **self.training(key, scratch),
        ).fit(faces)
        return {
            "curve": [[h["iteration"], h["fid"]] for h in est.history_ if "fid" in h],
            "samples": pack(est.sample(GRID**2, random_state=self.seed)),
            "faces": len(faces),
            "folder": self._digest(),
        }

    def _samples(self, est: ImplicitVAE) -> Iterator[Array]:
        for k in range(0, self.images, BATCH):
            yield est.sample(min(BATCH, self.images - k), random_state=self.stream(k))

    def _faces(self, scratch: Path, progress: Progress = lambda done, total: None) -> Any:
        from zfree.neural import load_faces

        return load_faces(self.data, scratch / "faces.npy", side=self.side, crop=self.crop, progress=progress)

    def _reference(self, scratch: Path) -> Path:
        return scratch / f"reference-{self._digest()}.npz"

    def _digest(self) -> str:
        from zfree.neural.faces import face_digest, face_files

        return face_digest(face_files(self.data))

    def record(self) -> Pattern:
        return {
            "curve": Each([number, number]),
            "samples": lambda value: is_grid(value, 3),
            "faces": number,
            "folder": text,
        }

    def memory(self) -> float:
        """The layers of a batch, and the parameters with their gradients and averages."""
        layers = 4.0 * self.batch_size * self.side**2 * (3 + self.width)
        parameters = 25.0 * 8 * 4 * self.width**2 + 8.0 * self.width * (self.side / 16) ** 2 * 4 * self.latent
        return layers + 12.0 * parameters

    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        found = self.by_name(records)
        if len({r["folder"] for _, r in records}) > 1:
            raise DataError("the images in the folder changed between trainings. Run again with --fresh.")
        what = "FID" if self.features == "inception" else f"Fréchet distance of {self.features}"
        title = f"{what}, latent dimension {self.latent}, width {self.width}"
        count = records[0][1]["faces"]
        numbers = []
        for name, runs in found.items():
            for steps in zip(*(run["curve"] for run in runs), strict=True):
                iteration, distances = int(steps[0][0]), [distance for _, distance in steps]
                paper = self._printed(name, iteration, count)
                numbers.append(Number(title, f"{iteration}", name, float(np.mean(distances)), paper[0]))
                if len(runs) > 1:
                    numbers.append(
                        Number(title, f"{iteration}", f"± {name}", float(np.std(distances, ddof=1)), paper[1])
                    )
        remarks = (f"{count} images; the distance is between {self.images} samples and as many of the images at most.",)
        return Report(numbers, [], lambda: self._figure(found, what), remarks)

    def _printed(self, name: str, iteration: int, faces: int) -> tuple[float | None, float | None]:
        same = self.like_the_paper and faces == CELEBA
        return VAE_CELEBA.get(iteration, {}).get(name, (None, None)) if same else (None, None)

    def _figure(self, found: dict[str, list[Record]], what: str) -> Any:
        from zfree.plotting.trials import PALETTE, panels

        colors = dict(zip(DIFFUSIONS, PALETTE, strict=False))
        figure, axes = panels(len(found) + 1, width=3.6, height=3.6, rows=2 if len(found) > 2 else 1)
        draw_curves(axes[0], {name: [run["curve"] for run in runs] for name, runs in found.items()}, colors, what)
        for ax, (name, (first, *_)) in zip(axes[1:], found.items(), strict=False):
            draw_grid(ax, first["samples"], f"{name}: {first['curve'][-1][1]:.1f}", channels=3)
        return figure
