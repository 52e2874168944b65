"""Numbers beside the paper's, as text."""

from __future__ import annotations

import csv
import io

import pytest

from zfree.experiments import Finding, Number, Report
from zfree.experiments.report import short

NUMBERS = [
    Number("K", "φ₁", "median", 2.0e4, 1.0e4),
    Number("K", "φ₁", "std", 5.0),
    Number("K", "auto", "median", 1.5e4),
    Number("K", "auto", "std", float("inf")),
    Number("μ", "φ₁", "median", 0.0, 0.0),
]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0072, "0.0072"),
        (1.3456, "1.35"),
        (8274.4, "8274"),
        (23540.0, "2.35e4"),
        (6.1e-4, "6.10e-4"),
        (-0.2, "-0.2"),
        (0.0, "0"),
        (float("nan"), "failed"),
        (float("inf"), "∞"),
        (None, ""),
    ],
)
def test_short(value, text):
    assert short(value) == text


def test_ratio_is_ours_over_the_papers():
    assert [n.ratio for n in NUMBERS] == [2.0, None, None, None, None]


def test_tables_have_the_papers_columns_only_where_it_prints_something():
    tables = Report(NUMBERS, [], lambda: None).tables()
    assert list(tables) == ["K", "μ"]
    assert tables["K"] == [
        ["", "median", "paper", "ratio", "std"],
        ["φ₁", "2.00e4", "1.00e4", "2", "5"],
        ["auto", "1.50e4", "", "", "∞"],
    ]


def test_markdown_has_settings_tables_remarks_and_findings():
    report = Report(
        NUMBERS, [Finding("it holds", True, "1 < 2"), Finding("it does not", False, "2 > 1")], lambda: None, ("Note.",)
    )
    text = report.to_markdown("Title", "name seed=0")
    assert text.startswith("# Title\n\n`name seed=0`\n\n**K**\n\n|  | median | paper | ratio | std |\n| --- |")
    assert "Note.\n\n- yes: it holds (1 < 2)\n- NO: it does not (2 > 1)\n" in text


def test_a_bar_in_a_name_begins_no_cell():
    text = Report([Number("K", "|x|", "exp(-|z|)", 1.0)], [], lambda: None).to_markdown("Title", "name")
    assert r"|  | exp(-\|z\|) |" in text
    assert r"| \|x\| | 1 |" in text


def test_csv_keeps_all_digits():
    report = Report([Number("a, b", "φ₁", "median", 1 / 3, 0.3)], [], lambda: None)
    header, row = csv.reader(io.StringIO(report.to_csv()))
    assert header == ["table", "row", "column", "ours", "paper", "ratio"]
    assert row[0] == "a, b"
    assert float(row[3]) == 1 / 3
    assert float(row[5]) == (1 / 3) / 0.3
