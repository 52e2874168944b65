"""The demo runs from nothing and tells the truth about its data; plots and built-in data."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

import zfree as zf
from zfree import datasets, demo
from zfree.errors import SpecificationError
from zfree.plotting import plot_density, plot_intervals, plot_ternary

mpl.use("Agg")
import matplotlib.pyplot as plt


def test_demo_prints_summaries_and_writes_a_sheet(tmp_path, capsys):
    assert demo.main(["--output", str(tmp_path / "new" / "folder")]) == 0
    out = capsys.readouterr().out
    for piece in (
        "Orthant(2)",
        "Simplex(3)",
        "first + 2*second < 3",
        "alpha[x1]",
        "std. error",
        "Tr(Σ̂)",
        "inconsistent",
    ):
        assert piece in out
    written = list((tmp_path / "new" / "folder").iterdir())
    assert [p.name for p in written] == ["demo.png"]
    assert written[0].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("make", [datasets.make_positive, datasets.make_composition, datasets.make_truncated])
def test_built_in_data(make):
    data = make(200, random_state=5)
    assert data.X.shape == (200, len(data.columns))
    assert data.domain.contains(data.X).all()
    assert np.array_equal(data.X, make(200, random_state=5).X)
    assert not np.array_equal(data.X, make(200, random_state=6).X)


def test_the_demo_estimates_are_within_four_standard_errors_of_the_truth():
    for _, data, result in demo.fit_all():
        for key, value in data.truth.items():
            p = result.parameters("natural" if key == "alpha" else key)
            truth = value[np.triu_indices(len(value))] if value.ndim == 2 else value
            assert np.all(np.abs(p.values - truth) < 4 * p.standard_errors)


def test_intervals_show_estimates_where_they_are():
    result = zf.Exponential().fit(np.random.default_rng(0).exponential(size=(300, 2))).result_
    ax = plot_intervals(result, truth=[1.0, 1.0])
    points = ax.lines[0]
    assert np.allclose(points.get_xdata(), result.theta)
    assert [t.get_text() for t in ax.get_yticklabels()] == list(result.names)
    plt.close(ax.figure)


def test_density_contours_enclose_their_share_of_the_data():
    data = datasets.make_positive(4000)
    result = zf.TruncatedGaussian(domain=data.domain).fit(data.X).result_
    ax = plot_density(result, data.X)
    contours = next(c for c in ax.collections if len(c.get_paths()) == 3)
    log_density = result.model.log_density(data.X, result.working_theta)
    density = np.exp(log_density - log_density.max())
    shares = [np.mean(density > level) for level in sorted(contours.levels)]
    assert np.allclose(shares, [0.9, 0.5, 0.1], atol=0.06)
    plt.close(ax.figure)


def test_plots_refuse_what_they_cannot_draw():
    X = np.abs(np.random.default_rng(0).standard_normal((100, 3)))
    result = zf.TruncatedGaussian(structure="diagonal").fit(X).result_
    with pytest.raises(SpecificationError, match="two columns"):
        plot_density(result, X)
    with pytest.raises(SpecificationError, match="three parts"):
        plot_ternary(result, X)
