"""Implicit autoencoders on MNIST with four diagonal D (appendix, "Implicit Variational Autoencoders with Score Matching"), and a fifth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
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
from zfree.experiments.paper import VAE_MNIST, Runs
from zfree.experiments.records import Each, Key, Pattern, Record, number, number_or_none, text
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
COLUMNS = (
    ("standard error over images", "standard_error", 1.0),
    ("median effective size", "effective_size", 1.0),
    ("half mean square of z", "half_square", 1.0),
    ("−E[s·z] / latent", "identity", 1.0),
    ("processor minutes", "seconds", 60.0),
)
"""Of the table: what is found in the record of a training, and in which unit; means over the seeds."""


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
            "seconds": est.seconds_,
            "curve": [[h["iteration"], h["validation"]] for h in est.history_ if "validation" in h],
            "samples": pack(est.sample(GRID**2, random_state=self.seed)),
            **_latents(est, digits.train[order[cut:]], self.seed),
        }

    def record(self) -> Pattern:
        numbers = ("nll", "standard_error", "effective_size", "half_square", "identity", "seconds")
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
        from zfree.neural.images import DEMONSTRATION

        found = self.by_name(records)
        source, method = (records[0][1][what] for what in ("source", "method"))
        real = source != DEMONSTRATION
        printed = VAE_MNIST.get(self.latent, {}) if real and self.like_the_paper else {}
        title = f"Negative log-likelihood in nats, latent dimension {self.latent}, {self.iterations} iterations"
        numbers = []
        for name, runs in found.items():
            nll = [run["nll"] for run in runs]
            paper = printed.get(name, (None, None))
            numbers.append(Number(title, name, "NLL", float(np.mean(nll)), paper[0], digits=4))
            if len(runs) > 1:
                numbers.append(Number(title, name, "± over seeds", float(np.std(nll, ddof=1)), paper[1]))
            numbers.append(Number(title, name, "seeds", len(runs)))
            for column, what, unit in COLUMNS:
                numbers.append(Number(title, name, column, float(np.mean([run[what] for run in runs])) / unit))
        remarks = [f"Data: {source}. Likelihood: {method} per image."]
        if any(len(runs) > 1 for runs in found.values()):
            told = [f"{name} {', '.join(format(run['nll'], '.2f') for run in runs)}" for name, runs in found.items()]
            remarks.append(f"Every seed: {'; '.join(told)}.")
        findings = self._findings(found, printed) if real else []
        return Report(numbers, findings, lambda: self._figure(found), remarks)

    def _findings(self, found: dict[str, list[Record]], printed: dict[str, Runs]) -> list[Finding]:
        nll = {name: float(np.mean([run["nll"] for run in runs])) for name, runs in found.items()}
        findings = []
        told = " < ".join(f"{name} {nll[name]:.2f}" for name in sorted(nll, key=lambda n: nll[n]))
        if printed and set(PAPERS) <= set(nll):
            findings.append(self._order(found, printed))
        if "I" in printed and "I" in nll:
            detail = f"{nll['I']:.2f}, the paper {printed['I'][0]:.2f}"
            gap, allowed = abs(nll["I"] - printed["I"][0]), 1.0 if self.latent <= 8 else 1.5
            findings.append(Finding(f"D = I is within {allowed:g} nats of the paper's", gap <= allowed, detail))
        if {REMEDY, "exp(-z^2)", "I"} <= set(nll):
            findings += [
                Finding("a floor mends exp(-z^2)", nll[REMEDY] < nll["exp(-z^2)"], told),
                Finding("exp(-z^2) with a floor beats D = I", nll[REMEDY] < nll["I"], told),
            ]
        return findings

    def _order(self, found: dict[str, list[Record]], printed: dict[str, Runs]) -> Finding:
        """Whether the D are in the paper's order wherever our means are two standard errors apart."""
        told, holds = [], True
        for before, after in pairwise(sorted(PAPERS, key=lambda name: printed[name][0])):
            one, two = ([run["nll"] for run in found[name]] for name in (before, after))
            gap = float(np.mean(two) - np.mean(one))
            error = float(np.hypot(_error(one, printed[before][1]), _error(two, printed[after][1])))
            holds &= gap > -2.0 * error
            told.append(f"{after} − {before} = {gap:.2f} ± {error:.2f}")
        return Finding(
            "the D are in the paper's order where they differ by more than two standard errors", holds, "; ".join(told)
        )

    def _figure(self, found: dict[str, list[Record]]) -> Any:
        from zfree.plotting.trials import PALETTE, panels

        colors = dict(zip(DIFFUSIONS, PALETTE, strict=False))
        figure, axes = panels(len(found) + 3, width=3.4, height=3.2, rows=2 if len(found) > 1 else 1)
        label = "−log p(x) of validation images, nats"
        draw_curves(axes[0], {name: [run["curve"] for run in runs] for name, runs in found.items()}, colors, label)
        firsts = {name: runs[0] for name, runs in found.items()}
        reach = 3.0
        for name, r in firsts.items():
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
        for ax, (name, r) in zip(axes[3:], firsts.items(), strict=False):
            draw_grid(ax, r["samples"], f"{name}: {r['nll']:.1f} nats")
        return figure


def _error(values: Sequence[float], deviation: float) -> float:
    """Of their mean; by the deviation of the paper's five trainings where that is larger, two or three of ours being few."""
    own = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return max(own, deviation) / float(np.sqrt(len(values)))


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
    score: Array = np.gradient(np.log(smooth), MIDDLE)
    return score


@lru_cache(maxsize=1)
def _digits(data: str) -> Digits:
    from zfree.neural.images import load_mnist

    return load_mnist(data)
