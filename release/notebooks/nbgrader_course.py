"""Assembles nbgrader's course: the source with solutions, and what nbgrader makes of it for students."""

import logging
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from foundation.assignment_file import Assignment

from ..archives.audience import NOTEBOOK_SOURCES
from ..archives.handout import words_of
from ..archives.needed_modules import needed_modules
from ..archives.pictures import named_pictures
from ..archives.student import (
    ASSIGNMENT,
    FOUNDATION,
    GRADER,
    TESTS,
    Requirements,
    modules_in,
    read_corpus,
    read_given,
    read_packages,
    starts_of_tests,
)
from ..instructor_texts import fill_in, read_text
from ..problems import ReleaseError
from ..skeleton.build import Skeleton, read_folder
from .answers import Definition, find_definitions
from .prose import TaskHead, read_prose
from .source_notebook import as_bytes, check_tasks, make_notebook

FOLDER = "notebooks"
PROSE = f"{FOLDER}/prose"
HELPER = "course.py"
CONFIG = "nbgrader_config.py"
HANDOUT = "handout.md"
FILES = (HELPER, CONFIG, HANDOUT)
SUPPORT = "support"  # the folder beside notebooks with what they import
_IN_NOTEBOOK = f"{GRADER}/testing/notebook/__init__.py"


@dataclass(frozen=True)
class Course:
    """Both versions of the assignment's folder.

    Args:
        name: nbgrader's name of the assignment.
        source: files by path, with solutions; they stay with the instructor.
        release: files by path, as students get them.
        definitions: what the answer cells hold.
    """

    name: str
    source: Mapping[str, bytes]
    release: Mapping[str, bytes]
    definitions: tuple[Definition, ...]

    @property
    def shipped(self) -> dict[str, bytes]:
        """What students get, by path from the project's root."""
        return {f"{release_folder(self.name)}/{path}": content for path, content in self.release.items()}

    @property
    def kept(self) -> dict[str, bytes]:
        """What stays with the instructor, likewise."""
        return {f"{source_folder(self.name)}/{path}": content for path, content in self.source.items()}


def source_folder(name: str) -> str:
    """Where nbgrader has the version with solutions of the assignment of that name, from the project's root."""
    return f"{NOTEBOOK_SOURCES}/{name}"


def release_folder(name: str) -> str:
    """The same for the students' version."""
    return f"{FOLDER}/release/{name}"


def has_notebooks(root: Path) -> bool:
    """Whether the project has prose for notebooks at all."""
    return (root / PROSE).is_dir()


def prose_files(root: Path) -> Iterator[tuple[str, Path]]:
    """The prose of each notebook: its path from the root, for messages, and where it is."""
    for path in sorted((root / PROSE).glob("*.md")):
        yield f"{PROSE}/{path.name}", path


def make_course(root: Path, assignment: Assignment, skeleton: Skeleton, requirements: Requirements) -> Course:
    """The whole course, in memory.

    Raises:
        ReleaseError: with the faults of the prose, or nbgrader's reason to refuse.
    """
    definitions = find_definitions(skeleton, assignment)
    support = collect_support(root, assignment, skeleton, requirements)
    source = {**make_sources(root, assignment, definitions), **support}
    return Course(assignment.name, source, generate(root, assignment.name, source), tuple(definitions))


def read_efforts(root: Path) -> dict[str, TaskHead]:
    """Difficulty and minutes of each task by its number, as the notebooks' headings give them; {} without notebooks."""
    parts = [part for name, path in prose_files(root) for part in read_prose(name, read_text(path, name))]
    return {part.number: part for part in parts if isinstance(part, TaskHead)}


def make_sources(root: Path, assignment: Assignment, definitions: list[Definition]) -> dict[str, bytes]:
    """The notebooks with solutions, by file name."""
    by_task: dict[str, list[Definition]] = {}
    for one in definitions:
        by_task.setdefault(one.task, []).append(one)
    prose = {name: read_prose(name, read_text(path, name)) for name, path in prose_files(root)}
    check_tasks(prose, assignment)
    return {
        f"{name}.ipynb": as_bytes(make_notebook(name, parts, by_task, assignment))
        for name, parts in ((Path(path).stem, parts) for path, parts in prose.items())
    }


def collect_support(
    root: Path, assignment: Assignment, skeleton: Skeleton, requirements: Requirements
) -> dict[str, bytes]:
    """What notebooks need beside them: helper, tests, skeleton, corpus and pictures.

    The skeleton's folder has another name than the package and lies two levels down: the grader ignores notebooks that
    lie beside modules.
    """
    given = read_given(root, assignment)
    files = read_packages(root) | given
    tests = [path for path in files if path.startswith(TESTS)]
    starts = [*starts_of_tests(files), _IN_NOTEBOOK, *modules_in(given)]
    needed = {*needed_modules(files, (GRADER, FOUNDATION), starts), *given, *tests, ASSIGNMENT}
    support = {path: files[path] for path in needed}
    support |= {f"skeleton/{path}": content for path, content in skeleton.files.items()}
    support |= read_corpus(root, assignment, [*skeleton.files.values(), *given.values()])
    found = {f"{SUPPORT}/{path}": support[path] for path in sorted(support)}
    for name, path in prose_files(root):
        found |= named_pictures(root, read_text(path, name), name)
    found[HELPER] = (root / FOLDER / HELPER).read_bytes()
    handout = f"{FOLDER}/{HANDOUT}"
    words = words_of(assignment, requirements)
    found["README.md"] = fill_in(read_text(root / handout, handout), handout, words).encode("utf-8")
    found["requirements.txt"] = requirements.as_file()
    return found


def generate(root: Path, assignment_name: str, source: Mapping[str, bytes]) -> dict[str, bytes]:
    """What `nbgrader generate_assignment` makes of the source, in a folder of its own and without a database."""
    # Here: nbgrader takes a second to load, and only this needs it.
    from nbgrader.converters import GenerateAssignment, NbGraderException
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config.loader import PyFileConfigLoader

    config = PyFileConfigLoader(CONFIG, path=str(root / FOLDER)).load_config()
    with tempfile.TemporaryDirectory(prefix="course-") as name:
        folder = Path(name).resolve()
        for path, content in source.items():
            if path.endswith(".ipynb"):
                target = folder / "source" / assignment_name / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        config.CourseDirectory.root = str(folder)
        config.CourseDirectory.assignment_id = assignment_name
        config.GenerateAssignment.no_database, config.SaveCells.enabled = True, False
        refusal = _Refusal()
        coursedir = CourseDirectory(config=config, log=refusal.log)
        try:
            GenerateAssignment(coursedir=coursedir, config=config, log=refusal.log).start()
        except (NbGraderException, SystemExit) as error:
            raise ReleaseError(f"{FOLDER}: nbgrader refuses the assignment: {refusal.cause or error}") from None
        notebooks = read_folder(folder / "release" / assignment_name)
    return {**notebooks, **{path: content for path, content in source.items() if not path.endswith(".ipynb")}}


class _Refusal(logging.Handler):
    """Keeps the cause of nbgrader's refusal, and prints nothing."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.cause = ""
        self.log = logging.Logger("nbgrader")
        self.log.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        lines = record.getMessage().strip().split("\n")
        self.cause = lines[-1] if "Traceback" in record.getMessage() else self.cause or lines[0]
