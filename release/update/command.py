"""`python -m release update FOLDER`: a corrected release for students who have begun."""

import argparse
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from foundation.command_line import Parser

from ..archives.contents import ARCHIVE_FOLDER
from ..archives.packing import HANDED_OUT, NOTEBOOKS_ZIP, STUDENT_ZIP, ZIP_DAMAGE, remember
from ..archives.requirements import REQUIREMENTS
from ..build import Project, Release, make_release
from ..notebooks.nbgrader_course import FOLDER as NOTEBOOKS_FOLDER
from ..problems import ReleaseError
from .plan import Plan, apply, make_plan

CONFLICTS = 1


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
    update.set_defaults(run=run_update, torch_index="")
    update.add_argument("student_folder", type=Path, help="what came out of the archive, or the package in it")
    base_help = f"the archive that was handed out (default: what the folder's own {HANDED_OUT} says)"
    update.add_argument("--base", type=Path, help=base_help)
    update.add_argument("--dry-run", action="store_true", help="only show what would be done")
    update.add_argument("--json", action="store_true", help="print the result as JSON")
    return update


def run_update(options: argparse.Namespace, project: Project) -> int:
    """Returns 0 where everything could be merged, 1 where conflicts are left to the student."""
    folder = options.student_folder
    if not folder.is_dir():
        raise ReleaseError(f"{folder}: is not a folder; name the one that a student works in")
    release = make_release(replace(project, index=project.index or index_in(folder)))
    package = release.assignment.package
    archive = archive_of(folder, release)
    new = unpacked(release.archives[archive])
    base = read_archive(options.base, archive) if options.base else {}
    if not (folder / package).is_dir():
        if archive == STUDENT_ZIP:
            new, base = within(new, package), within(base, package)
        package = ""
    handed_out = remember(base, package) if base else None
    plan = make_plan(folder, {**new, HANDED_OUT: remember(new, package)}, package, handed_out)
    backup = None if options.dry_run else apply(plan)
    print(as_json(plan, backup) if options.json else as_text(plan, backup, options.dry_run))
    return CONFLICTS if plan.conflicts else 0


def index_in(folder: Path) -> str:
    """The index of packages that the folder was handed out with: an update does not change it."""
    try:
        match = re.match(r"--extra-index-url (\S+)\n", (folder / REQUIREMENTS).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return ""
    return match[1] if match else ""


def archive_of(folder: Path, release: Release) -> str:
    """Which of the students' archives a folder has come out of. Raises: ReleaseError where it is none of them."""
    if (folder / release.assignment.package).is_dir() or _has_any(folder, release.skeleton.files):
        return STUDENT_ZIP
    notebooks = unpacked(release.archives.get(NOTEBOOKS_ZIP, {}))
    if _has_any(folder, [path for path in notebooks if path.endswith(".ipynb")]):
        return NOTEBOOKS_ZIP
    raise ReleaseError(f"{folder}: holds no file of the assignment; name the folder that a student works in")


def _has_any(folder: Path, paths: Iterable[str]) -> bool:
    return any((folder / path).is_file() for path in paths)


def unpacked(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """An archive's files by path in the folder that it unpacks to."""
    inside = {path.partition("/")[2]: content for path, content in files.items()}
    return {path: content for path, content in inside.items() if path != HANDED_OUT}


def within(files: Mapping[str, bytes], package: str) -> dict[str, bytes]:
    """The package alone."""
    return {path.removeprefix(f"{package}/"): files[path] for path in files if path.startswith(f"{package}/")}


def read_archive(path: Path, expected: str) -> dict[str, bytes]:
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
    return unpacked(files)


def as_text(plan: Plan, backup: Path | None, is_dry: bool) -> str:
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
    if backup:
        lines.append(f"backup: {backup}")
    return "\n".join(lines)


def as_json(plan: Plan, backup: Path | None) -> str:
    """The same as JSON."""
    content = {
        "folder": str(plan.folder),
        "written": sorted(plan.writes),
        "removed": plan.removals,
        "merged": plan.merged,
        "conflicts": plan.conflicts,
        "backup": backup and str(backup),
    }
    return json.dumps(content, indent=2)
