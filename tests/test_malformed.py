"""A part of the table of malformed inputs; all of it is ``python -m benchmarks.malformed``."""

from __future__ import annotations

import pytest
from benchmarks import malformed
from benchmarks.malformed_inputs import Case

from zfree.errors import DataError

CASES = list(malformed.cases())
STEP = 23


def test_the_table_is_long_and_of_every_kind():
    kinds = [case.kind for case in CASES]
    assert len(CASES) >= 1400
    assert all(kinds.count(kind) >= 30 for kind in set(kinds))
    assert len(set(kinds)) == 7
    assert len({(case.kind, case.name) for case in CASES}) == len(CASES)
    assert sum(case.means is not None for case in CASES) >= 25
    assert len(CASES[::STEP]) >= 60


@pytest.mark.parametrize("case", CASES[::STEP], ids=lambda case: f"{case.kind}: {case.name}")
def test_a_malformed_input_is_refused_or_read_as_documented(case):
    outcome = malformed.judge(case)
    assert outcome.verdict in (malformed.REFUSED, malformed.ACCEPTED), outcome
    assert len(outcome.message) < 600


def _refuse():
    raise DataError("row 3")


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        (Case("data", "raw", lambda: [][1]), malformed.RAW),
        (
            Case("data", "leaks", lambda: __import__("warnings").warn("overflow", RuntimeWarning, stacklevel=1)),
            malformed.RAW,
        ),
        (Case("data", "silent", lambda: 5), malformed.SILENT),
        (Case("data", "misread", lambda: 5, lambda value: value == 4), malformed.SILENT),
        (Case("data", "refused though documented", _refuse, lambda value: True), malformed.SILENT),
        (Case("data", "as documented", lambda: 5, lambda value: value == 5), malformed.ACCEPTED),
        (Case("data", "refused", _refuse), malformed.REFUSED),
    ],
    ids=lambda value: value.name if isinstance(value, Case) else "",
)
def test_verdicts(case, verdict):
    assert malformed.judge(case).verdict == verdict


@pytest.mark.parametrize("broken", [False, True])
def test_the_command_prints_a_table_and_fails_on_any_raw_error(broken, monkeypatch, capsys):
    some = [*CASES[::200], *([Case("data", "broken", lambda: [][1])] if broken else [])]
    monkeypatch.setattr(malformed, "cases", lambda: some)
    assert malformed.main() == int(broken)
    out = capsys.readouterr().out
    assert all(
        word in out for word in ("tried", "refused by us", "accepted as documented", "raw errors", "constructor")
    )
    assert ("raw errors: data, broken: IndexError" in out) == broken
    assert ("worst case: none" in out) != broken
