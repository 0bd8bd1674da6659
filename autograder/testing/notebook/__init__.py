"""What runs beside a student's notebook: the tests of a task, and the answers of all notebooks as one package.

    course = Course(Path.cwd())
    course.check("1.2")                            # the tests of the .py files, on the answers as they are now
    from student.layers import EncoderLayer        # answers of any notebook of the folder, saved or run here

It runs in the student's own kernel, like the tests of `.py` files: for learning, and for nbgrader's own autograding.
Marks that have to resist the code they are given to come from `python -m autograder grade` (see `--to-nbgrader`).
"""

from .course import Course

__all__ = ["Course"]
