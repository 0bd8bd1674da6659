"""Grades public implementations that nobody here wrote, and compares each rubric item with an independent verdict.

Verdicts are those of `outside_verdicts`, or findings by hand with a reason. What was found last is stored beside the
descriptions, for each with the version of the component tests that it belongs to.
"""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from autograder.intake.sources import names_in
from autograder.intake.submission import take_in
from autograder.running.collected_tests import CollectedTests
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.zygote import Zygote
from autograder.testing.results import State, TaskResult, judge_task
from foundation.assignment_file import Assignment, Task, read_assignment
from foundation.assignment_tables import Forbidden
from foundation.command_line import UserError
from foundation.places import ASSIGNMENT, ROOT, SKELETON
from foundation.whole_files import write_whole

from .outside_formulas import kind_of
from .outside_sources import HOST, OutsideError, Repository, clone_of, read_repositories, write_submission
from .outside_verdicts import JUDGES
from .report import table

FOLDER = ASSIGNMENT / "outside"
VERDICTS = FOLDER / "verdicts.json"
PAGE = ROOT / "docs" / "proof" / "outside.md"
TESTS = [ASSIGNMENT / room for room in ("tests", "expected", "stand_ins")]
TESTING = ("arguments", "case", "comparison", "fitting", "observation", "results", "subject")
"""Modules of `autograder.testing` that decide how a test ends."""
SEED = 20_261_128
MOST_WHY = 240
Stored = dict[str, dict[str, Any]]
"""By the name of the description: version, and rows as they are written."""


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
            with Sandbox(sources, free, zygote=self.zygote) as sandbox:
                verdicts = verdicts_of(task, sandbox)
            yield from rows_of(result, verdicts, repository.findings.get(task.number, {}))


def verdicts_of(task: Task, sandbox: Sandbox) -> dict[str, str]:
    """What is wrong with each item of a task, "" where nothing is; none for tasks that are left to people."""
    torch.manual_seed(SEED)

    def told(verdict: Callable[[], Any]) -> Any:
        try:
            return verdict()
        except Exception as error:  # whatever it raises
            return f"{kind_of(error)}: {str(error).partition(chr(10))[0]}"

    items = told(lambda: JUDGES[task.number](sandbox)) if task.number in JUDGES else {}
    if isinstance(items, str):  # it cannot even be made
        return {item.name: items for item in task.items}
    return {item.name: told(items[item.name]) for item in task.items if item.name in items}


def rows_of(result: TaskResult, verdicts: dict[str, str], by_hand: dict[str, str]) -> Iterator[Row]:
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


def outside(folder: Path | None, repository: str, fetch: bool, store: bool) -> int:
    """Examines the repositories whose description has this text in its name; the exit status.

    Without a folder of clones it only says whether the stored verdicts are those of the present tests.
    """
    if folder is None:
        names = older(read_stored())
        told = f"older than the component tests: {', '.join(names)}" if names else "all are of the present tests"
        print(f"stored verdicts: {len(read_stored())}; {told}")
        return 0
    chosen = [one for one in read_repositories(FOLDER) if repository in one.id]
    if not chosen:
        raise OutsideError(f"{FOLDER}: no description has {repository!r} in its name")
    assignment, stored, failed = read_assignment(), read_stored(), 0
    with Zygote(assignment, "auto") as zygote:
        exam = Exam(assignment, CollectedTests(assignment), zygote)
        for one in chosen:
            try:
                rows = [*exam.examine(one, clone_of(one, folder, fetch))]
            except UserError as error:
                failed += 1
                stored[one.id] = {"version": tests_version(), "rows": [], "problem": str(error)}
                print(f"{one.id}: not examined: {error}", flush=True)
                continue
            stored[one.id] = {"version": tests_version(), "rows": [[*astuple(row)] for row in rows]}
            print(f"{one.id}: {counted(rows)}", flush=True)
            for row in filter(lambda row: row.is_disputed, rows):
                print(f"  {row.task} {row.item}: {row.kit}, though {row.verdict}: {row.reason or row.why}", flush=True)
    if store:
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(stored[name])}" for name in sorted(stored))
        write_whole(VERDICTS, f"{{\n{lines}\n}}\n")
        write_whole(PAGE, page_of(stored, read_repositories(FOLDER)))
    return int(failed > 0)


def counted(rows: list[Row]) -> str:
    """How many items there are of each kind."""
    kinds = Counter(f"{row.verdict} and {row.kit}" for row in rows)
    return f"{len(rows)} items, " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())


def read_stored() -> Stored:
    """What was found last."""
    stored: Stored = json.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else {}
    return stored


def tests_version() -> str:
    """Sixteen hex digits for the component tests and all that they expect."""
    digest = hashlib.sha256()
    paths = [path for room in TESTS for path in sorted(room.rglob("*.py"))]
    for path in (*paths, *(ROOT / "autograder" / "testing" / f"{name}.py" for name in TESTING)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def older(stored: Stored) -> list[str]:
    """The descriptions whose verdicts belong to other component tests than the present ones."""
    version = tests_version()
    return sorted(name for name, one in stored.items() if one["version"] != version)


def page_of(stored: Stored, repositories: list[Repository]) -> str:
    """The page of all verdicts: a row for each task of a repository, with every item that is lost or disputed."""
    rows = {name: [Row(*row) for row in one["rows"]] for name, one in stored.items()}
    lines = []
    for one in repositories:
        where = f"[{one.name}]({HOST}/{one.name}/tree/{one.commit})"
        if problem := stored.get(one.id, {"problem": "not examined yet"}).get("problem"):
            lines.append((where, "", "", "", problem))
        for task, of_task in groupby(rows.get(one.id, []), key=lambda row: row.task):
            items = [*of_task]
            wrong = [f"{row.item}: {row.reason}" for row in items if row.verdict == "wrong"]
            disputed = [f"**{row.item}** ({row.kit}: {row.why or row.reason})" for row in items if row.is_disputed]
            kept = sum(row.kit == "kept" for row in items)
            lines.append((where, task, f"{kept} of {len(items)}", "; ".join(wrong), "; ".join(disputed)))
    parts = [
        "# The component tests and public code",
        "Written by `python -m validity outside CLONES --store`. Through an adapter of ours, which is in "
        "`assignment/outside/`, a public implementation offers some components. Each item of their rubric "
        "has a verdict of its own: values, masks, gradients and side effects against formulas in float64 that share "
        "nothing with the component tests, or what a person found. Parts inside a layer are its own.",
        counted([row for of_one in rows.values() for row in of_one]) + ".",
        table(("code", "task", "items kept", "wrong", "disputed: right and lost, or wrong and kept"), lines),
        "## Where the code comes from",
        table(("code", "licence", "kind"), sorted({(one.name, one.licence, one.kind) for one in repositories})),
    ]
    return "\n\n".join(parts) + "\n"
