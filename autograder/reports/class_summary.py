"""The results of a class for people and programs: a table of one screen, summary.csv, a regrade.

Tables are made for spreadsheets and for the platforms that import them: nothing in them is computed.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median

from foundation.texts import counted, first_of, printable

from ..classroom.entries import Member, Roll
from ..classroom.grading import Change, Held, PartChange
from ..classroom.marks import ENTER_DAYS, Mark, Result, by_submission, by_task
from ..classroom.records import Decision
from ..grading.record import Part, Record, write_result
from ..testing.results import State
from .terminal import containment_of

MOST_NAMES = 8
SUMMARY = "summary.csv"
Cell = str | float | None
ABOUT = ("id", "name", "submission", "late", "status", "reason", "score", "max_score", "bleu")
CIRCUMSTANCES = ("sandbox", "content_hash", "grader_version", "late_days", "percent_off", "by_hand", "comments")
"""Columns of summary.csv before and after those of the parts."""
BYTE_ORDER_MARK = "\ufeff"
FORMULA = re.compile(r"""((?:^|[,;:|\t\r\n"'])[\s"']*+)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])""")
"""The place before a formula of spreadsheets: at the beginning, or after a character that may separate cells."""


def tasks_of(results: Sequence[Result]) -> list[tuple[Part, float | None, dict[str, int]]]:
    """The class in each task: somebody's part, the mean, and how many submissions are in each state, as graded.

    The mean is that of the points that count, before lateness; None where nobody has any.
    """
    marks = [(result.member, result.mark) for result in results if result.mark and not result.mark.excused]
    rows = []
    for same in by_task(records_of(results).values()):
        counts = Counter(part.state for part in same)
        scores = different(
            (member, part.score) for member, mark in marks for part in mark.parts if part.part.number == same[0].number
        )
        average = round(mean(scores), 2) if scores else None
        rows.append((same[0], average, {state.value: counts[state] for state in State}))
    return rows


def scores_of(results: Iterable[Result]) -> list[float]:
    """The scores of those who have one."""
    return different((result.member, result.score) for result in results)


def different(scores: Iterable[tuple[Member, float | None]]) -> list[float]:
    """The scores of submissions, and of those who handed in nothing; several where partners have different ones."""
    own = dict.fromkeys((member.key or member.id, score) for member, score in scores)
    return [score for _, score in own if score is not None]


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
    write_result(output / SUMMARY, as_csv(heading, rows))


def unlike_summary(results: Sequence[Result], output: Path) -> list[str]:
    """Students whose scores are no longer those of summary.csv."""
    path = output / SUMMARY
    if not path.is_file():
        return []
    with path.open(encoding="utf-8-sig", newline="") as file:
        scores = [row.get("score") for row in csv.DictReader(file)]
    own = ["" if result.score is None else str(result.score) for result in results]
    return [result.member.name for result, new, old in zip(results, own, scores, strict=False) if new != old]


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
        row |= {"by_hand": "; ".join(by_hand_of(mark)), "comments": "; ".join(comments_of(mark))}
    if record:
        judgement = record.judgement
        row |= {f"{part.number} state": part.state.value for part in judgement.parts}
        row |= {"bleu": judgement.bleu.value if judgement.bleu else None, "sandbox": containment_of(record.run)}
        row |= {"content_hash": judgement.content_hash, "grader_version": judgement.grader_version}
    return row


def by_hand_of(mark: Mark) -> Iterator[str]:
    """The decisions of people about a mark, a line each."""
    late, tasks = mark.lateness, defaultdict[str, list[str]](list)
    if mark.excused:
        yield f"excused {_by(mark.excused)}"
    if mark.by_hand:
        yield f"{counted(mark.by_hand.value or 0, 'point')} for the whole {_by(mark.by_hand)}"
    for part in mark.parts:
        if part.by_hand:  # of all tasks at once: a single line
            tasks[f"{counted(part.score or 0, 'point')} {_by(part.by_hand)}"].append(part.part.number)
    yield from (f"{', '.join(numbers)}: {decision}" for decision, numbers in tasks.items())
    if late.by_hand:
        yield f"{counted(late.days or 0, 'late day')} {_by(late.by_hand)}"


def _by(decision: Decision) -> str:
    return f"by {decision.by}, {decision.at:%Y-%m-%d}: {_in_line(decision.text)}"


def comments_of(mark: Mark) -> list[str]:
    """The comments of people on a submission and its parts, a line each."""
    of_parts = [f"{part.part.number}: {_in_line(part.comment.text)}" for part in mark.parts if part.comment]
    return [*([_in_line(mark.comment.text)] if mark.comment else []), *of_parts]


def _in_line(text: str) -> str:
    return " ".join(printable(line, 1000) for line in text.split("\n"))


def as_class_table(roll: Roll, results: Sequence[Result]) -> str:
    """The class on one screen, for TAs."""
    records = records_of(results)
    first = next(iter(records.values())).judgement
    scores = scores_of(results)
    figures = f"mean {mean(scores):.1f}, median {median(scores):.1f}, of {first.max_score:g}" if scores else "no marks"
    lines = [f"{first.assignment}: {counted(len(records), 'submission')}, {figures}", ""]
    tasks = tasks_of(results)
    width = max(len(task.title) for task, *_ in tasks)
    states = [state.value for state in State if any(numbers[state] for *_, numbers in tasks)]
    lines.append(f"  {'':<{width + 5}}{'mean':>6}       " + "".join(f"  {state}" for state in states))
    for task, average, numbers in tasks:
        counts = "".join(f"  {numbers[state] or '·':>{len(state)}}" for state in states)
        points = f"{'' if average is None else format(average, '.2f'):>6} / {task.points:<4g}"
        lines.append(f"  {task.number:<4} {task.title:<{width}}{points}{counts}")
    for heading, names in sections_of(roll, results):
        if names:
            lines += ["", f"{heading}: {first_of([printable(name, 40) for name in names], MOST_NAMES)}"]
    if roll.left_out:
        shown = [f"  {printable(stray.entry, 40)}: {stray.reason}" for stray in roll.left_out[:MOST_NAMES]]
        more = [f"  and {len(roll.left_out) - MOST_NAMES} more"] if len(roll.left_out) > MOST_NAMES else []
        lines += ["", "left out:", *shown, *more]
    levels = Counter(containment_of(record.run) for record in records.values() if record.run.layers is not None)
    return "\n".join([*lines, "", f"sandbox: {', '.join(levels) or 'none'}"])


def open_parts(marks: Iterable[Mark]) -> dict[State, list[str]]:
    """The titles of the parts that a person should look at, by state, the worst first; not those decided by hand.

    The marks are those of students who share a submission.
    """
    parts = {part.part.number: part.part for mark in marks for part in mark.parts if part.by_hand is None}
    titles = {state: [part.title for part in parts.values() if part.state is state] for state in reversed(State)}
    return {state: own for state, own in titles.items() if own and state.needs_a_look}


def sections_of(roll: Roll, results: Sequence[Result]) -> Iterator[tuple[str, list[str]]]:
    """Headings with the students, or entries of the download, that a person should know about."""
    names, records = roll.names(), records_of(results)

    def named(is_meant: Callable[[Result], object]) -> list[str]:
        return [result.member.name for result in results if is_meant(result)]

    states = {
        key: open_parts(
            result.mark for result in same if result.mark and not (result.mark.by_hand or result.mark.excused)
        )
        for key, same in by_submission(results).items()
    }
    for state in reversed(State):
        if state.needs_a_look:
            yield state.value, [names[key] for key, open_ in states.items() if state in open_]
    using = [names[key] for key, record in records.items() if record.judgement.internals]
    yield "uses of PyTorch's or Python's internals, or code of the tests, to be read by a person", using
    noted = [names[key] for key, record in records.items() if record.run.notes]
    yield f"{len(noted)} with notes on the grading itself", noted
    yield "late", named(lambda result: result.is_late)
    undated = named(lambda result: result.mark and result.mark.lateness.unknown and result.mark.needs_review)
    yield f"no score yet; {ENTER_DAYS}", undated
    yield "time of submission that cannot be read", [m.name for m in roll.members if m.unread_time]
    yield "needs review, since it is not known which submission counts", [m.name for m in roll.members if m.undecided]
    missing = named(lambda result: result.status == "nothing handed in")
    yield f"nothing handed in ({len(missing)})", missing
    yield "excused", named(lambda result: result.status == "excused")
    by_hand = named(lambda result: result.member.is_missing and result.score is not None)
    yield "marked by hand, without a submission", by_hand
    untold = named(lambda result: result.mark and result.mark.lateness.untold)
    yield "it is not known when these were handed in, so they count as on time", untold


def as_csv(heading: Sequence[str], rows: Iterable[Mapping[str, Cell]], has_mark: bool = True) -> str:
    """A table as CSV, quoted where needed; what a row lacks is empty, and other keys are left out.

    It begins with a byte-order mark: without one, spreadsheets take UTF-8 for an older encoding and spoil names.
    """
    text = io.StringIO()
    text.write(BYTE_ORDER_MARK if has_mark else "")
    writer = csv.DictWriter(text, heading, restval="", extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({key: harmless(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def harmless(value: Cell) -> Cell:
    """Text that a spreadsheet takes for no formula, whichever character it reads as the end of a cell."""
    return FORMULA.sub(r"\1'", value) if isinstance(value, str) and value != "-" else value


def as_regrade_table(held: Sequence[Held], names: Mapping[str, str]) -> str:
    """The changes of marks, and the tests that cause them; names by the submission's key."""
    n_kept, n_failed = sum(mark.is_kept for mark in held), sum(mark.has_failed for mark in held)
    lines = []
    if n_waiting := len(held) - n_kept - n_failed:
        stay = "stays as it is" if n_waiting == 1 else "stay as they are"
        lines.append(f"{counted(n_waiting, 'mark')} would change, and {stay} until you add --keep:")
    elif n_kept:
        lines.append(f"{counted(n_kept, 'mark')} changed:")
    for mark in held:
        of = [f" of {points:g}" * (len({*mark.change.max_scores}) > 1) for points in mark.change.max_scores]
        lines.append(f"  {printable(names[mark.entry.key], 40)}: {_points(mark.change, *of)}")
        lines += [f"    {line}" for line in lines_of(mark.change)]
    if n_failed:
        lines.append(f"the grader failed over {n_failed} of them this time, so that the earlier marks stay")
    return "\n".join(lines)


def lines_of(change: Change) -> list[str]:
    """The parts whose marks change, by how much and why."""
    return [
        f"{part.number} {part.title}: {_points(part)}"
        + (f" ({'; '.join(printable(reason, 120) for reason in part.reasons)})" if part.reasons else "")
        for part in change.parts
    ]


def _points(change: Change | PartChange, before: str = "", after: str = "") -> str:
    scores = ((change.before, before), (change.after, after))
    return " → ".join("no mark" if score is None else f"{score:g}{of}" for score, of in scores)
