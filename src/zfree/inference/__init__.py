"""From a solution to a result: covariance, tests, intervals; what the boundary and the tails allow."""

from zfree.inference.estimate import Found, Wanted, as_result, estimate
from zfree.inference.facets import BoundaryVerdict, boundary_orders, judge, required_decay
from zfree.inference.jackknife import Jackknife
from zfree.inference.parameters import Parameters, check_variances
from zfree.inference.result import FitResult
from zfree.inference.rows_or_groups import check_kind
from zfree.inference.summary import Summary
from zfree.inference.tails import Curves, TailOrder, tail_orders
from zfree.inference.uncertainty import Full, Uncertainty, check_covariance, how_much
from zfree.inference.validity import Validity, validity
from zfree.inference.verdict import GoodnessOfFit
from zfree.inference.wald import WaldTest

__all__ = [
    "BoundaryVerdict",
    "Curves",
    "FitResult",
    "Found",
    "Full",
    "GoodnessOfFit",
    "Jackknife",
    "Parameters",
    "Summary",
    "TailOrder",
    "Uncertainty",
    "Validity",
    "WaldTest",
    "Wanted",
    "as_result",
    "boundary_orders",
    "check_covariance",
    "check_kind",
    "check_variances",
    "estimate",
    "how_much",
    "judge",
    "required_decay",
    "tail_orders",
    "validity",
]
