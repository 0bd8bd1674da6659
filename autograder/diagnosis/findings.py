"""The results of a diagnosis: a named misconception, or a counterexample."""

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


@dataclass(frozen=True)
class Counterexample:
    """No known fault fits; `text` shows the student the smallest inputs with which a test still fails."""

    text: str


Finding = Misconception | Counterexample
