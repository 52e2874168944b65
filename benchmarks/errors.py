"""The default on many data sets: its squared error beside maximum likelihood, its share of the bound, the coverage of its intervals."""

from __future__ import annotations

import numpy as np

from benchmarks.likelihood import maximum_likelihood
from benchmarks.settings import Setting
from benchmarks.shares import share_of_fit
from zfree.errors import SpecificationError, ZfreeError

DEFAULT, FORMER = "auto", "search"
"""The default, and the choice of (p, γ) from the data, which was the default before weights from theory."""


def measured(setting: Setting, generator, sets: int, shares: int) -> dict:
    """Errors on the first `sets` data sets, and shares of the bound of the first `shares` weights (none where a fit has no weight)."""
    errors, reached = [], []
    for k in range(max(sets, shares)):
        fit = setting.estimator(generator).fit(setting.sample(k))
        errors.append(setting.error(fit.result_.theta))
        if k < shares:
            reached.append(_share(setting, fit))
    return {"errors": errors[:sets], "shares": [s for s in reached if s is not None]}


def _share(setting: Setting, fit) -> list[float] | None:
    try:
        return list(share_of_fit(setting, fit))
    except ZfreeError:
        return None


def former(setting: Setting, sets: int, shares: int) -> dict | None:
    """The same of the search, where estimators know it by name."""
    try:
        setting.estimator(FORMER).fit(setting.sample(0))
    except SpecificationError:
        return None
    return measured(setting, FORMER, sets, shares)


def likelihood_errors(setting: Setting, sets: int) -> list[float]:
    """Of maximum likelihood, on the same data sets."""
    return [setting.error(maximum_likelihood(setting, setting.sample(k))) for k in range(sets)]


def coverage(setting: Setting, first: int, last: int) -> dict[str, list[float]]:
    """Share of the data sets `first` to `last` in which each 95% interval of the default fit covers, by kind of parameter."""
    counts = {kind: np.zeros(len(truth)) for kind, truth in setting.truths.items()}
    for k in range(first, last):
        result = setting.estimator(DEFAULT).fit(setting.sample(k)).result_
        for kind, interval in setting.intervals(result).items():
            truth = setting.truths[kind]
            counts[kind] += (interval[:, 0] <= truth) & (truth <= interval[:, 1])
    return {kind: (count / (last - first)).tolist() for kind, count in counts.items()}


def ratio(theirs, ours) -> tuple[float, float]:
    """Mean of `theirs` over that of `ours`, errors on the same data sets, and the standard error of that."""
    theirs, ours = np.asarray(theirs), np.asarray(ours)
    value = theirs.mean() / ours.mean()
    spread = np.std(theirs / theirs.mean() - ours / ours.mean())
    return float(value), float(value * spread / np.sqrt(len(ours)))
