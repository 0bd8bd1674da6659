"""A script of the gate `second_build`: `python -m release.gates.building_later ROOT REFERENCE INDEX`.

Builds with a clock that is ten years ahead, and prints the checksum of every output as JSON.
"""

import json
import os
import sys
import time
from pathlib import Path

_TEN_YEARS = 10 * 365 * 86_400


def main() -> None:
    """Sets the clock before anything is imported that might look at it; then builds and prints."""
    _set_clock_ahead()
    os.umask(0o077)
    from ..archives.packing import checksum
    from ..build import Project, make_release

    root, reference = map(Path, sys.argv[1:3])
    release = make_release(Project(root, reference, root, index=sys.argv[3]))
    print(json.dumps({path: checksum(content) for path, content in release.outputs.items()}))


def _set_clock_ahead() -> None:
    now, now_ns, local, universal = time.time, time.time_ns, time.localtime, time.gmtime
    time.time = lambda: now() + _TEN_YEARS
    time.time_ns = lambda: now_ns() + _TEN_YEARS * 10**9
    time.localtime = lambda seconds=None, /: local(time.time() if seconds is None else seconds)
    time.gmtime = lambda seconds=None, /: universal(time.time() if seconds is None else seconds)


if __name__ == "__main__":
    main()
