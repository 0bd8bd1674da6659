"""The archives in `dist/`, and whom each is for: that decides what may stand in it."""

from enum import StrEnum


class Audience(StrEnum):
    """Who gets an archive."""

    STUDENTS = "students"  # no solution, nothing private
    SERVER = "the grading server"  # hidden references and the term's secret, but no solution
    INSTRUCTORS = "instructors"  # all


STUDENT_ZIP = "student.zip"
GRADESCOPE_ZIP = "gradescope.zip"
INSTRUCTOR_ZIP = "instructor.zip"
NOTEBOOKS_ZIP = "notebooks.zip"

NOTEBOOKS_FOLDER = "notebooks"
"""The one folder at the top of that archive."""

NOTEBOOK_SOURCES = "notebooks/source"
"""nbgrader's folder for the notebooks with solutions."""

_OTHERS = {GRADESCOPE_ZIP: Audience.SERVER, INSTRUCTOR_ZIP: Audience.INSTRUCTORS}


def audience_of(path: str) -> Audience:
    """Of a file of the release, or of a member of an archive there. Where in doubt, students may get it."""
    if path.startswith(f"{NOTEBOOK_SOURCES}/"):
        return Audience.INSTRUCTORS
    return _OTHERS.get(path.partition("!")[0].removeprefix("dist/"), Audience.STUDENTS)
