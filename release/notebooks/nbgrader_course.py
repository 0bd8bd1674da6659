"""Assembles nbgrader's course: the source with solutions, and what nbgrader makes of it for students."""

import logging
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foundation.assignment_file import Assignment

from ..archives.handed_out import GRADER, read_corpus, read_given, read_tests
from ..archives.packing import NOTEBOOK_SOURCES
from ..archives.requirements import REQUIREMENTS, Requirements
from ..instructor_texts import fill_in, named_pictures, read_text, words_of
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
        return {f"{NOTEBOOK_SOURCES}/{self.name}/{path}": content for path, content in self.source.items()}


def release_folder(name: str) -> str:
    """Where nbgrader has the students' version of the assignment of that name, from the project's root."""
    return f"{FOLDER}/release/{name}"


def has_notebooks(root: Path) -> bool:
    """Whether the project has prose for notebooks at all."""
    return (root / PROSE).is_dir()


def read_texts(root: Path) -> dict[str, str]:
    """The prose of each notebook by its path from the root; {} without notebooks."""
    names = [f"{PROSE}/{path.name}" for path in sorted((root / PROSE).glob("*.md"))]
    return {name: read_text(root / name, name) for name in names}


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
    parts = [part for name, text in read_texts(root).items() for part in read_prose(name, text)]
    return {part.number: part for part in parts if isinstance(part, TaskHead)}


def make_sources(root: Path, assignment: Assignment, definitions: list[Definition]) -> dict[str, bytes]:
    """The notebooks with solutions, by file name."""
    by_task: dict[str, list[Definition]] = {}
    for one in definitions:
        by_task.setdefault(one.task, []).append(one)
    prose = {name: read_prose(name, text) for name, text in read_texts(root).items()}
    check_tasks(prose, assignment)
    named = {Path(path).stem: parts for path, parts in prose.items()}
    return {f"{name}.ipynb": as_bytes(make_notebook(name, named[name], by_task, assignment)) for name in named}


def collect_support(
    root: Path, assignment: Assignment, skeleton: Skeleton, requirements: Requirements
) -> dict[str, bytes]:
    """What notebooks need beside them: helper, tests, skeleton, corpus and pictures.

    The skeleton's folder has another name than the package and lies two levels down: the grader ignores notebooks that
    lie beside modules.
    """
    support = read_tests(root, assignment, [_IN_NOTEBOOK])
    support |= {f"skeleton/{path}": content for path, content in skeleton.files.items()}
    handed_out = [*skeleton.files.values(), *read_given(root, assignment).values()]
    support |= read_corpus(root, assignment, handed_out)
    found = {f"{SUPPORT}/{path}": support[path] for path in sorted(support)}
    for name, text in read_texts(root).items():
        found |= named_pictures(root, text, name)
    handout = f"{FOLDER}/{HANDOUT}"
    readme = fill_in(read_text(root / handout, handout), handout, words_of(assignment, requirements.packages))
    found |= {HELPER: (root / FOLDER / HELPER).read_bytes(), "README.md": readme.encode("utf-8")}
    found[REQUIREMENTS] = requirements.as_file()
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
