"""What is raised for a submission that cannot be taken in."""

from foundation.printable_text import printable

SHOWN_NAME = 120


class IntakeError(ValueError):
    """Nothing can be taken in; the message is one line that says why: what is wrong, where, what would be right."""


class IntakeRefusedError(IntakeError):
    """The submission is there, but is of a kind that is not graded: a result with the reason, not an operator's slip.

    Attributes:
        reason: without the submission's name.
        hashes: file name -> sha256 of what was looked at.
    """

    def __init__(self, name: str, reason: str, hashes: dict[str, str] | None = None) -> None:
        """Takes the submission's file name and the reason."""
        super().__init__(f"{printable(name, SHOWN_NAME)}: {reason}")
        self.reason = reason
        self.hashes = hashes or {}


class RefusedError(Exception):
    """Inside this package: the reason alone, before the submission's name stands in front of it."""


def quote(name: str) -> str:
    """A file name from a submission, as it can stand in a message."""
    return f"'{printable(name, SHOWN_NAME)}'"
