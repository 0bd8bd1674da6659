"""`python -m autograder similar` and `translate-again`: whose work, and whose translations, a person should look at."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from foundation.assignment_file import read_assignment
from foundation.child_processes import usable_cores
from foundation.command_line import UserError, positive
from foundation.texts import counted, first_of, printable
from foundation.whole_files import check_folder

from ..classroom.entries import Roll, take_class
from ..classroom.similarity import BY_CHANCE, HIGHEST_BLEU, Findings, find_matches, read_class
from ..grading.record import write_json
from ..intake import take_in
from ..reports.pages.similar_pages import in_words, share_in_words, write_similar_page
from ..sandbox.zygote import Zygote
from ..scoring import read_references
from .arguments import CLASS, FOLDER, Commands, add_parser, check_references

SHOWN = 10
"""Pairs, groups or lines on the terminal."""
LINES = 100


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
        "judge; no mark depends on them. No submitted code is run. The exit status is 0 whatever is found.",
        "submissions --roster roster.csv --output marks",
        (*CLASS, "output", "jobs", "assignment", "references", "release"),
    )
    parser.add_argument("folder", type=Path, help=FOLDER)
    share = f"list pairs as long as chance would name at most this share of the students (default: {BY_CHANCE:g})"
    parser.add_argument("--by-chance", type=float, default=BY_CHANCE, metavar="SHARE", help=share)
    bleu = f"BLEU that no model of the assignment reaches (default: {HIGHEST_BLEU:g}, for the bundled corpus)"
    parser.add_argument("--highest-bleu", type=float, default=HIGHEST_BLEU, metavar="BLEU", help=bleu)

    parser = add_parser(
        commands,
        "translate-again",
        translate_again,
        "check translations against checkpoints, in the sandbox",
        "Translate a random sample of the test sentences again, with a student's checkpoint and code, and compare with "
        "the submission's translations.txt. All of it runs in the sandbox. What differs is for a person to judge; no "
        "mark depends on it. The exit status is 1 if it does not agree.",
        "submissions/anna",
        ("references", "level", "release", "assignment"),
    )
    parser.add_argument("submission", type=Path, help="folder, .zip, .tar.gz or notebook, with translations.txt")
    parser.add_argument("--checkpoint", type=Path, help="a file that `train` saved; default: best.pt in the submission")
    parser.add_argument("--lines", type=positive, default=LINES, help=f"size of the sample (default: {LINES})")
    parser.add_argument("--seed", type=int, default=0, help="seed for the sample (default: 0)")


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
    write_json(options.output / "similar.json", {"names": roll.names(), **asdict(findings)})
    write_similar_page(findings, roll, written, assignment, options.output)
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
        what = f"{share_in_words(group)} of the mistakes are the same, usually {translations.usual:.0%}"
        lines.append(f"  translations of {first_of([*map(shown, group.keys)], SHOWN)}: {what}")
    if len(translations.groups) > SHOWN:
        lines.append(f"  … and {counted(len(translations.groups) - SHOWN, 'more group')} of translations")
    if findings.unread:
        lines += ["not compared:", *(f"  {shown(key)}: {printable(why, 160)}" for key, why in findings.unread.items())]
    return lines


def translate_again(options: argparse.Namespace) -> int:
    """Translates again; the exit status."""
    assignment = read_assignment(options.assignment)
    intake = take_in(options.submission, options.release, assignment)
    from ..classroom.similarity.translating_again import bytes_of, draw_sample  # imports PyTorch
    from ..classroom.similarity.translating_again import translate_again as translate

    sample = draw_sample(options.references, options.lines, options.seed)
    checkpoint = bytes_of(options.checkpoint) if options.checkpoint else None
    with Zygote(assignment, options.level) as zygote:
        found = translate(intake, checkpoint, sample, assignment, zygote)
    if found.problem:
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
