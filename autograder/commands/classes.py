"""`python -m autograder grade`, `list-class`, `grade-class`, `similar`: one submission, or a platform's download."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from foundation.assignment_file import Assignment, read_assignment
from foundation.assignment_tables import LatePolicy
from foundation.command_line import UserError
from foundation.processes import ask_forked
from foundation.texts import counted, printable, wrapped
from foundation.whole_files import check_file, check_folder

from ..classroom.entries import ROLL, Roll
from ..classroom.grading import INTAKE_SECONDS, Change, Results, change_of, grade_class, hold
from ..classroom.marks import NOTHING, Mark, Result, decisions_in, mark_of, results_of
from ..classroom.similarity import find_matches, read_class
from ..course.catalogue import faults_of
from ..grading.record import MAX_TEXT, Judgement, Record, read_record, write_json, write_record
from ..grading.submission import Conditions, grade_alone
from ..intake.sources import IntakeError
from ..intake.submission import Intake, take_in
from ..platforms.download import PLATFORMS
from ..platforms.platform import HandedIn, Student
from ..reports.class_page import as_class_table, as_regrade_table, cases_in, write_summary
from ..reports.gradebook import STUDENT, Gradebook
from ..reports.gradescope import as_results
from ..reports.pages import write_pages, write_similar_page
from ..reports.terminal import as_table
from .arguments import class_in, conditions_of, print_note, print_sandbox_gaps

MOST_PAIRS = 10  # similar pairs on the terminal


def grade_one(options: argparse.Namespace) -> int:
    """Grade one submission.

    Run its component tests in a sandbox, and score its translations.txt by BLEU. With --against, a disputed mark is
    compared; the exit status is 1 if it differs.
    """
    for path in filter(None, (options.results, options.record)):
        check_file(path)
    conditions = conditions_of(options)
    old = read_record(options.against) if options.against else None
    if options.against and old is None:
        raise UserError(f"{options.against}: no record; expected a file that `grade-class` has written")

    def store(record: Record) -> None:
        """Writes the results so far."""
        if options.record:
            write_record(options.record, conditions.seeds.seal(record))
        write_json(options.results, as_results(record))

    record = grade_alone(options.submission, conditions, store)
    print_sandbox_gaps(conditions.assignment)
    print(as_table(record))
    print(f"results: {options.results}")
    has_gaps = any(part.score is None for part in record.judgement.parts)
    if old is None:
        return int(has_gaps)
    kinds = {"content_hash": "files", "seed_id": "inputs (name its --seed)", "grader_version": "versions of the grader"}
    for field, kind in kinds.items():
        if getattr(old.judgement, field) != getattr(record.judgement, field):
            print(f"note: {options.against} is about other {kind}")
    if not conditions.seeds.has_sealed(old):
        print(f"note: {options.against} is not as this term's grader wrote it: its seal does not fit")
    change = change_of(mark_of(old.judgement), mark_of(record.judgement))
    print("\n".join(change.parts if change else [f"the marks are those of {options.against}"]))
    return int(has_gaps or bool(change))


def list_download(options: argparse.Namespace) -> int:
    """List the submissions in a platform's download.

    It is a download of Canvas, Moodle, Brightspace, Blackboard, Gradescope or nbgrader, a folder of clones of git
    repositories, or one with an entry per submission. The list has who handed in what, what came late, who is missing,
    and which entries are not submissions. Nothing is graded. The exit status is 1 if a person has to decide something.
    """
    assignment = read_assignment(options.assignment)
    roll, entries = class_in(options, assignment, None)
    count = counted(len(entries), "submission")
    if roll.has_roster:
        count += f", from {sum(bool(m.key) for m in roll.members)} of {counted(len(roll.members), 'student')}"
    print("\n".join([f"{roll.folder}: {PLATFORMS[roll.layout].title}", count, *_notes_on_times(roll), ""]))
    shown = {entry.key: printable(entry.entry, 60) for entry in entries}
    width = max(map(len, shown.values()), default=0)
    names, by_key = roll.names(), {member.key: member for member in roll.members}
    for key, text in shown.items():
        print(wrapped(f"{text:<{width}}  {_details(names[key], by_key[key], assignment.late)}"))
    missing = [member for member in roll.members if member.is_missing]
    sections = {
        "for you to decide": [f"{entry}: {why}" for entry, why in roll.to_decide],
        "nothing handed in": [": ".join(filter(None, (member.called, member.left_out))) for member in missing],
        "left out": [f"{stray.entry}: {stray.reason}" for stray in roll.left_out if not stray.needs_decision],
    }
    for heading, lines in sections.items():
        if lines:
            print("\n".join(["", f"{heading}:", *(wrapped(printable(line, MAX_TEXT)) for line in lines)]))
    is_undated = assignment.late is not None and any(member.unread_time for member in roll.members)
    return int(is_undated or bool(roll.to_decide))


def _notes_on_times(roll: Roll) -> list[str]:
    note = PLATFORMS[roll.layout].note
    return [f"note: {note}"] if note and any(member.submitted for member in roll.members) else []


def _details(names: str, member: Student, policy: LatePolicy | None) -> str:
    texts = [names]
    texts += [f"{member.submitted:%Y-%m-%d %H:%M %Z}".strip()] if member.submitted else []
    texts += [f"the time cannot be read: {member.unread_time}"] if member.unread_time else []
    days = policy.days_late(member.submitted) if policy and member.submitted else None
    texts += [f"{counted(days, 'day')} late"] if days else ["late"] if member.is_late and days is None else []
    return "; ".join(printable(text) for text in texts)


def grade(options: argparse.Namespace) -> int:
    """Grade a class.

    Grade a platform's download, as `list-class` reads it: for each student, the submission that counts. Write
    class.html, students/NAME.html and records/NAME.json for each, summary.csv, and class.json with the students.
    Stopped and started again, it resumes where it stopped; it regrades what has changed: a submission, the assignment,
    the grader. If that would change the mark of the same files, it shows whose mark, by how much and because of which
    test, and keeps the earlier mark until you add --keep. After a change of points or thresholds nothing is run. The
    exit status is 1 if the grader failed, marks wait for --keep, or a person has to decide: who handed in a submission,
    or what somebody gets who needs review.
    """
    check_folder(options.output)
    conditions = conditions_of(options)
    assignment = conditions.assignment
    roll, entries = class_in(options, assignment, options.output)
    stored = Results(options.output, conditions.seeds)
    print_sandbox_gaps(assignment)
    write_json(options.output / ROLL, roll.model_dump(mode="json"))  # so that people can decide while it runs
    if options.shard:
        return grade_share(entries, conditions, stored, options)
    book = None if options.to_nbgrader is None else Gradebook(options.to_nbgrader, assignment)
    decided = decisions_in(options.output)

    def change_for(entry: HandedIn, old: Judgement, new: Judgement) -> Change | None:
        """The change for the students of an entry, each with points of their own where decisions differ."""
        changes: dict[Change, list[str]] = {}
        for member in (member for member in roll.members if member.key == entry.key):
            of_member = decided.get(member.id, NOTHING)
            marks = (mark_of(judgement, of_member, assignment.late, member) for judgement in (old, new))
            if change := change_of(*marks):
                changes.setdefault(change, []).append(member.name)
        if len(changes) < 2:
            return next(iter(changes), None)
        points = "; ".join(f"{', '.join(names)} {change.points}" for change, names in changes.items())
        return Change(points, tuple(dict.fromkeys(line for change in changes for line in change.parts)))

    with hold(options.output):
        changes = grade_class(entries, conditions, stored, options.again, options.keep, change_for)
        records = stored.records(entry.key for entry in entries)
        decisions = decisions_in(options.output)
    results = results_of(roll, records, decisions, assignment.late)
    write_summary(results, options.output)
    write_pages(roll, results, assignment, {fault.id: fault for fault in faults_of(assignment)}, options.output)
    if book:
        write_marks(book, entries, results, assignment, options)
    cases = cases_in(results, roll, assignment)
    print("\n".join([as_class_table(roll, results, cases), *_notes_on_times(roll)]))
    print(f"\nlook at it in a browser: {options.output / 'class.html'}")
    print(f"records, pages of students, summary.csv: {options.output}")
    if changes:
        print(f"\n{as_regrade_table(changes, roll.names())}")
    is_waiting = not all(change.is_kept for change in changes.values())
    return int(is_waiting or bool(roll.to_decide) or any(result.mark.needs_review for result in results if result.mark))


def grade_share(
    entries: Sequence[HandedIn], conditions: Conditions, stored: Results, options: argparse.Namespace
) -> int:
    """Grades one share of a class; a run without a share then writes the pages, and keeps changes. The exit status."""
    number, of = options.shard
    mine = entries[number - 1 :: of]
    with hold(options.output, is_alone=False):
        grade_class(mine, conditions, stored, options.again)
    print(f"share {number} of {of}: {len(mine)} of {counted(len(entries), 'submission')} graded")
    print("once all are done, run the command without --shard: it writes summary and pages")
    return 0


def write_marks(
    book: Gradebook,
    entries: Sequence[HandedIn],
    results: Sequence[Result],
    assignment: Assignment,
    options: argparse.Namespace,
) -> None:
    """Writes marks, late penalties and feedback into the gradebook; takes marks of earlier runs back.

    Submissions are read in children: one that breaks its child has marks, and no code in its feedback.
    """
    sources = {entry.key: entry.source for entry in entries}
    ids = {result.member.id: result.member.ids.get("login", result.member.id) for result in results}
    strange = [student for student in ids.values() if not STUDENT.fullmatch(student)]
    marked = [(result, result.mark) for result in results if result.mark]

    def read(of: tuple[Result, Mark]) -> Intake | None:
        try:
            return take_in(sources[of[0].member.key], options.release, assignment) if of[0].record else None
        except IntakeError:
            return None

    known = [(result, mark) for result, mark in marked if ids[result.member.id] not in strange]
    for (result, mark), intake in ask_forked(known, read, INTAKE_SECONDS, options.jobs):
        book.write(ids[result.member.id], mark, intake if isinstance(intake, Intake) else None, result.member)
    taken = book.take_back(ids[result.member.id] for result in results if not result.mark)
    print(f"nbgrader's gradebook: {counted(len(marked) - len(strange), 'student')}")
    print_note("with a late penalty there", [result.member.name for result, mark in marked if mark.lateness.percent])
    unmarked = [result.member.name for result, mark in marked if mark.score is None]
    print_note("no mark, so nbgrader counts 0 for what is missing", unmarked)
    print_note("marks of an earlier run were taken back", taken)
    print_note("not in the gradebook, since it is no student's id in nbgrader", strange)


def similar(options: argparse.Namespace) -> int:
    """Find submissions that have much in common.

    Compare what the students of a class wrote: given code and common answers do not count; other names, order and
    layout make no difference. Write similar.html, with both places side by
    side, and similar.json. These are findings for a person to judge; no mark depends on them. No submitted code is run.
    The exit status is 0 whatever is found.
    """
    check_folder(options.output)
    assignment = read_assignment(options.assignment)
    roll, entries = class_in(options, assignment, options.output)
    written = read_class(entries, options.release, assignment, options.jobs)
    findings = find_matches(written)
    write_json(options.output / "similar.json", {"names": roll.names(), **asdict(findings)})
    write_similar_page(findings, roll, written, assignment, options.output)
    names = {key: printable(name, 60) for key, name in roll.names().items()}
    pairs = counted(len(findings.pairs), "pair") if findings.pairs else "no pairs"
    print(f"{counted(len(findings.compared), 'submission')} compared: {pairs} to look at")
    for pair in findings.pairs[:MOST_PAIRS]:
        print(f"  {names[pair.left]} and {names[pair.right]}: {pair.share:.0%} in common")
    print_note("too little of their own to name anybody", [names[key] for key in findings.too_little])
    print_note("not compared, as the page explains", [names[key] for key in findings.unread])
    print(f"\nlook at them side by side in a browser: {options.output / 'similar.html'}")
    return 0
