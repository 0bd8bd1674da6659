"""Public implementations that nobody here wrote: each rubric item is graded, and compared with an independent verdict.

A description is a file `assignment/outside/NAME.toml`, with an adapter of ours and no line of theirs. Verdicts are
those of `outside_verdicts`, or findings by hand with a reason.
"""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from autograder.grading.provenance import code_of
from autograder.intake.cells import as_python, read_notebook
from autograder.intake.sources import ADAPTERS, names_in
from autograder.intake.submission import take_in
from autograder.running.collected_tests import CollectedTests
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.worker.loading import is_available
from autograder.sandbox.zygote import Zygote
from autograder.testing.case import default_dtype
from autograder.testing.results import State, TaskResult, judge_task
from foundation.assignment_file import Assignment, Task, read_assignment
from foundation.assignment_tables import Forbidden
from foundation.command_line import UserError
from foundation.places import ASSIGNMENT, ROOT, SKELETON

from .console import table, write_page
from .outside_formulas import message_of
from .outside_verdicts import JUDGES

HOST = "https://github.com"
FOLDER = ASSIGNMENT / "outside"
SEED = 20_261_128
PAGE = ROOT / "docs" / "proof" / "outside.md"
OF_THE_WHOLE = "whole", "rehearsal"
"""Modules by which no item is judged."""
TESTING = ("arguments", "case", "comparison", "fitting", "idle", "observation", "results", "side_effects", "subject")
"""Modules of `autograder.testing` that decide how a test ends."""
OF_ANY_DEFAULT = {
    ("1.1", "any size and dtype"),
    ("1.2", "numerically safe"),
    *((number, "special cases") for number in ("1.3", "1.4", "1.5")),
}
"""Items that also demand right results where the default dtype is not that of the inputs: none of part 2."""
MOST_WHY, MOST_LINES = 240, 40
"""Characters of the kit's reason; lines of an adapter."""


@dataclass(frozen=True)
class Repository:
    """A public implementation."""

    id: str  # the name of its description
    name: str  # "owner/name"
    commit: str  # that is examined
    licence: str  # "none" gives no permission to copy
    kind: str  # of text or code
    files: tuple[str, ...]  # paths there; notebooks become modules of their code
    adapter: str  # the text of `adapters.py`, ours
    root: str = ""  # the folder from which files are imported, "" = the top
    scripts: bool = False  # only definitions, constants and imports of the files count
    keep: tuple[str, ...] = ()  # the names of the definitions that count, where a file is too large; none = all
    findings: dict[str, dict[str, str]] = field(default_factory=dict)  # task -> item -> "right: why", by a person

    @property
    def link(self) -> str:
        """A link to the commit, in Markdown."""
        return f"[{self.name}]({HOST}/{self.name}/tree/{self.commit})"

    def clone_in(self, folder: Path, is_fetched: bool) -> Path:
        """The clone in FOLDER/owner+name; fetched first, if asked for and missing."""
        clone = folder / self.name.replace("/", "+")
        if is_fetched and not clone.exists():
            run_git("clone", "--quiet", "--filter=blob:none", "--no-checkout", f"{HOST}/{self.name}", str(clone))
        if not clone.is_dir():
            raise UserError(f"{clone}: no such folder; clone {HOST}/{self.name} there, or give --fetch")
        return clone

    def write_submission(self, clone: Path, folder: Path) -> None:
        """Write the files at the commit, and the adapter, as a submission."""
        names = {file: re.sub(r"[- ()]", "_", file.removeprefix(f"{self.root}/")) for file in self.files}
        # As modules may be called: "notebook_6___Attention.ipynb".
        names = {file: re.sub(r"(^|/)(?=\d)", r"\1notebook_", name) for file, name in names.items()}
        own = {str(Path(name).with_suffix("")).replace("/", ".").removesuffix(".__init__") for name in names.values()}
        for file, name in names.items():
            path = (folder / name).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            content = run_git("-C", str(clone), "show", f"{self.commit}:{file}")
            if file.endswith(".ipynb"):
                text = "\n".join(as_python(cell.text) for cell in read_notebook(content, file) if not cell.is_text)
            else:
                text = content.decode("utf-8-sig")
            path.write_text(definitions_of(text, own, self.keep) if self.scripts else text, encoding="utf-8")
        (folder / f"{ADAPTERS}.py").write_text(self.adapter, encoding="utf-8")


def read_repositories(folder: Path) -> list[Repository]:
    """All descriptions in a folder, by file name. Raises: UserError, naming the file and what is wrong."""
    repositories = []
    for path in sorted(folder.glob("*.toml")):
        try:
            repository = Repository(path.stem, **tomllib.loads(path.read_text(encoding="utf-8")))
        except (tomllib.TOMLDecodeError, TypeError) as error:
            raise UserError(f"{path}: {error}") from None
        if (n_lines := repository.adapter.count("\n")) > MOST_LINES:
            raise UserError(f"{path}: the adapter has {n_lines} lines; at most {MOST_LINES}")
        repositories.append(repository)
    return repositories


def run_git(*words: str) -> bytes:
    """The output of git. Raises: UserError with the last line of its complaint."""
    done = subprocess.run(["git", *words], capture_output=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise UserError(done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    return done.stdout


def definitions_of(text: str, own: set[str], keep: Sequence[str]) -> str:
    """A script's definitions, constants and imports of what is there; the rest would run when a test imports it."""
    lines, missing = text.split("\n"), set[str]()

    def is_own(name: str) -> bool:
        return any(module == name or module.endswith(f".{name}") for module in own)

    for node in ast.parse(text).body:
        names = {inner.id: inner.ctx for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                is_kept = not keep or name in keep
            case ast.Import(names=aliases):
                is_kept = all(is_available(alias.name) or alias.name in own for alias in aliases)
            case ast.ImportFrom(module=None, names=aliases):  # from . import …
                is_kept = all(is_own(alias.name) for alias in aliases)
            case ast.ImportFrom(module=str(module), names=aliases, level=level):
                is_there = is_own(module) or all(is_own(f"{module}.{alias.name}") for alias in aliases)
                is_kept = is_there or (not level and is_available(module) and not module.startswith("IPython"))
            case ast.Assign():
                is_kept = not (missing & {*names} or any(isinstance(inner, ast.Call) for inner in ast.walk(node)))
                missing |= set() if is_kept else {name for name in names if isinstance(names[name], ast.Store)}
            case _:
                is_kept = False
        if not is_kept:
            first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
            lines[first - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - first + 1)
    return "\n".join(lines)


@dataclass(frozen=True)
class Row:
    """An item of the rubric: the kit's mark, and an independent verdict."""

    task: str
    item: str
    kit: str  # "kept", "lost", or the state in which it is left to a person
    why: str  # the kit's reason
    verdict: str  # "right", "wrong" or "unknown"
    reason: str

    @property
    def is_disputed(self) -> bool:
        """True if the kit takes what is right, or gives what is wrong."""
        return (self.kit, self.verdict) in (("lost", "right"), ("kept", "wrong"))


def examine(
    repository: Repository, clone: Path, assignment: Assignment, tests: CollectedTests, zygote: Zygote
) -> Iterator[Row]:
    """The rows of the components that a repository's adapter offers."""
    with tempfile.TemporaryDirectory() as folder:
        repository.write_submission(clone, Path(folder))
        sources = take_in(Path(folder), SKELETON, assignment).sources
    free = replace(assignment, contract=replace(assignment.contract, forbidden=Forbidden()))
    offered, _ = names_in(repository.adapter)
    for task in assignment.tasks:
        components = {component.split(".")[1] for component in task.components}
        if task.points and components and components <= offered:
            with Sandbox(sources, assignment, zygote=zygote) as sandbox:
                *_, outcomes = tests.run(sandbox, SEED, only=task.marker)
            result = judge_task(task, outcomes[task.marker], assignment.credit)
            with Sandbox(sources, free, zygote=zygote) as sandbox:
                verdicts = verdicts_of(task, sandbox)
            yield from rows_of(result, verdicts, repository.findings.get(task.number, {}))


def verdicts_of(task: Task, sandbox: Sandbox) -> dict[str, str]:
    """The faults of each item of a task, "" where there are none; empty for tasks that are left to people."""
    torch.manual_seed(SEED)

    def outcome(verdict: Callable[[], Any]) -> Any:
        try:
            return verdict()
        except Exception as error:  # whatever it raises
            return message_of(error)

    def judge(names: Collection[str]) -> dict[str, str]:
        items = outcome(lambda: JUDGES[task.number](sandbox)) if names and task.number in JUDGES else {}
        if isinstance(items, str):  # it cannot even be made
            return dict.fromkeys(names, items)
        return {name: outcome(items[name]) for name in names if name in items}

    with default_dtype(torch.float64):  # that of the inputs
        verdicts = judge([item.name for item in task.items])
    others = judge([name for name in verdicts if (task.number, name) in OF_ANY_DEFAULT])
    return verdicts | {name: verdicts[name] or other for name, other in others.items()}


def rows_of(result: TaskResult, verdicts: dict[str, str], by_hand: dict[str, str]) -> Iterator[Row]:
    """A row for each item of a task; a person's finding counts more than a computed one."""
    found = dict[str, str]()
    for mark in result.items:
        missed = [outcome for outcome in result.outcomes if outcome.item == mark.name and outcome.state != State.PASSED]
        to_people = [outcome.state.value for outcome in missed if not outcome.state.has_mark]
        kit = [*to_people, "kept" if mark.score else "lost"][0]
        why = " ".join(missed[0].message.split()) if missed else f"requires {mark.requires}" if mark.requires else ""
        reason = verdicts.get(mark.name)
        verdict = "unknown" if reason is None else "wrong" if reason else "right"
        if mark.name in by_hand:
            verdict, _, reason = by_hand[mark.name].partition(": ")
        required = found.get(mark.requires, "right")
        if required == "wrong" != verdict or (required, verdict) == ("unknown", "right"):  # as the rubric has it
            verdict, reason = required, f"counts only with: {mark.requires}"
        found[mark.name] = "right" if (verdict, kit) == ("unknown", "kept") else verdict
        yield Row(result.task.number, mark.name, kit, why[:MOST_WHY], verdict, reason or "")


def outside(folder: Path | None, repository: str, fetch: bool, output: Path | None) -> int:
    """Examine the tests with code that nobody here wrote.

    Grade public implementations, described in assignment/outside, and compare each item of the rubric with an
    independent verdict. Status 1 if one cannot be examined.
    """
    if folder is None:
        is_present = tests_version() in PAGE.read_text(encoding="utf-8")
        print(f"{PAGE.relative_to(ROOT)}: {'of the' if is_present else 'older than the'} present component tests")
        return 0  # tests change more often than public code can be fetched
    chosen = [source for source in read_repositories(FOLDER) if repository in source.id]
    if not chosen:
        raise UserError(f"{FOLDER}: no description has {repository!r} in its name")
    assignment = read_assignment()
    examined: list[tuple[Repository, list[Row], str]] = []
    with Zygote(assignment, "auto") as zygote:
        tests = CollectedTests(assignment)
        for source in chosen:
            try:
                rows, problem = [*examine(source, source.clone_in(folder, fetch), assignment, tests, zygote)], ""
            except UserError as error:
                rows, problem = [], str(error)
            examined.append((source, rows, problem))
            print(f"{source.id}: {f'not examined: {problem}' if problem else counted(rows)}", flush=True)
            for row in filter(lambda row: row.is_disputed, rows):
                print(f"  {row.task} {row.item}: {row.kit}, though {row.verdict}: {row.reason or row.why}", flush=True)
    if output is not None:
        write_verdicts(output, examined)
    return int(any(problem for _, _, problem in examined))


def tests_version() -> str:
    """Sixteen hex digits for the code of the component tests and of all that they expect."""
    rooms = (ASSIGNMENT / room for room in ("tests", "expected", "stand_ins"))
    paths = [path for room in rooms for path in sorted(room.rglob("*.py")) if path.stem not in OF_THE_WHOLE]
    paths += [ROOT / "autograder" / "testing" / f"{name}.py" for name in TESTING]
    return hashlib.sha256(b"".join(code_of(path.read_bytes()) for path in paths)).hexdigest()[:16]


def counted(rows: list[Row]) -> str:
    """The number of items of each kind."""
    kinds = Counter(f"{row.verdict} and {row.kit}" for row in rows)
    return f"{len(rows)} items, " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())


def write_verdicts(folder: Path, examined: list[tuple[Repository, list[Row], str]]) -> None:
    """Write the page of all verdicts: what is disputed, what is lost and why, and what of each repository is kept."""
    disputed, lost, code = [], dict[tuple[str, ...], list[str]](), []
    for source, rows, problem in examined:
        for row in rows:
            if row.is_disputed:
                disputed.append((source.link, row.task, row.item, f"{row.kit}, though {row.verdict}", row.why))
            elif row.kit != "kept":
                reason = row.reason if row.verdict == "wrong" else row.why if row.kit == "lost" else row.kit
                lost.setdefault((row.task, row.item, reason), []).append(source.id)
        kept = problem or f"{sum(row.kit == 'kept' for row in rows)} of {len(rows)}"
        tasks = ", ".join(sorted({row.task for row in rows}))
        code.append((source.link, source.kind, source.licence, tasks, kept))
    causes = ((*key, len(names), ", ".join(names)) for key, names in sorted(lost.items()))
    tables = {
        "disputed": table(("code", "task", "item", "verdicts", "the kit's reason"), disputed) if disputed else "None.",
        "lost": table(("task", "item", "what differs", "number", "code"), causes),
        "code": table(("code", "kind", "licence", "tasks", "items kept"), code),
    }
    total = counted([row for _, rows, _ in examined for row in rows])
    write_page(folder, "outside", version=tests_version(), counted=total, **tables)
