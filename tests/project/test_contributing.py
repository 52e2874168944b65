"""What CONTRIBUTING.md says about files and renaming is so."""

from __future__ import annotations

import re
from pathlib import Path

from zfree import deprecation

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_places_it_names_exist():
    named = set(re.findall(r"`((?:tests|src|docs|benchmarks)/[\w./-]*)`", TEXT))
    assert {"tests/contracts/", "tests/frozen/", "src/zfree/deprecation.py"} <= named
    assert [place for place in named if not (ROOT / place).exists()] == []


def test_the_renaming_it_shows_works():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    before = len(deprecation.declared)
    try:
        exec(code, dict(vars(deprecation)))
        assert [old for old, _ in deprecation.declared[before:]] == [
            "zfree.Sphere", "Gaussian.cov_", "__init__(shrink=)",
        ]  # fmt: skip
    finally:
        del deprecation.declared[before:]
