"""The contents of each archive: the students', Gradescope's and the instructor's.

Of the grader, students get the tests, and in the wheel whatever these import. Gradescope gets the two programs that it
runs, the grader, the skeleton, the references and the secret. The instructor keeps solutions and references.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath

from foundation.assignment_file import Assignment
from foundation.places import HANDED_OUT, REFERENCES, SECRET, term_secret
from foundation.whole_files import make_zip

from . import packing
from .handout import files_for_assistants
from .skeleton import ASSIGNMENT_FILE, REFERENCE, Project, ReleaseError, Skeleton, decode, read_folder

ARCHIVE_FOLDER = "assignment"  # the one folder at the top of the students' archive, so that unpacking it spills nothing
PROGRAMS = ("run_autograder", "setup.sh")
CORPUS = "data/corpus"
NOT_KEPT = b".venv/\n__pycache__/\n.pytest_cache/\nruns/\n*.png\nsubmission.zip\nbefore-update-*.zip\n.attempts.json\n"
"""Left out of a student's own repository by git."""

GRADER, COURSE, FOUNDATION = "autograder", "assignment", "foundation"
TESTS = f"{COURSE}/tests/"
STAND_INS = f"{COURSE}/stand_ins/"
OWN_WORK = f"{COURSE}/own_work/"
PYTEST_INI = f"{TESTS}pytest.ini"
PATTERNS, HINTS = f"{COURSE}/misconceptions/patterns.json", f"{COURSE}/hints.json"
ENTRY = f"{GRADER}/reports/gradescope.py"
QUOTING = ("misconceptions/", "proof/", "outside/", "own_tests.toml", "handout.md")
"""They quote the reference, so they do not travel: failures are not named there."""
SCORER = "grade.py"
GIVEN = "given"
PACKAGES = ("torch", "numpy", "pytest", "sacrebleu", "tqdm", "pydantic", "matplotlib", "ipython", "ipywidgets")
"""Imported by grading and by submissions; students' notebooks need more."""

_IMPORTS = ("-m", "ruff", "analyze", "graph", "--isolated", "--quiet", "--no-type-checking-imports")


def collect_kit(project: Project, skeleton: Skeleton, beside: Mapping[str, bytes] = {}) -> dict[str, bytes]:
    """Collect all files of the students' archive by path, the skeleton in a folder with what is `beside` it."""
    kit = {**collect_tests(project, skeleton.assignment, SCORER), **beside, **skeleton.placed, ".gitignore": NOT_KEPT}
    kit |= read_folders(project.root, CORPUS) | files_for_assistants(skeleton.assignment)
    kit[HANDED_OUT] = make_zip(kit)
    return {f"{ARCHIVE_FOLDER}/{path}": kit[path] for path in sorted(kit)}


def collect_tests(project: Project, assignment: Assignment, start: str, in_notebooks: bool = False) -> dict[str, bytes]:
    """Collect the component tests, given code, the requirements, and a wheel of all that these and `start` import."""
    kit = read_tests(project.root, assignment, [packing.ENTRY_POINT, start])
    kit[packing.SETTINGS] = kit.pop(PYTEST_INI)  # at the top, so that `python -m pytest` there runs the tests
    lines = packing.read_requirements(project.root, in_notebooks)
    kit[packing.REQUIREMENTS] = packing.requirements_file(lines, project.index)
    return packing.with_library(kit, TESTS, in_notebooks)


def collect_gradescope(project: Project, skeleton: Skeleton) -> dict[str, bytes]:
    """Collect all files of the archive for Gradescope by path, the skeleton too. Raises: ReleaseError."""
    root, assignment = project.root, skeleton.assignment
    grader = _read_packages(root)
    files = {path: grader[path] for path in grader if not path.removeprefix(f"{COURSE}/").startswith(QUOTING)}
    files |= skeleton.placed | hints_of(root, assignment)
    if assignment.own_tests:  # solutions and faults to try students' own tests on
        command = [sys.executable, "-m", "autograder.own_work.own_tests", ASSIGNMENT_FILE]
        done = subprocess.run(command, cwd=root, capture_output=True, check=False)  # noqa: S603  (the command is ours)
        if done.returncode:
            raise ReleaseError(done.stderr.decode("utf-8", "replace").strip().split("\n")[-1])
        files[f"{COURSE}/own_tests.packed"] = done.stdout
    files |= {SECRET.as_posix(): term_secret(root)}
    files |= {name: (Path(__file__).with_name("gradescope_container") / name).read_bytes() for name in PROGRAMS}
    if assignment.judges_translations:
        files[REFERENCES.as_posix()] = (root / REFERENCES).read_bytes()
    files[packing.LOCK] = (root / packing.LOCK).read_bytes()
    files[packing.REQUIREMENTS] = packing.requirements_file([f"--constraint {packing.LOCK}", *PACKAGES], project.index)
    return files


def collect_instructor(root: Path, handout: bytes) -> dict[str, bytes]:
    """Collect all files that the instructor keeps by path: solutions, training, the pages of the proof."""
    files = read_folders(root, REFERENCE, "data/private", "docs", GIVEN)
    files |= {SECRET.as_posix(): term_secret(root), "HANDOUT.md": handout}
    return {f"instructor/{path}": files[path] for path in sorted(files)}


def place_of(path: str) -> str:
    """Return where a shipped file lies in the folder that its archive unpacks to."""
    archive, _, member = path.rpartition("!")
    return member.removeprefix(f"{ARCHIVE_FOLDER}/") if archive.endswith(packing.STUDENT_ZIP) else member


def hints_of(root: Path, assignment: Assignment) -> dict[str, bytes]:
    """Return the file of hints with their patterns, by path from the root; none where no pattern is known."""
    path = root / PATTERNS
    patterns = json.loads(path.read_bytes()) if path.is_file() else {}
    # Hints for tasks whose tests are held back would show what these look for.
    tasks = {task.number for task in assignment.tasks if task not in assignment.held_back}
    known: dict[str, list[tuple[str, str]]] = {}
    for file in sorted(path.parent.glob("*.toml")):
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        faults = [fault for fault in content["fault"] if fault["id"] in patterns and content["task"] in tasks]
        known.setdefault(content["task"], []).extend((f["hint"], patterns[f["id"]]) for f in faults)
    return {HINTS: f"{json.dumps(known, indent=1, ensure_ascii=False)}\n".encode()} if any(known.values()) else {}


def read_given(root: Path, assignment: Assignment) -> dict[str, bytes]:
    """Read the files that students get of `given/`, by path from the root; none where there is no such folder."""
    kept = withheld_files(root, assignment)
    return {path: content for path, content in read_folders(root, GIVEN).items() if path not in kept}


def withheld_files(root: Path, assignment: Assignment) -> set[str]:
    """Return the files that `[release] instructor_only` names, by path from the root. Raises: ReleaseError."""
    files, kept = read_folders(root, GIVEN), set[str]()
    for name in assignment.instructor_only:
        withheld = {path for path in files if path == name or path.startswith(f"{name.rstrip('/')}/")}
        if not withheld:
            fault = f"[release] instructor_only names {name}: expected a file or folder in {GIVEN}/"
            raise ReleaseError(f"{ASSIGNMENT_FILE}: {fault}; correct it there")
        kept |= withheld
    return kept


def check_corpus(root: Path) -> None:
    """Raise ReleaseError unless lines are pairs, and each line that students translate has a reference."""
    train, dev, sources = (f"{CORPUS}/fren.{split}.bpe" for split in ("train", "dev", "test.src"))
    names = (train, dev, sources, REFERENCES.as_posix())
    for name in names:
        if not (root / name).is_file():
            remedy = "copy data/corpus/ and data/private/ together, or make both: data/README.md"
            raise ReleaseError(f"{name}: no such file; {remedy}")
    lines = {name: decode(name, (root / name).read_bytes()).split("\n")[:-1] for name in names}
    for name in (train, dev):
        for number, line in enumerate(lines[name], start=1):
            if line.count("|||") != 1:
                raise ReleaseError(f"{name}:{number}: is no pair; expected `source|||target`")
    n_references, n_sources = len(lines[REFERENCES.as_posix()]), len(lines[sources])
    if n_references != n_sources:
        fault = f"has {n_references} lines, but {sources} has {n_sources}"
        raise ReleaseError(f"{REFERENCES}: {fault}; each line needs the reference of the line that students translate")


def read_tests(root: Path, assignment: Assignment, starts: Iterable[str] = ()) -> dict[str, bytes]:
    """Read the tests of this phase, what is given, and `starts`, with all that these import of the kit, by path."""
    given = read_given(root, assignment)
    later = tuple(task.marker.encode() for task in assignment.held_back)
    files = given | {
        path: content
        for path, content in _read_packages(root).items()
        if not (path.startswith(TESTS) and any(marker in content for marker in later))
    }
    tests = [path for path in files if path.startswith((TESTS, STAND_INS)) and path.endswith(".py")]
    names = re.findall(r"-p (autograder\.[\w.]+)", files[PYTEST_INI].decode())
    plugins = [f"{name.replace('.', '/')}.py" for name in names]
    needed = needed_modules(root, files, [*tests, *plugins, *given, *starts])
    others = {path for path in files if path.startswith((TESTS, OWN_WORK)) and not path.endswith(".py")}
    return {path: files[path] for path in sorted({*needed, *others, ASSIGNMENT_FILE})} | hints_of(root, assignment)


def needed_modules(root: Path, files: Collection[str], starts: Iterable[str]) -> set[str]:
    """Return the starting files, and all that they import, directly or not, as far as `files` has them."""
    packages = [name for name in (COURSE, GRADER, FOUNDATION, GIVEN, SCORER) if (root / name).exists()]
    done = subprocess.run([sys.executable, *_IMPORTS, *packages], cwd=root, capture_output=True, check=True)  # noqa: S603 (ours)
    imported: dict[str, list[str]] = json.loads(done.stdout)
    needed: set[str] = set()
    waiting = list(starts)
    while waiting:
        path = waiting.pop()
        if path in files and path not in needed:
            needed.add(path)
            waiting += [*imported.get(path, []), str(PurePosixPath(path).with_suffix(".toml"))]  # its table, if any
            waiting += [f"{folder}/__init__.py" for folder in PurePosixPath(path).parents]
    return needed


def read_folders(root: Path, *names: str) -> dict[str, bytes]:
    """Read the files of some of the project's folders, by path from its root; none of one that it lacks."""
    return {f"{name}/{path}": content for name in names for path, content in read_folder(root / name).items()}


def _read_packages(root: Path) -> dict[str, bytes]:
    """Read the files of assignment and grader, of what these stand on, and the scorer, by path from the root."""
    scorer = {SCORER: (root / SCORER).read_bytes()} if (root / SCORER).is_file() else {}
    return read_folders(root, COURSE, GRADER, FOUNDATION) | scorer
