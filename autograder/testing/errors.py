"""Exceptions of test runs; those of submitted code are in `sandbox.errors`."""


class CheckFailed(AssertionError):  # noqa: N818  pytest shows the name above each message, and nothing went wrong
    """A submission does something else than the contract says."""


class UnreadableError(CheckFailed):
    """What a submission does looks right, but nothing tells whether it is: a person has to read it."""


class CollectionError(RuntimeError):
    """pytest could not collect the component tests: a fault of the installation, never of a submission."""


class UnreadableNotebookError(ValueError):
    """A notebook beside this one cannot be read; the message says which and why."""
