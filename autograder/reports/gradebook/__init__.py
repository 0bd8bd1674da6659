"""Writes our marks to nbgrader's gradebook, so that its formgrader, feedback and export show them.

    book = Gradebook.open("notebooks", "anna", assignment)      # or a database's URL
    book.reset()                                                # marks of an earlier run no longer count
    book.write(record)

nbgrader's own autograding runs submitted code beside its database; these marks come from the sandbox.
"""

from .marks import Gradebook
from .target import GradebookError

__all__ = ["Gradebook", "GradebookError"]
