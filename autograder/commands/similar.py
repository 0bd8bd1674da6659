"""`python -m autograder similar` and `translate-again`: whose work, and whose translations, a person should look at."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.assignment_file import Assignment, read_assignment
from foundation.child_processes import usable_cores
from foundation.command_line import UserError, positive
from foundation.places import ROOT
from foundation.texts import counted, first_of, printable
from foundation.whole_files import check_folder

from ..classroom.entries import Roll, take_class
from ..classroom.records import KeptAnswers, hold
from ..classroom.regrading import contents_of
from ..classroom.similarity import BY_CHANCE, HIGHEST_BLEU, Findings, find_matches, read_class
from ..grading.grader_version import grader_version
from ..grading.record import write_json
from ..grading.seeds import seeds_of_term
from ..intake import take_in
from ..reports.pages.similar_pages import (
    in_words,
    share_in_words,
    similar_json,
    write_similar_page,
    write_translated_page,
)
from ..sandbox.containment.zygote import Zygote, living
from ..scoring import read_references
from .arguments import CLASS, FOLDER, Commands, add_parser, check_mode, check_references

if TYPE_CHECKING:  # needs PyTorch
    from ..classroom.similarity.translating_again import CheckedClass

SHOWN = 10
"""Pairs, groups or lines on the terminal."""
FILE, KEPT = "translated-again.json", "translated-again"
"""What was found of a class, and the folder in which it is kept for the next run."""
CHECKING = ("autograder/classroom/similarity",)
"""What the findings depend on besides the grader."""
LINES = 100
IN_WORDS = {
    "differs": "come out otherwise, for a person to look at:",
    "not translated": "could not be translated, for a person to look at:",
    "agrees": "agree with their checkpoints",
    "nothing to check": "without a checkpoint, or without translations",
}


def add_commands(commands: Commands) -> None:
    """The commands and their flags."""
    parser = add_parser(
        commands,
        "similar",
        similar,
        "find submissions that share more than chance explains",
        "Compare what the students of a class wrote: given code and common answers do not count; other names, order, "
        "layout and loops make no difference. Translations are compared with the references and with one another. "
        "Writes similar.html, with both places side by side, and similar.json. These are findings for a person to "
        "judge; no mark depends on them. Nothing of a submission is run. The exit status is 0 whatever is found.",
        "submissions --roster roster.csv --output marks",
        (*CLASS, "output", "jobs", "json", "assignment", "references", "release"),
    )
    parser.add_argument("folder", type=Path, help=FOLDER)
    share = f"list pairs as long as chance would name at most this share of the students (default: {BY_CHANCE:g})"
    parser.add_argument("--by-chance", type=float, default=BY_CHANCE, metavar="SHARE", help=share)
    bleu = f"BLEU that no model of the assignment reaches (default: {HIGHEST_BLEU:g}, for the embedded corpus)"
    parser.add_argument("--highest-bleu", type=float, default=HIGHEST_BLEU, metavar="BLEU", help=bleu)

    parser = add_parser(
        commands,
        "translate-again",
        translate_again,
        "check translations against checkpoints, in the sandbox",
        "Translate a random sample of the test sentences again, with a student's checkpoint and code, and compare with "
        "the submission's translations.txt. All of it runs in the sandbox. With --class, do so for every submission "
        "with a best.pt, and write translated-again.html and translated-again.json; stopped and started again, or "
        "after a few have handed in again, it translates only what is new. What differs is for a person to judge; no "
        "mark depends on it. The exit status is 1 if it does not agree (with --class: if any does not).",
        "submissions --class --roster roster.csv --output marks",
        (*CLASS, "jobs", "references", "level", "json", "release", "assignment"),
    )
    what = "folder, .zip, .tar.gz or notebook, with translations.txt; with --class a download"
    parser.add_argument("submission", type=Path, help=what)
    parser.add_argument("--class", action="store_true", dest="is_class", help="check every student of a class")
    parser.add_argument("--output", type=Path, help="with --class: where to write; default: marks")
    checkpoint = "of one submission: a file that `train` saved; default: best.pt in the submission"
    parser.add_argument("--checkpoint", type=Path, help=checkpoint)
    parser.add_argument("--lines", type=positive, default=LINES, help=f"size of the sample (default: {LINES})")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")


def similar(options: argparse.Namespace) -> int:
    """Compares a class; the exit status."""
    if not 0 < options.by_chance <= 1:
        raise UserError(f"--by-chance {options.by_chance:g}: expected a share, above 0 and at most 1")
    if not 0 < options.highest_bleu <= 1:
        raise UserError(f"--highest-bleu {options.highest_bleu:g}: expected a decimal, above 0 and at most 1")
    check_folder(options.output)
    check_references(options.references)
    assignment = read_assignment(options.assignment)
    roll, entries = take_class(options.folder, options.output, assignment, options.roster, options.layout)
    references = read_references(options.references) if options.references.exists() else []
    jobs = options.jobs or usable_cores()
    read = read_class(entries, options.release, assignment, references, jobs, sys.stderr.isatty())
    written = {entry.key: read[entry] for entry in entries}
    findings = find_matches(written, options.by_chance, options.highest_bleu)
    content = similar_json(findings, roll, written)
    write_json(options.output / "similar.json", content)
    write_similar_page(findings, roll, written, assignment, options.output)
    if options.json:
        print(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        print("\n".join(findings_as_text(findings, roll)))
        print(f"\nlook at them side by side in a browser: {options.output / 'similar.html'}")
    return 0


def findings_as_text(findings: Findings, roll: Roll) -> list[str]:
    """The findings for people."""
    names = roll.names()

    def shown(key: str) -> str:
        return printable(names.get(key, key), 60)

    n_pairs = len(findings.pairs)
    pairs = counted(n_pairs, "pair") if n_pairs else "no pairs"
    lines = [f"{counted(len(findings.compared), 'submission')} compared: {pairs} to look at"]
    for pair in findings.pairs[:SHOWN]:
        lines.append(f"  {shown(pair.left)} and {shown(pair.right)}: by chance {in_words(pair.expected)}")
        lines.append(f"      {first_of([one.component for one in pair.matches], 3)}")
    if n_pairs > SHOWN:
        lines.append(f"  … and {n_pairs - SHOWN} more")
    for keys in findings.groups:
        lines.append(f"  together: {', '.join(map(shown, keys))}")
    translations = findings.translations
    for key, why in translations.close_to_references.items():
        lines.append(f"  translations of {shown(key)}: {why}")
    for group in translations.groups[:SHOWN]:
        known = [shown(key) for key in group.keys[:SHOWN]]
        *most, last = known if len(group.keys) <= SHOWN else [*known, f"{len(group.keys) - SHOWN} more"]
        what = f"{share_in_words(group)} of the mistakes are the same, usually {translations.usual:.0%}"
        lines.append(f"  translations of {', '.join(most)} and {last}: {what}")
    if len(translations.groups) > SHOWN:
        lines.append(f"  … and {counted(len(translations.groups) - SHOWN, 'more group')} of translations")
    if findings.unread:
        lines += ["not compared:", *(f"  {shown(key)}: {printable(why, 160)}" for key, why in findings.unread.items())]
    return lines


def translate_again(options: argparse.Namespace) -> int:
    """Translates again; the exit status."""
    check_mode(options, of_class=(*CLASS, "jobs", "output"), of_one=("checkpoint",))
    assignment = read_assignment(options.assignment)
    return translate_class(options, assignment) if options.is_class else translate_one(options, assignment)


def translate_one(options: argparse.Namespace, assignment: Assignment) -> int:
    """Checks one submission; the exit status."""
    intake = take_in(options.submission, options.release, assignment)
    from ..classroom.similarity.translating_again import bytes_of, draw_sample, translate_again  # imports PyTorch

    sample = draw_sample(options.references, options.lines, options.seed)
    checkpoint = bytes_of(options.checkpoint) if options.checkpoint else None
    with Zygote(assignment, options.level) as zygote:
        found = translate_again(intake, checkpoint, sample, assignment, zygote)
    if options.json:
        print(json.dumps({**asdict(found), "agrees": found.agrees}, indent=2, ensure_ascii=False))
    elif found.problem:
        print(f"not translated: {found.problem}")
    else:
        n_equal = found.sampled - len(found.differing)
        more = "" if found.agrees else ": for a person to look at"
        print(f"{n_equal} of {found.sampled} sampled lines are the same{more}")
        for one in found.differing[:SHOWN]:
            print(f"  line {one.number}")
            print(f"    handed in: {printable(one.submitted, 200)}")
            print(f"    again:     {printable(one.again, 200)}")
    return int(not found.agrees)


def translate_class(options: argparse.Namespace, assignment: Assignment) -> int:
    """Checks a class; the exit status."""
    output = options.output or Path("marks")
    check_folder(output)
    seeds, shows, jobs = seeds_of_term(ROOT), sys.stderr.isatty(), options.jobs or usable_cores()
    roll, entries = take_class(options.submission, output, assignment, options.roster, options.layout)
    zygote = Zygote(assignment, options.level)  # before PyTorch is imported here
    try:
        from ..classroom.similarity.translating_again import (
            Checked,
            CheckedClass,
            Outcome,
            check_class,
            check_entry,
            draw_sample,
            unchecked,
        )

        sample = draw_sample(options.references, options.lines, options.seed)
        version = grader_version(assignment, options.release, options.references, CHECKING)
        checked = CheckedClass(lines=options.lines, seed=options.seed, version=version)

        def renew() -> None:
            nonlocal zygote
            zygote = living(zygote, assignment, options.level)

        with hold(output / KEPT):  # not all of the output: a class may be graded meanwhile
            kept = KeptAnswers(output / KEPT, Checked, f"{checked.model_dump_json()} {options.level}", seeds)
            contents, unreadable = contents_of(entries, options.release, assignment, jobs, shows)
            found = kept.up_to_date(entries, contents)
            found |= {entry.key: unchecked(entry, Outcome.NOTHING, reason) for entry, reason in unreadable.items()}
            submissions = check_class(
                entries,
                roll.names(),
                found,
                kept,
                lambda entry: check_entry(entry, options.release, sample, assignment, zygote),
                renew,
                jobs,
                shows,
            )
    finally:
        zygote.close()
    checked = checked.changed(submissions=submissions)
    write_json(output / FILE, checked.model_dump(mode="json"))
    page = write_translated_page(checked, assignment, output)
    if options.json:
        print(json.dumps(checked.model_dump(mode="json"), indent=2, ensure_ascii=False))
    else:
        print("\n".join(checked_as_text(checked)))
        print(f"\nlook at the lines side by side in a browser: {page}")
    return int(any(one.outcome.needs_a_look for one in checked.submissions))


def checked_as_text(found: CheckedClass) -> list[str]:
    """What was found of a class, for people."""
    lines = []
    for outcome, words in IN_WORDS.items():
        some = [one for one in found.submissions if one.outcome == outcome]
        lines += [f"{len(some)} {words}"] if some else []
        for one in some:
            if one.outcome.needs_a_look:
                lines.append(f"  {one.name}: {one.reason or f'{one.same} of {one.sampled} lines are the same'}")
    return lines
