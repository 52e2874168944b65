"""The demo runs from nothing and tells the truth about its data; plots and built-in data."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest

import zfree as zf
from zfree import datasets, demo
from zfree.errors import DataError, SpecificationError
from zfree.plotting import plot_density, plot_intervals, plot_selection, plot_ternary

mpl.use("Agg")
import matplotlib.pyplot as plt


def test_demo_prints_summaries_and_writes_a_sheet(tmp_path, capsys):
    assert demo.main(["--output", str(tmp_path / "new" / "folder")]) == 0
    out = capsys.readouterr().out
    for piece in (
        "Orthant(2)",
        "Simplex(3)",
        "first + 2*second < 3",
        "alpha[sand]",
        "mean[width]",
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


def _shown(ax):
    labels = ax.get_xlabel(), ax.get_ylabel()
    points = np.column_stack(ax.lines[0].get_data())
    plt.close(ax.figure)
    return labels, points


@pytest.mark.parametrize("read", [pd.DataFrame, pl.DataFrame])
def test_a_density_is_drawn_for_an_estimator_and_a_frame(read):
    data = datasets.make_positive(200)
    table = pd.DataFrame(data.X, columns=list(data.columns))
    est = zf.TruncatedGaussian(data.domain, zf.Barrier()).fit(table)
    rows = read({name: data.X[:, j] for j, name in enumerate(data.columns)})
    for fit in (est, est.result_):
        labels, points = _shown(plot_density(fit, rows))
        assert labels == data.columns
        assert np.array_equal(points, data.X)
    assert _shown(plot_density(est, data.X))[0] == data.columns  # as the fit knows them
    assert _shown(plot_density(est, rows, columns=("a", "b")))[0] == ("a", "b")
    assert _shown(plot_density(zf.Gaussian(check=False).fit(data.X), data.X))[0] == ("x1", "x2")


def test_the_other_plots_take_an_estimator_too():
    data = datasets.make_composition(200)
    est = zf.Dirichlet().fit(pd.DataFrame(data.X, columns=list(data.columns)))
    ax = plot_ternary(est, pd.DataFrame(data.X, columns=list(data.columns)))
    assert [t.get_text() for t in ax.texts] == list(data.columns)
    plt.close(ax.figure)
    ax = plot_intervals(est)
    assert [t.get_text() for t in ax.get_yticklabels()] == [f"alpha[{c}]" for c in data.columns]
    plt.close(ax.figure)
    est = zf.Dirichlet("search").fit(data.X)
    by_estimator, by_record = plot_selection(est), plot_selection(est.result_.selection)
    assert len(by_estimator.lines) == len(by_record.lines)
    plt.close("all")


PAIR = zf.Gaussian().fit(np.random.default_rng(0).normal(size=(50, 2)))


@pytest.mark.parametrize(
    ("draw", "error", "says"),
    [
        (lambda: plot_density(zf.Gaussian(), np.ones((3, 2))), SpecificationError, r"Gaussian\(\). Call fit"),
        (lambda: plot_density(5, np.ones((3, 2))), SpecificationError, r"fitted estimator.*got 5"),
        (lambda: plot_density(PAIR, np.ones((3, 3))), DataError, r"\(rows, 2\).*\(3, 3\)"),
        (lambda: plot_density(PAIR, np.ones((0, 2))), DataError, r"\(0, 2\)"),
        (lambda: plot_density(PAIR, [[1.0, np.nan]]), DataError, "row 0"),
        (lambda: plot_density(PAIR, "X"), DataError, "numbers"),
        (lambda: plot_density(PAIR, np.ones((3, 2)), columns=["a"]), SpecificationError, "1 column names"),
        (lambda: plot_ternary(PAIR, np.ones((3, 3))), SpecificationError, "three parts"),
        (lambda: plot_intervals(PAIR, truth=[1.0]), SpecificationError, "5 numbers"),
        (lambda: plot_intervals(PAIR, level=95), SpecificationError, "level"),
        (lambda: plot_intervals(None), SpecificationError, "None"),
        (
            lambda: plot_selection(zf.Gamma(zf.Barrier()).fit(np.ones((5, 1)) + np.arange(5)[:, None])),
            SpecificationError,
            "None",
        ),
    ],
)
def test_a_plot_that_cannot_be_drawn_says_why(draw, error, says):
    with pytest.raises(error, match=says):
        draw()
    plt.close("all")


def test_panels_and_intervals_of_the_demo_name_the_same_columns():
    for _, data, result in demo.fit_all():
        ax = plot_intervals(result)
        names = " ".join(t.get_text() for t in ax.get_yticklabels())
        plt.close(ax.figure)
        assert all(column in names for column in data.columns)
