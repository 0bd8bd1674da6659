"""Which of the project's files leave it: the tests with all that they import, what is given, and the corpus.

What stays: `reference/`, `release/`, `tests/`, `data/private/`, the generator of the corpus, what `[release]
instructor_only` names, and all of `autograder/` that neither the tests nor `grade.py` import: what only a grading
server needs.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from foundation.assignment_file import Assignment

from ..problems import Problem, ReleaseError
from ..skeleton.build import ASSIGNMENT_FILE, read_folder
from ..skeleton.source import read_source

CORPUS = "data/corpus"
REQUIRED_CORPUS = ("fren.train.bpe", "fren.dev.bpe", "fren.test.src.bpe")

GRADER, FOUNDATION = "autograder", "foundation"
TESTS = f"{GRADER}/assignment/tests/"
STAND_INS = f"{GRADER}/assignment/stand_ins/"
PYTEST_INI = f"{TESTS}pytest.ini"

SCORER = "grade.py"
GIVEN = "given"
"""The package with training runs, translation and pictures, for any model."""


def read_packages(root: Path) -> dict[str, bytes]:
    """The files of the grader, of what it stands on, and the scorer, by path from the project's root."""
    files = {
        f"{package}/{path}": content
        for package in (GRADER, FOUNDATION)
        for path, content in read_folder(root / package).items()
    }
    return files | ({SCORER: (root / SCORER).read_bytes()} if (root / SCORER).is_file() else {})


def read_given(root: Path, assignment: Assignment) -> dict[str, bytes]:
    """The files that students get of `given/`, by path from the project's root; none where there is no such folder.

    Raises:
        ReleaseError: where `[release] instructor_only` names what is not there.
    """
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


def are_needed(what: str, assignment: Assignment, handed_out: Iterable[bytes]) -> bool:
    """Whether students need the corpus, or the scorer: BLEU decides on points, or what they get names it."""
    return assignment.judges_translations or any(what.encode() in content for content in handed_out)


def read_corpus(root: Path, assignment: Assignment, handed_out: Iterable[bytes]) -> dict[str, bytes]:
    """The files of the students' corpus, by path from the project's root; none where they do not need it."""
    if not are_needed(CORPUS, assignment, handed_out):
        return {}
    return {f"{CORPUS}/{path}": content for path, content in read_folder(root / CORPUS).items()}


def read_tests(root: Path, assignment: Assignment, starts: Iterable[str] = ()) -> dict[str, bytes]:
    """The tests and what is given, with all that these import of the kit, by path from the project's root.

    Args:
        root: of the project.
        assignment: whose students get it.
        starts: further modules that they need.
    """
    given = read_given(root, assignment)
    files = read_packages(root) | given
    modules = [path for path in given if path.endswith(".py")]
    needed = needed_modules(files, [*starts_of_tests(files), *modules, *starts])
    others = {path for path in files if path.startswith(TESTS) and not path.endswith(".py")}
    return {path: files[path] for path in sorted({*needed, *given, *others, ASSIGNMENT_FILE})}


def starts_of_tests(files: Mapping[str, bytes]) -> list[str]:
    """The modules that running the tests begins with: the tests, pytest's plugins for them, and the stand-ins.

    Everything else follows from their imports: the engine finds an assignment's own code by its path.
    """
    plugins = re.findall(r"-p (autograder\.[\w.]+)", files.get(PYTEST_INI, b"").decode())
    paths = [f"{name.replace('.', '/')}.py" for name in plugins]
    found = [path for path in files if path.endswith(".py") and path.startswith((TESTS, STAND_INS))]
    return [*found, *(path for path in paths if path in files)]


def needed_modules(files: Mapping[str, bytes], starts: Iterable[str]) -> set[str]:
    """The paths of all modules that the starting files import, directly or not, and of these themselves.

    Args:
        files: content by path from the project's root; modules that are not among them are not followed.
        starts: paths of the files to begin with.

    Raises:
        ReleaseError: where one of them is not valid Python.
    """
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


def _imported(path: str, content: bytes) -> Iterator[str]:
    """Absolute names of the modules that a file may import; `from a import b` gives both `a` and `a.b`."""
    parts = path.removesuffix(".py").split("/")
    waiting: list[ast.AST] = [read_source(path, content).tree]
    while waiting:
        node = waiting.pop()
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):  # nothing runs that block
            waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = ".".join(parts[: len(parts) - node.level]) if node.level else ""
            module = ".".join(filter(None, (origin, node.module)))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
