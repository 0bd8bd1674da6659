"""`python -m autograder similar`: which submissions of a class share more than chance explains."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from foundation.assignment_file import read_assignment
from foundation.child_processes import usable_cores
from foundation.command_line import UserError, positive
from foundation.counting import counted, first_of
from foundation.printable_text import printable
from foundation.whole_files import check_folder, write_whole

from ..classroom.entries import take_class
from ..classroom.roll import Roll
from ..classroom.similarity import BY_CHANCE, HIGHEST_BLEU, Findings, find_matches, read_class
from ..reports.pages.similar_pages import in_words, share_in_words, similar_json, write_similar_page
from ..scoring import read_references
from .arguments import Commands, add_assignment, add_class, add_references, add_release, check_references

SHOWN = 10
SHOWN_COMPONENTS = 3


def add_command(commands: Commands) -> None:
    """The command and its flags."""
    parser = commands.add_parser(
        "similar",
        help="find submissions that share more than chance explains",
        description="Compare what the students of a class wrote: given code and common answers do not count; other "
        "names, order, layout and loops make no difference. Translations are compared with the references and with one "
        "another. Writes similar.html, with both places side by side, and "
        "similar.json. These are findings for a person to judge; no mark depends on them. Nothing of a submission is "
        "run. The exit status is 0 whatever is found.",
        epilog="example: python -m autograder similar submissions --roster roster.csv --output marks",
    )
    parser.set_defaults(run=run)
    add_class(parser)
    parser.add_argument("--output", type=Path, default=Path("marks"), help="default: marks")
    share = f"list pairs as long as chance would name at most this share of the students (default: {BY_CHANCE:g})"
    parser.add_argument("--by-chance", type=float, default=BY_CHANCE, metavar="SHARE", help=share)
    jobs = "how many submissions to read at a time; default: one per core"
    parser.add_argument("--jobs", type=positive, default=usable_cores(), help=jobs)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    add_assignment(parser)
    bleu = f"BLEU that no model of the assignment reaches (default: {HIGHEST_BLEU:g}, for the embedded corpus)"
    parser.add_argument("--highest-bleu", type=float, default=HIGHEST_BLEU, metavar="BLEU", help=bleu)
    add_references(parser)
    add_release(parser)


def run(options: argparse.Namespace) -> int:
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
    read = read_class(entries, options.release, assignment, references, options.jobs, sys.stderr.isatty())
    written = {entry.key: read[entry] for entry in entries}
    findings = find_matches(written, options.by_chance, options.highest_bleu)
    content = json.dumps(similar_json(findings, roll, written), indent=2, ensure_ascii=False)
    write_whole(options.output / "similar.json", content + "\n")
    write_similar_page(findings, roll, written, assignment, options.output)
    if options.json:
        print(content)
    else:
        print("\n".join(as_text(findings, roll)))
        print(f"\nlook at them side by side in a browser: {options.output / 'similar.html'}")
    return 0


def as_text(findings: Findings, roll: Roll) -> list[str]:
    """The findings for people."""
    names = roll.names()

    def shown(key: str) -> str:
        return printable(names.get(key, key), 60)

    n_pairs = len(findings.pairs)
    pairs = counted(n_pairs, "pair") if n_pairs else "no pairs"
    lines = [f"{counted(len(findings.compared), 'submission')} compared: {pairs} to look at"]
    for pair in findings.pairs[:SHOWN]:
        components = [one.component for one in pair.matches]
        lines.append(f"  {shown(pair.left)} and {shown(pair.right)}: by chance {in_words(pair.expected)}")
        lines.append(f"      {first_of(components, SHOWN_COMPONENTS)}")
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
        share = share_in_words(group)
        what = f"{share} of the mistakes are the same, usually {translations.usual:.0%}"
        lines.append(f"  translations of {', '.join(most)} and {last}: {what}")
    if len(translations.groups) > SHOWN:
        lines.append(f"  … and {counted(len(translations.groups) - SHOWN, 'more group')} of translations")
    if findings.unread:
        lines += ["not compared:", *(f"  {shown(key)}: {printable(why, 160)}" for key, why in findings.unread.items())]
    return lines
