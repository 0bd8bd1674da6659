"""Puts a release in its place, and compares what lies there with what the reference makes.

What someone has written by hand in `student/` is neither removed nor, without `--force`, overwritten.
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from foundation.whole_files import in_one_piece

from .archives.packing import checksum
from .archives.student import read_requirements
from .build import MANIFEST, Project, Release, make_package
from .notebooks.nbgrader_course import PROSE, has_notebooks, make_course, release_folder
from .problems import ReleaseError
from .skeleton.build import read_folder


def write_files(files: Mapping[str, bytes], folder: Path) -> list[str]:
    """Writes each file that differs, whole or not at all, and names the files that changed."""
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
        what = f"edited by hand since the last build:\n{names}\n"
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
    left_over = _left_over(release, output)  # before the new manifest takes the old one's place
    changed = write_files(release.outputs, output)
    for name in sorted(present.keys() - release.folder.keys() - by_hand):
        (target / name).unlink()
        changed.append(f"{target.name}/{name}")
    for name in left_over:
        (output / name).unlink()
        changed.append(name)
    return changed


def _left_over(release: Release, output: Path) -> list[str]:
    """The course's files, still as the last build made them, that this one does not make."""
    last = _last_build(output / "dist" / MANIFEST, "notebooks")
    gone = sorted(last.keys() - release.outputs.keys())
    return [name for name in gone if (output / name).is_file() and checksum((output / name).read_bytes()) == last[name]]


def compare_package(project: Project) -> list[str]:
    """One line for each file in `student/` that is not what the reference makes."""
    assignment, _, expected = make_package(project)
    present = read_folder(project.output / assignment.package)
    return _compare(assignment.package, expected, present, project.reference_name)


def compare_notebooks(project: Project) -> list[str]:
    """The same for the students' notebooks."""
    if not has_notebooks(project.root):
        return []
    assignment, skeleton, _ = make_package(project)
    folder = release_folder(assignment.name)
    course = make_course(project.root, assignment, skeleton, read_requirements(project.root))
    expected, present = (
        {name: content for name, content in files.items() if name.endswith(".ipynb")}
        for files in (course.release, read_folder(project.output / folder))
    )
    return _compare(folder, expected, present, f"{PROSE}/ and {project.reference_name}")


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
    """The files whose present content neither the last build nor git has."""
    last = _last_build(manifest, "student")
    unknown = {
        name for name, content in present.items() if new.get(name) != content and last.get(name) != checksum(content)
    }
    return unknown - _unchanged_in_git(target, unknown)


def _last_build(manifest: Path, part: str) -> dict[str, str]:
    """The checksums of what the last build made, by path; none where nothing tells."""
    try:
        return dict(json.loads(manifest.read_text(encoding="utf-8"))[part])
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _unchanged_in_git(folder: Path, names: set[str]) -> set[str]:
    """The files that git has as they are, so that overwriting them loses nothing."""
    if not names:
        return set()
    try:
        tracked = _git(folder, "ls-files", "-z", "--", ".")
        dirty = _git(folder, "diff", "HEAD", "--name-only", "--relative", "-z", "--", ".")
    except (OSError, subprocess.CalledProcessError):
        return set()
    return names & tracked - dirty


def _git(folder: Path, *arguments: str) -> set[str]:
    finished = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True)  # noqa: S603, S607 (no file name is passed; git lies where the user has it)
    return set(filter(None, finished.stdout.decode("utf-8", "surrogateescape").split("\0")))
