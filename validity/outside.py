"""Grades public implementations that nobody here wrote, and compares each rubric item with an independent verdict.

`assignment/outside/*.toml` describe them: where they are, the files that count, and an adapter of ours. No line of
theirs is kept. Verdicts are those of `outside_formulas`, or findings by hand with a reason.
"""

import ast
import hashlib
import json
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from autograder.intake import take_in
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.worker.loading import is_available
from autograder.sandbox.zygote import Zygote
from autograder.sources import ADAPTERS, names_in
from autograder.testing.collected_tests import CollectedTests
from autograder.testing.results import State, TaskResult, judge_task
from foundation.assignment_file import Assignment, read_assignment
from foundation.assignment_tables import Forbidden
from foundation.command_line import UserError
from foundation.places import ASSIGNMENT, ROOT, SKELETON
from foundation.whole_files import write_whole

from .outside_verdicts import JUDGES, Verdicts

FOLDER = ASSIGNMENT / "outside"
VERDICTS = FOLDER / "verdicts.json"
PAGE = ROOT / "docs" / "proof" / "outside.md"
HOST = "https://github.com"
MOST_LINES, MOST_WHY = 40, 300
TESTS = (*(ASSIGNMENT / room for room in ("tests", "expected", "stand_ins")), ROOT / "autograder" / "testing")
SEED = 20_261_128


class OutsideError(UserError):
    """A repository cannot be examined; the message says why."""


@dataclass(frozen=True)
class Repository:
    """A public implementation.

    Attributes:
        id: the name of its description.
        name: "owner/name".
        commit: that is examined.
        licence: in one word; "none" gives no permission to copy.
        kind: of text or code.
        files: paths there; notebooks become modules of their code.
        root: the folder from which they are imported, "" for the top.
        scripts: whether only imports, definitions and constants of the files count; the rest would run when imported.
        adapter: the text of `adapters.py`, ours.
        findings: task -> item -> verdict of a person, with the reason.
    """

    id: str
    name: str
    commit: str
    licence: str
    kind: str
    files: tuple[str, ...]
    adapter: str
    root: str = ""
    scripts: bool = False
    findings: dict[str, dict[str, str]] = field(default_factory=dict)


def read_repositories(folder: Path) -> list[Repository]:
    """All descriptions in a folder, by file name.

    Raises:
        OutsideError: naming the file and what is wrong.
    """
    repositories = []
    for path in sorted(folder.glob("*.toml")):
        try:
            one = Repository(path.stem, **tomllib.loads(path.read_text(encoding="utf-8")))
        except (tomllib.TOMLDecodeError, TypeError) as error:
            raise OutsideError(f"{path}: {error}") from None
        if one.adapter.count("\n") > MOST_LINES:
            raise OutsideError(f"{path}: the adapter has {one.adapter.count(chr(10))} lines; at most {MOST_LINES}")
        repositories.append(one)
    return repositories


def clone_of(repository: Repository, folder: Path, is_fetched: bool) -> Path:
    """The clone of a repository, in FOLDER/owner+name; fetched first, if asked for and missing."""
    clone = folder / repository.name.replace("/", "+")
    if is_fetched and not clone.exists():
        run_git("clone", "--quiet", "--filter=blob:none", "--no-checkout", f"{HOST}/{repository.name}", str(clone))
    if not clone.is_dir():
        raise OutsideError(f"{clone}: no such folder; clone {HOST}/{repository.name} there, or give --fetch")
    return clone


def run_git(*words: str) -> bytes:
    """What git prints. Raises: OutsideError with the last line of what it complains of."""
    done = subprocess.run(["git", *words], capture_output=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise OutsideError(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    return done.stdout


def write_submission(repository: Repository, clone: Path, folder: Path) -> None:
    """Writes the files at the commit, and the adapter, as a submission."""
    names = {file: re.sub(r"[- ()&]", "_", file.removeprefix(f"{repository.root}/")) for file in repository.files}
    own = {str(Path(name).with_suffix("")).replace("/", ".") for name in names.values()}
    for file, name in names.items():
        path = (folder / name).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        text = run_git("-C", str(clone), "show", f"{repository.commit}:{file}").decode("utf-8-sig")
        text = code_of(text) if file.endswith(".ipynb") else text
        path.write_text(definitions_of(text, own) if repository.scripts else text, encoding="utf-8")
    (folder / f"{ADAPTERS}.py").write_text(repository.adapter, encoding="utf-8")


def code_of(notebook: str) -> str:
    """The code of a notebook, without lines for the shell."""
    cells = ["".join(cell["source"]) for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
    return re.sub(r"(?m)^\s*[!%].*", "", "\n".join(cells))


def definitions_of(text: str, own: set[str]) -> str:
    """A script's definitions, constants and imports of what is there; the rest would run when a test imports it."""
    lines = text.split("\n")
    for node in ast.parse(text).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        is_constant = isinstance(node, ast.Assign) and not any(isinstance(one, ast.Call) for one in ast.walk(node))
        is_kept = isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)) or is_constant
        if not is_kept or not all(is_available(name) or name in own for name in names):
            lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - node.lineno + 1)
    return "\n".join(lines)


@dataclass(frozen=True)
class Row:
    """An item of the rubric: what the kit gives, and what it should."""

    task: str
    item: str
    kit: str  # "kept", "lost", or the state in which it is left to a person
    why: str  # the kit's reason
    verdict: str  # "right", "wrong" or "unknown"
    reason: str

    @property
    def is_disputed(self) -> bool:
        """Whether the kit takes what is right, or gives what is wrong."""
        return (self.kit, self.verdict) in (("lost", "right"), ("kept", "wrong"))


@dataclass(frozen=True)
class Exam:
    """What repositories are examined with."""

    assignment: Assignment
    tests: CollectedTests
    zygote: Zygote

    def examine(self, repository: Repository, clone: Path) -> Iterator[Row]:
        """The rows of the components that the adapter offers."""
        with tempfile.TemporaryDirectory() as folder:
            write_submission(repository, clone, Path(folder))
            sources = take_in(Path(folder), SKELETON, self.assignment).sources
        free = replace(self.assignment, contract=replace(self.assignment.contract, forbidden=Forbidden()))
        offered, _ = names_in(repository.adapter)
        for task in self.assignment.tasks:
            components = {component.split(".")[1] for component in task.components}
            if not task.points or not components or not components <= offered:
                continue
            with Sandbox(sources, self.assignment, zygote=self.zygote) as sandbox:
                *_, outcomes = self.tests.run(sandbox, SEED, only=task.marker)
            result = judge_task(task, outcomes[task.marker], self.assignment.credit)
            torch.manual_seed(SEED)
            with Sandbox(sources, free, zygote=self.zygote) as sandbox:
                try:
                    verdicts = JUDGES[task.number](sandbox) if task.number in JUDGES else {}
                except Exception as error:  # whatever it raises
                    first, *_ = [*str(error).splitlines(), ""]
                    verdicts = dict.fromkeys((item.name for item in task.items), f"{type(error).__name__}: {first}")
            yield from rows_of(result, verdicts, repository.findings.get(task.number, {}))


def rows_of(result: TaskResult, verdicts: Verdicts, by_hand: dict[str, str]) -> Iterator[Row]:
    """A row for each item of a task; what a person found counts more than what was computed."""
    for mark in result.items:
        missed = [one for one in result.outcomes if one.item == mark.name and one.state != State.PASSED]
        to_people = [one.state.value for one in missed if not one.state.has_mark]
        kit = [*to_people, "kept" if mark.score else "lost"][0]
        why = " ".join(missed[0].message.split()) if missed else f"requires {mark.requires}" if mark.requires else ""
        reason = verdicts.get(mark.name)
        verdict = "unknown" if reason is None else "wrong" if reason else "right"
        if mark.name in by_hand:
            verdict, _, reason = by_hand[mark.name].partition(": ")
        yield Row(result.task.number, mark.name, kit, why[:MOST_WHY], verdict, reason or "")


def outside(folder: Path, repository: str, fetch: bool, store: bool) -> int:
    """Examines the repositories whose description has this text in its name; the exit status."""
    chosen = [one for one in read_repositories(FOLDER) if repository in one.id]
    if not chosen:
        raise OutsideError(f"{FOLDER}: no description has {repository!r} in its name")
    assignment, failed = read_assignment(), list[str]()
    stored = read_stored()
    with Zygote(assignment, "auto") as zygote:
        exam = Exam(assignment, CollectedTests(assignment), zygote)
        for one in chosen:
            try:
                rows = [*exam.examine(one, clone_of(one, folder, fetch))]
            except UserError as error:
                failed.append(one.id)
                print(f"{one.id}: not examined: {error}", flush=True)
                continue
            stored[one.id] = {"version": tests_version(), "rows": [asdict(row) for row in rows]}
            kept, right = (
                sum(getattr(row, a) == b for row in rows) for a, b in (("kit", "kept"), ("verdict", "right"))
            )
            print(f"{one.id}: {len(rows)} items, {right} right, {kept} kept", flush=True)
            for row in filter(lambda row: row.is_disputed, rows):
                print(f"  {row.task} {row.item}: {row.kit}, though {row.verdict} {row.reason or row.why}", flush=True)
    if store:
        write_whole(VERDICTS, json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
        write_whole(PAGE, page_of(stored))
    return int(bool(failed))


def read_stored() -> dict[str, Any]:
    """What was found last, by the name of the description."""
    return json.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else {}


def tests_version() -> str:
    """Sixteen hex digits for the component tests and all that they expect."""
    digest = hashlib.sha256()
    for room in TESTS:
        for path in sorted(room.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def outdated(stored: dict[str, Any]) -> list[str]:
    """The repositories whose verdicts belong to other tests."""
    return [name for name, one in stored.items() if one["version"] != tests_version()]


def page_of(stored: dict[str, Any]) -> str:
    """The page of all verdicts."""
    repositories = {one.id: one for one in read_repositories(FOLDER)}
    rows = {name: [Row(**row) for row in one["rows"]] for name, one in stored.items() if name in repositories}
    every = [row for of_one in rows.values() for row in of_one]
    counts = {
        (kit, verdict): sum(row.kit == kit and row.verdict == verdict for row in every)
        for kit in ("kept", "lost")
        for verdict in ("right", "wrong", "unknown")
    }
    return str(counts)
