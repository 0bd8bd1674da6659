"""A thin command line on `autograder.grading.scoring`; `python grade.py --help` shows how to call it."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

try:
    from autograder.grading import scoring
    from foundation.assignment_file import read_assignment
    from foundation.command_line import Parser, print_anywhere, run_command
except ModuleNotFoundError as missing:
    if missing.name not in ("numpy", "sacrebleu", "autograder"):
        raise
    where = "activate the kit's environment, or run `pip install -r requirements.txt`"
    sys.stderr.write(f"grade.py: {missing.name} is not installed for this Python: {where}\n")
    raise SystemExit(2) from None

DESCRIPTION = "Scores translations: BLEU with its 95% interval, and a verdict for each threshold."

DETAILS = """\
example: python grade.py --translations translations.txt --references test.en --threshold pass=0.35

Files are UTF-8, one sentence per line, both in the same order: plain text or src|||tgt, with or
without byte-pair marks (gr@@ ac@@ ious). An empty line is an empty translation, but blank lines at
the end are not counted. A verdict is borderline where the threshold is within the interval; points
depend on BLEU itself. The exit status is 0 if BLEU reaches every threshold, 1 if it does not, and
2 if the input cannot be scored; one line on stderr says why.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Scores the files that the arguments name, and prints a report; returns the exit status."""
    print_anywhere()
    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog="grade.py", description=DESCRIPTION, epilog=DETAILS, formatter_class=raw)
    parser.add_argument("--translations", metavar="FILE", required=True, help="the translations to score")
    parser.add_argument("--references", metavar="FILE", required=True, help="the true translations")
    text = "judge by this BLEU (0 to 1) instead of the assignment's thresholds; may be repeated"
    parser.add_argument("--threshold", metavar="NAME=VALUE", action="append", default=[], help=text)
    parser.add_argument("--json", action="store_true", help="print score, verdicts and notes as JSON")
    options = parser.parse_args(arguments)
    return run_command("grade.py", lambda: grade(options))


def grade(options: argparse.Namespace) -> int:
    """Scores and prints; the exit status."""
    thresholds = scoring.parse_thresholds(options.threshold) or read_assignment().thresholds
    references = scoring.read_references(options.references)
    notes: list[str] = []
    translations = scoring.read_translations(options.translations, expected=len(references), note=notes.append)
    score = scoring.score(translations, references)
    verdicts = scoring.judge(score, thresholds)
    if not all(verdict.is_reached for verdict in verdicts):
        notes += scoring.why_low(translations, references, scoring.read_sources(options.references))
    if options.json:
        figures = {"bleu": score.value, "low": score.low, "high": score.high, "n": score.sentences}
        more = {"signature": score.signature, "verdicts": [asdict(verdict) for verdict in verdicts], "notes": notes}
        print(json.dumps(figures | more, indent=2, ensure_ascii=False))
    else:
        print(scoring.as_text(score, verdicts, notes), end="")
    return 0 if all(verdict.is_reached for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
