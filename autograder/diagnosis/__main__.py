"""Whether every misconception fits the reference: `python -m autograder.diagnosis REFERENCE`. A release asks this."""

import sys
from pathlib import Path

from foundation.assignment_file import read_assignment

from .catalogue import CatalogueError, apply, faults_of


def main(reference: Path) -> int:
    """Prints a line for each that does not; returns 1 if there are any."""
    sources = {path.stem: (str(path), path.read_text(encoding="utf-8")) for path in sorted(reference.glob("*.py"))}
    try:
        faults = faults_of(read_assignment())
    except CatalogueError as error:
        print(error)
        return 1
    n_wrong = 0
    for fault in faults:
        try:
            apply(fault, sources)
        except CatalogueError as error:
            print(error)
            n_wrong += 1
    if not n_wrong:
        print(len(faults))
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
