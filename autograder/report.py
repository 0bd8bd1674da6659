"""A graded submission for people (a table) and for programs (Gradescope's results.json)."""

import json
import os
from pathlib import Path

from .grading import Record
from .marks import TaskResult
from .scoring import printable

MARKS = {"passed": "✓", "not attempted": "·", "grader error": "!"}


def as_table(record: Record) -> str:
    """Tasks and points, one line each, then the messages."""
    lines = [f"{record.assignment.title}: {printable(record.submission)}", ""]
    width = max(len(result.task.title) for result in record.results)
    for result in record.results:
        task = result.task
        points = f"{result.score:6.2f} / {task.points:<5g}" + ("  (extension)" if task.extension else "")
        lines.append(f"  {MARKS.get(result.state, '✗')} {task.number:<4} {task.title:<{width}} {points} {result.state}")
    lines += ["", f"  {'score':<{width + 7}} {record.score:6.2f} / {record.assignment.max_score:g}"]
    if record.bleu is not None:
        bleu = record.bleu
        lines.append(f"  BLEU {bleu.bleu:.3f}, 95% interval [{bleu.low:.3f}, {bleu.high:.3f}], {bleu.n} lines")
    for result in record.results:
        if result.message:
            lines += ["", f"{result.task.number} {result.task.title}"]
            lines += ["    " + printable(line) for line in result.message.split("\n")]
    for note in record.notes:
        lines += ["", f"note: {printable(note)}"]
    lines += ["", f"sandbox: {record.sandbox or 'none'}   seed id: {record.seed_id}   {record.seconds:.1f} s"]
    return "\n".join(lines)


def as_results(record: Record) -> dict:
    """Gradescope's results.json; what else we know stands in `extra_data`."""
    return {
        "score": record.score,
        "execution_time": round(record.seconds, 2),
        "output": "\n".join(printable(note) for note in record.notes),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [as_test(result) for result in record.results],
        "leaderboard": [] if record.bleu is None else [{"name": "BLEU", "value": round(record.bleu.bleu, 4)}],
        "extra_data": {
            "submission": printable(record.submission),
            "max_score": record.assignment.max_score,
            "sandbox": record.sandbox,
            "seed_id": record.seed_id,
            "files": record.files,
            "printed": record.printed,
            "states": {result.task.number: result.state for result in record.results},
        },
    }


def as_test(result: TaskResult) -> dict:
    """One entry of `tests`: a task."""
    task = result.task
    return {
        "name": f"{task.number} {task.title}",
        "number": task.number,
        "score": result.score,
        "max_score": task.points,
        "status": "passed" if result.state == "passed" else "failed",
        "output": "\n".join(printable(line) for line in (result.message or result.state).split("\n")),
        "output_format": "text",
        "visibility": "visible",
        "tags": list(task.judges) or ["BLEU"],
    }


def write_results(record: Record, path: Path) -> None:
    """Writes results.json in one piece or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".tmp")
    unfinished.write_text(json.dumps(as_results(record), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(unfinished, path)
