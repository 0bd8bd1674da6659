"""The class at a glance: whom a person should look at first, what the class got wrong, all marks.

On its page, on one screen of a terminal, and in summary.csv.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from textwrap import shorten

from foundation.assignment_file import Assignment
from foundation.texts import as_score, counted, first_of, printable, wrapped
from foundation.whole_files import write_whole

from ..classroom.entries import Roll
from ..classroom.grading import Change
from ..classroom.marks import ENTER_DAYS, Mark, Result, by_submission, by_task
from ..course.catalogue import Fault
from ..grading.record import MAX_TEXT, MOST_SHOWN, Part, Record
from ..grading.scoring import LOW
from ..intake.tree import TRANSLATIONS
from ..platforms.download import PLATFORMS
from ..sandbox.layers import lacking
from ..testing.results import State
from .exports import Cell, as_csv, comment_of

MOST_NAMES, MOST_CHARACTERS = 8, 500
SUMMARY = "summary.csv"
ABOUT = ("id", "name", "submission", "late", "status", "reason", "score", "max_score", "bleu")
CIRCUMSTANCES = ("late_days", "percent_off", "comments")
"""Columns of summary.csv before and after those of the parts."""
N_BINS = 20


def tasks_of(results: Sequence[Result]) -> list[tuple[Part, float | None, dict[str, int]]]:
    """Each task: a part, the mean of what counts before lateness, and how many submissions are in each state.

    What people mark in class has neither before they do, and then states of students.
    """
    marks = [result.mark for result in results if result.mark and not result.mark.excused]
    rows = []
    for same in by_task(records_of(results).values()):
        own = [part for mark in marks for part in mark.parts if part.part.number == same[0].number]
        counts = Counter(part.state for part in same)
        states = {state.value: counts[state] for state in State}
        known = [part.score for part in own if not part.waits]
        scores = [score for score in known if score is not None and len({part.points for part in same}) == 1]
        average = round(mean(scores), 2) if scores else None
        rows.append((same[0], average, Counter(part.state for part in own) if same[0].in_class else states))
    return rows


def has_two_scales(results: Sequence[Result]) -> bool:
    """True if some marks are of other points than others, and wait to be kept: then there is no mean of them."""
    return len({record.judgement.weighting for record in records_of(results).values()}) > 1


def scores_of(results: Sequence[Result]) -> list[float]:
    """The scores of those who have one; none where they cannot be compared."""
    return [] if has_two_scales(results) else [result.score for result in results if result.score is not None]


def records_of(results: Iterable[Result]) -> dict[str, Record]:
    """The records of the submissions, by their key; partners share one."""
    return {result.member.key: result.record for result in results if result.record}


def cases_in(results: Sequence[Result], roll: Roll, assignment: Assignment) -> list[tuple[str, list[str]]]:
    """The keys of undecided submissions that a person should look at, and why, the most urgent first."""
    records, names = records_of(results), roll.names()
    with_file: dict[str, list[str]] = {}  # keys by the hash of their translations
    for key, record in records.items():
        for name, digest in record.judgement.files.items():
            if name.rpartition("/")[2] == TRANSLATIONS:
                with_file.setdefault(digest, []).append(key)
    twins = {key: [names[twin] for twin in keys if twin != key] for keys in with_file.values() for key in keys}
    since = {stray.entry: stray.reason for stray in roll.left_out}  # of clones, what was committed after the deadline
    urgent = []
    for key, same in by_submission(results).items():
        marks = [result.mark for result in same if result.mark]
        if all(mark.excused or mark.by_hand for mark in marks):
            continue
        doubts = [(1, doubt) for doubt in _doubts(records[key], assignment, twins.get(key, ()))]
        if same[0].member.entry in since and not any(mark.earned for mark in marks):
            doubts.append((1, since[same[0].member.entry]))
        doubts += [(2, slip) for slip in _slips(records[key], marks, assignment)]
        if reasons := [*_reasons(records[key], marks), *doubts]:
            urgent.append((min(urgency for urgency, _ in reasons), key, [text for _, text in reasons]))
    return [(key, reasons) for _, key, reasons in sorted(urgent)]


def _doubts(record: Record, assignment: Assignment, twins: Sequence[str]) -> Iterator[str]:
    """Reasons why translations may not be those of the student's model; `twins` are others with the same file."""
    bleu, parts = record.judgement.bleu, {part.number: part for part in record.judgement.parts}
    if bleu is None:
        return
    tasks = [task for task in assignment.tasks if task.number in parts]
    if any(parts[task.number].score for task in tasks if task.threshold):
        needed = [task for task in tasks if task.components and not (task.extension or task.tests_of)]
        unwritten = [task.title for task in needed if parts[task.number].state is State.NOT_ATTEMPTED]
        if unwritten:
            yield f"points for BLEU {bleu.value:.2f}, but not written: {first_of(unwritten, 4)}"
    if bleu.value > assignment.most_bleu:
        quality = "the translations are the references" if bleu.value > 0.9999 else f"BLEU {bleu.value:.2f}"
        yield f"{quality}: no model of this assignment is above {assignment.most_bleu:g}"
    if twins:
        yield f"{TRANSLATIONS} is the same file as that of {first_of(twins, 4)}"


def _slips(record: Record, marks: Sequence[Mark], assignment: Assignment) -> Iterator[str]:
    """Reasons why the file of translations, and not the model, costs points for BLEU; none where a person gave any."""
    numbers = {task.number for task in assignment.tasks if task.threshold}
    marked = [part for mark in marks for part in mark.parts if part.part.number in numbers and part.by_hand is None]
    if any(part.part.state is State.FAILED for part in marked):
        yield from (note for note in record.judgement.notes if note.startswith(LOW))
    yield from dict.fromkeys(part.part.message for part in marked if part.part.state is State.ERROR)


def _reasons(record: Record, marks: Sequence[Mark]) -> Iterator[tuple[int, str]]:
    """Reasons to look at a submission, each with its urgency; 0 is the first to look at."""
    parts = {part.part.number: part.part for mark in marks for part in mark.parts if part.by_hand is None}
    if not record.has_ended and any(not part.state.has_mark for part in parts.values()):
        yield 0, f"grading did not finish: {record.run.error or 'it was stopped'}"
    else:
        for state in reversed(State):
            titles = [part.title for part in parts.values() if part.state is state]
            if titles and state.needs_a_look:
                yield int(state.has_mark), f"{state.value}: {record.judgement.refusal or ', '.join(titles)}"
    yield from ((0, f"{why}: {ENTER_DAYS}") for why in dict.fromkeys(mark.lateness.unknown for mark in marks) if why)
    yield from ((1, f"to be read: {use}") for use in record.judgement.internals[:MOST_SHOWN])
    yield from ((2, note) for note in record.run.notes)


def ranked(records: Mapping[str, Record], catalogue: Mapping[str, Fault]) -> list[tuple[Fault, str, list[str]]]:
    """The named misconceptions, the most frequent first, with the title of the task and the keys of submissions."""
    keys: dict[str, dict[str, None]] = {}
    titles = {}
    for key, record in records.items():
        for part in record.judgement.parts:
            titles[part.number] = part.title
            if part.diagnosis and part.diagnosis.fault in catalogue:
                keys.setdefault(part.diagnosis.fault, {})[key] = None  # once, even where two tasks show it
    faults = sorted(map(catalogue.__getitem__, keys), key=lambda fault: (-len(keys[fault.id]), fault.task, fault.id))
    return [(fault, titles.get(fault.task, fault.task), [*keys[fault.id]]) for fault in faults]


def lost_items(records: Iterable[Record]) -> list[dict[str, object]]:
    """The rubric items that those who tried have lost, also for want of another item, the most often lost first."""
    losses: dict[tuple[str, str], list[bool]] = {}
    for part in (part for same in by_task(records) for part in same):
        for item in part.items if part.state is not State.NOT_ATTEMPTED else ():
            name = f"{part.number} {part.title}", item.name
            losses.setdefault(name, []).append(bool(item.missed or item.requires))
    often = sorted((entry for entry in losses.items() if any(entry[1])), key=lambda entry: -mean(entry[1]))
    return [{"task": task, "name": name, "lost": sum(lost), "judged": len(lost)} for (task, name), lost in often]


def class_view(
    results: Sequence[Result], roll: Roll, assignment: Assignment, catalogue: Mapping[str, Fault]
) -> dict[str, object]:
    """The content of the template `class.html`; at least one submission has been graded."""
    records, scores = records_of(results), scores_of(results)
    bleu = [(key, score) for key, record in records.items() if (score := record.judgement.bleu)]
    highest = max([*(score.high for _, score in bleu), *assignment.thresholds.values(), 0.0])
    top = next(iter(records.values())).judgement.max_score
    layers = [record.run.layers for record in records.values() if record.run.layers is not None]
    remedies = {layer: remedy for own in layers for layer, remedy in lacking(own).items()}
    return {
        "title": assignment.title,
        "names": roll.names(),
        "n": len(records),
        "n_scores": len(scores),
        "marked": [
            (result, {part.part.number: part for part in result.mark.parts}) for result in results if result.mark
        ],
        "n_late": sum(bool(result.is_late) for result in results),
        "top": top,
        "mean": mean(scores) if scores else None,
        "median": median(scores) if scores else None,
        "cases": cases_in(results, roll, assignment),
        "bins": histogram(scores, top),
        "bleu": sorted(bleu, key=lambda entry: entry[1].value),
        "bleu_top": min(1.0, (int(10 * highest) + 1) / 10),  # where the axis ends
        "thresholds": assignment.thresholds,
        "tasks": tasks_of(results),
        "items": lost_items(records.values()),
        "misconceptions": ranked(records, catalogue),
        "lacking": [(layer, sum(layer not in own for own in layers), text) for layer, text in remedies.items()],
        "platform": PLATFORMS[roll.layout].title,
        "undecided": roll.to_decide,
        "missing": [result.member for result in results if result.status == "nothing handed in"],
        "left_out": [stray for stray in roll.left_out if not stray.needs_decision],
        "last": max((record.run.finished for record in records.values() if record.run.finished), default=None),
    }


def histogram(scores: Sequence[float], top: float) -> list[dict[str, float]]:
    """Columns of scores from `low` to below `high`; what is above `top`, by bonus points, counts in the last one."""
    top = top or 1.0
    counts = Counter(min(int(score / top * N_BINS), N_BINS - 1) for score in scores)
    tallest, width = max([*counts.values(), 1]), top / N_BINS
    ends = [*((n + 1) * width for n in range(N_BINS - 1)), max([top, *scores])]
    return [
        {"low": n * width, "high": high, "count": counts[n], "percent": 100 * counts[n] / tallest}
        for n, high in enumerate(ends)
    ]


def write_summary(results: Sequence[Result], output: Path) -> None:
    """Writes summary.csv in one piece, a row per student, of whom at least one has been graded."""
    numbers = [same[0].number for same in by_task(records_of(results).values())]
    heading = [*ABOUT, *numbers, *(f"{number} state" for number in numbers), *CIRCUMSTANCES]
    max_score = next(iter(records_of(results).values())).judgement.max_score
    rows = [{"max_score": max_score, **row_of(result)} for result in results]
    write_whole(output / SUMMARY, as_csv(heading, rows))


def row_of(result: Result) -> dict[str, Cell]:
    """Student, score, BLEU, and points and state of each part."""
    member, record, mark = result.member, result.record, result.mark
    unknown = "unknown" if member.unread_time else ""
    row: dict[str, Cell] = {"id": member.id, "name": member.name, "submission": member.entry}
    row |= {"late": {True: "late", False: "no", None: unknown}[result.is_late]}
    row |= {"status": result.status, "reason": result.reason, "score": result.score}
    if mark:
        row |= {part.part.number: None if part.waits else part.score for part in mark.parts}
        row |= {"max_score": mark.max_score}
        row |= {f"{part.part.number} state": part.state for part in mark.parts if record}
        row |= {"late_days": mark.lateness.days, "percent_off": mark.lateness.percent if record else None}
    if record:
        row |= {"bleu": record.judgement.bleu.value if record.judgement.bleu else None}
    return row | {"comments": comment_of(result)}


def as_class_table(roll: Roll, results: Sequence[Result], cases: Sequence[tuple[str, list[str]]]) -> str:
    """The class on one screen, for TAs; `cases` has the keys of those to be looked at first, and why."""
    names, scores = roll.names(), scores_of(results)
    records = records_of(results)
    first = next(iter(records.values())).judgement
    figures = "no marks"
    if scores:
        figures = f"mean {as_score(mean(scores))}, median {as_score(median(scores))}, of {first.max_score:g}"
    if has_two_scales(results):
        figures = "no mean, since some marks are weighed otherwise, and wait for --keep"
    urgent = [*roll.to_decide, *((names[key], "; ".join(reasons)) for key, reasons in cases)]
    first_lines = (f"{printable(name, 40)}: {printable(reason, MAX_TEXT)}" for name, reason in urgent[:MOST_NAMES])
    shown = [wrapped(shorten(line, MOST_CHARACTERS, placeholder=" …")) for line in first_lines]
    more = [f"  and {len(urgent) - MOST_NAMES} more"] if len(urgent) > MOST_NAMES else []
    lines = [f"{first.assignment}: {counted(len(records), 'submission')}, {figures}"]
    lines += ["", "look at these first:", *shown, *more] if urgent else []
    marked = [(result, result.mark) for result in results if result.mark]
    unknown = [result for result, mark in marked if mark.lateness.unknown and mark.needs_review]
    left_out = {stray.entry for stray in roll.left_out}
    of_class = {
        "late": [result for result in results if result.is_late],
        f"no score yet; {ENTER_DAYS}": unknown,
        "it is not known when these were handed in, so they count as on time": [
            result for result, mark in marked if mark.lateness.untold
        ],
        "committed again after the deadline": [result for result in results if result.member.entry in left_out],
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
    alike = dict[tuple[str, tuple[str, ...]], list[str]]()
    for key, change in sorted(changes.items(), key=lambda entry: names[entry[0]].casefold()):
        alike.setdefault((change.points, change.parts), []).append(printable(names[key], 40))
    for (points, parts), students in alike.items():
        lines += [f"  {'; '.join(students)}: {points}", *(f"    {line}" for line in parts)]
    if n_failed:
        lines.append(f"the grader failed over {n_failed} of them this time, so that the earlier marks stay")
    return "\n".join(lines)
