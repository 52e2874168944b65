"""From a solution to a result: covariance, tests, intervals, rankings."""

from zfree.inference.boundary import BoundaryVerdict, boundary_orders, judge, required_decay
from zfree.inference.combination import Combination, JTest, Stacked, combine, j_test, stack
from zfree.inference.criterion import Target, check_target_name, weight_matrix
from zfree.inference.estimate import as_result, estimate
from zfree.inference.family import FamilySearch
from zfree.inference.jackknife import Jackknife
from zfree.inference.parameters import Parameters, check_variances
from zfree.inference.pilot import settled
from zfree.inference.ranking import Candidate, Ranking
from zfree.inference.result import FitResult
from zfree.inference.rows_or_groups import check_kind
from zfree.inference.selection import Search, Selection, Trial, best_of, prepare, safe_generator
from zfree.inference.summary import Summary
from zfree.inference.tails import TailOrder, tail_orders
from zfree.inference.theory import by_theory, is_saturated, with_criterion, worth_a_look
from zfree.inference.uncertainty import leave_out_criteria, log_ratio_error
from zfree.inference.verdict import GoodnessOfFit
from zfree.inference.wald import WaldTest

__all__ = [
    "BoundaryVerdict",
    "Candidate",
    "Combination",
    "FamilySearch",
    "FitResult",
    "GoodnessOfFit",
    "JTest",
    "Jackknife",
    "Parameters",
    "Ranking",
    "Search",
    "Selection",
    "Stacked",
    "Summary",
    "TailOrder",
    "Target",
    "Trial",
    "WaldTest",
    "as_result",
    "best_of",
    "boundary_orders",
    "by_theory",
    "check_kind",
    "check_target_name",
    "check_variances",
    "combine",
    "estimate",
    "is_saturated",
    "j_test",
    "judge",
    "leave_out_criteria",
    "log_ratio_error",
    "prepare",
    "required_decay",
    "safe_generator",
    "settled",
    "stack",
    "tail_orders",
    "weight_matrix",
    "with_criterion",
    "worth_a_look",
]
