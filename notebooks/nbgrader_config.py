"""The settings of nbgrader for this course.

    nbgrader generate_assignment transformer     # `make release` has done so already
    nbgrader autograde transformer

Run its commands in this folder, with the environment's `bin` on PATH.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nbgrader.converters import GenerateAssignment  # noqa: E402 (as the next ones: found through the line above)
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor  # noqa: E402

from foundation.assignment_file import read_assignment  # noqa: E402
from release.notebooks import STUB, name_stubs  # noqa: E402


class NameStubs(NbGraderPreprocessor):
    """A step after nbgrader's own `ClearSolutions`: each stub gets the number of its TODO."""

    def preprocess_cell(self, cell, resources, index):
        """Puts the task's number into the stubs of one cell."""
        if cell.cell_type == "code" and STUB in cell.source:
            cell.source = name_stubs(cell.source)
        return cell, resources


c = get_config()  # noqa: F821 (nbgrader defines it)

c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = read_assignment().name
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "runs", "*.tmp"]

# The reference's own markers are nbgrader's.
c.ClearSolutions.code_stub = {"python": STUB}
steps = GenerateAssignment.preprocessors.default_args[0]
after = steps.index(ClearSolutions) + 1
c.GenerateAssignment.preprocessors = [*steps[:after], NameStubs, *steps[after:]]

# Of one cell. The tests of a task take seconds; training takes minutes and is not repeated while grading.
c.ExecutePreprocessor.timeout = 120
c.Execute.timeout = 120

# `nbgrader zip_collect`: one archive a student, named after the student, with the notebooks in it, or their folder.
# A time in the name, in UTC, becomes that of the submission: `anna_2026-12-18T235900.zip`.
c.FileNameCollectorPlugin.valid_ext = [".ipynb", ".txt"]
c.FileNameCollectorPlugin.named_regexp = (
    r".*/extracted/(?P<student_id>[\w.@-]+?)(?:_(?P<timestamp>\d{4}-\d\d-\d\dT\d{4,6}))?/"
    r"(?:notebooks/)?(?P<file_id>[^/]+\.ipynb|translations\.txt)$"
)
