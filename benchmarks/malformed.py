"""Malformed inputs: each must end in an error of the library, or in what the documentation says. Exits 1 if one does not."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sklearn.exceptions import NotFittedError

from benchmarks.malformed_answers import functions, results
from benchmarks.malformed_inputs import Case, constructors, texts
from benchmarks.malformed_uses import data, options, weights
from benchmarks.table import print_table
from zfree.conversion import shown
from zfree.errors import ZfreeError, ZfreeWarning

REFUSED, ACCEPTED, SILENT, RAW = "refused by us", "accepted as documented", "silent or misread", "raw errors"


class Outcome(NamedTuple):
    """How a case ended, with what was said."""

    verdict: str
    message: str


def cases() -> Iterator[Case]:
    """All of them."""
    for kind in (constructors, texts, data, weights, options, functions, results):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ZfreeWarning)  # the data are not drawn from the models
            made = list(kind())
        yield from made


def judge(case: Case) -> Outcome:
    """Run one case. A warning that is not the library's own counts as a raw error: it leaked from inside."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ZfreeWarning)
        try:
            value = case.run()
            as_documented = case.means is not None and bool(case.means(value))
        except (ZfreeError, NotFittedError) as error:
            refused = Outcome(REFUSED, str(error))
            return refused if case.means is None else Outcome(SILENT, f"is documented to work, but: {error}")
        except Exception as error:
            return Outcome(RAW, f"{type(error).__name__}: {error}")
    if as_documented:
        return Outcome(ACCEPTED, "")
    return Outcome(SILENT, f"{'accepted' if case.means is None else 'misread'} without a word: {shown(value)}")


def run(chosen: Iterable[Case]) -> tuple[dict[str, Counter[str]], list[tuple[Case, Outcome]]]:
    """Counts of verdicts by kind, and what went wrong."""
    counts: dict[str, Counter[str]] = {}
    wrong = []
    for case in chosen:
        outcome = judge(case)
        counts.setdefault(case.kind, Counter())[outcome.verdict] += 1
        if outcome.verdict in (SILENT, RAW):
            wrong.append((case, outcome))
    return counts, wrong


def main() -> int:
    """Print the table by kind and everything that went wrong, the worst (raw errors) first."""
    counts, wrong = run(cases())
    columns = (REFUSED, ACCEPTED, SILENT, RAW)
    rows = [[kind, str(count.total()), *(str(count[c]) for c in columns)] for kind, count in counts.items()]
    total = sum(counts.values(), Counter())
    rows.append(["all", str(total.total()), *(str(total[c]) for c in columns)])
    print_table("Malformed inputs", ("kind", "tried", *columns), rows)
    for case, outcome in sorted(wrong, key=lambda pair: pair[1].verdict != RAW):
        print(f"{outcome.verdict}: {case.kind}, {case.name}: {' '.join(outcome.message.split())[:200]}")
    if not wrong:
        print("worst case: none, every input was refused with a reason or read as documented")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
