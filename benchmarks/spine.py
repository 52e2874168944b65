"""The way from rows to a result against the arithmetic that it cannot do without: ratios in one run, `make bench-spine`.

Processor time, one BLAS thread. Cases are chosen by the beginnings of their names (CASES=), a call that takes longer than ten seconds is measured once, and one
that exceeds `--limit` is stopped.
"""

from __future__ import annotations

import argparse
import sys
import warnings

from benchmarks.guard import Timed, in_turns
from benchmarks.spine_cases import CASES, Comparison, cases
from benchmarks.table import print_table
from zfree.errors import ZfreeWarning

HEADER = ["case", "what", "ours ms", "against", "theirs ms", "ratio", "bar", "met"]


def row(name: str, comparison: Comparison, times: dict[str, Timed]) -> tuple[list[str], bool]:
    """One line of the table, and whether its bar is met (true without one)."""
    ours, theirs = times[comparison.ours], times[comparison.theirs]
    ratio, most, seconds = ours.seconds / theirs.seconds, comparison.most, comparison.seconds
    bars = [] if most is None else [(f"≤ {most:g}", ratio <= most and not ours.stopped)]
    bars += [] if seconds is None else [(f"≤ {1e3 * seconds:g} ms", ours.seconds <= seconds and not ours.stopped)]
    good = any(met for _, met in bars)
    shown = f"{'> ' if ours.stopped else ''}{ratio:.2f}"
    told = [" or ".join(bar for bar, _ in bars) or "–", ("yes" if good else "NO") if bars else ""]
    return [name, comparison.what, str(ours), comparison.against, str(theirs), shown, *told], good or not bars


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"beginnings of {', '.join(CASES)}")
    parser.add_argument("--limit", type=float, default=150.0, help="seconds after which a call is stopped")
    asked = parser.parse_args(argv)
    warnings.simplefilter("ignore", ZfreeWarning)
    rows, good = [], True
    for name, case in cases(asked.cases):
        times = dict(zip(case.calls, in_turns(list(case.calls.values()), asked.limit), strict=True))
        for comparison in case.comparisons:
            line, met = row(name, comparison, times)
            rows.append(line)
            good &= met
            print("  ".join(line), file=sys.stderr, flush=True)
    print_table("Fits against their arithmetic (medians of processor time, one BLAS thread)", HEADER, rows)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
