"""Assembles a release in memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foundation.assignment_file import Assignment, AssignmentError, read_assignment

from .archives.contents import HANDOUT, PROGRAMS, collect_gradescope, collect_instructor, collect_kit
from .archives.handed_out import read_given
from .archives.packing import (
    GRADESCOPE_ZIP,
    HANDED_OUT,
    INSTRUCTOR_ZIP,
    NOTEBOOKS_ZIP,
    STUDENT_ZIP,
    make_manifest,
    make_zip,
    remember,
)
from .archives.requirements import read_requirements
from .handout import make_handout
from .instructor_texts import named_pictures
from .notebooks.nbgrader_course import FOLDER as NOTEBOOKS_FOLDER
from .notebooks.nbgrader_course import Course, has_notebooks, make_course, read_efforts
from .preflight import check_inputs
from .problems import ReleaseError
from .skeleton.build import Skeleton, make_skeleton, read_folder

MANIFEST = "MANIFEST.json"


@dataclass(frozen=True)
class Project:
    """Where everything is.

    Args:
        root: holds `autograder/`, `data/`, `grade.py` and `pyproject.toml`.
        reference: the marked solution.
        output: gets `student/` and `dist/`.
        index: of CPU-only builds of PyTorch, for students and Gradescope's image; empty: pip's own settings there.
    """

    root: Path
    reference: Path
    output: Path
    index: str = ""

    @property
    def reference_name(self) -> str:
        """The reference as the user knows it: relative to the root where it is in there."""
        path = self.reference.resolve()
        return (
            path.relative_to(self.root.resolve()).as_posix() if path.is_relative_to(self.root.resolve()) else str(path)
        )


@dataclass(frozen=True)
class Release:
    """Everything that leaves the project.

    Args:
        assignment: what it was made for.
        skeleton: the students' package, and what the gates compare it with.
        folder: the files of `student/` by path: skeleton and handout.
        archives: by file name in `dist/`, the files of each by path.
        outputs: every file to write, by path from the output folder; `audience_of` tells whom each is for.
        course: the notebooks, where the project has any.
    """

    assignment: Assignment
    skeleton: Skeleton
    folder: Mapping[str, bytes]
    archives: Mapping[str, Mapping[str, bytes]]
    outputs: Mapping[str, bytes]
    course: Course | None = None


def make_package(project: Project) -> tuple[Assignment, Skeleton, dict[str, bytes]]:
    """What `student/` has to hold, by path. Raises: ReleaseError with every problem found."""
    try:
        assignment = read_assignment(project.root / "autograder" / "assignment" / "assignment.toml")
    except AssignmentError as error:
        raise ReleaseError(str(error)) from None
    reference = read_folder(project.reference)
    if not reference:
        raise ReleaseError(f"{project.reference_name}: no files there; name the folder with --reference")
    skeleton = make_skeleton(reference, assignment, project.reference_name, read_given(project.root, assignment))
    requirements = read_requirements(project.root, project.index)
    handout = make_handout(assignment, skeleton, read_efforts(project.root), requirements)
    pictures = named_pictures(project.root, handout.decode("utf-8"), HANDOUT)
    return assignment, skeleton, {**skeleton.files, HANDOUT: handout, **pictures}


def make_release(project: Project) -> Release:
    """Everything, in memory. Raises: ReleaseError with every problem found."""
    assignment, skeleton, folder = make_package(project)
    requirements = read_requirements(project.root, project.index)
    kit = collect_kit(project.root, assignment, skeleton.files, folder[HANDOUT], requirements)
    archives = {
        STUDENT_ZIP: kit,
        GRADESCOPE_ZIP: collect_gradescope(project.root, assignment, skeleton.files, project.index),
        INSTRUCTOR_ZIP: collect_instructor(project.root, project.reference, folder[HANDOUT]),
    }
    check_inputs(project.root, assignment)  # once nothing is missing
    course = make_course(project.root, assignment, skeleton, requirements) if has_notebooks(project.root) else None
    if course:
        handed_out = {**course.release, HANDED_OUT: remember(course.release, package="")}
        archives[NOTEBOOKS_ZIP] = {f"{NOTEBOOKS_FOLDER}/{path}": content for path, content in handed_out.items()}
        archives[INSTRUCTOR_ZIP] |= {
            f"instructor/{path}": content for path, content in course.kept.items() if path.endswith(".ipynb")
        }
    packed = {name: make_zip(files, programs=PROGRAMS) for name, files in archives.items()}
    notebooks = {**course.shipped, **course.kept} if course else {}
    manifest = make_manifest(
        folder, notebooks, {name: (packed[name], archives[name]) for name in archives}, requirements.versions()
    )
    outputs = {f"{assignment.package}/{path}": content for path, content in folder.items()}
    outputs |= {f"dist/{name}": content for name, content in packed.items()}
    outputs[f"dist/{MANIFEST}"] = manifest
    outputs |= notebooks
    return Release(assignment, skeleton, folder, archives, outputs, course)
