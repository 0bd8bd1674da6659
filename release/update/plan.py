"""Which files of a student's folder an update changes, and how; puts all of it in place."""

import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from foundation.whole_files import write_whole

from ..archives.packing import CHECKSUMS, HANDED_OUT, ZIP_DAMAGE, checksum, make_zip
from ..problems import ReleaseError
from .notebook_merge import NotebookError, merge_notebook
from .text_merge import merge_texts

MERGED = (".py", ".ipynb")
MAX_BYTES = 32 << 20


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


def make_plan(folder: Path, new: Mapping[str, bytes], package: str, handed_out: bytes | None = None) -> Plan:
    """Compares; writes nothing.

    Args:
        folder: where the student works.
        new: the files of the new release, HANDED_OUT among them.
        package: the name of the students' package.
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
    """Puts a plan in place: first a backup of what it changes, then every file whole; all of it or nothing.

    Returns:
        The backup; None where nothing was there to back up.

    Raises:
        OSError: where something cannot be written; the folder is as it was then.
    """
    backup = None
    if plan.before:
        backup = _free_name(plan.folder)
        write_whole(backup, make_zip(plan.before))
    done: list[str] = []
    try:
        for path, content in plan.writes.items():
            done.append(path)
            write_whole(plan.folder / path, content)
        for path in plan.removals:
            done.append(path)
            (plan.folder / path).unlink()
    except BaseException:
        for path in done:
            if path in plan.before:
                write_whole(plan.folder / path, plan.before[path])
            else:
                (plan.folder / path).unlink(missing_ok=True)
        raise
    return backup


def _merge(plan: Plan, path: str, base: bytes | None, present: bytes, content: bytes) -> bytes:
    """The merged content; where there are conflicts the release's file is put beside it."""
    try:
        if base is None or not path.endswith(MERGED):
            raise NotebookError("changed by you and by the release")
        if path.endswith(".ipynb"):
            notebook = merge_notebook(base, present, content)
            merged, places = notebook.content, [f"{path}: cell {cell}" for cell in notebook.conflicts]
        else:
            result = merge_texts(*(text.decode("utf-8") for text in (base, present, content)))
            merged, places = result.text.encode("utf-8"), [f"{path}:{line}" for line in result.conflicts]
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
    if content is None:
        right = "name the archive that was handed out: --base old/student.zip"
        raise ReleaseError(f"{folder}: has no {HANDED_OUT} to compare the student's work with; {right}")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
                raise ValueError(f"more than {MAX_BYTES:,} bytes")
            files = {name: archive.read(name) for name in archive.namelist()}
        sums = json.loads(files.pop(CHECKSUMS))
        if not all(isinstance(item, str) for pair in sums.items() for item in pair):
            raise ValueError("a checksum is not a text")
        if any(PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts for path in sums):
            raise ValueError("a path leads out of the folder")
    except (*ZIP_DAMAGE, KeyError, AttributeError) as error:
        what = f"{folder}/{HANDED_OUT}: cannot be used ({error})"
        raise ReleaseError(f"{what}; name the archive that was handed out: --base old/student.zip") from None
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


def _free_name(folder: Path) -> Path:
    number = 1
    while os.path.lexists(folder / f"before-update-{number}.zip"):  # a link that leads nowhere takes the name, too
        number += 1
    return folder / f"before-update-{number}.zip"
