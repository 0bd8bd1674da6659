"""Submissions and results; classes and downloads; a stub in the place of the true grader, and a true one."""

import csv
import html
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.__main__ import main
from autograder.classroom.entries import take_class
from autograder.classroom.grading import RECORDS, Results, grade_class
from autograder.grading.provenance import Seeds
from autograder.grading.record import Record, new_record, write_record
from autograder.grading.submission import Conditions, open_grader
from autograder.testing.results import Outcome, State, TaskResult, judge_task
from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT_FILE, REFERENCE, SKELETON
from foundation.whole_files import make_zip, write_whole

from ..conftest import examples_in as examples

VERSION = "0123456789abcdef"
SEEDS = Seeds(b"the secret of the kit's own tests")  # of `fixed_secret`
ASSIGNMENT = read_assignment()
WRONG = "# wrong\n"
MODEL = ("embedding", "attention", "layers", "model", "masks", "train", "decode")


def judged(states: Mapping[str, State] = {}, others: State = State.PASSED) -> tuple[TaskResult, ...]:
    """Each task in a state, by its number; all of its points where it has passed, and none else."""
    results = []
    for task in ASSIGNMENT.tasks:
        state = states.get(task.number, others)
        is_earned = state is State.PASSED and not task.understanding  # which is a bonus
        results.append(TaskResult(task, state, task.points * is_earned, "" if state is State.PASSED else "why"))
    return tuple(results)


def record_of(name: str, *results: TaskResult, others: State = State.PASSED, **facts: object) -> Record:
    """The finished record of a submission; tasks without a result are in another state."""
    record = new_record(name, ASSIGNMENT, "0" * 16).taken_in({})
    return record.judged([*judged(others=others), *results], **facts).finished()


def write_submission(folder: Path, *changes: tuple[str, str, str], modules: tuple[str, ...] = MODEL) -> Path:
    """Files of the reference, some of them changed: module, old text, new text."""
    folder.mkdir(parents=True)
    for module in modules:
        text = (REFERENCE / f"{module}.py").read_text(encoding="utf-8")
        for name, old, new in changes:
            if name == module:
                assert text.count(old) == 1, old
                text = text.replace(old, new)
        (folder / f"{module}.py").write_text(text, encoding="utf-8")
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a table that the kit has written."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def examples_in(file: str) -> dict:
    """Those in a file of this folder."""
    return examples(f"autograder/{file}")


def words_of(page: str) -> str:
    """The text of a page, without its style and script."""
    plain = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", plain)).split())


def changed_assignment(path: Path, *changes: tuple[str, str], late: str = "") -> Path:
    """Writes the kit's assignment with other texts, and with a table `[late]` of some lines."""
    text = ASSIGNMENT_FILE.read_text()
    for old, new in (*changes, *([("[release]", f"[late]\n{late}\n\n[release]")] if late else [])):
        assert old in text, old
        text = text.replace(old, new, 1)
    path.write_text(text)
    return path


def all_passed(intake):
    yield judged()


def by_text(intake):
    """A wrong submission loses attention."""
    yield judged({"1.2": State.FAILED} if intake.sources["layers"][1] == WRONG else {})


@pytest.fixture
def lay(tmp_path):
    """Writes files into the folder `download`; an archive holds its text as layers.py."""

    def write(files: Mapping[str, str]) -> Path:
        for name, content in files.items():
            packed = make_zip({"layers.py": content.encode()}) if name.endswith(".zip") else content
            write_whole(tmp_path / "download" / name, packed)
        return tmp_path / "download"

    return write


@pytest.fixture
def folder(tmp_path):
    """Three submissions of one line each."""
    for name in ("anna", "bob", "carl"):
        write_whole(tmp_path / "class" / name / "layers.py", f"# by {name}\n")
    return tmp_path / "class"


@pytest.fixture
def output(tmp_path):
    return tmp_path / "marks"


@pytest.fixture
def use(tmp_path, monkeypatch):
    """Replaces the grader by a function from an intake to results; who has been graded since the last call."""
    log = tmp_path / "log"

    def install(results_of=all_passed):
        log.touch()

        def judge(intake, seed, record, show_progress):
            with log.open("a") as file:
                file.write(f"{intake.name}\n")
            record = record.contained(("seccomp", "uid"), "")
            for results in results_of(intake):
                record = record.judged(results)
                yield record
            yield record.finished()

        @contextmanager
        def open_stub(*arguments):
            yield SimpleNamespace(judge=judge, renew=lambda: None)

        def names() -> list[str]:
            names = sorted(log.read_text().split())
            log.write_text("")
            return names

        monkeypatch.setattr("autograder.classroom.grading.open_grader", open_stub)
        return names

    return install


@pytest.fixture
def log(use):
    """Returns who has been graded, and forgets it."""
    return use()


class Typed:
    """The commands as they are typed, for the three submissions; `out` and `err` have the output of the last one."""

    def __init__(self, folder: Path, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.output, self.capsys = folder, output, capsys
        self.assignment: list[object] = []  # options of all commands
        self.options: list[object] = []  # of `grade-class`

    def enrol(self, roster: str, encoding: str = "utf-8") -> None:
        """Lets a text be the roster."""
        path = self.output.with_name("roster.csv")
        path.write_text(roster, encoding)
        self.options = ["--roster", path]

    def run(self, *words: object) -> int:
        """Runs a command; its exit status."""
        self.capsys.readouterr()
        status = main([*map(str, words)])
        self.out, self.err = self.capsys.readouterr()
        return status

    def grade(self, *options: object) -> int:
        words = ["--output", self.output, *self.assignment, *self.options]
        return self.run("grade-class", self.folder, *words, *options)

    def decide(self, *words: object) -> int:
        return self.run(*words, "--output", self.output, *self.assignment, "--by", "tina")

    def row(self, student: str = "anna") -> dict[str, object]:
        """A student's row of the summary; numbers as such, and None where it is empty."""
        row = next(row for row in rows_of(self.output / "summary.csv") if row["id"] == student)
        return {name: float(cell) if re.fullmatch(r"[\d.]+", cell) else cell or None for name, cell in row.items()}

    def scores(self) -> dict[str, float | None]:
        return {row["id"]: self.row(row["id"])["score"] for row in rows_of(self.output / "summary.csv")}


@pytest.fixture
def typed(folder, output, log, capsys):
    return Typed(folder, output, capsys)


def run(folder, output, again=False, version=VERSION, seed=None, **options) -> dict[str, Record]:
    """Grades a class; the records that count, by the submission's name in the folder."""
    conditions = Conditions(ASSIGNMENT, SKELETON, folder / "references", version, replace(SEEDS, fixed=seed), **options)
    _, entries = take_class(folder, output, ASSIGNMENT)
    grade_class(entries, conditions, Results(output, conditions.seeds), again, keeps_changes=True)
    return kept(folder, output)


def kept(folder, output) -> dict[str, Record]:
    """The records that count, by entry."""
    _, entries = take_class(folder, output, ASSIGNMENT)
    return {entry.entry: Results(output, SEEDS).kept(entry.key) for entry in entries}


def put(output, key: str, record: Record) -> None:
    """Puts a record as it is in the place of the one that counts."""
    write_record(output / RECORDS / f"{key}.json", record)


def two_tests(failed: str = "") -> Iterator[TaskResult]:
    """Each part has two tests, of which the second of `failed` fails; nobody tries a bonus."""
    for task in ASSIGNMENT.tasks:
        if task.understanding:
            yield TaskResult(task, State.NOT_ATTEMPTED, 0.0, "why")
            continue
        items = [item.name for item in task.items[:2]] or ["", ""]
        states = [State.PASSED, State.FAILED if task.number == failed else State.PASSED]
        outcomes = [
            Outcome(f"{task.name}_{n}", state, item=items[n], nodeid=f"test_{task.name}.py::{n}")
            for n, state in enumerate(states)
        ]
        yield judge_task(task, outcomes, ASSIGNMENT.credit)


@pytest.fixture(scope="session")
def grader(zygote, tmp_path_factory):
    """A true one, which has no references."""
    with open_grader(ASSIGNMENT, tmp_path_factory.mktemp("none") / "none", zygote=zygote) as grader:
        yield grader


@pytest.fixture(scope="session", autouse=True)
def _with_fixed_secret(fixed_secret):
    """For the commands."""
