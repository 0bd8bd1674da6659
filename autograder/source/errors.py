"""Why a submission cannot be taken in."""

from foundation.command_line import UserError
from foundation.printable_text import printable

SHOWN_NAME = 120


class IntakeError(UserError):
    """Nothing can be taken in; the message is one line: what is wrong, where, and what would be right.

    Attributes:
        reason: the message without the submission's name.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        """Takes both, or a message that names no submission."""
        super().__init__(message)
        self.reason = reason or message


class IntakeRefusedError(IntakeError):
    """The submission exists but cannot be graded. This is a result with a reason, not an operator's mistake.

    Attributes:
        hashes: file name -> sha256 of the files that were read.
    """

    def __init__(self, name: str, reason: str, hashes: dict[str, str] | None = None) -> None:
        """Takes the submission's file name and the reason."""
        super().__init__(f"{printable(name, SHOWN_NAME)}: {reason}", reason)
        self.hashes = hashes or {}


class RefusedError(Exception):
    """Within this package: the reason alone, to which the caller adds the submission's name."""


def quote(name: str) -> str:
    """A file name from a submission, safe to show in a message."""
    return f"'{printable(name, SHOWN_NAME)}'"
