"""The command line of this package: `train`, `translate` and others, which are in `given/`."""

import sys

from given import command_line


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; `arguments` are the words after the program's name, None = those of this process."""
    return command_line.main(__package__, arguments)


if __name__ == "__main__":
    sys.exit(main())
