"""Finished measurements, kept so that an interrupted run goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import zfree
from zfree.files import write_whole

MEASURING = ("settings.py", "shares.py", "errors.py", "likelihood.py", "kernels.py", "efficiency.py")


class Records:
    """Lines of JSON: a key, and what was measured. Without a file nothing is kept.

    A key has everything that a measurement depends on, the source of the library and of the measurement included: after a change there
    all is measured again.
    """

    def __init__(self, path: Path | None, measuring: Sequence[str] = MEASURING) -> None:
        self.path, self.source = path, _source(measuring)
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self._kept = {json.dumps(line["key"]): line for line in map(json.loads, lines)}

    def get(self, key: list, measure: Callable[[], Any]) -> Any:
        """What is kept under this key; measured now, if nothing is."""
        key = [self.source, *key]
        name = json.dumps(key)
        if name not in self._kept:
            self._kept[name] = {"key": key, "value": measure()}
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                lines = (json.dumps(line) + "\n" for line in self._kept.values())
                write_whole(self.path, "".join(lines).encode())
        return self._kept[name]["value"]


def _source(measuring: Sequence[str]) -> str:
    digest = hashlib.sha256()
    here = [Path(__file__).with_name(name) for name in measuring]
    for path in [*sorted(Path(zfree.__file__).parent.rglob("*.py")), *here]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
