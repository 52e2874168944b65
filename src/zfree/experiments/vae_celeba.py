"""Implicit autoencoders on CelebA, by the Fréchet distance of their samples (appendix, table of the Fréchet distances)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from zfree.errors import SpecificationError
from zfree.experiments.base import Progress
from zfree.experiments.paper import VAE_CELEBA
from zfree.experiments.vae_images import ImageAutoencoders

CELEBA = 202_599
"""Images of CelebA: with others the paper's numbers are left out."""


@dataclass(frozen=True)
class VaeCeleba(ImageAutoencoders):
    """FID of `images` samples against as many of the faces in a folder of photographs.

    Parameters
    ----------
    crop : int
        Of the square cut from the center of each photograph.
    """

    crop: int = 140

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

    def available(self) -> int:
        from zfree.neural.faces import check_faces, face_files

        if not self.data:
            raise SpecificationError("vae-celeba needs the images: give their folder with --data.")
        files = face_files(self.data)
        check_faces(files, self.crop)
        return len(files)

    def load(self, scratch: Path, progress: Progress = lambda done, total: None) -> Any:
        from zfree.neural import load_faces

        return load_faces(self.data, scratch / "faces.npy", side=self.side, crop=self.crop, progress=progress)

    def digest(self) -> str:
        from zfree.neural.faces import face_digest, face_files

        return face_digest(face_files(self.data))

    def printed(self, name: str, iteration: int, count: int) -> tuple[float | None, float | None]:
        same = self.like_the_paper and count == CELEBA
        return VAE_CELEBA.get(iteration, {}).get(name, (None, None)) if same else (None, None)
