"""The result of a diagnosis."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Misconception:
    """The submission behaves like code with a known fault.

    Attributes:
        text: for the student.
        fault: id of the fault.
        others: ids of the faults that no test tells from it.
        explains_all: it gives the submission's answers in every test.
    """

    text: str
    fault: str
    others: tuple[str, ...] = ()
    explains_all: bool = True
