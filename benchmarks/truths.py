"""Which truths give the paper's tables? `make search-truths`: the search whose best are the adopted truths of the experiments.

The paper prints errors but no truths. For each of its six tables (names on the command line choose) this tries recipes such as one
writes in NumPy (:mod:`zfree.experiments.truths`), with seeds 0, 1, …, and scores each by the root mean square of the logarithms of our medians
over the paper's, for all estimators that are consistent. A few trials find the best; a hundred order these again, half of which are the
experiment's own. What is finished is kept in the file given by --output, and an interrupted run goes on from there.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.records import MEASURING, Records
from benchmarks.table import print_table
from zfree.domains import Domain, Orthant, SolidSimplex
from zfree.errors import ZfreeWarning
from zfree.experiments import EXPERIMENTS, paper
from zfree.experiments.comparison import gather
from zfree.experiments.settings import DirichletSetting, GaussianSetting, Setting
from zfree.experiments.truths import CoupledPrecision, DiagonalPrecision, DirichletRecipe, GaussianRecipe, GramPrecision
from zfree.threads import one_blas_thread

D, ROWS = 10, 800
Medians = dict[str, dict[str, float]]
"""Block of parameters → estimator → median squared error."""


@dataclass(frozen=True)
class Score:
    """How far our medians are from the paper's."""

    rms: float
    """Root mean square of log(ours / the paper's)."""
    worst: float
    """The largest factor between the two, either way."""
    ordered: bool
    """Whether the estimators have the paper's order in the block that decides: K, or α."""


def score(ours: Medians, papers: Medians, apart: tuple[str, ...] = (), decides: str = "K") -> Score:
    """Compare medians; estimators that are `apart` are left out of the factors, and stay in the order."""
    logs = np.array(
        [np.log(ours[b][name] / papers[b][name]) for b in papers for name in papers[b] if name not in apart]
    )
    order = [ours[decides][name] for name in sorted(papers[decides], key=lambda name: papers[decides][name])]
    return Score(float(np.sqrt(np.mean(logs**2))), float(np.exp(np.abs(logs).max())), bool(np.all(np.diff(order) > 0)))


@dataclass(frozen=True)
class Table:
    """One table of the paper, and what is tried for it."""

    name: str
    printed: dict[str, dict[str, tuple[float, float, float]]]
    column: int
    """Where the medians are in `printed`."""
    recipes: Sequence[GaussianRecipe | DirichletRecipe]
    draw: Callable[[GaussianRecipe | DirichletRecipe, np.random.Generator], Setting]
    seeds: int = 0
    """Truths per recipe; none: the table is about many truths of one recipe."""
    apart: tuple[str, ...] = ()

    @property
    def papers(self) -> Medians:
        """The paper's medians."""
        return {b: {name: v[self.column] for name, v in rows.items()} for b, rows in self.printed.items()}

    def score(self, ours: Medians) -> Score:
        """How far these are from the paper's."""
        return score(ours, self.papers, self.apart, list(self.printed)[-1])

    def rank(self, found: Score) -> tuple[bool, float]:
        """Smaller is better. K must have the paper's order; of α, in which two φ are close, that would ask too much."""
        return ("K" in self.printed and not found.ordered, found.rms)

    def medians(self, recipe: GaussianRecipe | DirichletRecipe, seed: int | None, effort: int) -> Medians:
        """Our medians: of the seeded truth over 20·effort trials, or over 12·effort truths of 5 trials each.

        With an effort of 5 the first trials of a seeded truth are those of the experiment: its table is what is to be like the paper's.
        """
        blocks = list(self.printed)
        names = list(self.printed[blocks[0]])
        if seed is not None:
            setting = self.draw(recipe, np.random.default_rng(seed))
            streams = [np.random.default_rng([2024, effort, seed, k]) for k in range(20 * effort)]
            if effort >= 5:
                experiment = EXPERIMENTS[self.name]()
                streams[: experiment.trials] = [experiment.stream(ROWS, k) for k in range(experiment.trials)]
            found = self._errors(setting, names, streams)
            return {b: dict(zip(names, np.median(found[b], axis=0).tolist(), strict=True)) for b in blocks}
        truths = [
            self._errors(
                self.draw(recipe, np.random.default_rng([effort, k])),
                names,
                [np.random.default_rng([2024, effort, k, 1, trial]) for trial in range(5)],
            )
            for k in range(12 * effort)
        ]
        medians = {b: np.median([np.median(t[b], axis=0) for t in truths], axis=0) for b in blocks}
        return {b: dict(zip(names, medians[b].tolist(), strict=True)) for b in blocks}

    def _errors(self, setting: Setting, names: list[str], streams: list[np.random.Generator]) -> dict[str, np.ndarray]:
        """Block → squared errors (trials × estimators)."""
        errors = [setting.errors(names, setting.draw(ROWS, rng)) for rng in streams]
        return {b: np.array([gather([e[name][b] for name in names]) for e in errors]) for b in self.printed}


def gaussian(domain: Domain) -> Callable[[GaussianRecipe | DirichletRecipe, np.random.Generator], Setting]:
    """Gaussians on a domain."""

    def draw(recipe: GaussianRecipe | DirichletRecipe, rng: np.random.Generator) -> Setting:
        assert isinstance(recipe, GaussianRecipe)
        mean, K = recipe.draw(D, rng)
        return GaussianSetting(domain, mean, K)

    return draw


def dirichlet(recipe: GaussianRecipe | DirichletRecipe, rng: np.random.Generator) -> Setting:
    """A Dirichlet distribution."""
    assert isinstance(recipe, DirichletRecipe)
    return DirichletSetting(recipe.draw(D, rng))


def crossed(
    precisions: Sequence[DiagonalPrecision | GramPrecision | CoupledPrecision], means: Sequence[tuple[float, float]]
) -> list[GaussianRecipe]:
    """Every precision with every range of means."""
    return [GaussianRecipe(K, *ends) for K in precisions for ends in means]


UNIFORM = [(0.5, 10.0), (1.0, 10.0), (1.0, 12.0)]
TABLES = (
    Table(
        "gaussian-simplex",
        paper.SOLID_SIMPLEX,
        1,
        crossed(
            [DiagonalPrecision(100, 100), DiagonalPrecision(50, 150), GramPrecision(5, 10)],
            [(0.1, 0.1), (0.0, 0.1), (0.0, 0.15), (0.0, 0.2)],
        ),
        gaussian(SolidSimplex(D)),
        seeds=8,
        apart=("h₁",),
    ),
    Table(
        "gaussian-orthant",
        paper.ORTHANT,
        1,
        crossed(
            [
                DiagonalPrecision(100, 100),
                DiagonalPrecision(50, 150),
                DiagonalPrecision(20, 150),
                GramPrecision(5, 10),
                GramPrecision(5, 5),
            ],
            [(0.05, 0.05), (0.1, 0.1), (0.0, 0.15), (0.0, 0.2)],
        ),
        gaussian(Orthant(D)),
        seeds=4,
    ),
    Table(
        "dirichlet",
        paper.DIRICHLET,
        1,
        [DirichletRecipe("permutation", 1, D), DirichletRecipe("integers", 1, D)]
        + [DirichletRecipe("uniform", *ends) for ends in UNIFORM],
        dirichlet,
        seeds=60,
    ),
    Table(
        "robustness-gaussian-simplex",
        paper.ROBUSTNESS_SOLID_SIMPLEX,
        2,
        crossed(
            [GramPrecision(12, 1), GramPrecision(12, 3), CoupledPrecision(100, 200, 0.5)],
            [(0.1, 0.1), (0.05, 0.15), (0.05, 0.2)],
        )
        + crossed(
            [GramPrecision(10, 10), GramPrecision(10, 5), GramPrecision(5, 10), DiagonalPrecision(50, 250)],
            [(0.0, 0.1), (0.0, 0.2)],
        ),
        gaussian(SolidSimplex(D)),
        apart=("h₁",),
    ),
    Table(
        "robustness-gaussian-orthant",
        paper.ROBUSTNESS_ORTHANT,
        2,
        crossed(
            [GramPrecision(5, 1), GramPrecision(5, 2), GramPrecision(7, 1), GramPrecision(10, 0.5)],
            [(0.0, 0.1), (0.0, 0.15), (0.0, 0.2)],
        )
        + crossed([CoupledPrecision(30, 110, 0.5), DiagonalPrecision(10, 100)], [(0.0, 0.2)]),
        gaussian(Orthant(D)),
    ),
    Table(
        "robustness-dirichlet",
        paper.ROBUSTNESS_DIRICHLET,
        2,
        [DirichletRecipe("uniform", low, high) for low in (0.1, 0.2, 0.3, 0.5, 1.0) for high in (5.0, 7.0, 10.0)],
        dirichlet,
    ),
)


def search(table: Table, records: Records, again: int) -> None:
    """Try everything on few trials and the best `again` on five times as many, and print both."""
    found = []
    for recipe in table.recipes:
        for seed in range(table.seeds) if table.seeds else [None]:
            found.append((table.score(measured(table, records, recipe, seed, 1)), recipe, seed))
    found.sort(key=lambda each: table.rank(each[0]))
    header = ["truth", "seed", "rms log", "worst factor", "paper's order"]
    print_table(f"{table.name}: {len(found)} truths, the best", header, [_row(*each) for each in found[:15]])
    better = []
    for _, recipe, seed in found[:again]:
        medians = measured(table, records, recipe, seed, 5)
        better.append((table.score(medians), recipe, seed, medians))
    better.sort(key=lambda each: table.rank(each[0]))
    print_table(f"{table.name}: the best again", header, [_row(*each[:3]) for each in better])
    for block, ours in better[0][3].items():
        ratios = ", ".join(f"{name} {value / table.papers[block][name]:.2f}" for name, value in ours.items())
        print(f"{block}, ours over the paper's: {ratios}")


def measured(
    table: Table, records: Records, recipe: GaussianRecipe | DirichletRecipe, seed: int | None, effort: int
) -> Medians:
    """The medians, kept."""
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ZfreeWarning)  # baselines that are inconsistent are part of the comparison
        return records.get([table.name, str(recipe), seed, effort], lambda: table.medians(recipe, seed, effort))


def _row(score: Score, recipe: GaussianRecipe | DirichletRecipe, seed: int | None) -> list[str]:
    told = "yes" if score.ordered else "no"
    return [str(recipe), "" if seed is None else str(seed), f"{score.rms:.3f}", f"{score.worst:.2f}", told]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(t.name for t in TABLES)}; all without any")
    parser.add_argument("--output", type=Path, default=Path("zfree-results/truths.jsonl"))
    parser.add_argument("--again", type=int, default=5, help="how many of the best are measured again")
    arguments = parser.parse_args()
    records = Records(arguments.output, (*MEASURING, "truths.py"))
    for table in TABLES:
        if not arguments.tables or table.name in arguments.tables:
            search(table, records, arguments.again)


if __name__ == "__main__":
    main()
