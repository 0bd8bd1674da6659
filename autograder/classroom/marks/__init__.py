"""From a stored result to the mark that counts.

mark.py       the grader's points, people's, and what lateness costs
weighing.py   new points and thresholds for stored outcomes, without a run
regrading.py  what a regrade would change, before it is kept
"""

from .mark import Lateness, Mark, PartMark, mark_of
from .regrading import Change, change_of
from .weighing import weighed

__all__ = ["Change", "Lateness", "Mark", "PartMark", "change_of", "mark_of", "weighed"]
