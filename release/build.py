"""A release, made in memory and put in its place."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from foundation.assignment_file import Assignment, read_assignment
from foundation.places import HANDED_OUT
from foundation.whole_files import make_zip, write_whole

from . import packing
from .contents import PROGRAMS, check_corpus, collect_gradescope, collect_instructor, collect_kit, read_given
from .handout import HANDOUT, make_guide, make_handout, named_pictures
from .leaks import LeakFinder
from .notebooks import FOLDER as NOTEBOOKS_FOLDER
from .notebooks import Course, make_course
from .prose import Part, Prose, read_prose_folder
from .skeleton import ASSIGNMENT_FILE, Project, ReleaseError, Skeleton, make_skeleton, read_folder

MANIFEST = f"dist/{packing.MANIFEST}"


@dataclass(frozen=True)
class Release:
    """Everything that leaves the project."""

    skeleton: Skeleton
    archives: Mapping[str, Mapping[str, bytes]]  # by file name in `dist/`, the files of each by path
    outputs: Mapping[str, bytes]  # every file to write, by path; `audience_of` has whom each is for
    course: Course | None = None  # where the project has notebooks

    @property
    def assignment(self) -> Assignment:
        """The assignment that it was made for."""
        return self.skeleton.assignment

    @cached_property
    def folder(self) -> dict[str, bytes]:
        """The files of `student/` by path: skeleton and handout."""
        inside = f"{self.assignment.package}/"
        return {path.removeprefix(inside): text for path, text in self.outputs.items() if path.startswith(inside)}

    @cached_property
    def shipped(self) -> dict[str, bytes]:
        """Every file by path, also those in the archives as they were packed."""
        members = [member for path, packed in self.outputs.items() for member in packing.members_of(path, packed)]
        return {**self.outputs, **dict(members)}

    @cached_property
    def leak_finder(self) -> LeakFinder:
        """The search for this release's solutions in other files."""
        return LeakFinder(self.skeleton)


class Package(NamedTuple):
    """The students' package, the prose of the notebooks, and the handout's files by path."""

    skeleton: Skeleton
    prose: Prose
    handout: Mapping[str, bytes]


def make_package(project: Project) -> Package:
    """Make the students' package, and the handout with its pictures. Raises: ReleaseError."""
    assignment = read_assignment(project.root / ASSIGNMENT_FILE)
    reference = read_folder(project.reference)
    if not reference:
        raise ReleaseError(f"{project.reference}: no files there; the marked solution belongs there")
    skeleton = make_skeleton(reference, assignment, read_given(project.root, assignment))
    packages = packing.read_requirements(project.root, notebooks=False)
    prose = read_prose_folder(project.root)
    handout = make_handout(skeleton, prose, packages)
    pictures = named_pictures(project.root, {HANDOUT: [Part("text", handout.decode("utf-8"))]})
    return Package(skeleton, prose, {HANDOUT: handout, **pictures})


def make_release(project: Project) -> Release:
    """Make everything, in memory. Raises: ReleaseError with every problem found."""
    skeleton, prose, handout = make_package(project)
    assignment = skeleton.assignment
    if assignment.judges_translations:
        check_corpus(project.root)
    course = make_course(project, skeleton, prose) if prose else None
    guide = make_guide(project.root, skeleton, prose) if prose else {}
    archives = {
        packing.STUDENT_ZIP: collect_kit(project, skeleton, {**handout, **guide}),
        packing.GRADESCOPE_ZIP: collect_gradescope(project, skeleton),
        packing.INSTRUCTOR_ZIP: collect_instructor(project.root, handout[HANDOUT]),
    }
    outputs = skeleton.placed | {f"{assignment.package}/{path}": content for path, content in handout.items()}
    if course:
        handed_out = {**course.release, HANDED_OUT: make_zip(course.release)}
        archives[packing.NOTEBOOKS_ZIP] = {f"{NOTEBOOKS_FOLDER}/{path}": text for path, text in handed_out.items()}
        kept = {f"{packing.NOTEBOOK_SOURCES}/{assignment.name}/{path}": text for path, text in course.source.items()}
        solved = [path for path in kept if path.endswith(".ipynb")]
        archives[packing.INSTRUCTOR_ZIP] |= {f"instructor/{path}": kept[path] for path in solved}
        shipped = f"{NOTEBOOKS_FOLDER}/release/{assignment.name}"
        outputs |= kept | {f"{shipped}/{path}": text for path, text in course.release.items()}
    outputs |= {f"dist/{name}": make_zip(files, programs=PROGRAMS) for name, files in archives.items()}
    sums = {path: packing.checksum(content) for path, content in sorted(outputs.items())}
    outputs[MANIFEST] = f"{json.dumps(sums, indent=2, ensure_ascii=False)}\n".encode()
    return Release(skeleton, archives, outputs, course)


def write_release(release: Release, output: Path) -> list[str]:
    """Put the release in place of the last one, but for files changed since; return those that changed or went."""
    changed = []
    manifest = output / MANIFEST
    last = json.loads(manifest.read_bytes()) if manifest.is_file() else {}  # before the new one takes its place
    for name, content in release.outputs.items():
        path = output / name
        if path.is_file() and path.read_bytes() == content:
            continue
        write_whole(path, content)
        path.chmod(0o644)
        changed.append(name)
    for name in last.keys() - release.outputs.keys():
        path = output / name
        if path.is_file() and packing.checksum(path.read_bytes()) == last[name]:
            path.unlink()
            changed.append(name)
    return changed
