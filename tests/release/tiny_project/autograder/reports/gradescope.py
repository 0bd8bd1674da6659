"""A stand-in for the program that Gradescope runs: `--root FOLDER`."""

import sys
from pathlib import Path

from .. import __main__ as command
from .. import scale  # noqa: F401

if __name__ == "__main__":
    root = Path(sys.argv[2])
    sys.argv = ["grade", "grade", str(root / "submission"), "--results", str(root / "results" / "results.json")]
    (root / "results").mkdir(exist_ok=True)
    command.main()
