"""What is wrong with the input of a release, and where: collected first, reported all at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from foundation.command_line import UserError


@dataclass(frozen=True, order=True)
class Problem:
    """One fault in one line of one file.

    Args:
        path: the file as the user knows it, such as `reference/attention.py`.
        line: from 1; 0 where the file as a whole is meant.
        what: the fault.
        right: what would be right.
    """

    path: str
    line: int
    what: str
    right: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.what}; {self.right}"


class ReleaseError(UserError):
    """The input does not allow a release. Its text is for the user: one line for each problem."""

    def __init__(self, problems: Sequence[Problem] | str) -> None:
        self.problems = [] if isinstance(problems, str) else sorted(set(problems))
        super().__init__(problems if isinstance(problems, str) else "\n".join(map(str, self.problems)))
