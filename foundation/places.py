"""The paths of the kit's parts, the same in a checkout, on Gradescope and beside notebooks; and the term's secret.

Students who work in files install what the component tests import; the tests are in the folder that they work in.
"""

import contextlib
import os
import secrets
import sys
import tempfile
from pathlib import Path

from .command_line import UserError
from .texts import printable

_PACKAGES = Path(__file__).resolve().parents[1]

ASSIGNMENT = _PACKAGES / "assignment"
ASSIGNMENT_FILE = ASSIGNMENT / "assignment.toml"

HANDED_OUT = ".handed_out.zip"
"""In every students' folder: its files as they were handed out, from which a later update learns what is new."""
COMPONENT_TESTS = "component_tests"  # the folder of tests in a students' folder


def _students_folder() -> Path:
    """The students' folder at or above the working directory, or else that directory."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / HANDED_OUT).is_file()), here)


ROOT = _PACKAGES if (ASSIGNMENT / "tests").is_dir() else _students_folder()

REFERENCE = ROOT / "reference"
SKELETON = ROOT / "student"

ANSWERS = "answers.md"  # the file that students write for people to read, beside their modules

REFERENCES = Path("data/private/fren.test.bpe")
"""Reference translations of the test split, which students do not get, from the root of wherever the kit lies."""
TEST_REFERENCES = ROOT / REFERENCES

SECRET = REFERENCES.with_name("grading_secret.txt")
"""The secret that a term's inputs come from, hidden from students; from the root of wherever the kit lies."""

SHORTEST_SECRET = 16  # characters of one that somebody has written: fewer could be guessed


def term_secret(root: Path) -> bytes:
    """Read the term's file, whose digits are drawn where there is none. Raises: UserError if it cannot serve."""
    path = root / SECRET
    name = printable(str(path))
    try:
        if not path.exists():
            _draw(path)
            print(f"note: drew the term's secret: {name}; keep it to replay marks", file=sys.stderr)
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{name}: the term's secret cannot be kept there: {error.strerror or error}") from None
    if len(content.strip()) < SHORTEST_SECRET:
        fault = f"shorter than {SHORTEST_SECRET} characters, which could be guessed"
        raise UserError(f"{name}: {fault}; remove it, and a secret is drawn")
    return content


def _draw(path: Path) -> None:
    """Writes a new secret, whole and readable by this user only; never in the place of another process's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".secret.") as file:  # 0600
        file.write(f"{secrets.token_hex(32)}\n".encode())
        file.flush()
        os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(file.name, path)
