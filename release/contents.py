"""What goes into each archive: the students', Gradescope's and the instructor's.

Students unpack one folder, `assignment/`:

    README.md · requirements.txt · pytest.ini · grade.py · student/ · given/ · data/corpus/ · component_tests/ · a wheel

Of the grader they get the tests, and in the wheel whatever these import; what only a grading server needs stays.
Gradescope gets the two programs that it runs, the grader, the skeleton, the references and the secret. The instructor
keeps the solutions, the guide and the pages of the proof, the references and the secret.
"""

import ast
import base64
import json
import re
import subprocess
import sys
import tomllib
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from foundation.assignment_file import Assignment
from foundation.places import HANDED_OUT, REFERENCES
from foundation.term_secret import SECRET, term_secret

from .handout import HANDOUT, files_for_assistants, named_pictures, read_text
from .packing import (
    ENTRY_POINT,
    LOCK,
    REQUIREMENTS,
    make_zip,
    read_requirements,
    requirements_file,
    with_library,
    without_notebooks,
)
from .regions import Problem, ReleaseError, read_source
from .skeleton import ASSIGNMENT_FILE, read_folder

ARCHIVE_FOLDER = "assignment"
"""The one folder at the top of the students' archive, so that unpacking it spills nothing."""

PROGRAMS = ("run_autograder", "setup.sh")
PROGRAMS_FOLDER = Path(__file__).with_name("gradescope_container")

CORPUS = "data/corpus"

GRADER = "autograder"
TESTS = f"{GRADER}/assignment/tests/"
STAND_INS = f"{GRADER}/assignment/stand_ins/"
PYTEST_INI = f"{TESTS}pytest.ini"
PATTERNS, HINTS = f"{GRADER}/assignment/misconceptions/patterns.json", f"{GRADER}/assignment/hints.txt"
ENTRY = f"{GRADER}/reports/gradescope.py"
LOADED_BY_PATH = f"{GRADER}/sandbox/worker/"
QUOTING = tuple(f"{GRADER}/assignment/{name}" for name in ("misconceptions/", "proof/equivalents.toml", "handout.md"))
"""They quote the reference, so they do not travel: failures are not named there."""

SCORER = "grade.py"
GIVEN = "given"
"""The package with training runs, translation and pictures, for any model."""

PACKAGES = (
    *("torch", "numpy", "pytest", "sacrebleu", "safetensors", "tqdm", "pydantic"),
    *("matplotlib", "ipython", "ipywidgets"),
)
"""What grading imports, and what submissions may; students' notebooks need more."""

KEPT = ("data/private", "docs", GIVEN)
"""The instructor's guide with the pages of the proof, and training as the solutions need it, are in the last two."""


def collect_kit(
    root: Path,
    assignment: Assignment,
    skeleton: Mapping[str, bytes],
    handout: bytes,
    index: str = "",
    guide: Mapping[str, bytes] = {},
) -> dict[str, bytes]:
    """All files of the students' archive by path."""
    kit = read_tests(root, assignment, [ENTRY_POINT, *[SCORER] * (root / SCORER).is_file()])
    kit[PurePosixPath(PYTEST_INI).name] = kit.pop(PYTEST_INI)  # so that `python -m pytest` there runs the tests
    kit |= {f"{assignment.package}/{path}": content for path, content in skeleton.items()}
    kit |= read_corpus(root)
    kit |= named_pictures(root, handout.decode("utf-8"), HANDOUT)
    kit |= (
        {HANDOUT: handout, REQUIREMENTS: requirements_file(without_notebooks(read_requirements(root)), index)}
        | files_for_assistants(assignment)
        | dict(guide)
    )
    kit = with_library(kit, TESTS)
    kit[HANDED_OUT] = make_zip(kit)
    return {f"{ARCHIVE_FOLDER}/{path}": kit[path] for path in sorted(kit)}


def collect_gradescope(
    root: Path, assignment: Assignment, skeleton: Mapping[str, bytes], index: str
) -> dict[str, bytes]:
    """All files of the archive for Gradescope by path; without BLEU, there are no references.

    What a submission lacks is taken from the skeleton.
    """
    grader = _read_packages(root)
    by_path = [path for path in grader if path.startswith(LOADED_BY_PATH) and path.endswith(".py")]
    modules = needed_modules(grader, [ENTRY, *_starts_of_tests(grader), *by_path])
    folders = {path.rpartition("/")[0] for path in modules if not path.startswith(QUOTING)}
    beside = {path for path in grader if not path.endswith(".py") and path.rpartition("/")[0] in folders}
    files = {path: grader[path] for path in modules | beside | {ASSIGNMENT_FILE} if not path.startswith(QUOTING)}
    files |= {f"{assignment.package}/{path}": content for path, content in skeleton.items()} | hints_of(root)
    if assignment.own_tests:
        files[f"{GRADER}/assignment/own_tests.packed"] = packed_by(root, "own_tests")
    files |= hunts_of(root, assignment, "hunts") | {SECRET.as_posix(): term_secret(root)}
    files |= {name: (PROGRAMS_FOLDER / name).read_bytes() for name in PROGRAMS}
    if assignment.judges_translations:
        files[REFERENCES.as_posix()] = (root / REFERENCES).read_bytes()
    files[LOCK] = (root / LOCK).read_bytes()
    files[REQUIREMENTS] = requirements_file([f"--constraint {LOCK}", *PACKAGES], index)
    return files


def hunts_of(root: Path, assignment: Assignment, which: str) -> dict[str, bytes]:
    """The boxes of bug hunts, by path from the project's root; none where the assignment has no such task."""
    has_some = any(task.understanding == "hunts" for task in assignment.tasks)
    return {f"{GRADER}/assignment/hunts.packed": packed_by(root, which)} if has_some else {}


def packed_by(root: Path, what: str) -> bytes:
    """What the grader packs for those who have no reference. Raises: ReleaseError."""
    command = [sys.executable, "-m", "autograder.grading.made_code", ASSIGNMENT_FILE, what]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)  # noqa: S603  (the command is ours)
    if done.returncode:
        raise ReleaseError(done.stderr.decode("utf-8", "replace").strip().split("\n")[-1])
    return done.stdout


def collect_instructor(root: Path, reference: Path, handout: bytes) -> dict[str, bytes]:
    """All files of what the instructor keeps by path."""
    folders = {"reference": reference, **{folder: root / folder for folder in KEPT}}
    files = {
        f"{place}/{path}": content for place, folder in folders.items() for path, content in read_folder(folder).items()
    }
    files |= {SECRET.as_posix(): term_secret(root), "HANDOUT.md": handout}
    return {f"instructor/{path}": files[path] for path in sorted(files)}


def read_given(root: Path, assignment: Assignment) -> dict[str, bytes]:
    """The files that students get of `given/`, by path from the project's root; none where there is no such folder."""
    kept = withheld_files(root, assignment)
    files = {f"{GIVEN}/{path}": content for path, content in read_folder(root / GIVEN).items()}
    return {path: content for path, content in files.items() if path not in kept}


def withheld_files(root: Path, assignment: Assignment) -> dict[str, bytes]:
    """What `[release] instructor_only` names, by path from the project's root. Raises: ReleaseError."""
    found: dict[str, bytes] = {}
    for name in assignment.instructor_only:
        path = root / name
        files = {name: path.read_bytes()} if path.is_file() else read_folder(path)
        if not files or not name.startswith(f"{GIVEN}/"):
            what = f"[release] instructor_only names {name}: expected a file or folder in {GIVEN}/"
            raise ReleaseError([Problem(ASSIGNMENT_FILE, 0, what, "correct it there")])
        found |= files if path.is_file() else {f"{name.rstrip('/')}/{inside}": files[inside] for inside in files}
    return found


def read_corpus(root: Path) -> dict[str, bytes]:
    """The files of the students' corpus, by path from the project's root; none where there is none."""
    return {f"{CORPUS}/{path}": content for path, content in read_folder(root / CORPUS).items()}


def check_corpus(root: Path) -> None:
    """Raises ReleaseError unless lines are pairs, and each line that students translate has a reference."""
    train, dev, sources = (f"{CORPUS}/fren.{split}.bpe" for split in ("train", "dev", "test.src"))
    references = str(REFERENCES)
    lines = {name: read_text(root / name, name).split("\n")[:-1] for name in (train, dev, sources, references)}
    for name in (train, dev):
        for number, line in enumerate(lines[name], start=1):
            if line.count("|||") != 1:
                raise ReleaseError([Problem(name, number, "is no pair", "expected `source|||target`")])
    if len(lines[sources]) != len(lines[references]):
        what = f"has {len(lines[references])} lines, but {sources} has {len(lines[sources])}"
        right = "each line needs the reference of the line that students translate"
        raise ReleaseError([Problem(references, 0, what, right)])


def read_tests(root: Path, assignment: Assignment, starts: Iterable[str] = ()) -> dict[str, bytes]:
    """The tests, what is given, and `starts`, with all that these import of the kit, by path from the root."""
    given = read_given(root, assignment)
    files = {path: content for path, content in _read_packages(root).items() if path not in held_back(root, assignment)}
    files |= given
    modules = [path for path in given if path.endswith(".py")]
    needed = needed_modules(files, [*_starts_of_tests(files), *modules, *starts])
    others = {path for path in files if path.startswith(TESTS) and not path.endswith(".py")}
    found = {path: files[path] for path in sorted({*needed, *given, *others, ASSIGNMENT_FILE})}
    return found | hints_of(root) | hunts_of(root, assignment, "students")


def hints_of(root: Path) -> dict[str, bytes]:
    """The file of hints for known mistakes, by path from the project's root; none where no pattern is known.

    It has each task's hints with their patterns, and nobody reads it by accident. `autograder.testing.hints` does.
    """
    path = root / PATTERNS
    patterns = json.loads(path.read_bytes()) if path.is_file() else {}
    known: dict[str, list[tuple[str, str]]] = {}
    for file in sorted(path.parent.glob("*.toml")):
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        faults = [fault for fault in content["fault"] if fault["id"] in patterns]
        known.setdefault(content["task"], []).extend((f["hint"], patterns[f["id"]]) for f in faults)
    packed = zlib.compress(json.dumps(known, ensure_ascii=False).encode(), 9)
    return {HINTS: base64.b85encode(packed)} if any(known.values()) else {}


def held_back(root: Path, assignment: Assignment) -> dict[str, bytes]:
    """The files of component tests that students do not get in this phase, by path from the root."""
    markers = tuple(task.marker.encode() for task in assignment.held_back)
    files = {f"{TESTS}{path}": content for path, content in read_folder(root / TESTS).items()} if markers else {}
    return {path: content for path, content in files.items() if any(marker in content for marker in markers)}


def needed_modules(files: Mapping[str, bytes], starts: Iterable[str]) -> set[str]:
    """The paths of the starting files, and of all modules among `files` that they import, directly or not."""
    needed: set[str] = set()
    waiting = list(starts)
    while waiting:
        path = waiting.pop()
        if path in needed:
            continue
        needed.add(path)
        folders = path.split("/")[:-1]
        found = ["/".join([*folders[:length], "__init__.py"]) for length in range(1, len(folders) + 1)]
        for name in _imported(path, files[path]):
            found += [f"{name.replace('.', '/')}/__init__.py", f"{name.replace('.', '/')}.py"]
        waiting += [path for path in found if path in files]
    return needed


@cache
def _imported(path: str, content: bytes) -> tuple[str, ...]:
    """Absolute names of the modules that a file may import; `from a import b` gives both `a` and `a.b`."""
    parts, found = path.removesuffix(".py").split("/"), list[str]()
    waiting: list[ast.AST] = [read_source(path, content).tree]
    while waiting:
        node = waiting.pop()
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):  # nothing runs that block
            waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = ".".join(parts[: len(parts) - node.level]) if node.level else ""
            module = ".".join(filter(None, (origin, node.module)))
            found += [module, *(f"{module}.{alias.name}" for alias in node.names)]
    return tuple(found)


def _read_packages(root: Path) -> dict[str, bytes]:
    """The files of the grader, of what it stands on, and the scorer, by path from the project's root."""
    files = {
        f"{package}/{path}": content
        for package in (GRADER, "foundation")
        for path, content in read_folder(root / package).items()
    }
    return files | ({SCORER: (root / SCORER).read_bytes()} if (root / SCORER).is_file() else {})


def _starts_of_tests(files: Mapping[str, bytes]) -> list[str]:
    """The modules that running the tests begins with: the tests, pytest's plugins for them, and the stand-ins.

    Everything else follows from their imports: the engine finds an assignment's own code by its path.
    """
    plugins = re.findall(r"-p (autograder\.[\w.]+)", files.get(PYTEST_INI, b"").decode())
    paths = [f"{name.replace('.', '/')}.py" for name in plugins]
    found = [path for path in files if path.endswith(".py") and path.startswith((TESTS, STAND_INS))]
    return [*found, *(path for path in paths if path in files)]
