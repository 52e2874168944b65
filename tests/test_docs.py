"""The documentation does what it says: every block with a prompt, every example, every name in the notation tables."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import zfree as zf

# Most of these data were not drawn from the model that is fitted to them.
pytestmark = pytest.mark.filterwarnings("ignore::zfree.errors.MisfitWarning")

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
GENERATED = ("_build", "gallery", "api")

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE  # long messages are wrapped on the page


def pages_with_code() -> list[Path]:
    pages = [p for p in sorted(DOCS.rglob("*.md")) if p.relative_to(DOCS).parts[0] not in GENERATED]
    return [p for p in [*pages, ROOT / "README.md"] if p.exists() and ">>> " in p.read_text(encoding="utf-8")]


def code_only(text: str) -> str:
    """The page with every line outside its fenced Python blocks blanked, so that line numbers stay true."""
    kept, inside = [], False
    for line in text.split("\n"):
        fence = re.match(r"\s*```\s*(\w*)", line)
        if fence:
            inside = not inside and fence.group(1) in ("python", "pycon")
        kept.append(line if inside and not fence else "")
    return "\n".join(kept)


@pytest.mark.parametrize("page", pages_with_code(), ids=lambda p: str(p.relative_to(ROOT)))
def test_code_blocks(page, tmp_path, monkeypatch):
    text = page.read_text(encoding="utf-8")
    for module in re.findall(r"^>>> import (torch|pandas|polars|matplotlib)", text, flags=re.MULTILINE):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(code_only(text), {}, page.name, str(page), 0)
    assert examples.examples, "a page with a prompt outside of a ```python block"
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    result = runner.run(examples, out=report.append)
    assert result.failed == 0, "".join(report)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda p: p.stem)
def test_examples(script, tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    shown = []

    def draw() -> None:
        for number in pyplot.get_fignums():
            pyplot.figure(number).canvas.draw()
            shown.append(number)
        pyplot.close("all")

    monkeypatch.setattr(pyplot, "show", draw)
    runpy.run_path(str(script), run_name="__main__")
    assert shown, "the example shows no figure"


def test_there_are_examples():
    assert len(EXAMPLES) >= 4


def table_rows(page: Path, first: str = "symbol") -> list[list[str]]:
    """Cells of the Markdown tables of a page whose first column has this heading; headings and rules left out."""
    rows, heading = [], ""
    for line in page.read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] if line.startswith("|") else []
        heading = (heading or cells[0]) if cells else ""
        if cells and heading == first and cells[0] != heading and not set(cells[0]) <= {"-", ":"}:
            rows.append(cells)
    return rows


def names_in_notation() -> list[str]:
    return sorted({name for row in table_rows(DOCS / "notation.md") for name in re.findall(r"`([^`]+)`", row[-1])})


SYMBOLS = (
    "θ", "t", "b", "J_t", "D", "∇·D", "φ", "ψ", "s_k", "H_φ", "G_φ", "γ", "p", "Γ_N", "g_N", "Σ, Σ₀", "Tr(Σ̂)", "κ(Γ_N)",
    "S^φ", "K", "μ", "η", "α", "Ω", "S^d", "Δ^(d−1)",
)  # fmt: skip


def test_notation_has_every_symbol():
    given = [row[0] for row in table_rows(DOCS / "notation.md")]
    assert sorted(set(given)) == sorted(given), "a symbol has two rows"
    assert set(SYMBOLS) <= set(given)


def fitted(cls: type) -> object:
    """A small fit, for attributes that only exist after one."""
    positive = np.random.default_rng(0).gamma(3.0, 1.0, size=(60, 2))
    if cls is zf.Dirichlet:
        return cls().fit(zf.Simplex.closure(positive))
    if cls is zf.ExponentialFamily:
        return cls(
            statistic=lambda X: -X,
            jacobian=lambda X: np.broadcast_to(-np.eye(2), (len(X), 2, 2)),
            hessian=lambda X: np.zeros((len(X), 2, 2, 2)),
            domain=zf.Orthant(2),
        ).fit(positive)
    return cls().fit(positive)


def resolve(name: str) -> object:
    """The object behind a dotted name: a module's attribute, a class's member or field, or a fitted attribute."""
    parts = name.split(".")
    assert parts[0] == "zfree", f"{name} is not a name of zfree"
    found: object = zf
    for k, part in enumerate(parts[1:], 1):
        if hasattr(found, part):
            found = getattr(found, part)
        elif isinstance(found, type):
            if part in getattr(found, "__dataclass_fields__", {}):
                return part
            return getattr(fitted(found), part)
        else:
            found = importlib.import_module(".".join(parts[: k + 1]))
    return found


@pytest.mark.parametrize("name", names_in_notation())
def test_notation_names_exist(name):
    assert resolve(name) is not None


def test_notation_names_are_checked():
    with pytest.raises(AttributeError):
        resolve("zfree.Dirichlet.beta_")
    with pytest.raises(ModuleNotFoundError):
        resolve("zfree.nothing")


LABELS = {
    "Theorem": ("3.1", "3.2", "5.1", "G.1", "G.2"),
    "Corollary": ("3.3",),
    "Proposition": ("3.1", "3.2", "3.3", "4.1", "5.1"),
    "Lemma": ("D.1", "D.2", "D.3", "D.4", "D.5", "G.1"),
    "Remark": ("3.1", "3.2", "3.3", "3.4", "D.1", "D.2", "D.3", "E.1", "G.1", "G.2", *(f"K.{k}" for k in range(1, 6))),
    "eq.": tuple(f"({k})" for k in range(1, 32)),
}
"""Everything that has a number in the paper, but for figures and tables."""
STATEMENTS = table_rows(DOCS / "notation.md", "statement")


def labels(cell: str) -> list[str]:
    """The statements that a cell names, such as "Theorem 3.2, eqs. (9), (10)"."""
    kind, found = "", []
    for part in re.split(r",? ", cell.replace("eqs.", "eq.")):
        if part in LABELS:
            kind = part
        else:
            found.append(f"{kind} {part}")
    return found


def test_every_numbered_statement_of_the_paper_has_its_row():
    given = [label for row in STATEMENTS for label in labels(row[0])]
    assert sorted(given) == sorted(f"{kind} {number}" for kind, numbers in LABELS.items() for number in numbers)
    assert all(len(row) == 4 and all(row) for row in STATEMENTS)


@pytest.mark.parametrize("row", STATEMENTS, ids=lambda row: row[0])
def test_statements_have_a_file_and_a_test(row):
    file, test = (re.fullmatch(r"`([^`]+)`", cell).group(1) for cell in row[2:])
    assert (ROOT / file).is_file()
    path, *names = test.split("::")
    inside = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    for name in names:
        (found,) = [node for node in inside if getattr(node, "name", None) == name]
        inside = found.body
    assert names[-1].startswith("test_")


def test_every_figure_and_table_of_the_paper_is_compared_in_one_word():
    rows = table_rows(DOCS / "figure-by-figure.md", "in the paper")
    named = [name for row in rows for name in re.findall(r"(?:Figure|Table) \d", row[0])]
    assert sorted(named) == [*(f"Figure {k}" for k in range(1, 9)), *(f"Table {k}" for k in range(1, 10))]
    assert {row[3] for row in rows} <= {"yes", "mostly", "partly", "not run"}
    assert all(row[4] for row in rows if row[3] != "yes"), "a difference without a reason"


def test_reference_lists_every_public_name():
    listed = set(re.findall(r"^ {3}(\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert set(zf.__all__) <= listed
