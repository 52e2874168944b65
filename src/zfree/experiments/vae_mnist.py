"""Implicit autoencoders on MNIST with four diagonal D (appendix, "Implicit Variational Autoencoders with Score Matching"), and a fifth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.ndimage import gaussian_filter1d

from zfree.arrays import Array
from zfree.experiments.autoencoders import (
    DIFFUSIONS,
    GRID,
    PAPERS,
    REMEDY,
    Autoencoders,
    draw_curves,
    draw_grid,
    is_grid,
    pack,
)
from zfree.experiments.base import Key, Record
from zfree.experiments.paper import VAE_MNIST
from zfree.experiments.records import Each, Pattern, number, number_or_none, text
from zfree.experiments.report import Finding, Number, Report

if TYPE_CHECKING:
    from zfree.neural import ImplicitVAE
    from zfree.neural.images import Digits

WATCHED = 500
"""Validation images whose likelihood is followed."""
EDGES = np.linspace(-15.0, 15.0, 121)
"""Of the histogram of latents; the few beyond are not shown."""
MIDDLE = (EDGES[1:] + EDGES[:-1]) / 2
ENOUGH = 30
"""Latents in a bin for their mean score to be shown."""


@dataclass(frozen=True)
class VaeMnist(Autoencoders):
    """−log p of the test images after training with each D, two hidden layers of 256 throughout.

    Four fifths of the training images are used, as published, the others to follow the training; `images` of the test images are
    evaluated.
    """

    name = "vae-mnist"
    title = "Implicit autoencoders on MNIST"
    place = "Appendix, table of the implicit autoencoders"
    small: ClassVar[dict[str, Any]] = {"iterations": 300, "images": 100}
    stated: ClassVar[tuple[str, ...]] = ("iterations", "images")

    def check(self) -> None:
        super().check()
        _digits(self.data)

    def trial(self, key: Key, scratch: Path) -> Record:
        from zfree.neural import ImplicitVAE

        digits = _digits(self.data)
        order = self.stream().permutation(len(digits.train))
        cut = len(order) * 4 // 5
        train, validation = digits.train[np.sort(order[:cut])], digits.train[order[cut:][:WATCHED]]
        est = ImplicitVAE(
            latent=self.latent,
            monitor=lambda est: {"validation": est.nll(validation, samples=100, random_state=self.seed).mean},
            **self.training(key, scratch),
        ).fit(train)
        found = est.nll(digits.test[: self.images], random_state=self.seed)
        return {
            "nll": found.mean,
            "standard_error": found.standard_error,
            "effective_size": float(np.median(found.effective_size)),
            "method": found.method,
            "source": digits.source,
            "curve": [[h["iteration"], h["validation"]] for h in est.history_ if "validation" in h],
            "samples": pack(est.sample(GRID**2, random_state=self.seed)),
            **_latents(est, digits.train[order[cut:]], self.seed),
        }

    def record(self) -> Pattern:
        numbers = ("nll", "standard_error", "effective_size", "half_square", "identity")
        return {
            **dict.fromkeys(numbers, number),
            "method": text,
            "source": text,
            "curve": Each([number, number]),
            "samples": is_grid,
            "density": [number] * len(MIDDLE),
            "mean_score": [number_or_none] * len(MIDDLE),
        }

    def memory(self) -> float:
        return 4.0 * 6 * 256 * self.latent + 4.0 * self.images * self.latent

    def report(self, records: Sequence[tuple[Key, Record]]) -> Report:
        found = self.by_name(records)
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
                Number(title, name, "half mean square of z", r["half_square"]),
                Number(title, name, "−E[s·z] / latent", r["identity"]),
            ]
        remarks = (f"Data: {source}. Likelihood: {next(iter(found.values()))['method']} per image.",)
        findings = self._findings({name: r["nll"] for name, r in found.items()}, printed) if real else []
        return Report(numbers, findings, lambda: self._figure(found), remarks)

    def _findings(self, nll: dict[str, float], printed: dict[str, float]) -> list[Finding]:
        findings = []
        told = " < ".join(f"{name} {nll[name]:.2f}" for name in sorted(nll, key=lambda n: nll[n]))
        if set(PAPERS) <= set(nll):
            values = [nll[name] for name in PAPERS]
            statement = f"the order is {' < '.join(PAPERS)}, as in the paper"
            findings.append(Finding(statement, values == sorted(values), told))
        if "I" in printed and "I" in nll:
            detail = f"{nll['I']:.2f}, the paper {printed['I']:.2f}"
            gap, allowed = abs(nll["I"] - printed["I"]), 1.0 if self.latent <= 8 else 1.5
            findings.append(Finding(f"D = I is within {allowed:g} nats of the paper's", gap <= allowed, detail))
        if {REMEDY, "exp(-z^2)", "I"} <= set(nll):
            findings += [
                Finding("a floor mends exp(-z^2)", nll[REMEDY] < nll["exp(-z^2)"], told),
                Finding("exp(-z^2) with a floor beats D = I", nll[REMEDY] < nll["I"], told),
            ]
        return findings

    def _figure(self, found: dict[str, Record]) -> Any:
        from zfree.plotting.trials import PALETTE, panels

        colors = dict(zip(DIFFUSIONS, PALETTE, strict=False))
        figure, axes = panels(len(found) + 3, width=3.4, height=3.2, rows=2 if len(found) > 1 else 1)
        label = "−log p(x) of validation images, nats"
        draw_curves(axes[0], {name: r["curve"] for name, r in found.items()}, colors, label)
        reach = 3.0
        for name, r in found.items():
            density, slope = np.array(r["density"]), np.array(r["mean_score"], dtype=float)
            axes[1].stairs(np.where(density > 0, density, np.nan), EDGES, color=colors[name])
            axes[2].plot(MIDDLE, slope, color=colors[name])
            axes[2].plot(
                MIDDLE, np.where(np.isfinite(slope), _slope(density), np.nan), color=colors[name], linestyle="--"
            )
            reach = max(reach, *np.abs(MIDDLE[np.isfinite(slope)]), 3.0)
        near = MIDDLE[np.abs(MIDDLE) < 4]
        axes[1].plot(near, np.exp(-0.5 * near**2) / np.sqrt(2 * np.pi), color="black", linestyle=":", label="prior")
        axes[1].set(xlabel="coordinate of z", ylabel="density of the encoder's draws", yscale="log", ylim=(1e-4, 1))
        axes[2].plot(MIDDLE, -MIDDLE, color="black", linestyle=":", label="−z, slope of the prior")
        axes[2].plot([], [], color="black", label="score network")
        axes[2].plot([], [], color="black", linestyle="--", label="slope of log density")
        axes[2].set(xlabel="coordinate of z", ylabel="mean of s", xlim=(-reach, reach), ylim=(-reach, reach))
        for ax in axes[1:3]:
            ax.legend(frameon=False, fontsize="small")
        for ax, (name, r) in zip(axes[3:], found.items(), strict=False):
            draw_grid(ax, r["samples"], f"{name}: {r['nll']:.1f} nats")
        return figure


def _latents(est: ImplicitVAE, images: Any, seed: int) -> Record:
    """Where the latents are, and what the score network says there: coordinates taken together."""
    check = est.score_check(images, random_state=seed)
    count = np.histogram(check.z, EDGES)[0]
    total = np.histogram(check.z, EDGES, weights=check.s)[0]
    return {
        "half_square": float(0.5 * (check.z**2).sum(axis=1).mean()),
        "identity": float(check.identity.mean()),
        "density": (count / (check.z.size * np.diff(EDGES))).tolist(),
        "mean_score": [float(t / n) if n >= ENOUGH else None for t, n in zip(total, count, strict=True)],
    }


def _slope(density: Array) -> Array:
    """Of the logarithm of a histogram, smoothed over a few bins."""
    smooth = gaussian_filter1d(density, 2.0) + 1e-12
    return np.gradient(np.log(smooth), MIDDLE)


@lru_cache(maxsize=1)
def _digits(data: str) -> Digits:
    from zfree.neural.images import load_mnist

    return load_mnist(data)
