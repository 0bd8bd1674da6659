"""Puts a release in its place, and compares what lies there with what the reference makes.

What someone has written by hand in `student/` is neither removed nor, without `--force`, overwritten.
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from foundation.whole_files import in_one_piece

from .archives.packing import checksum
from .archives.requirements import read_requirements
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


def check_target(release: Release, output: Path, force: bool = False) -> set[str]:
    """Names the files in `student/` that someone has written by hand: neither the last build nor git has them so.

    Raises:
        ReleaseError: where such a file stands in the way of one that the release makes, unless `force`.
    """
    target = output / release.assignment.package
    last = _last_build(output, "student")
    by_hand = {
        name
        for name, content in read_folder(target).items()
        if release.folder.get(name) != content and last.get(name) != checksum(content)
    }
    by_hand -= _unchanged_in_git(target) if by_hand else set()
    edited = sorted(by_hand & release.folder.keys())
    if edited and not force:
        names = "\n".join(f"  {target.name}/{name}" for name in edited)
        what = f"edited by hand since the last build:\n{names}\n"
        raise ReleaseError(f"{what}edit the reference instead, or overwrite them with --force")
    return by_hand


def write_release(release: Release, output: Path, force: bool = False) -> list[str]:
    """Puts the release in place and returns the files that changed or went.

    What an earlier build has made and this one does not goes, unless someone has changed it by hand; a file in
    `student/` that was changed by hand is overwritten only by `force`.

    Raises:
        ReleaseError: where such a file stands in the way.
    """
    package = release.assignment.package
    by_hand = check_target(release, output, force)
    present = read_folder(output / package)
    gone = [f"{package}/{name}" for name in sorted(present.keys() - release.folder.keys() - by_hand)]
    last = _last_build(output, "notebooks")  # before the new manifest takes the old one's place
    for name in sorted(last.keys() - release.outputs.keys()):
        if (output / name).is_file() and checksum((output / name).read_bytes()) == last[name]:
            gone.append(name)
    changed = write_files(release.outputs, output)
    for name in gone:
        (output / name).unlink()
    return changed + gone


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


def _last_build(output: Path, part: str) -> dict[str, str]:
    """The checksums of what the last build made, by path; none where nothing tells."""
    try:
        return dict(json.loads((output / "dist" / MANIFEST).read_text(encoding="utf-8"))[part])
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _unchanged_in_git(folder: Path) -> set[str]:
    """The files that git has as they are, so that overwriting them loses nothing."""
    try:
        tracked = _git(folder, "ls-files", "-z", "--", ".")
        return tracked - _git(folder, "diff", "HEAD", "--name-only", "--relative", "-z", "--", ".")
    except (OSError, subprocess.CalledProcessError):
        return set()


def _git(folder: Path, *arguments: str) -> set[str]:
    finished = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True)  # noqa: S603, S607 (no file name is passed; git lies where the user has it)
    return set(filter(None, finished.stdout.decode("utf-8", "surrogateescape").split("\0")))
