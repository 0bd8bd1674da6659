"""The command line: `python -m data generate | check | prepare`."""

from __future__ import annotations

import argparse
import sys

from foundation.command_line import Parser, print_anywhere, run_command

from .generator.commands import add_generator_commands
from .preparation.commands import add_prepare_command

EXAMPLES = """examples:
  python -m data generate                          the course's corpus, as data/manifest.json records it
  python -m data generate --test-seed 7            the same, but a fresh hidden test set
  python -m data generate --seed 7 --output other  a new corpus, in the folder 'other'
  python -m data check                             compare data/corpus with the manifest
  python -m data prepare --help                    a corpus of your own, from any parallel text
"""


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; returns the exit status: 0, 1 if a check failed, or 2 for wrong input."""
    print_anywhere()
    options = _parser().parse_args(arguments)
    return run_command("data", lambda: int(options.run(options)))


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m data",
        description="Makes and checks the bundled French-English corpus; prepares others.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_generator_commands(commands, EXAMPLES)
    add_prepare_command(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
