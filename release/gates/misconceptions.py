"""Gate: the misconceptions that the diagnosis knows are edits of the reference, and fit it as it is now."""

from foundation.counting import counted

from .child_process import TooSlowError, ending_of, run_python
from .running import Verdict, Workspace

FOLDER = "misconceptions"
SECONDS = 120


def misconceptions_fit(workspace: Workspace) -> Verdict:
    """Each is found where it should be; a word that was renamed in a solution is renamed in them, too."""
    folder = workspace.release.assignment.folder / FOLDER
    if not folder.is_dir():
        return Verdict("none")
    reference = str(workspace.project.reference.resolve())
    try:
        done = run_python(["-m", "autograder.diagnosis", reference], SECONDS, folder=workspace.project.root)
    except TooSlowError as error:
        return Verdict("not looked at", [str(error)])
    lines = done.stdout.splitlines()
    if done.returncode not in (0, 1) or not lines:
        return Verdict("not looked at", [ending_of(done)])
    if done.returncode:
        return Verdict("some do not fit", [f"{folder.relative_to(folder.parents[2])}/{line}" for line in lines])
    return Verdict(f"{counted(int(lines[0]), 'misconception')} fit the reference")
