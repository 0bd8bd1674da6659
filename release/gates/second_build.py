"""Gate: another build, elsewhere and at another time, gives the same bytes.

Its script is this module too: `python -m release.gates.second_build ROOT REFERENCE INDEX` prints the checksum of every
output as JSON.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from ..archives.contents import KEPT
from ..archives.handed_out import CORPUS
from ..archives.packing import checksum
from ..build import Project, make_release
from ..notebooks.nbgrader_course import FILES as NOTEBOOK_FILES
from ..notebooks.nbgrader_course import FOLDER as NOTEBOOKS
from ..skeleton.build import read_folder
from .running import Verdict, Workspace, ending_of, run_python, write_all

SECONDS = 120
HERE = Path(__file__).parents[2]
FOLDERS = ("autograder", "foundation", CORPUS, *KEPT, f"{NOTEBOOKS}/prose")
FILES = ("pyproject.toml", "grade.py", *(f"{NOTEBOOKS}/{name}" for name in NOTEBOOK_FILES))
TEN_YEARS = 10 * 365 * 86_400


def builds_agree(workspace: Workspace) -> Verdict:
    """Builds again from a copy: other folder, hash seed, clock, time zone, umask and order of files."""
    project = workspace.project
    with tempfile.TemporaryDirectory(prefix="second-build-") as temporary:
        root, reference = Path(temporary) / "elsewhere", project.reference.resolve().name
        folders = {folder: project.root / folder for folder in FOLDERS} | {reference: project.reference}
        files = {
            f"{place}/{path}": content
            for place, folder in folders.items()
            for path, content in read_folder(folder).items()
        }
        files |= {name: path.read_bytes() for name in FILES if (path := project.root / name).is_file()}
        write_all({path: files[path] for path in sorted(files, reverse=True)}, root)
        arguments = ["-m", "release.gates.second_build", str(root), str(root / reference), project.index]
        finished = run_python(arguments, SECONDS, HERE, PYTHONHASHSEED="4711", TZ="Pacific/Kiritimati")
    if finished.returncode:
        return Verdict("the second build failed", [ending_of(finished)])
    second = json.loads(finished.stdout)
    first = {path: checksum(content) for path, content in workspace.release.outputs.items()}
    names = sorted(path for path in first.keys() | second.keys() if first.get(path) != second.get(path))
    return Verdict(f"{len(first)} files twice", [f"{path}: two builds differ" for path in names])


def main() -> None:
    """Builds with a clock that is ten years ahead."""
    now = time.time
    time.time = lambda: now() + TEN_YEARS
    os.umask(0o077)
    root, reference = map(Path, sys.argv[1:3])
    release = make_release(Project(root, reference, root, index=sys.argv[3]))
    print(json.dumps({path: checksum(content) for path, content in release.outputs.items()}))


if __name__ == "__main__":
    main()
