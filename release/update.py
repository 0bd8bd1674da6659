"""`python -m release update FOLDER`: the last build for a student who has begun to work.

What was handed out lies in the folder itself, in `.handed_out.zip`; what is new is taken from `dist/`. Files that both
sides have changed are merged by `git merge-file`, line by line, notebooks too, all of them written as Jupyter does.
"""

import argparse
import json
import re
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from foundation.places import HANDED_OUT
from foundation.whole_files import make_zip, write_whole

from .packing import NOTEBOOKS_ZIP, STUDENT_ZIP
from .skeleton import ReleaseError

CONFLICTS = 1
STANDING = "conflict: take what you need from this file into yours, then delete it:"
BESIDE, KEPT = "conflict: yours stays, the release's is", "changed by you, no longer part of the release:"


_HINT = re.compile(r'((?:^[ \t"]*#.*\n)+)(?=[ \t"]*raise NotImplementedError\()', re.MULTILINE)
"""The comment of a TODO, above the statement that raises; in a notebook, both are strings of a list."""
_BELOW = "# below a hint\n"


@dataclass(frozen=True)
class Change:
    """An update of one file: its content before and after, None where there is none; `how` for people."""

    path: str
    how: str
    present: bytes | None
    wanted: bytes | None


def run_update(options: argparse.Namespace) -> int:
    """Bring the last build into a student's folder.

    Merge what was built last into a folder that a student has worked in. Answers stay. Where both have changed the same
    lines, the student's file stays, and the release's is put beside it as FILE.new. A backup of all changed files goes
    into before-update-N.zip. The exit status is 1 where conflicts are left to the student.
    """
    folder = unpacked_in(options.student_folder)
    handed_out = folder / HANDED_OUT
    old = read_zip(handed_out)
    archive = NOTEBOOKS_ZIP if any("/" not in path and path.endswith(".ipynb") for path in old) else STUDENT_ZIP
    new = {path.partition("/")[2]: content for path, content in read_zip(options.root / "dist" / archive).items()}
    changes = list(changes_of(folder, old, new))
    beside = [f"{path}.new" for path in new if (folder / f"{path}.new").is_file()]
    standing = sorted({*beside} - {change.path for change in changes})
    if not changes and not standing:
        print(f"{folder}: already up to date")
        return 0
    changed = (f"  {change.how:<9} {change.path}" for change in changes)
    print("\n".join([f"{folder}:", *changed, *(f"  {STANDING} {path}" for path in standing)]))
    if changes:
        print(f"backup: {apply(folder, changes)}")
    return CONFLICTS if standing or any(change.how in (BESIDE, KEPT) for change in changes) else 0


def unpacked_in(folder: Path) -> Path:
    """Return the folder, or the only one in it, that a student has unpacked. Raises: ReleaseError."""
    unpacked = [path for path in (folder, *sorted(folder.glob("*/"))) if (path / HANDED_OUT).is_file()]
    if not unpacked or (len(unpacked) > 1 and unpacked[0] != folder):
        several = f" ({', '.join(path.name for path in unpacked)} are)" if unpacked else ""
        raise ReleaseError(f"{folder}: not a folder that a student has unpacked{several}: {HANDED_OUT} is not in it")
    return unpacked[0]


def read_zip(path: Path) -> dict[str, bytes]:
    """Return all files of an archive by path. Raises: ReleaseError."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, OSError) as error:
        raise ReleaseError(f"{path}: is not an archive that can be read ({error}); build it: make release") from None


def changes_of(folder: Path, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Iterator[Change]:
    """Compare the student's folder with what was handed out and what is handed out now; writes nothing."""
    for path, content in new.items():
        present, base = _read(folder, path), old.get(path)
        if present == content or (present is not None and content == base):
            continue  # nothing new in it
        if present is None:
            yield Change(path, "added", None, content)
        elif present == base or path == HANDED_OUT:
            yield Change(path, "replaced", present, content)
        elif merged := _merged(path, base, present, content):
            yield Change(path, "merged", present, merged)
        else:
            beside = f"{path}.new"
            yield Change(beside, BESIDE, _read(folder, beside), content)
    for path in sorted(old.keys() - new.keys()):
        present = _read(folder, path)
        if present is not None:
            is_changed = present != old[path]
            yield Change(path, KEPT if is_changed else "removed", present, present if is_changed else None)


def apply(folder: Path, changes: Sequence[Change]) -> Path:
    """Make the changes, each file whole: first a backup of what they concern, which is returned.

    HANDED_OUT is written last: if something cannot be written, running the update again does what is left.
    """
    number = 1 + sum(1 for _ in folder.glob("before-update-*.zip"))
    backup = folder / f"before-update-{number}.zip"
    write_whole(backup, make_zip({change.path: change.present for change in changes if change.present is not None}))
    for change in sorted(changes, key=lambda change: change.path == HANDED_OUT):
        if change.wanted is None:
            (folder / change.path).unlink()
        else:
            write_whole(folder / change.path, change.wanted)
    return backup


def _read(folder: Path, path: str) -> bytes | None:
    """The content; None where there is no file. Raises: ReleaseError where a link leads out of the student's folder."""
    file = folder / path
    if not file.resolve().is_relative_to(folder.resolve()):
        raise ReleaseError(f"{file}: leads out of the folder; replace the link with the file that it points to")
    return file.read_bytes() if file.is_file() else None


def _merged(path: str, base: bytes | None, present: bytes, content: bytes) -> bytes | None:
    """The merged content; None where both have changed the same, or the student's cannot be read."""
    if base is None or not path.endswith((".py", ".md", ".ipynb")):
        return None
    try:
        sides = [side.decode("utf-8") for side in (base, present, content)]
        if path.endswith(".ipynb"):
            sides = [as_jupyter_writes(side) for side in sides]
        text = merge_lines(*sides)
        if text and path.endswith(".ipynb"):
            json.loads(text)
    except ValueError:  # no UTF-8, or no notebook
        return None
    return text.encode("utf-8") if text else None


def as_jupyter_writes(text: str) -> str:
    """Return a notebook with Jupyter's line breaks: Colab's are others. Raises: ValueError where it is no notebook."""
    try:
        return f"{nbformat.writes(nbformat.reads(text, as_version=4))}\n"
    except (AttributeError, KeyError, TypeError, nbformat.ValidationError) as error:
        raise ValueError("no notebook") from error


def merge_lines(base: str, student: str, new: str) -> str | None:
    """Put the release's changes into the student's text; None where both have changed the same lines.

    Students replace the statement below a hint, and a corrected release often changes the hint. So that this is no
    conflict, all texts have a line in common between the two.
    """
    if student in (base, new):
        return new
    if hints := sorted([*_HINT.findall(base), *_HINT.findall(new)], key=len, reverse=True):
        student = re.sub("|".join(map(re.escape, hints)), rf"\g<0>{_BELOW}", student)
        base, new = (_HINT.sub(rf"\1{_BELOW}", text) for text in (base, new))
    with tempfile.TemporaryDirectory(prefix="merge-") as name:
        paths = [Path(name) / side for side in ("student", "base", "new")]
        for path, text in zip(paths, (student, base, new), strict=True):
            path.write_bytes(text.encode("utf-8"))
        done = subprocess.run(["git", "merge-file", "-p", *paths], capture_output=True, check=False)  # noqa: S603, S607 (file names of ours; git lies where the user has it)
    return None if done.returncode else done.stdout.decode("utf-8").replace(_BELOW, "")
