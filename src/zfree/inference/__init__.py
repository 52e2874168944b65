"""From a solution to a result: covariance, tests, intervals, rankings."""

from zfree.inference.boundary import BoundaryVerdict, judge, required_decay
from zfree.inference.estimate import as_result, estimate
from zfree.inference.normalisable import is_normalisable
from zfree.inference.ranking import Candidate, Ranking
from zfree.inference.result import FitResult, Parameters, WaldTest
from zfree.inference.summary import Summary

__all__ = [
    "BoundaryVerdict",
    "Candidate",
    "FitResult",
    "Parameters",
    "Ranking",
    "Summary",
    "WaldTest",
    "as_result",
    "estimate",
    "is_normalisable",
    "judge",
    "required_decay",
]
