"""The results of a class for people and programs: a table of one screen, summary.csv, a regrade."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median

from foundation.texts import counted, first_of, printable
from foundation.whole_files import write_whole

from ..classroom.entries import Roll
from ..classroom.grading import Change
from ..classroom.marks import ENTER_DAYS, Result, by_task
from ..grading.record import Part, Record
from ..testing.results import State
from .exports import Cell, as_csv, comment_of

MOST_NAMES = 8
SUMMARY = "summary.csv"
ABOUT = ("id", "name", "submission", "late", "status", "reason", "score", "max_score", "bleu")
CIRCUMSTANCES = ("late_days", "percent_off", "comments")
"""Columns of summary.csv before and after those of the parts."""


def tasks_of(results: Sequence[Result]) -> list[tuple[Part, float | None, dict[str, int]]]:
    """The class in each task: somebody's part, the mean, and how many submissions are in each state, as graded.

    The mean is that of the students' points that count, before lateness; None where nobody has any.
    """
    marks = [result.mark for result in results if result.mark and not result.mark.excused]
    rows = []
    for same in by_task(records_of(results).values()):
        counts = Counter(part.state for part in same)
        own = [part.score for mark in marks for part in mark.parts if part.part.number == same[0].number]
        scores = [score for score in own if score is not None]
        average = round(mean(scores), 2) if scores else None
        rows.append((same[0], average, {state.value: counts[state] for state in State}))
    return rows


def scores_of(results: Iterable[Result]) -> list[float]:
    """The scores of those who have one."""
    return [result.score for result in results if result.score is not None]


def records_of(results: Iterable[Result]) -> dict[str, Record]:
    """The records of the submissions, by their key; partners share one."""
    return {result.member.key: result.record for result in results if result.record}


def write_summary(results: Sequence[Result], output: Path) -> None:
    """Writes summary.csv in one piece, one flat row per student; empty where there is no mark.

    At least one student has been graded.
    """
    numbers = [same[0].number for same in by_task(records_of(results).values())]
    heading = [*ABOUT, *numbers, *(f"{number} state" for number in numbers), *CIRCUMSTANCES]
    max_score = next(iter(records_of(results).values())).judgement.max_score
    rows = [{**row_of(result), "max_score": max_score} for result in results]
    write_whole(output / SUMMARY, as_csv(heading, rows))


def row_of(result: Result) -> dict[str, Cell]:
    """Student, score, BLEU, and points and state of each part."""
    member, record, mark = result.member, result.record, result.mark
    unknown = "unknown" if member.unread_time else ""
    row: dict[str, Cell] = {"id": member.id, "name": member.name, "submission": member.entry}
    row |= {"late": {True: "late", False: "no", None: unknown}[result.is_late]}
    row |= {"status": result.status, "reason": result.reason, "score": result.score}
    if mark:
        row |= {part.part.number: part.score for part in mark.parts}
        row |= {"late_days": mark.lateness.days, "percent_off": mark.lateness.percent if record else None}
    if record:
        row |= {f"{part.number} state": part.state.value for part in record.judgement.parts}
        row |= {"bleu": record.judgement.bleu.value if record.judgement.bleu else None}
    return row | {"comments": comment_of(result)}


def as_class_table(roll: Roll, results: Sequence[Result], cases: Sequence[tuple[str, list[str]]]) -> str:
    """The class on one screen, for TAs; `cases` has the keys of those to be looked at first, and why."""
    names, scores = roll.names(), scores_of(results)
    records = records_of(results)
    first = next(iter(records.values())).judgement
    figures = f"mean {mean(scores):.1f}, median {median(scores):.1f}, of {first.max_score:g}" if scores else "no marks"
    urgent = [*roll.to_decide, *((names[key], "; ".join(reasons)) for key, reasons in cases)]
    shown = [f"  {printable(name, 40)}: {printable(reason, 70)}" for name, reason in urgent[:MOST_NAMES]]
    more = [f"  and {len(urgent) - MOST_NAMES} more"] if len(urgent) > MOST_NAMES else []
    lines = [f"{first.assignment}: {counted(len(records), 'submission')}, {figures}"]
    lines += ["", "look at these first:", *shown, *more] if urgent else []
    marked = [(result, result.mark) for result in results if result.mark]
    unknown = [result for result, mark in marked if mark.lateness.unknown and mark.needs_review]
    of_class = {
        "late": [result for result in results if result.is_late],
        f"no score yet; {ENTER_DAYS}": unknown,
        "it is not known when these were handed in, so they count as on time": [
            result for result, mark in marked if mark.lateness.untold
        ],
        "nothing handed in": [result for result in results if result.status == "nothing handed in"],
        "excused": [result for result in results if result.status == "excused"],
    }
    for heading, students in of_class.items():
        if students:
            shown = [printable(result.member.name, 40) for result in students]
            lines += ["", f"{heading} ({len(students)}): {first_of(shown, MOST_NAMES)}"]
    return "\n".join(lines)


def as_regrade_table(changes: Mapping[str, Change], names: Mapping[str, str]) -> str:
    """The changes of marks, and the tests that cause them; both by the submission's key."""
    n_kept, n_failed = sum(c.is_kept for c in changes.values()), sum(c.has_failed for c in changes.values())
    lines = []
    if n_waiting := len(changes) - n_kept - n_failed:
        stay = "stays as it is" if n_waiting == 1 else "stay as they are"
        lines.append(f"{counted(n_waiting, 'mark')} would change, and {stay} until you add --keep:")
    elif n_kept:
        lines.append(f"{counted(n_kept, 'mark')} changed:")
    for key, change in changes.items():
        lines.append(f"  {printable(names[key], 40)}: {change.points}")
        lines += [f"    {line}" for line in change.parts]
    if n_failed:
        lines.append(f"the grader failed over {n_failed} of them this time, so that the earlier marks stay")
    return "\n".join(lines)
