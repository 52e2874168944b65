"""The answers to some two hundred problems are what they were: estimates, standard errors, and which generator was chosen."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from tests.frozen.problems import ANSWERS, answer, problems

KEPT = [json.loads(line) for line in ANSWERS.read_text(encoding="utf-8").splitlines()]
FITS = dict(problems())
TOLERANCE = 1e-9
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def test_there_are_two_hundred_of_all_kinds():
    assert len(KEPT) >= 200
    assert len({kept["problem"] for kept in KEPT}) == len(KEPT)


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept["problem"])
def test_the_answer_is_what_it_was(kept):
    found = answer(FITS[kept["problem"]])
    assert NUMBER.sub("#", found["generator"]) == NUMBER.sub("#", kept["generator"])
    numbers = [[float(n) for n in NUMBER.findall(text["generator"])] for text in (found, kept)]
    assert np.allclose(*numbers, rtol=1e-6)
    size = np.abs(kept["theta"]) + (0.0 if kept["standard_errors"] is None else np.array(kept["standard_errors"]))
    assert np.all(np.abs(np.subtract(found["theta"], kept["theta"])) <= TOLERANCE * size)
    if kept["standard_errors"] is None:
        assert found["standard_errors"] is None
    else:
        assert np.allclose(found["standard_errors"], kept["standard_errors"], rtol=TOLERANCE, atol=0.0)
