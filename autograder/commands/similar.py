"""`python -m autograder similar`: whose work a person should look at."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from foundation.assignment_file import read_assignment
from foundation.child_processes import usable_cores
from foundation.texts import counted, first_of, printable
from foundation.whole_files import check_folder

from ..classroom.entries import Roll, take_class
from ..classroom.similarity import Findings, find_matches, read_class
from ..grading.record import write_json
from ..reports.pages.similar_pages import write_similar_page
from ..scoring import read_references
from .arguments import CLASS, FOLDER, Commands, add_parser, check_references

SHOWN = 10
"""Pairs on the terminal."""


def add_commands(commands: Commands) -> None:
    """The command and its flags."""
    parser = add_parser(
        commands,
        "similar",
        similar,
        "find submissions that have much in common",
        "Compare what the students of a class wrote: given code and common answers do not count; other names, order "
        "and layout make no difference. Mistakes in translations are compared, too. "
        "Writes similar.html, with both places side by side, and similar.json. These are findings for a person to "
        "judge; no mark depends on them. No submitted code is run. The exit status is 0 whatever is found.",
        "submissions --roster roster.csv --output marks",
        (*CLASS, "output", "jobs", "assignment", "references", "release"),
    )
    parser.add_argument("folder", type=Path, help=FOLDER)


def similar(options: argparse.Namespace) -> int:
    """Compares a class; the exit status."""
    check_folder(options.output)
    check_references(options.references)
    assignment = read_assignment(options.assignment)
    roll, entries = take_class(options.folder, options.output, assignment, options.roster, options.layout)
    references = read_references(options.references) if options.references.exists() else []
    jobs = options.jobs or usable_cores()
    read = read_class(entries, options.release, assignment, references, jobs, sys.stderr.isatty())
    written = {entry.key: read[entry] for entry in entries}
    findings = find_matches(written)
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
        lines.append(f"  {shown(pair.left)} and {shown(pair.right)}: {pair.share:.0%} in common")
        lines.append(f"      {first_of([one.component for one in pair.matches], 3)}")
    if n_pairs > SHOWN:
        lines.append(f"  … and {n_pairs - SHOWN} more")
    for keys in findings.same_translations[:SHOWN]:
        lines.append(f"  translations with the same mistakes: {first_of([*map(shown, keys)], SHOWN)}")
    if findings.unread:
        lines += ["not compared:", *(f"  {shown(key)}: {printable(why, 160)}" for key, why in findings.unread.items())]
    return lines
