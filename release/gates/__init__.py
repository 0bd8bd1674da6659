"""What a release has to prove before it leaves.

    running.py           what a gate is; runs all of them
    files.py             as text: they compile, stand alone, hold no solution and nothing private
    notebooks.py         sound for Jupyter and nbgrader; the answers are the skeleton's
    class_grading.py     reference, skeleton, single solutions and notebooks get the marks they should
    student_archive.py   the students' archive works by itself
    gradescope_archive.py  the archive for Gradescope grades
    misconceptions.py    what the diagnosis knows fits the reference
    second_build.py      another build gives the same bytes: building_later.py is its script
    todos.py             every TODO raises: calling_todos.py is its script
    child_process.py     the processes that gates start

A gate is a function from a workspace to a verdict. All of them run, also after one has failed.
"""

from .class_grading import NAMES, marks_are_right
from .files import compiles, keeps_private, names_known_tasks, no_solution_survives, stands_alone
from .gradescope_archive import gradescope_grades
from .misconceptions import misconceptions_fit
from .notebooks import notebooks_are_sound
from .running import Gate, gate
from .second_build import builds_agree
from .student_archive import archive_works
from .todos import todos_raise

GATES = (
    gate("every file compiles", compiles),
    gate("the skeleton stands alone", stands_alone),
    gate("no solution survives", no_solution_survives),
    gate("private data stays", keeps_private),
    gate("only tasks that exist are named", names_known_tasks),
    gate("the notebooks are sound", notebooks_are_sound),
    Gate(NAMES, marks_are_right, starts_process=True),  # the longest first
    gate("the archive works unpacked", archive_works, starts_process=True),
    gate("two builds agree", builds_agree, starts_process=True),
    gate("the Gradescope archive grades", gradescope_grades, starts_process=True),
    gate("every TODO raises", todos_raise, starts_process=True),
    gate("the misconceptions fit", misconceptions_fit, starts_process=True),
)
