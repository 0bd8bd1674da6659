"""What is known of one graded submission, in memory and as JSON; `record.schema.json` describes the latter.

    record.write(Path("anna.json"))           in one piece or not at all
    read_record(Path("anna.json"))            the JSON's content, or None

Everything else (a table, Gradescope's results.json, the class's summary) is made from the JSON's content.
"""

import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.assignment_file import Assignment
from foundation.printable_text import clean
from foundation.whole_files import write_whole

from ..diagnosis.findings import Finding, Misconception
from ..scoring import Score
from .marks import TaskResult, total_score

if TYPE_CHECKING:
    from ..assignment.training_check import Trainability

SCHEMA = Path(__file__).with_name("record.schema.json")
VERSION = 1
MAX_NAME, MAX_TEXT, MAX_TEST_TEXT, MAX_TRACEBACK, MAX_DIAGNOSIS = 200, 8_000, 400, 4_000, 4_000
MAX_NOTES, MAX_FILES = 50, 200
UNSAFE = "graded without the sandbox's filter (--level unsafe): submitted code could reach the grader and its files"
NOT_JUDGED = "not judged: the grading has not come that far"


@dataclass
class Record:
    """One submission with its results.

    Attributes:
        submission: its name, for reports.
        assignment: tasks, points, thresholds.
        results: one for each task, in order.
        suite: version of everything that decides marks; see `suite_version.suite_version`.
        seed_id: names the tests' seed without telling it.
        sandbox: the level of containment.
        is_finished: False while some results are still to come.
        files: file name -> sha256 of what was taken in.
        printed: by the submission.
        trainability: the verdict on the whole; None where it was not asked for.
    """

    submission: str
    assignment: Assignment
    results: list[TaskResult] = field(default_factory=list)
    suite: str = ""
    seed_id: str = ""
    sandbox: str = ""
    is_finished: bool = False
    bleu: Score | None = None
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    printed: str = ""
    trainability: "Trainability | None" = None

    def __post_init__(self) -> None:
        if not self.results:
            self.results = [TaskResult(task, "grader error", 0.0, NOT_JUDGED) for task in self.assignment.tasks]

    @property
    def score(self) -> float:
        """Points, bonus included."""
        return total_score(self.results)

    def update(self, results: list[TaskResult]) -> None:
        """Takes in the results of some tasks."""
        known = {result.task.number: result for result in results}
        self.results = [known.get(result.task.number, result) for result in self.results]

    def give_up(self, reason: str) -> None:
        """What is not judged yet will not be, by a fault of ours."""
        told = f"not judged: {reason}"
        self.results = [
            replace(result, message=told) if result.message == NOT_JUDGED else result for result in self.results
        ]

    def content(self) -> dict:
        """As JSON; the texts are harmless for terminals, and none is long."""
        notes = [UNSAFE, *self.notes] if self.sandbox.endswith("(unsafe)") else self.notes
        return {
            "schema": VERSION,
            "submission": clean(self.submission, MAX_NAME),
            "assignment": self.assignment.title,
            "finished": self.is_finished,
            "score": self.score,
            "max_score": self.assignment.max_score,
            "parts": [part_of(result) for result in self.results],
            "trainability": None if self.trainability is None else self.trainability.content(),
            "bleu": None if self.bleu is None else bleu_of(self.bleu),
            "notes": [clean(note, MAX_TEXT) for note in notes[:MAX_NOTES]],
            "printed": self.printed,
            "graded": hash_of(self.files),
            "files": {clean(name, MAX_NAME): digest for name, digest in sorted(self.files.items())[:MAX_FILES]},
            "suite": self.suite,
            "seed_id": self.seed_id,
            "sandbox": self.sandbox,
            "seconds": round(self.seconds, 2),
        }

    def write(self, path: Path) -> None:
        """Writes the JSON in one piece or not at all."""
        write_json(path, self.content())


def diagnosis_of(found: Finding) -> dict:
    """What the diagnosis found as JSON; a counterexample has no fault."""
    faults = [found.fault, *found.others] if isinstance(found, Misconception) else [""]
    return {"fault": faults[0], "others": faults[1:], "text": clean(found.text, MAX_DIAGNOSIS)}


def part_of(result: TaskResult) -> dict:
    """One task as JSON."""
    task = result.task
    return {
        "number": task.number,
        "title": task.title,
        "components": list(task.components),
        "extension": task.extension,
        "state": result.state,
        "score": result.score,
        "points": task.points,
        "message": clean(result.message, MAX_TEXT),
        "traceback": clean(result.traceback, MAX_TRACEBACK),
        "diagnosis": None if result.finding is None else diagnosis_of(result.finding),
        "seconds": round(sum(outcome.seconds for outcome in result.outcomes), 3),
        "tests": [
            {
                "name": outcome.test,
                "core": outcome.is_core,
                "state": outcome.state,
                "message": clean(outcome.message, MAX_TEST_TEXT),
                "seconds": outcome.seconds,
            }
            for outcome in result.outcomes
        ],
    }


def bleu_of(score: Score) -> dict:
    """BLEU as JSON: the value, the ends of its 95% interval, sentences, sacreBLEU's signature."""
    return {
        "value": round(score.bleu, 6),
        "low": round(score.low, 6),
        "high": round(score.high, 6),
        "sentences": score.n,
        "signature": score.signature,
    }


def hash_of(files: dict[str, str]) -> str:
    """One hash for all files of a submission."""
    return hashlib.sha256(json.dumps(sorted(files.items())).encode()).hexdigest()


def read_record(path: Path) -> dict | None:
    """The content of a record's file; None where there is none, or one of another version."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and content.get("schema") == VERSION else None


def write_json(path: Path, content: object) -> None:
    """Writes a file in one piece or not at all."""
    write_whole(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
