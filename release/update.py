"""`python -m release update FOLDER`: a corrected release for students who have begun."""

import argparse
import io
import json
import os
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from foundation.command_line import Parser
from foundation.whole_files import write_whole

from .build import Project, Release, make_release
from .contents import ARCHIVE_FOLDER
from .merging import NotebookError, merge_notebook, merge_texts
from .notebooks import FOLDER as NOTEBOOKS_FOLDER
from .packing import (
    CHECKSUMS,
    HANDED_OUT,
    NOTEBOOKS_ZIP,
    REQUIREMENTS,
    STUDENT_ZIP,
    ZIP_DAMAGE,
    checksum,
    make_zip,
    remember,
)
from .regions import ReleaseError

CONFLICTS = 1
MERGED = (".py", ".ipynb")


@dataclass
class Plan:
    """What an update would do; nothing is written yet.

    Args:
        folder: the student's.
        writes: new content by path.
        removals: files of the old release that the new one lacks, still as they were handed out.
        merged: files with work of the student and news of the release.
        conflicts: one line for each: where, and what was kept.
        before: the content of everything that will be changed or removed.
    """

    folder: Path
    writes: dict[str, bytes] = field(default_factory=dict)
    removals: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    before: dict[str, bytes] = field(default_factory=dict)


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> Parser:
    """Adds `update` to the release's commands."""
    update = commands.add_parser(
        "update",
        help="bring the corrected release into a student's folder",
        description="Merge the changes of the release into a folder that a student has worked in. Answers stay. Where "
        "both have changed the same lines, the student's lines stay, the place is listed, and the release's file is "
        "put beside it as FILE.new. A backup of all changed files goes into before-update-N.zip.",
        epilog="example: python -m release update students/anna --dry-run",
    )
    update.set_defaults(run=run_update, torch_index="", output=None)  # it writes into the student's folder alone
    update.add_argument("student_folder", type=Path, help="the unpacked archive, or the package in it")
    base_help = f"the archive that was handed out (default: what the folder's own {HANDED_OUT} says)"
    update.add_argument("--base", type=Path, help=base_help)
    update.add_argument("--dry-run", action="store_true", help="only show what would be done")
    return update


def run_update(options: argparse.Namespace, project: Project) -> int:
    """Returns 0 where everything could be merged, 1 where conflicts are left to the student."""
    folder = options.student_folder
    if not folder.is_dir():
        raise ReleaseError(f"{folder}: is not a folder; name the one that a student works in")
    release = make_release(replace(project, index=_index_in(folder)))
    package = release.assignment.package
    archive = _archive_of(folder, release)
    new = _unpacked(release.archives[archive])
    base = _read_archive(options.base, archive) if options.base else {}
    if not (folder / package).is_dir():
        if archive == STUDENT_ZIP:
            new, base = _within(new, package), _within(base, package)
        package = ""
    handed_out = remember(base, package) if base else None
    plan = make_plan(folder, {**new, HANDED_OUT: remember(new, package)}, handed_out)
    backup = None if options.dry_run else apply(plan)
    print(_as_text(plan, backup, options.dry_run))
    return CONFLICTS if plan.conflicts else 0


def make_plan(folder: Path, new: Mapping[str, bytes], handed_out: bytes | None = None) -> Plan:
    """Compares; writes nothing.

    Args:
        folder: where the student works.
        new: the files of the new release, HANDED_OUT the last of them.
        handed_out: as `remember` made it for the old release; None: the one in the folder.

    Raises:
        ReleaseError: where the folder is not one that was handed out.
    """
    old, sums = _read_handed_out(folder, handed_out)
    plan = Plan(folder)
    for path, content in new.items():
        present = _read(folder, path)
        if path == HANDED_OUT or present is None:
            wanted = content
        elif present == content or checksum(content) == sums.get(path):
            continue  # nothing new in it
        elif checksum(present) == sums.get(path):
            wanted = content
        else:
            wanted = _merge(plan, path, old.get(path), present, content)
        if wanted != present:
            plan.writes[path] = wanted
    for path in sorted(sums.keys() - new.keys()):
        present = _read(folder, path)
        if present is not None and checksum(present) == sums[path]:
            plan.removals.append(path)
        elif present is not None:
            plan.conflicts.append(f"{path}: no longer part of the release; you have changed it, and it stays")
    for path in (*plan.writes, *plan.removals):
        present = _read(folder, path)
        if present is not None:
            plan.before[path] = present
    return plan


def apply(plan: Plan) -> Path | None:
    """Puts a plan in place: first a backup of what it changes, then every file whole.

    HANDED_OUT is written last: if something cannot be written, running the update again does what is left.

    Returns:
        The backup; None where nothing was there to back up.
    """
    backup = None
    if plan.before:
        names = (plan.folder / f"before-update-{number}.zip" for number in range(1, 1_000_000))
        backup = next(name for name in names if not os.path.lexists(name))  # a link that leads nowhere is no free name
        write_whole(backup, make_zip(plan.before))
    for path in plan.removals:
        (plan.folder / path).unlink()
    for path, content in sorted(plan.writes.items(), key=lambda one: one[0] == HANDED_OUT):
        write_whole(plan.folder / path, content)
    return backup


def _merge(plan: Plan, path: str, base: bytes | None, present: bytes, content: bytes) -> bytes:
    """The merged content; where there are conflicts the release's file is put beside it."""
    try:
        if base is None or not path.endswith(MERGED):
            raise NotebookError("changed by you and by the release")
        if path.endswith(".ipynb"):
            merged, cells = merge_notebook(base, present, content)
            places = [f"{path}: cell {cell}" for cell in cells]
        else:
            text, lines = merge_texts(*(version.decode("utf-8") for version in (base, present, content)))
            merged, places = text.encode("utf-8"), [f"{path}:{line}" for line in lines]
    except (NotebookError, UnicodeDecodeError) as error:
        merged, places = present, [f"{path}: {error}"]
    if places:
        beside = f"{path}.new"
        plan.writes[beside] = content
        plan.conflicts += [f"{place}: yours stays; the release's goes beside it, as {beside}" for place in places]
    elif merged != present:
        plan.merged.append(path)
    return merged


def _read_handed_out(folder: Path, handed_out: bytes | None) -> tuple[dict[str, bytes], dict[str, str]]:
    """The old release: the files that are merged, and all checksums."""
    content = handed_out if handed_out is not None else _read(folder, HANDED_OUT)
    right = "name the archive that was handed out: --base old/student.zip"
    if content is None:
        raise ReleaseError(f"{folder}: has no {HANDED_OUT} to compare the student's work with; {right}")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        sums = json.loads(files.pop(CHECKSUMS))
        if any(PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts for path in sums):
            raise ValueError("a path leads out of the folder")
    except (*ZIP_DAMAGE, KeyError, TypeError) as error:
        raise ReleaseError(f"{folder}/{HANDED_OUT}: cannot be used ({error}); {right}") from None
    return files, sums


def _read(folder: Path, path: str) -> bytes | None:
    """The content; None where there is no file. A link is refused: it may lead out of the student's folder."""
    file = folder / path
    for part in (file, *file.parents):
        if part == folder:
            break
        if part.is_symlink():
            raise ReleaseError(f"{part}: is a link; replace it with the file that it points to")
    return file.read_bytes() if file.is_file() else None


def _index_in(folder: Path) -> str:
    """The index of packages that the folder was handed out with: an update does not change it."""
    try:
        match = re.match(r"--extra-index-url (\S+)\n", (folder / REQUIREMENTS).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return ""
    return match[1] if match else ""


def _archive_of(folder: Path, release: Release) -> str:
    """Which of the students' archives a folder has come out of. Raises: ReleaseError where it is none of them."""
    if (folder / release.assignment.package).is_dir() or _has_any(folder, release.skeleton.files):
        return STUDENT_ZIP
    notebooks = _unpacked(release.archives.get(NOTEBOOKS_ZIP, {}))
    if _has_any(folder, [path for path in notebooks if path.endswith(".ipynb")]):
        return NOTEBOOKS_ZIP
    raise ReleaseError(f"{folder}: holds no file of the assignment; name the folder that a student works in")


def _has_any(folder: Path, paths: Iterable[str]) -> bool:
    return any((folder / path).is_file() for path in paths)


def _unpacked(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """An archive's files by path in the folder that it unpacks to."""
    inside = {path.partition("/")[2]: content for path, content in files.items()}
    return {path: content for path, content in inside.items() if path != HANDED_OUT}


def _within(files: Mapping[str, bytes], package: str) -> dict[str, bytes]:
    """The package alone."""
    return {path.removeprefix(f"{package}/"): files[path] for path in files if path.startswith(f"{package}/")}


def _read_archive(path: Path, expected: str) -> dict[str, bytes]:
    """The files of an archive that was handed out. Raises: ReleaseError where it is not one."""
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    except ZIP_DAMAGE as error:
        what = f"{path}: is not a zip archive that can be read ({error})"
        raise ReleaseError(f"{what}; name the {expected} that was handed out") from None
    top = ARCHIVE_FOLDER if expected == STUDENT_ZIP else NOTEBOOKS_FOLDER
    if not all(name.startswith(f"{top}/") for name in files):
        raise ReleaseError(f"{path}: has files outside the folder {top}/; name the {expected} that was handed out")
    return _unpacked(files)


def _as_text(plan: Plan, backup: Path | None, is_dry: bool) -> str:
    """One line for each file."""
    if not plan.writes and not plan.removals and not plan.conflicts:
        return f"{plan.folder}: already up to date"
    would = "would be " if is_dry else ""
    lines = [f"{plan.folder}:"]
    beside = {path for path in plan.writes if path.endswith(".new")}
    quiet = {HANDED_OUT, *plan.merged, *beside}
    kept = {line.partition(":")[0] for line in plan.conflicts}
    lines += [f"  {would}merged    {path}" for path in plan.merged]
    lines += [f"  {would}replaced  {path}" for path in sorted(plan.before.keys() & plan.writes.keys() - quiet - kept)]
    lines += [f"  {would}added     {path}" for path in sorted(plan.writes.keys() - plan.before.keys() - quiet)]
    lines += [f"  {would}removed   {path}" for path in plan.removals]
    lines += [f"  conflict  {line}" for line in plan.conflicts]
    lines += [f"backup: {backup}"] if backup else []
    return "\n".join(lines)
