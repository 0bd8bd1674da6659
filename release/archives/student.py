"""Which files students get beside their package.

All in one folder, `assignment/`:

    README.md · requirements.txt · pytest.ini · grade.py · student/ · given/ · data/corpus/ · autograder/ · foundation/

What stays: `reference/`, `given/extras/`, `release/`, `tests/`, `data/private/`, the generator of the corpus, and all
of `autograder/` that neither the tests nor `grade.py` import: what only a grading server needs.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from foundation.assignment_file import Assignment

from ..problems import Problem, ReleaseError
from ..skeleton.build import read_folder
from .needed_modules import needed_modules
from .packing import HANDED_OUT, remember
from .pictures import named_pictures

CORPUS = "data/corpus"
REQUIRED_CORPUS = ("fren.train.bpe", "fren.dev.bpe", "fren.test.src.bpe")

GRADER, FOUNDATION = "autograder", "foundation"
ASSIGNMENT = f"{GRADER}/assignment/assignment.toml"
TESTS = f"{GRADER}/assignment/tests/"
STAND_INS = f"{GRADER}/assignment/stand_ins/"
PYTEST_INI = f"{TESTS}pytest.ini"
"""Lies at the top of the archive, so that `python -m pytest` there runs the component tests."""

SCORER = "grade.py"
GIVEN = "given"
"""The package with training runs, translation and pictures, for any model."""

HANDOUT = "README.md"
REQUIREMENTS = "requirements.txt"

ARCHIVE_FOLDER = "assignment"
"""The one folder at the top of the archive, so that unpacking it spills nothing."""


@dataclass(frozen=True)
class Requirements:
    """From `pyproject.toml`: the kit's version, the Python it needs, and what students install.

    Args:
        index: of CPU-only builds of PyTorch, for pip; empty: whatever pip's own settings lead to.
    """

    version: str
    python: str
    packages: tuple[str, ...]
    index: str = ""

    def as_file(self) -> bytes:
        """The students' requirements.txt."""
        lines = [f"--extra-index-url {self.index}"] if self.index else []
        return "".join(f"{line}\n" for line in [*lines, *self.packages]).encode()


def read_requirements(root: Path, index: str = "") -> Requirements:
    """Reads `[project]`. Raises: ReleaseError where something is missing."""
    path = root / "pyproject.toml"
    try:
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        return Requirements(project["version"], project["requires-python"], tuple(project["dependencies"]), index)
    except (OSError, ValueError) as error:
        raise ReleaseError([Problem(path.name, 0, f"cannot be read ({error})", "correct it")]) from None
    except KeyError as error:
        right = "a release needs [project] version, requires-python and dependencies"
        raise ReleaseError([Problem(path.name, 0, f"has no {error}", right)]) from None


def versions_of(requirements: Requirements) -> dict[str, str]:
    """For the manifest: the kit, Python and every package, each as required."""
    versions = {"kit": requirements.version, "python": requirements.python}
    for requirement in requirements.packages:
        match = re.fullmatch(r"\s*([\w.-]+)\s*(.*)", requirement)
        if match:
            versions[match[1]] = match[2] or "any"
    return versions


def read_packages(root: Path) -> dict[str, bytes]:
    """The files of the grader and of what it stands on, by path from the project's root."""
    return {
        f"{package}/{path}": content
        for package in (GRADER, FOUNDATION)
        for path, content in read_folder(root / package).items()
    }


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
            raise ReleaseError([Problem(ASSIGNMENT, 0, what, "correct it there")])
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


def starts_of_tests(files: Mapping[str, bytes]) -> list[str]:
    """The modules that running the tests begins with: the tests, pytest's plugins for them, and the stand-ins.

    Everything else follows from their imports: the engine finds an assignment's own code by its path.
    """
    plugins = re.findall(r"-p (autograder\.[\w.]+)", files.get(PYTEST_INI, b"").decode())
    paths = [f"{name.replace('.', '/')}.py" for name in plugins]
    found = [path for path in files if path.endswith(".py") and path.startswith((TESTS, STAND_INS))]
    return [*found, *(path for path in paths if path in files)]


def modules_in(files: Iterable[str]) -> list[str]:
    """The Python files among some paths."""
    return [path for path in files if path.endswith(".py")]


def collect_kit(
    root: Path, assignment: Assignment, skeleton: Mapping[str, bytes], handout: bytes, requirements: Requirements
) -> dict[str, bytes]:
    """All files of the students' archive by path.

    Args:
        root: of the project.
        assignment: whose students get it.
        skeleton: the files of their package by path.
        handout: the text that students read first.
        requirements: what they install.

    Raises:
        ReleaseError: where a file that belongs in it is missing.
    """
    given = read_given(root, assignment)
    handed_out = [handout, *skeleton.values(), *given.values()]
    problems = [
        Problem(f"{CORPUS}/{name}", 0, "does not exist", "make the corpus: python -m data generate")
        for name in REQUIRED_CORPUS
        if not (root / CORPUS / name).is_file() and are_needed(CORPUS, assignment, handed_out)
    ]
    files = read_packages(root) | given
    tests = [path for path in files if path.startswith(TESTS) and path.endswith(".py")]
    if not tests:
        problems.append(Problem(TESTS, 0, "is empty", "students need the tests"))
    if PYTEST_INI not in files:
        problems.append(Problem(PYTEST_INI, 0, "does not exist", "students need it to run the tests"))
    scorer = [SCORER] if are_needed(SCORER, assignment, handed_out) else []
    if scorer and (root / SCORER).is_file():
        files[SCORER] = (root / SCORER).read_bytes()
    elif scorer:
        problems.append(Problem(SCORER, 0, "does not exist", "students need it to score their translations"))
    if problems:
        raise ReleaseError(problems)
    others = [path for path in files if path.startswith(TESTS) and not path.endswith(".py")]
    starts = [*starts_of_tests(files), *scorer, *modules_in(given)]
    names = {*needed_modules(files, (GRADER, FOUNDATION), starts), *given, *others, ASSIGNMENT}
    kit = {path: files[path] for path in names - {PYTEST_INI}}
    kit[PurePosixPath(PYTEST_INI).name] = files[PYTEST_INI]
    kit |= {f"{assignment.package}/{path}": content for path, content in skeleton.items()}
    kit |= read_corpus(root, assignment, handed_out)
    kit[HANDOUT] = handout
    kit |= named_pictures(root, handout.decode("utf-8"), HANDOUT)
    kit[REQUIREMENTS] = requirements.as_file()
    kit[HANDED_OUT] = remember(kit, assignment.package)
    return {f"{ARCHIVE_FOLDER}/{path}": kit[path] for path in sorted(kit)}
