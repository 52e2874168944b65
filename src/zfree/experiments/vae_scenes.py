"""The experiment on CelebA with rendered scenes in its place: every step of it, on images that need no download."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from zfree.errors import SpecificationError
from zfree.experiments.autoencoders import GRID, PAPERS, pack
from zfree.experiments.base import Progress
from zfree.experiments.paper import VAE_CELEBA
from zfree.experiments.records import Key, Pattern, Record, number
from zfree.experiments.report import Finding
from zfree.experiments.scenes import SceneFactors, render_scenes, scene_digest
from zfree.experiments.vae_images import BATCH, ImageAutoencoders

if TYPE_CHECKING:
    from zfree.neural import ImplicitVAE

FALL = 2.0
"""By which the distance is to fall from the first point of a curve to the last."""


@dataclass(frozen=True)
class VaeScenes(
    ImageAutoencoders,
    diffusion=", ".join(PAPERS),
    iterations=12_000,
    images=2_000,
    width=12,
    batch_size=32,
    learning_rate=1e-3,
    side=32,
    features="wavelets",
):
    """Fréchet distance of `images` samples against as many rendered scenes, with a narrow network that one processor trains.

    Parameters
    ----------
    scenes : int
        That are rendered for the training.
    every : int
        Iterations from one point of the curve to the next.
    """

    scenes: int = 20_000
    every: int = 2_000

    name = "vae-scenes"
    title = "Implicit autoencoders on rendered scenes, in place of CelebA"
    place = "Appendix, the path of the table of the Fréchet distances; not its images"
    small: ClassVar[dict[str, Any]] = {"iterations": 200, "images": 200, "width": 4, "scenes": 1_000, "every": 20}

    def label(self) -> str:
        return "rendered scenes, not CelebA"

    def available(self) -> int:
        if self.data:
            raise SpecificationError("vae-scenes renders its images: leave --data away, or run vae-celeba with it.")
        return self.scenes

    def load(self, scratch: Path, progress: Progress = lambda done, total: None) -> Any:
        return _scenes(self.scenes, self.side, self.seed)

    def digest(self) -> str:
        return scene_digest(self.scenes, self.side, self.seed)

    def training(self, key: Key, scratch: Path) -> dict[str, Any]:
        return {**super().training(key, scratch), "monitor_every": self.every}

    def after(self, est: ImplicitVAE, scratch: Path) -> Record:
        seen = np.concatenate(list(self._anew()))
        z = est.score_check(seen, random_state=self.seed).z
        return {
            "anew": self.distance(self._anew(), scratch),
            "blurred": self.distance((_blur(rows, self.side) for rows in self._anew()), scratch),
            "half_square": float(0.5 * (z**2).sum(axis=1).mean()),
            "off_centre": float(np.linalg.norm(z.mean(axis=0))),
        }

    def _anew(self) -> Iterator[NDArray[np.uint8]]:
        """Scenes that no training saw."""
        factors = SceneFactors.draw(self.images, self.stream(0, 1))
        for k in range(0, self.images, BATCH):
            yield render_scenes(factors.part(slice(k, k + BATCH)), self.side)

    def record(self) -> Pattern:
        return {**super().record(), **dict.fromkeys(("anew", "blurred", "half_square", "off_centre"), number)}

    def memory(self) -> float:
        return super().memory() + 3.0 * self.scenes * self.side**2

    def shown(self) -> str | None:
        return pack(render_scenes(SceneFactors.draw(GRID**2, self.seed), self.side) / 255.0)

    def remarks(self, found: dict[str, list[Record]]) -> list[str]:
        first = next(iter(found.values()))[0]
        kind = "" if self.features == "inception" else "This is no FID, and comparable with no number of the paper. "
        latents = [
            f"{name} {runs[0]['half_square']:.1f} and {runs[0]['off_centre']:.2f}" for name, runs in found.items()
        ]
        return [
            f"{kind}For scale: scenes rendered anew are at {first['anew']:.1f}, and blurred by a pixel at {first['blurred']:.1f}.",
            "Samples are drawn from the prior, where z has half a mean square of "
            f"{self.latent / 2:g} and a mean of norm 0. The encoder's z have {'; '.join(latents)}.",
        ]

    def findings(self, found: dict[str, list[Record]]) -> list[Finding]:
        starts, ends = (
            {name: float(np.mean([run["curve"][k][1] for run in runs])) for name, runs in found.items()}
            for k in (0, -1)
        )
        told = "; ".join(f"{name} from {starts[name]:.1f} to {ends[name]:.1f}" for name in found)
        falls = all(starts[name] > FALL * ends[name] for name in found)
        findings = [Finding(f"the distance falls by a factor of {FALL:g} and more for every D", falls, told)]
        if set(found) >= set(PAPERS):
            last = VAE_CELEBA[max(VAE_CELEBA)]
            theirs, ours = sorted(PAPERS, key=lambda name: last[name][0]), sorted(PAPERS, key=lambda name: ends[name])
            ranks = " < ".join(f"{name} {ends[name]:.1f}" for name in ours)
            findings += [
                Finding("D = I ends lowest, as in the paper on CelebA", ours[0] == "I", ranks),
                Finding(
                    f"the order at the end is {' < '.join(theirs)}, as in the paper on CelebA", ours == theirs, ranks
                ),
            ]
        return findings

    def figure(self, found: dict[str, list[Record]], what: str) -> Any:
        drawn, first = super().figure(found, what), next(iter(found.values()))[0]
        curves = drawn.axes[0]
        curves.axhline(first["anew"], color="black", linestyle=":", label="scenes rendered anew")
        curves.set_yscale("log")
        curves.legend(frameon=False, fontsize="small")
        return drawn


@lru_cache(maxsize=1)
def _scenes(count: int, side: int, seed: int) -> NDArray[np.uint8]:
    return render_scenes(SceneFactors.draw(count, seed), side)


def _blur(rows: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """By one pixel."""
    smooth = gaussian_filter(rows.reshape(-1, 3, side, side).astype(float), (0.0, 0.0, 1.0, 1.0))
    pixels: NDArray[np.uint8] = np.round(smooth).astype(np.uint8).reshape(len(rows), -1)
    return pixels
