"""The command line of this package: `train`, `translate` and others, which are in `given/`."""

import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; `arguments` are the words after the program's name, None = those of this process."""
    try:
        from given import command_line  # loads PyTorch, which takes a moment
    except Exception as error:
        problem = f"given/ cannot be loaded: {type(error).__name__}: {error}"
        print(f"{problem}; if you have changed a file there, unpack it again", file=sys.stderr)
        return 2
    return command_line.main(__package__, arguments)


if __name__ == "__main__":
    if not __package__:
        folder = Path(__file__).resolve().parent
        print(f"type `python -m {folder.name} …` in the folder {folder.parent}", file=sys.stderr)
        sys.exit(2)
    sys.exit(main())
