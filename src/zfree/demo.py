"""Fit the built-in data on three domains: ``python -m zfree.demo --output FOLDER`` (or ``make demo``)."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

import numpy as np

from zfree.datasets import Dataset, make_composition, make_positive, make_truncated
from zfree.estimators import Dirichlet, TruncatedGaussian, rank
from zfree.files import write_whole
from zfree.generators import Barrier, BoundaryDistance, CoordinateWeight
from zfree.inference import FitResult
from zfree.plotting.axes import new_axes


def fit_all() -> list[tuple[str, Dataset, FitResult]]:
    """The three fits."""
    positive, composition, truncated = make_positive(), make_composition(), make_truncated()
    return [
        (
            "Positive: a Gaussian on the orthant",
            positive,
            TruncatedGaussian(domain=positive.domain).fit(positive.X).result_.with_columns(positive.columns),
        ),
        (
            "Compositional: a Dirichlet on the simplex",
            composition,
            Dirichlet().fit(composition.X).result_.with_columns(composition.columns),
        ),
        (
            "Truncated: a Gaussian on a polygon",
            truncated,
            TruncatedGaussian(domain=truncated.domain).fit(truncated.X).result_,
        ),
    ]


def draw(fits: list[tuple[str, Dataset, FitResult]], path: Path) -> None:
    """One sheet: data with the fitted density above, intervals with the truth below."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from zfree.plotting import plot_density, plot_intervals, plot_ternary

    figure, axes = plt.subplots(2, 3, figsize=(12, 7), layout="constrained", height_ratios=[1.5, 1])
    for (title, data, result), above, below in zip(fits, *axes, strict=True):
        plot = plot_density if result.model.dimension == 2 else plot_ternary
        plot(result, data.X, ax=above)
        above.set_title(title, fontsize="medium")
        truth = [value[np.triu_indices(len(value))] if value.ndim == 2 else value for value in data.truth.values()]
        plot_intervals(result, truth=np.concatenate(truth), ax=below)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=140)
    plt.close(figure)
    write_whole(path, buffer.getvalue())


def main(argv: list[str] | None = None) -> int:
    """Print the summaries, rank some generators, write the sheet."""
    parser = argparse.ArgumentParser(prog="python -m zfree.demo", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder for the figure sheet")
    folder = parser.parse_args(argv).output
    new_axes(None)  # says at once if matplotlib is missing
    fits = fit_all()
    for title, data, result in fits:
        print(f"\n{title}\n\n{result.summary()}")
        print("truth: " + ", ".join(f"{key} = {value.tolist()}" for key, value in data.truth.items()))
    print("\nWhich generator suits the truncated data? Smaller Tr(Σ̂) is better.\n")
    candidates = [
        Barrier(4 / 3),
        Barrier.entropy(),
        Barrier.log(),
        Barrier(1.2, det_power=0),
        BoundaryDistance(),
        CoordinateWeight("x"),
    ]
    data = fits[2][1]
    print(rank(TruncatedGaussian(domain=data.domain), data.X, candidates))
    folder.mkdir(parents=True, exist_ok=True)
    draw(fits, folder / "demo.png")
    print(f"\nfigure sheet: {folder / 'demo.png'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
