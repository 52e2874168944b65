"""Implicit autoencoders on MNIST with four diagonal D (appendix, "Implicit Variational Autoencoders with Score Matching")."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zfree.errors import SpecificationError
from zfree.experiments.base import Experiment, Key, Record
from zfree.experiments.paper import VAE_MNIST
from zfree.experiments.report import Finding, Number, Report
from zfree.generators import CoordinateWeight, Generator, Identity

if TYPE_CHECKING:
    from zfree.neural.images import Digits

DIFFUSIONS: dict[str, Generator] = {
    "I": Identity(),
    "sigmoid": CoordinateWeight("sigmoid"),
    "exp(-|z|)": CoordinateWeight("exp(-|x|)"),
    "exp(-z^2)": CoordinateWeight("exp(-x^2)"),
}
"""D of the score matching by name; I is sliced score matching with variance reduction."""
WATCHED = 500
"""Validation images whose likelihood is followed."""
GRID = 6
"""Samples shown, by rows and columns."""


@dataclass(frozen=True)
class VaeMnist(Experiment):
    """−log p of the test images after training with each D, two hidden layers of 256 throughout.

    Four fifths of the training images are used, as published; `images` of the test images are evaluated.
    """

    latent: int = 8
    diffusion: str = "all"
    iterations: int = 100_000
    images: int = 10_000
    data: str = ""

    name = "vae-mnist"
    title = "Implicit autoencoders on MNIST"
    place = "Appendix, table of the implicit autoencoders"
    small: ClassVar[dict[str, Any]] = {"iterations": 300, "images": 100}
    stated: ClassVar[tuple[str, ...]] = ("iterations",)
    by_itself: ClassVar[bool] = True

    def names(self) -> list[str]:
        """The D that are asked for."""
        return list(DIFFUSIONS) if self.diffusion == "all" else [self.diffusion]

    def check(self) -> None:
        if self.diffusion != "all" and self.diffusion not in DIFFUSIONS:
            raise SpecificationError(
                f"diffusion must be all or one of {', '.join(DIFFUSIONS)}; got {self.diffusion!r}."
            )
        _digits(self.data)

    def plan(self) -> list[Key]:
        return [(list(DIFFUSIONS).index(name),) for name in self.names()]

    def trial(self, key: Key, scratch: Path) -> Record:
        from zfree.neural import ImplicitVAE

        digits, name = _digits(self.data), list(DIFFUSIONS)[key[0]]
        order = self.stream().permutation(len(digits.train))
        cut = len(order) * 4 // 5
        train, validation = digits.train[np.sort(order[:cut])], digits.train[order[cut:][:WATCHED]]
        scratch.mkdir(parents=True, exist_ok=True)
        est = ImplicitVAE(
            generator=DIFFUSIONS[name],
            latent=self.latent,
            iterations=self.iterations,
            checkpoint=scratch / f"{key[0]}.pt",
            log=scratch / f"{key[0]}.csv",
            checkpoint_every=max(1, min(1000, self.iterations // 10)),
            monitor=lambda est: {"validation": est.nll(validation, random_state=self.seed).mean},
            monitor_every=max(1, self.iterations // 10),
            random_state=self.seed,
        ).fit(train)
        found = est.nll(digits.test[: self.images], random_state=self.seed)
        shades = np.round(255 * est.sample(GRID**2, random_state=self.seed)).astype(np.uint8)
        return {
            "nll": found.mean,
            "standard_error": found.standard_error,
            "effective_size": float(np.median(found.effective_size)),
            "method": found.method,
            "source": digits.source,
            "curve": [[h["iteration"], h["validation"]] for h in est.history_ if "validation" in h],
            "seconds": est.seconds_,
            "samples": base64.b64encode(shades.tobytes()).decode(),
        }

    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        found = {list(DIFFUSIONS)[key[0]]: record for key, record in records}
        source = next(iter(found.values()))["source"]
        real = "scikit-learn" not in source
        printed = VAE_MNIST.get(self.latent, {}) if real and self.like_the_paper else {}
        title = f"Negative log-likelihood in nats, latent dimension {self.latent}, {self.iterations} iterations"
        numbers = []
        for name, r in found.items():
            numbers += [
                Number(title, name, "NLL", r["nll"], printed.get(name)),
                Number(title, name, "standard error", r["standard_error"]),
                Number(title, name, "median effective size", r["effective_size"]),
            ]
        remarks = (f"Data: {source}. Likelihood: {next(iter(found.values()))['method']} per image.",)
        findings = self._findings({name: r["nll"] for name, r in found.items()}, printed) if real else []
        return Report(numbers, findings, lambda: self._figure(found), remarks)

    def _findings(self, nll: dict[str, float], printed: dict[str, float]) -> list[Finding]:
        findings = []
        if len(nll) == len(DIFFUSIONS):
            values = [nll[name] for name in DIFFUSIONS]
            told = " < ".join(f"{name} {nll[name]:.2f}" for name in sorted(nll, key=lambda n: nll[n]))
            findings.append(
                Finding(
                    "the order is I < sigmoid < exp(-|z|) < exp(-z^2), as in the paper", values == sorted(values), told
                )
            )
        if "I" in printed and "I" in nll:
            gap = nll["I"] - printed["I"]
            findings.append(
                Finding(
                    "D = I is within 1.5 nats of the paper's",
                    abs(gap) <= 1.5,
                    f"{nll['I']:.2f}, the paper {printed['I']:.2f}",
                )
            )
        return findings

    def _figure(self, found: dict[str, Record]) -> Any:
        from zfree.plotting.trials import PALETTE, panels

        figure, axes = panels(len(found) + 1, width=3.4, height=3.4)
        for (name, r), ax, color in zip(found.items(), axes[1:], PALETTE, strict=False):
            axes[0].plot(*np.array(r["curve"]).T, color=color, marker=".", label=name)
            shades = np.frombuffer(base64.b64decode(r["samples"]), dtype=np.uint8)
            side = round(np.sqrt(shades.size / GRID**2))
            tiles = shades.reshape(GRID, GRID, side, side).swapaxes(1, 2).reshape(GRID * side, GRID * side)
            ax.imshow(tiles, cmap="gray_r", vmin=0, vmax=255)
            ax.set(xticks=[], yticks=[], title=f"{name}: {r['nll']:.1f} nats")
            ax.spines[:].set_visible(False)
        axes[0].set(xlabel="iteration", ylabel="−log p(x) of validation images, nats")
        axes[0].legend(frameon=False, fontsize="small")
        return figure


@lru_cache(maxsize=1)
def _digits(data: str) -> Digits:
    from zfree.neural.images import load_mnist

    return load_mnist(data)
