"""The entry point of `python -m`; the command line is in `commands/`."""

import sys

from .commands.main import main

if __name__ == "__main__":
    sys.exit(main())
