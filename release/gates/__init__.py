"""What a release has to prove before it leaves.

    running.py       what a gate is; runs all of them, and the processes that they start
    files.py         as text: they compile, stand alone, hold no solution and nothing private, name their tasks
    structure.py     every TODO raises, and the notebooks are sound for Jupyter and nbgrader
    marks.py         reference, skeleton, single solutions and notebooks get the marks that they should
    archives.py      the students' archive and Gradescope's work by themselves
    second_build.py  another build gives the same bytes

A gate is a function from a workspace to a verdict. All of them run, also after one has failed.
"""

from .archives import archive_works, gradescope_grades
from .files import compiles, keeps_private, names_known_tasks, no_solution_survives, stands_alone
from .marks import MARKS, marks_are_right, misconceptions_fit
from .running import Gate, gate
from .second_build import builds_agree
from .structure import notebooks_are_sound, todos_raise

GATES = (
    Gate(MARKS, marks_are_right),  # the longest first
    gate("every file compiles", compiles),
    gate("the skeleton stands alone", stands_alone),
    gate("no solution survives", no_solution_survives),
    gate("private data stays", keeps_private),
    gate("only tasks that exist are named", names_known_tasks),
    gate("the notebooks are sound", notebooks_are_sound),
    gate("the archive works unpacked", archive_works),
    gate("two builds agree", builds_agree),
    gate("the Gradescope archive grades", gradescope_grades),
    gate("every TODO raises", todos_raise),
    gate("the misconceptions fit", misconceptions_fit),
)
