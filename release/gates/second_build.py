"""Gate: another build, elsewhere and at another time, gives the same bytes."""

import json
import shutil
import tempfile
from pathlib import Path

from ..archives.instructor import FOLDERS
from ..archives.packing import checksum
from ..archives.student import CORPUS
from ..notebooks.nbgrader_course import FILES as NOTEBOOK_FILES
from ..notebooks.nbgrader_course import FOLDER as NOTEBOOKS
from .child_process import TooSlowError, ending_of, run_python
from .running import Verdict, Workspace

SECONDS = 120
HERE = Path(__file__).parents[2]
SCRIPT = "release.gates.building_later"


def builds_agree(workspace: Workspace) -> Verdict:
    """Builds again from a copy: other folder, hash seed, clock, time zone, umask and order of files."""
    project = workspace.project
    with tempfile.TemporaryDirectory(prefix="second-build-") as name:
        root = Path(name) / "elsewhere"
        root.mkdir()
        for folder in ("autograder", "foundation", CORPUS, *FOLDERS, f"{NOTEBOOKS}/prose"):
            if (project.root / folder).is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
                shutil.copytree(project.root / folder, root / folder, ignore=ignored, copy_function=shutil.copyfile)
        for file in ("pyproject.toml", "grade.py", *(f"{NOTEBOOKS}/{name}" for name in NOTEBOOK_FILES)):
            if (project.root / file).is_file():
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(project.root / file, root / file)
        # Under its own name, which messages and the handout may hold; file by file from Z to A.
        reference = root / project.reference.resolve().name
        for path in sorted(project.reference.rglob("*.py"), reverse=True):
            target = reference / path.relative_to(project.reference)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        arguments = ["-m", SCRIPT, str(root), str(reference), project.index]
        try:
            finished = run_python(arguments, SECONDS, folder=HERE, PYTHONHASHSEED="4711", TZ="Pacific/Kiritimati")
        except TooSlowError as error:
            return Verdict("no second build", [str(error)])
    if finished.returncode:
        return Verdict("the second build failed", [ending_of(finished)])
    second = json.loads(finished.stdout)
    first = {path: checksum(content) for path, content in workspace.release.outputs.items()}
    names = sorted(path for path in first.keys() | second.keys() if first.get(path) != second.get(path))
    return Verdict(f"{len(first)} files twice", [f"{path}: two builds differ" for path in names])
