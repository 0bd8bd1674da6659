"""What a release has to prove before it leaves. Each gate is a function from a workspace to a verdict."""

from ..archives.archive import checksum
from ..archives.audience import Audience, audience_of
from .base import Gate, GateResult, Verdict, Workspace, run_gates
from .files import compiles, keeps_private, shipped_files, stands_alone
from .gradescope import gradescope_grades
from .grading import reference_earns_all, skeleton_earns_none
from .grafting import grafts_earn_their_points
from .kit import kit_runs
from .leaks import LeakFinder, find_leaks
from .notebooks import notebooks_are_sound, notebooks_earn_their_share
from .reproducible import is_reproducible
from .todos import todos_raise

__all__ = ["GATES", "Gate", "GateResult", "Verdict", "Workspace", "no_solution_survives", "run_gates"]


_OPENED = (".zip", ".tar.xz")


def no_solution_survives(workspace: Workspace) -> Verdict:
    """No statement of a solution, verbatim, reformatted or renamed, in any file for students or the server."""
    finder = LeakFinder(workspace.release.skeleton)
    shipped = shipped_files(workspace)
    files = {path: content for path, content in shipped if audience_of(path) is not Audience.INSTRUCTORS}
    # `shipped_files` has opened the archives as they were packed: their members are looked at, each once.
    leaks = find_leaks(finder, {path: content for path, content in files.items() if not path.endswith(_OPENED)})
    n_contents = len({checksum(content) for content in files.values()})
    n_statements = len(finder.solutions.statements)
    return Verdict(f"{n_statements} statements looked for in {n_contents} files", leaks)


GATES = (
    Gate("every file compiles", compiles),
    Gate("the skeleton stands alone", stands_alone),
    Gate("no solution survives", no_solution_survives),
    Gate("private data stays", keeps_private),
    Gate("two builds agree", is_reproducible),
    Gate("every TODO raises", todos_raise),
    Gate("the archive works unpacked", kit_runs),
    Gate("the notebooks are sound", notebooks_are_sound),
    Gate("the reference earns all", reference_earns_all),
    Gate("the skeleton earns none", skeleton_earns_none),
    Gate("grafts earn their points", grafts_earn_their_points),
    Gate("the Gradescope archive grades", gradescope_grades),
    Gate("the notebooks earn their share", notebooks_earn_their_share),
)
