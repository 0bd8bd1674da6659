"""Assembles a release in memory, and writes it once the gates have passed."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foundation.assignment_file import Assignment, AssignmentError, read_assignment
from foundation.whole_files import in_one_piece

from .archives.archive import checksum, make_manifest, make_zip
from .archives.audience import GRADESCOPE_ZIP, INSTRUCTOR_ZIP, NOTEBOOKS_FOLDER, NOTEBOOKS_ZIP, STUDENT_ZIP
from .archives.gradescope import PROGRAMS, collect_gradescope
from .archives.handout import make_handout
from .archives.instructor import collect_instructor
from .archives.student import HANDOUT, collect_kit, read_requirements, versions_of
from .notebooks.course import PROSE, RELEASE, SOURCE, Course, has_notebooks, make_course, read_efforts
from .problems import ReleaseError
from .skeleton.build import Skeleton, make_skeleton, read_folder
from .update.folder import HANDED_OUT, remember

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
    """All that leaves.

    Args:
        assignment: what it was made for.
        skeleton: the students' package, and what the gates need to know of the reference.
        folder: the files of `student/` by path: skeleton and handout.
        archives: by file name in `dist/`: the files in it by path.
        outputs: every file to write, by path from the output folder; `audience_of` says whom each is for.
        course: the notebooks, where the project has any.
    """

    assignment: Assignment
    skeleton: Skeleton
    folder: Mapping[str, bytes]
    archives: Mapping[str, Mapping[str, bytes]]
    outputs: Mapping[str, bytes]
    course: Course | None = None


def make_folder(project: Project) -> tuple[Assignment, Skeleton, dict[str, bytes]]:
    """What `student/` has to hold, by path. Raises: ReleaseError with every problem found."""
    try:
        assignment = read_assignment(project.root / "autograder" / "assignment" / "assignment.toml")
    except AssignmentError as error:
        raise ReleaseError(str(error)) from None
    reference = read_folder(project.reference)
    if not reference:
        raise ReleaseError(f"{project.reference_name}: no files there; name the folder with --reference")
    skeleton = make_skeleton(reference, assignment, project.reference_name)
    handout = make_handout(assignment, skeleton, read_efforts(project.root))
    return assignment, skeleton, {**skeleton.files, HANDOUT: handout}


def make_release(project: Project) -> Release:
    """Everything, in memory. Raises: ReleaseError with every problem found."""
    assignment, skeleton, folder = make_folder(project)
    requirements = read_requirements(project.root, project.index)
    kit = collect_kit(project.root, assignment.package, skeleton.files, folder[HANDOUT], requirements)
    archives = {
        STUDENT_ZIP: kit,
        GRADESCOPE_ZIP: collect_gradescope(project.root, assignment.package, skeleton.files, project.index),
        INSTRUCTOR_ZIP: collect_instructor(project.root, project.reference, folder[HANDOUT]),
    }
    course = make_course(project.root, assignment, skeleton, requirements) if has_notebooks(project.root) else None
    if course:
        handed_out = {**course.release, HANDED_OUT: remember(course.release, package="")}
        archives[NOTEBOOKS_ZIP] = {f"{NOTEBOOKS_FOLDER}/{path}": content for path, content in handed_out.items()}
        archives[INSTRUCTOR_ZIP] |= {
            f"instructor/{path}": content for path, content in course.kept.items() if path.endswith(".ipynb")
        }
    packed = {name: make_zip(files, programs=PROGRAMS) for name, files in archives.items()}
    manifest = make_manifest(
        folder, {name: (packed[name], archives[name]) for name in archives}, versions_of(requirements)
    )
    outputs = {f"{assignment.package}/{path}": content for path, content in folder.items()}
    outputs |= {f"dist/{name}": content for name, content in packed.items()}
    outputs[f"dist/{MANIFEST}"] = manifest
    outputs |= {**course.shipped, **course.kept} if course else {}
    return Release(assignment, skeleton, folder, archives, outputs, course)


def write_files(files: Mapping[str, bytes], folder: Path) -> list[str]:
    """Writes each file whole or not at all, leaves alone what is the same, and names what changed."""
    changed = []
    for name, content in files.items():
        path = folder / name
        if path.is_file() and path.read_bytes() == content:
            continue
        with in_one_piece(path) as unfinished:
            unfinished.write_bytes(content)
            unfinished.chmod(0o644)
        changed.append(name)
    return changed


def check_target(release: Release, output: Path) -> set[str]:
    """Names the files in `student/` that someone has written by hand and that the release does not touch.

    Raises:
        ReleaseError: where such a file stands in the way of one that the release makes.
    """
    target = output / release.assignment.package
    by_hand = _written_by_hand(read_folder(target), release.folder, target, output / "dist" / MANIFEST)
    edited = sorted(by_hand & release.folder.keys())
    if edited:
        names = "\n".join(f"  {target.name}/{name}" for name in edited)
        what = f"written by hand since the last build, and not to be lost:\n{names}\n"
        raise ReleaseError(f"{what}edit the reference instead, or overwrite them with --force")
    return by_hand


def write_release(release: Release, output: Path, force: bool = False) -> list[str]:
    """Puts the release in place and returns the files that changed or went.

    A file in `student/` that someone has written by hand is not removed, and overwritten only by `force`.

    Raises:
        ReleaseError: where such a file stands in the way.
    """
    target = output / release.assignment.package
    present = read_folder(target)
    if force:
        by_hand = _written_by_hand(present, release.folder, target, output / "dist" / MANIFEST)
    else:
        by_hand = check_target(release, output)
    changed = write_files(release.outputs, output)
    for name in sorted(present.keys() - release.folder.keys() - by_hand):
        (target / name).unlink()
        changed.append(f"{target.name}/{name}")
    for path in _other_notebooks(release, output):
        path.unlink()
        changed.append(path.relative_to(output).as_posix())
    return changed


def _other_notebooks(release: Release, output: Path) -> list[Path]:
    """The notebooks of an earlier build that this one does not make."""
    found = [path for folder in (SOURCE, RELEASE) for path in sorted((output / folder).glob("*.ipynb"))]
    return [path for path in found if release.course and path.relative_to(output).as_posix() not in release.outputs]


def compare_folder(project: Project) -> list[str]:
    """One line a file in which the folder `student/` is not what the reference makes; empty where it is."""
    assignment, _, expected = make_folder(project)
    present = read_folder(project.output / assignment.package)
    return _compare(assignment.package, expected, present, project.reference_name)


def compare_notebooks(project: Project) -> list[str]:
    """The same for the students' notebooks."""
    if not has_notebooks(project.root):
        return []
    assignment, skeleton, _ = make_folder(project)
    course = make_course(project.root, assignment, skeleton, read_requirements(project.root))
    expected, present = (
        {name: content for name, content in files.items() if name.endswith(".ipynb")}
        for files in (course.release, read_folder(project.output / RELEASE))
    )
    return _compare(RELEASE, expected, present, f"{PROSE}/ and {project.reference_name}")


def _compare(folder: str, expected: Mapping[str, bytes], present: Mapping[str, bytes], origin: str) -> list[str]:
    lines = []
    for name in sorted(expected.keys() | present.keys()):
        if name not in present:
            lines.append(f"{folder}/{name} is missing")
        elif name not in expected:
            lines.append(f"{folder}/{name} is not made from {origin}/")
        elif present[name] != expected[name]:
            lines.append(f"{folder}/{name} is out of date")
    return lines


def _written_by_hand(present: Mapping[str, bytes], new: Mapping[str, bytes], target: Path, manifest: Path) -> set[str]:
    """The files that neither the last build nor git knows as they are now."""
    try:
        last = json.loads(manifest.read_text(encoding="utf-8"))["student"]
    except (OSError, ValueError, KeyError):
        last = {}
    unknown = {
        name for name, content in present.items() if new.get(name) != content and last.get(name) != checksum(content)
    }
    return unknown - _unchanged_in_git(target, unknown)


def _unchanged_in_git(folder: Path, names: set[str]) -> set[str]:
    """Those of the files that git has as they are, so that nothing is lost with them."""
    if not names:
        return set()
    try:
        tracked = _git(folder, "ls-files", "-z", "--", ".")
        dirty = _git(folder, "diff", "HEAD", "--name-only", "--relative", "-z", "--", ".")
    except (OSError, subprocess.CalledProcessError):
        return set()
    return names & tracked - dirty


def _git(folder: Path, *arguments: str) -> set[str]:
    finished = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True)
    return set(filter(None, finished.stdout.decode("utf-8", "surrogateescape").split("\0")))
