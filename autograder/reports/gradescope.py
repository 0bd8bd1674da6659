"""Grades one submission in Gradescope's container: `python -m autograder.reports.gradescope`.

    /autograder/source/                    this package, the skeleton, the hidden references, the secret
    /autograder/submission/                what the student handed in
    /autograder/submission_metadata.json   when, for which due date, after which earlier attempts
    /autograder/results/results.json       the results; written early, and again after every part

Random inputs follow from the term's secret: equal work earns equal marks, in every attempt. `as_results` is what
`--results` writes, too.
"""

import argparse
import json
import re
import sys
import traceback
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from foundation.assignment_file import read_assignment
from foundation.command_line import INTERRUPTED, Parser, print_anywhere
from foundation.places import ROOT, TEST_REFERENCES
from foundation.texts import printable

from ..grading.grader_version import grader_version
from ..grading.record import MAX_TEXT, Part, Record, write_json
from ..grading.recording import Recorder
from ..grading.seeds import seeds_of_term
from ..grading.submission import events_of, open_grader, refusal
from ..intake import IntakeRefusedError, take_in
from ..testing.results import State
from .terminal import containment_of, notes_of, printable_lines, text_of


def main(arguments: list[str] | None = None) -> int:
    """Returns 0 once the submission has its marks; 1 where it has none, be it damaged or the grader's fault."""
    print_anywhere()
    options = make_parser().parse_args(arguments)
    target = options.root / "results" / "results.json"
    try:
        results = grade_here(options.root, options.level, target)
    except KeyboardInterrupt:
        print("gradescope: stopped", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:  # whatever it is, it is our fault, and must not count as a zero
        traceback.print_exc()
        write_json(target, failure(f"{type(error).__name__}: {error}"))
        return 1
    write_json(target, results)
    return 0 if "score" in results else 1


def make_parser() -> argparse.ArgumentParser:
    """The flags."""
    parser = Parser(
        prog="python -m autograder.reports.gradescope",
        description="Grade the submission in a folder laid out like Gradescope's /autograder.",
        epilog="example: python -m autograder.reports.gradescope --root /autograder",
    )
    parser.add_argument("--root", type=Path, default=Path("/autograder"), help="default: /autograder")
    parser.add_argument("--level", default="auto", help="level of containment (default: auto, the best that works)")
    return parser


def grade_here(root: Path, level: str, target: Path) -> dict[str, Any]:
    """The results of `root/submission`; intermediate ones are written to `target`."""
    assignment = read_assignment()
    limits = assignment.limits
    limits = replace(limits, memory_mb=min(limits.memory_mb, limits.gradescope_memory_mb))
    assignment = replace(assignment, limits=limits)
    skeleton = ROOT / assignment.package
    handed_in, notes = None, []
    try:
        handed_in = read_metadata(root / "submission_metadata.json")
    except MetadataError as error:
        notes.append(f"late days and earlier attempts are unknown: {error}")

    def store(record: Record) -> None:
        write_json(target, in_full(record, handed_in, notes))

    recorder = Recorder("submission", assignment, grader_version(assignment, skeleton, TEST_REFERENCES))
    try:
        intake = take_in(root / "submission", skeleton, assignment)
    except IntakeRefusedError as error:
        record = recorder.add_all(refusal(error), store)
    else:
        with open_grader(assignment, TEST_REFERENCES, level) as grader:
            record = recorder.add_all(events_of(intake, seeds_of_term(ROOT), grader), store)
    return in_full(record, handed_in, notes)


class MetadataError(ValueError):
    """The metadata cannot be used; the message says where and why."""


def read_metadata(path: Path) -> dict[str, Any]:
    """When and how a submission was handed in, without names and addresses, for `extra_data`.

    It is passed on, since the course decides what lateness costs. In a group, the longest extension counts.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        assignments = [content["assignment"], *(user.get("assignment") or {} for user in content.get("users") or ())]
        created = _time(content["created_at"])
        due, late_due = (_latest(assignments, key) for key in ("due_date", "late_due_date"))
        earlier = [_score(one) for one in content.get("previous_submissions") or ()]
        return {
            "submission_id": str(content.get("id", "")),
            "method": str(content.get("submission_method", "")),
            "at": created.isoformat(),
            "due": due and due.isoformat(),
            "late_due": late_due and late_due.isoformat(),
            "late_seconds": round(max(0.0, (created - due).total_seconds())) if due else 0,
            "after_late_period": late_due is not None and created > late_due,
            "attempt": len(earlier) + 1,
            "earlier_scores": earlier,
        }
    except OSError as error:
        raise MetadataError(f"{path.name}: {error.strerror or error}") from None
    except KeyError as error:
        raise MetadataError(f"{path.name} has no {error}") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise MetadataError(f"{path.name} is not of Gradescope's shape: {error}") from None


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return time


def _latest(assignments: list[dict[str, Any]], key: str) -> datetime | None:
    times = [_time(assignment[key]) for assignment in assignments if assignment.get(key)]
    return max(times, default=None)


def _score(earlier: dict[str, Any]) -> float | None:
    score = earlier.get("score")
    return None if score is None or earlier.get("autograder_error") else float(score)


def notes_on(handed_in: dict[str, Any], tells_scores: bool) -> list[str]:
    """What the student reads; earlier points include those of hidden parts, so they may have to be left out."""
    notes = []
    if handed_in["late_seconds"]:
        after = ", and after the late period" if handed_in["after_late_period"] else ""
        notes.append(f"handed in {_duration(handed_in['late_seconds'])} after the due date{after}")
    if scores := handed_in["earlier_scores"]:
        shown = ", ".join("not graded" if score is None else f"{score:g}" for score in scores[-5:])
        notes.append(f"attempt {len(scores) + 1}" + (f"; points before: {shown}" if tells_scores else ""))
    return notes


def _duration(seconds: float) -> str:
    """Two units at most: 45 s, 5 min, 2 h 5 min, 3 d 1 h."""
    minutes, hours, days = (int(seconds // unit) for unit in (60, 3600, 86400))
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{max(1, round(seconds))} s"


def as_results(record: Record) -> dict[str, Any]:
    """Gradescope's results.json; what else we know is in `extra_data`.

    While a part with points has no mark there is no total: Gradescope takes results without a score for a failed run of
    the autograder, and not for a zero.
    """
    judgement, run = record.judgement, record.run
    bleu = judgement.bleu
    return {
        **({} if judgement.score is None else {"score": judgement.score}),
        "execution_time": run.seconds,
        "output": "\n".join(printable(note, MAX_TEXT) for note in notes_of(record)),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [as_test(part) for part in judgement.parts],
        "leaderboard": [] if bleu is None else [{"name": "BLEU", "value": round(bleu.value, 4)}],
        "extra_data": {
            "submission": record.submission,
            "max_score": judgement.max_score,
            "finished": record.is_finished,
            "sandbox": containment_of(run),
            "seed_id": judgement.seed_id,
            "content_hash": judgement.content_hash,
            "files": judgement.files,
            "grader_version": judgement.grader_version,
            "printed": run.printed,
            "training": None if judgement.training is None else judgement.training.model_dump(mode="json"),
            "states": {part.number: part.state.value for part in judgement.parts},
        },
    }


def as_test(part: Part) -> dict[str, Any]:
    """One entry of `tests`: a task; one without a mark has neither score nor status."""
    mark = {"score": part.score, "status": "passed" if part.state == State.PASSED else "failed"}
    return {
        "name": f"{part.number} {part.title}",
        "number": part.number,
        **({} if part.score is None else mark),
        "max_score": part.points,
        "output": "\n".join(printable_lines(text_of(part) or part.state.value)),
        "output_format": "text",
        "visibility": "visible",
        "tags": list(part.components) or ["BLEU"],
    }


def in_full(record: Record, handed_in: dict[str, Any] | None, notes: list[str]) -> dict[str, Any]:
    """The results with what only Gradescope uses: visibility, Markdown, the leaderboard, the metadata."""
    results, parts = as_results(record), record.judgement.parts
    for entry, part in zip(results["tests"], parts, strict=True):
        entry |= {"output": as_markdown(part.state, entry["output"]), "output_format": "md", "name_format": "text"}
        entry |= {"visibility": part.visibility, "extra_data": {"state": part.state.value}}
    for place in results["leaderboard"]:
        place["order"] = "desc"
    if any(part.visibility != "visible" for part in parts if not part.components):
        results["leaderboard"] = []  # BLEU tells what the hidden parts have earned
    shows_all = all(part.visibility == "visible" for part in parts)
    said = [results["output"], *(notes_on(handed_in, shows_all) if handed_in else ()), *notes]
    results["output"] = "\n".join(filter(None, said))
    if handed_in:
        results["extra_data"]["handed_in"] = handed_in
    return results


def as_markdown(state: str, message: str) -> str:
    """State and message. Student-controlled text is fenced so that it cannot break out."""
    if message in ("", state):
        return f"**{state}**"
    longest = max((len(run) for run in re.findall("`+", message)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"**{state}**\n\n{fence}text\n{message}\n{fence}"


def failure(reason: str) -> dict[str, Any]:
    """Results without any score: Gradescope shows that the autograder failed."""
    said = f"The grader failed, and your work has not been graded. Please tell your instructor: {reason[:500]}"
    return {"output": said, "output_format": "text", "visibility": "visible", "stdout_visibility": "hidden"}


if __name__ == "__main__":
    sys.exit(main())
