"""Runs in a student's notebook: the tests of a task, and the answers of all notebooks as one package.

    course = Course(Path.cwd())
    course.check("1.2")                            # the tests of the .py files, on the current answers
    from student.layers import EncoderLayer        # answers from any notebook of the folder, saved or run here

Everything runs in the student's own kernel, like the tests of `.py` files: for learning, and for nbgrader's own
autograding. Marks that must withstand the graded code come from `python -m autograder grade` (see `--to-nbgrader`).
"""

from .course import Course

__all__ = ["Course"]
