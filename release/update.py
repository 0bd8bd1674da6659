"""`python -m release update FOLDER`: the last build for a student who has begun to work.

What was handed out lies in the folder itself, in `.handed_out.zip`; what is new is taken from `dist/`. Files that only
one side has changed are easy; those that both have are merged by `git merge-file`, a notebook cell by cell. Where both
have changed the same lines, the student's file stays, and the release's is put beside it.
"""

import argparse
import io
import json
import re
import subprocess
import tempfile
import zipfile
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foundation.command_line import Parser
from foundation.places import ROOT
from foundation.whole_files import write_whole

from .packing import HANDED_OUT, NOTEBOOKS_ZIP, STUDENT_ZIP, ZIP_DAMAGE, make_zip
from .regions import ReleaseError

CONFLICTS = 1

Cell = dict[str, Any]
"""As the file has it."""

_HINT = re.compile(
    r"^[ \t]*# TODO (?P<number>\S+): .*\n(?:[ \t]*#.*\n)*"
    r"(?=[ \t]*raise NotImplementedError\(\"TODO (?P=number)\"\)\n)",
    re.MULTILINE,
)
"""The comment of a TODO, above the statement that raises."""


@dataclass
class Plan:
    """What an update would do; nothing is written yet.

    Args:
        folder: the student's.
        before: the content of everything that will be changed or removed, by path.
        writes: new content by path.
        removals: files of the old release that the new one lacks, still as they were handed out.
        lines: one for each file, for people.
        has_conflicts: whether something is left to the student.
    """

    folder: Path
    before: dict[str, bytes] = field(default_factory=dict)
    writes: dict[str, bytes] = field(default_factory=dict)
    removals: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    has_conflicts: bool = False

    def write(self, path: str, content: bytes, present: bytes | None, how: str = "") -> None:
        """Notes down that a file gets this content; without `how`, nobody is told."""
        self.writes[path] = content
        if present is not None:
            self.before[path] = present
        if how:
            self.lines.append(f"{how:<9} {path}")

    def keep(self, path: str, why: str) -> None:
        """Notes down that the student's file stays, though the release has another."""
        self.has_conflicts = True
        self.lines.append(f"conflict  {path}: {why}")


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Adds `update` to the release's commands."""
    update = commands.add_parser(
        "update",
        help="bring the last build into a student's folder",
        description="Merge what was built last into a folder that a student has worked in. Answers stay. Where both "
        "have changed the same lines, the student's file stays, and the release's is put beside it as FILE.new. A "
        "backup of all changed files goes into before-update-N.zip.",
        epilog="example: python -m release update students/anna --dry-run",
    )
    update.set_defaults(run=run_update)
    update.add_argument("student_folder", type=Path, help="the unpacked archive")
    update.add_argument("--dry-run", action="store_true", help="only show what would be done")
    update.add_argument("--root", type=Path, default=ROOT, help="the project (default: where this package is)")


def run_update(options: argparse.Namespace) -> int:
    """Returns 0 where everything could be merged, 1 where conflicts are left to the student."""
    folder = options.student_folder
    handed_out = folder / HANDED_OUT
    if not handed_out.is_file():
        raise ReleaseError(f"{handed_out}: no such file; name the folder that a student has unpacked")
    old = read_zip(handed_out)
    archive = NOTEBOOKS_ZIP if any("/" not in path and path.endswith(".ipynb") for path in old) else STUDENT_ZIP
    new = {path.partition("/")[2]: content for path, content in read_zip(options.root / "dist" / archive).items()}
    plan = make_plan(folder, old, new)
    backup = None if options.dry_run else apply(plan)
    if not plan.lines:
        print(f"{folder}: already up to date")
        return 0
    print(f"{folder}{' (a trial: nothing is changed)' if options.dry_run else ''}:")
    print("\n".join(f"  {line}" for line in plan.lines))
    if backup:
        print(f"backup: {backup}")
    return CONFLICTS if plan.has_conflicts else 0


def read_zip(path: Path) -> dict[str, bytes]:
    """All files of an archive by path. Raises: ReleaseError."""
    try:
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except ZIP_DAMAGE as error:
        raise ReleaseError(f"{path}: is not an archive that can be read ({error}); build it: make release") from None


def make_plan(folder: Path, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Plan:
    """Compares; writes nothing.

    Args:
        folder: where the student works.
        old: what was handed out, by path.
        new: likewise what is handed out now; HANDED_OUT is among it.
    """
    plan = Plan(folder)
    for path, content in new.items():
        present, base = _read(folder, path), old.get(path)
        if present == content or (present is not None and content == base):
            continue  # nothing new in it
        if path == HANDED_OUT:
            plan.write(path, content, present)
        elif present is None:
            plan.write(path, content, None, "added")
        elif present == base:
            plan.write(path, content, present, "replaced")
        elif merged := _merged(path, base, present, content):
            plan.write(path, merged, present, "merged")
        else:
            beside = f"{path}.new"
            plan.keep(path, f"yours stays; the release's goes beside it, as {beside}")
            plan.write(beside, content, _read(folder, beside))
    for path in sorted(old.keys() - new.keys()):
        present = _read(folder, path)
        if present == old[path]:
            plan.before[path] = present
            plan.removals.append(path)
            plan.lines.append(f"removed   {path}")
        elif present is not None:
            plan.keep(path, "no longer part of the release; you have changed it, and it stays")
    return plan


def apply(plan: Plan) -> Path | None:
    """Puts a plan in place: first a backup of what it changes, then every file whole.

    HANDED_OUT is written last: if something cannot be written, running the update again does what is left.

    Returns:
        The backup; None where nothing was there to back up.
    """
    backup = None
    if plan.before:
        number = 1 + sum(1 for _ in plan.folder.glob("before-update-*.zip"))
        backup = plan.folder / f"before-update-{number}.zip"
        write_whole(backup, make_zip(plan.before))
    for path in plan.removals:
        (plan.folder / path).unlink()
    for path, content in sorted(plan.writes.items(), key=lambda one: one[0] == HANDED_OUT):
        write_whole(plan.folder / path, content)
    return backup


def _read(folder: Path, path: str) -> bytes | None:
    """The content; None where there is no file. Raises: ReleaseError where a link leads out of the student's folder."""
    file = folder / path
    if not file.resolve().is_relative_to(folder.resolve()):
        raise ReleaseError(f"{file}: leads out of the folder; replace the link with the file that it points to")
    return file.read_bytes() if file.is_file() else None


def _merged(path: str, base: bytes | None, present: bytes, content: bytes) -> bytes | None:
    """The merged content; None where both have changed the same, or the student's cannot be read."""
    if base is None or not path.endswith((".py", ".ipynb")):
        return None
    try:
        if path.endswith(".ipynb"):
            return merge_notebooks(base, present, content)
        text = merge_texts(base.decode("utf-8"), present.decode("utf-8"), content.decode("utf-8"))
    except (ValueError, LookupError, TypeError, AttributeError):  # no UTF-8, or no notebook
        return None
    return text if text is None else text.encode("utf-8")


def merge_texts(base: str, student: str, new: str) -> str | None:
    """Puts the release's changes into the student's text; None where both have changed the same lines.

    A TODO is a hint and, below it, one statement that raises its number. Students replace the statement and keep the
    hint, and a corrected release often changes the hint. So hints are renewed first, in the old release and in the
    student's text alike; then a change of the hint does not touch a change of the statement below it.
    """
    renewed = hints_of(new)
    for key, hint in hints_of(base).items():
        base, student = (text.replace(hint, renewed.get(key, hint), 1) for text in (base, student))
    if student in (base, new):
        return new
    with tempfile.TemporaryDirectory(prefix="merge-") as name:
        paths = [Path(name) / side for side in ("student", "base", "new")]
        for path, text in zip(paths, (student, base, new), strict=True):
            path.write_bytes(text.encode("utf-8"))
        done = subprocess.run(["git", "merge-file", "-p", *paths], capture_output=True, check=False)  # noqa: S603, S607 (file names of ours; git lies where the user has it)
    return None if done.returncode else done.stdout.decode("utf-8")


def hints_of(text: str) -> dict[tuple[str, int], str]:
    """The hints of a skeleton's TODOs, by the task's number and which of its TODOs in the file this is."""
    seen: Counter[str] = Counter()
    hints = {}
    for match in _HINT.finditer(text):
        seen[match["number"]] += 1
        hints[match["number"], seen[match["number"]]] = match[0]
    return hints


def merge_notebooks(base: bytes, student: bytes, new: bytes) -> bytes | None:
    """The new notebook with the student's answers and own cells, and the outputs of cells that stay.

    Locked cells, such as tests, are the release's. Own cells stay behind the cell that they stood behind; one that
    repeats another's name, as copying makes it, is one of them. None where both have changed the same lines of a cell.
    """
    notebook = json.loads(new)
    old, fresh = ({_name(cell): cell for cell in cells} for cells in (json.loads(base)["cells"], notebook["cells"]))
    theirs: dict[Hashable, Cell] = {}
    own: dict[Hashable, list[Cell]] = defaultdict(list)  # by the cell that they stand behind
    before: Hashable = None
    for cell in json.loads(student)["cells"]:
        name = _name(cell)
        if name in fresh and name not in theirs:
            theirs[name], before = cell, name
        elif name not in old or name in theirs or _source(cell) != _source(old[name]):
            own[before].append(_ungraded(cell))
    merged = own[None]
    for name, cell in fresh.items():
        written = theirs.get(name)
        if written is None or (_is_locked(cell) and _source(written) != _source(cell)):
            merged.append(cell)
        else:
            sources = (_source(one) for one in (old.get(name, cell), written, cell))
            text = merge_texts(*(f"{source}\n" for source in sources))
            if text is None:
                return None
            text = text.removesuffix("\n")
            is_as_written = text == _source(written)  # otherwise its outputs are those of another text
            merged.append({**written, "metadata": cell["metadata"]} if is_as_written else {**cell, "source": text})
        merged += own[name]
    return f"{json.dumps({**notebook, 'cells': merged}, indent=1, ensure_ascii=False, sort_keys=True)}\n".encode()


def _name(cell: Cell) -> Hashable:
    """The name that nbgrader gives, which survives copying and old formats; else the cell's own; else its content."""
    name: Hashable = cell["metadata"].get("nbgrader", {}).get("grade_id") or cell.get("id") or _source(cell)
    return name


def _ungraded(cell: Cell) -> Cell:
    return {**cell, "metadata": {key: value for key, value in cell["metadata"].items() if key != "nbgrader"}}


def _source(cell: Cell) -> str:
    return "".join(cell.get("source", ""))


def _is_locked(cell: Cell) -> bool:
    return bool(cell["metadata"].get("nbgrader", {}).get("locked"))
