"""Which generator: what is compared, how candidates are searched for, ranked and combined, and what theory names."""

from zfree.selection.barrier_search import BarrierSearch
from zfree.selection.candidate import Candidate, Selection
from zfree.selection.choice import Choice, GeneratorLike, as_generator, choose
from zfree.selection.combination import Combination, JTest, Stacked, combine, j_test, stack
from zfree.selection.combining import combined_estimate, opposed
from zfree.selection.criterion import Target, check_target_name, weight_matrix
from zfree.selection.leave_out import leave_out_criteria, log_ratio_error
from zfree.selection.pilot import settled
from zfree.selection.ranking import Ranking
from zfree.selection.search import Search, prepare
from zfree.selection.theory import with_criterion

__all__ = [
    "BarrierSearch",
    "Candidate",
    "Choice",
    "Combination",
    "GeneratorLike",
    "JTest",
    "Ranking",
    "Search",
    "Selection",
    "Stacked",
    "Target",
    "as_generator",
    "check_target_name",
    "choose",
    "combine",
    "combined_estimate",
    "j_test",
    "leave_out_criteria",
    "log_ratio_error",
    "opposed",
    "prepare",
    "settled",
    "stack",
    "weight_matrix",
    "with_criterion",
]
