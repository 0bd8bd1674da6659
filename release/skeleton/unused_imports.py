"""Fifth pass: imports that only a solution used are removed, by ruff.

An import that nothing uses but that has to stay, for its effect, is marked in the reference: `# noqa: F401`.
"""

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from difflib import SequenceMatcher
from pathlib import Path

from ..problems import ReleaseError

SECONDS = 60
_COMMAND = ("-m", "ruff", "check", "--isolated", "--no-cache", "--quiet", "--exit-zero", "--select", "F401", "--fix")


def drop_unused_imports(files: Mapping[str, str]) -> dict[str, str]:
    """Removes every import that its file does not use; all else stays byte for byte.

    Args:
        files: text of stripped Python files by path.

    Raises:
        ReleaseError: where ruff is not installed or fails.
    """
    if not files:
        return {}
    with tempfile.TemporaryDirectory(prefix="stripped-") as name:
        folder = Path(name)
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(text.encode("utf-8"))
        command = [sys.executable, *_COMMAND, str(folder)]
        finished = subprocess.run(  # noqa: S603 (the command is fixed but for the folder)
            command, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        if finished.returncode:
            said = finished.stderr.strip().split("\n")[-1]
            raise ReleaseError(f"ruff, which removes unused imports, failed ({said}); install it: make install")
        fixed = {path: (folder / path).read_bytes().decode("utf-8") for path in files}
    return {path: _close_gaps(text, fixed[path]) for path, text in files.items()}


def _close_gaps(before: str, after: str) -> str:
    """Where a whole paragraph of imports went, one of the two blank lines around it goes too."""
    if before == after:
        return after
    ours, theirs = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines: list[str] = []
    has_lost = False
    for tag, _, _, start, end in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        kept = theirs[start:end]
        is_gap = has_lost and kept and not kept[0].strip() and (not lines or not lines[-1].strip())
        lines += kept[1:] if is_gap else kept
        has_lost = tag == "delete"
    return "".join(lines)
