"""One version, told in four places; extras and addresses that hang together."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import zfree

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def field(text: str, name: str) -> str:
    """A top-level field of a YAML file that holds one line of text."""
    (value,) = re.findall(rf"^{name}: *(.+)$", text, flags=re.MULTILINE)
    return value.strip("\"'")


def head(changelog: str) -> tuple[str, bool]:
    """The version of the newest section, and whether it is out."""
    newest = re.search(r"^## (\S+)( \(unreleased\))?$", changelog, flags=re.MULTILINE)
    assert newest, 'the newest section is neither "## 1.2.3" nor "## 1.2.3 (unreleased)"'
    return newest.group(1), newest.group(2) is None


def test_the_build_reads_the_version_that_programs_see():
    assert "version" not in PYPROJECT["project"]
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    text = (ROOT / PYPROJECT["tool"]["hatch"]["version"]["path"]).read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.+)"$', text, flags=re.MULTILINE) == [zfree.__version__]


def test_the_citation_has_the_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert field(citation, "version") == zfree.__version__
    assert field(citation, "license") == PYPROJECT["project"]["license"]
    assert field(citation, "repository-code") == PYPROJECT["project"]["urls"]["Source"]


def test_the_changelog_begins_with_the_version():
    version, released = head((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert zfree.__version__ == (version if released else f"{version}.dev0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("# Changelog\n\n## 1.2.0\n\n## 1.1.0\n", ("1.2.0", True)), ("## 1.2.0 (unreleased)\n", ("1.2.0", False))],
)
def test_heads_are_read(text, expected):
    assert head(text) == expected


def test_all_is_every_extra_for_users():
    extras = PYPROJECT["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = re.fullmatch(r"zfree\[(.+)\]", everything).group(1).split(",")
    assert set(named) == set(extras) - {"all", "dev", "docs"}


def test_addresses_begin_alike():
    urls = PYPROJECT["project"]["urls"]
    assert all(url.startswith(urls["Source"]) for url in urls.values())
