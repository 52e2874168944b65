"""From a solution to a result: covariance, tests, intervals; what the boundary and the tails allow."""

from zfree.deprecation import Renamed, renamed_names
from zfree.inference.estimate import Found, Wanted, as_result, check_wanted, estimate
from zfree.inference.facets import BoundaryVerdict, boundary_orders, judge, required_decay
from zfree.inference.jackknife import Jackknife
from zfree.inference.parameters import Parameters, check_variances
from zfree.inference.result import FitResult
from zfree.inference.summary import Summary
from zfree.inference.tails import Curves, TailOrder, tail_orders
from zfree.inference.uncertainty import Full, Uncertainty, how_much
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
    "check_variances",
    "check_wanted",
    "estimate",
    "how_much",
    "judge",
    "required_decay",
    "tail_orders",
    "validity",
]

__getattr__ = renamed_names(
    "zfree.inference",
    {
        "Candidate": Renamed("zfree.selection.Candidate", gone_in="0.3"),
        "Combination": Renamed("zfree.selection.Combination", gone_in="0.3"),
        "JTest": Renamed("zfree.selection.JTest", gone_in="0.3"),
        "Ranking": Renamed("zfree.selection.Ranking", gone_in="0.3"),
        "Selection": Renamed("zfree.selection.Selection", gone_in="0.3"),
        "Trial": Renamed("zfree.selection.Candidate", gone_in="0.3"),
    },
)
